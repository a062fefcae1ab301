"""`recall last`: what the last turn was given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recall.cli.app import App, choose, demo_option, pass_app
from recall.cli.output import emit, note, say
from recall.cli.reading import door
from recall.cli.show import place
from transcript.filters import agent_of
from transcript.telling import counted, minute

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recall.use import Use
    from transcript.event import Event

MOST_LEFT_OUT = 10


@click.command()
@click.option("-n", "--count", type=click.IntRange(min=1), help="List the newest turns instead of showing the last.")
@click.option("--all", "every", is_flag=True, help="Count 'recall query' and the demo as turns too.")
@click.option("--session", metavar="ID", help="Only turns of this session (its first characters are enough).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a turn.")
@demo_option
@pass_app
def command(app: App, count: int | None, every: bool, session: str | None, as_json: bool, demo: bool) -> None:
    """Print what the last turn was given, and what it was not.

    Each item with its pointer and terms, and why others were left out. What the model was given is never hidden
    from you: the block stands in the record as it was injected. A session that was told where the work stands when
    it started is shown like a turn.

    \b
        recall last
    """
    from recall import ledger
    from recall.use import used
    from transcript.errors import PointerError

    chosen = choose(app, demo)
    workspace = chosen.workspace()
    log = chosen.log(workspace)
    found: list[Event] = []
    modes = ledger.MODES if every or demo else ledger.HOOK_MODES
    for event in ledger.turns(log, modes=(*modes, ledger.START_MODE)):
        if session is None or str(event.body.get("asked_in", "")).startswith(session):
            found.append(event)
            if len(found) == (count or 1):
                break
    if not found:
        raise PointerError("no turn yet: no hook has answered here; 'recall health' says whether they are installed")
    exit_ = door(chosen, workspace)
    for event in found:
        if not exit_.lets_event(log, event):
            note(f"{event.pointer} {exit_.refusal}")
            continue
        body = log.body(event)
        if as_json:
            emit({"id": event.id, "ts": event.ts, "session": event.session, **body})
        else:
            say(line(event, body) if count else page(event, body, used(log, event)))
    if count and not as_json:
        note("'recall explain TURN' shows one of them in full")


def line(event: Event, body: dict[str, Any]) -> str:
    """One turn in one line."""
    from recall.explain import silence

    items = body.get("items", [])
    result = (
        counted(len(items), "item")
        if items
        else "a pointer"
        if body.get("block")
        else f"nothing: {silence(str(body.get('empty_reason', '')))}"
    )
    prompt = started(body) or " ".join(str(body.get("prompt", "")).split())[:60]
    return f"{event.id[:10]}  {minute(event.ts)}  {agent_of(event):<11}  {prompt:<60}  {result}"


def page(event: Event, body: dict[str, Any], uses: Sequence[Use] | None = None) -> str:
    """One turn in full: the prompt, the block, each item's terms, and what was left out."""
    from recall.explain import SILENCE, budget_text, note_text, silence

    index = body.get("index", {})
    if started(body):
        return start_page(event, body)
    lines = [
        f"turn {event.id[:10]}  {minute(event.ts)}  {place(event) or 'no session'}  "
        f"{searched(body)}, {body.get('latency_ms', 0):.0f} ms",
        f"prompt: {' '.join(str(body.get('prompt', '')).split())[:200]}",
        "",
    ]
    if body.get("block"):
        size = f"{counted(body.get('tokens', 0), 'token')}, {counted(body.get('bytes', 0), 'byte')}"
        lines += [str(body["block"]), "", size]
    else:
        lines.append(f"nothing was injected: {silence(str(body.get('empty_reason', '')))}")
    lines += gate_lines(body)
    weights = body.get("weights", {})
    for number, item in enumerate(body.get("items", []), start=1):
        used_by = use_text(uses[number - 1]) if uses and number <= len(uses) else ""
        lines += item_lines(f"{number}. {item['pointer']}  shown{used_by}", item, weights)
    left = body.get("left_out", [])
    if left:
        lines += ["", f"left out ({len(left)}, best first):"]
        for item in left[:MOST_LEFT_OUT]:
            reason = SILENCE.get(item["reason"], item["reason"])
            lines += item_lines(f"   {item['pointer']}  {reason}", item, weights)
        if len(left) > MOST_LEFT_OUT:
            lines.append(f"   and {len(left) - MOST_LEFT_OUT} more; --json lists them")
    if body.get("budget"):
        lines += ["", budget_text(body["budget"])]
    if body.get("note"):
        lines += ["", f"note: {note_text(str(body['note']))}"]
    lines += ["", f"settings {body.get('settings_hash', '')}, index generation {index.get('generation', '-')}"]
    return "\n".join(lines)


def gate_lines(body: dict[str, Any]) -> list[str]:
    """What the gate compared, where something was searched for."""
    signals = body.get("budget", {}).get("signals", {})
    if not signals.get("threshold"):
        return []
    best, needed = signals["best"], signals["threshold"]
    state = "open" if best >= needed else "shut"
    return [f"gate: the best match scores {best:.3f}, {needed:.3f} is needed: {state}", ""]


def item_lines(head: str, item: dict[str, Any], weights: dict[str, Any]) -> list[str]:
    """An item with what became of it, the sum that is its R, and the evidence that its S is made of."""
    from recall.explain import DEMOTIONS

    if "terms" not in item:
        return [head]
    near = "no vector" if item.get("cosine") is None else f"cosine {item['cosine']:.3f}"
    words = f"words: {' '.join(item['words'])}" if item.get("words") else "no word of the prompt"
    lines = [
        head,
        f"     {sum_of(item['terms'], weights)}",
        f"     relevance {item.get('relevance', 0):.3f}, {near}, bm25 {item['bm25']:.2f}, {words}",
    ]
    if item.get("demoted"):
        lines.append("     demoted: " + "; ".join(f"{d} ({DEMOTIONS.get(d, '?')})" for d in item["demoted"]))
    return lines


def sum_of(values: dict[str, float], weights: dict[str, Any]) -> str:
    """R as its terms add up to it, with the weights of that turn."""
    from scoring.score import TERMS, Part, Score
    from scoring.weights import Weights

    held = Weights(**weights)
    parts = (Part(t.letter, values[t.letter], held.of(t.letter), t.sign) for t in TERMS if t.letter in values)
    return Score(tuple(parts)).explain()


def use_text(use: Use) -> str:
    """What the answer to a turn made of an item; "" where there is no sign that it used it."""
    from recall.use import NAMED

    if not use.kind:
        return ""
    return "  used: the answer names it" if use.kind == NAMED else f"  used: the answer says {', '.join(use.evidence)}"


def started(body: dict[str, Any]) -> str:
    """How a session started that was told where the work stood, "" for a turn."""
    from recall import ledger

    return f"session start ({body.get('source') or 'source unknown'})" if body.get("mode") == ledger.START_MODE else ""


def start_page(event: Event, body: dict[str, Any]) -> str:
    """What a session was told when it started."""
    size = f"{counted(body.get('tokens', 0), 'token')}, {counted(body.get('bytes', 0), 'byte')}"
    head = f"{event.id[:10]}  {minute(event.ts)}  {place(event)}  {body.get('latency_ms', 0):.0f} ms"
    return "\n".join([f"{started(body)}  {head}", "", str(body.get("block", "")), "", size])


def searched(body: dict[str, Any]) -> str:
    """How the turn was searched for, if it was: some prompts are turned away, or time is over, before any search."""
    if not body.get("stages"):
        return "nothing was searched"
    return "by words alone" if body.get("words_only") else "by words and vectors"
