"""`recall log`: what the record adds up to, who did what, and how one thing led to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recall.cli.app import App, choose, demo_option, pass_app
from recall.cli.output import emit, note, say
from recall.cli.reading import door
from recall.cli.show import as_dict, heading, shortened
from transcript.telling import counted, minute

if TYPE_CHECKING:
    from collections import Counter

    from transcript.accounts import Audit, Stats
    from transcript.log import Log


@click.group()
def command() -> None:
    """Account for the record: counts, audit, trails.

    A trail is what led to one thing.

    \b
        recall log stats
    """


@command.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@demo_option
@pass_app
def stats(app: App, as_json: bool, demo: bool) -> None:
    """Count every event once: by type, agent, actor and month.

    Each breakdown sums to the total. What cannot be attributed to an agent is counted as `unattributed`.

    \b
        recall log stats
    """
    from transcript.accounts import stats as count

    chosen = choose(app, demo)
    found = count(chosen.log(chosen.workspace()).read())
    emit(stats_dict(found)) if as_json else say(stats_text(found))


@command.command()
@click.option("--events", "listed", is_flag=True, help="With --json: list the ids of the events each view used.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@demo_option
@pass_app
def audit(app: App, listed: bool, as_json: bool, demo: bool) -> None:
    """Say what was captured, decided, erased and by whom.

    With what was projected, and when. The parts sum to the record. Each view says how far it reads and which events
    it is made of.

    \b
        recall log audit --json
    """
    from transcript.accounts import audit as account

    chosen = choose(app, demo)
    log = chosen.log(chosen.workspace())
    found = account(log.read())
    used = projections(log, listed)
    if as_json:
        emit(audit_dict(found, used))
        return
    say(audit_text(found, used))


@command.command()
@click.argument("start", metavar="TASK|POINTER")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per event.")
@demo_option
@pass_app
def trail(app: App, start: str, as_json: bool, demo: bool) -> None:
    """Print the decisions, tasks and outcomes around one of them.

    The chain of them, with its evidence.

    \b
        recall log trail T1
    """
    from indexer.passages import event_text
    from transcript.accounts import trail as chain
    from transcript.secrets import veil

    chosen = choose(app, demo)
    log = chosen.log(chosen.workspace())
    exit_ = door(chosen, log.workspace)
    exit_.refuse_record("the trail")
    for step in chain(log, start):
        if not exit_.lets_event(log, step.event):
            note(f"{step.event.pointer} {exit_.refusal}")
            continue
        body = log.body(step.event)
        text = veil(event_text(step.event.type, body)) or _facts(body)
        if as_json:
            emit({**as_dict(step.event), "names": list(step.names), "text": text})
            continue
        say(heading(step.event))
        say("\n".join(f"  {line}" for line in shortened(text).splitlines()))
        if step.names:
            say(f"  names {', '.join(name[:10] for name in step.names)}")


def _facts(body: dict[str, Any]) -> str:
    """What an event without words says, such as `verdict not_refuted, label claim`."""
    told = ("verdict", "label", "outcome", "reason", "how", "cause", "path", "avoided", "did", "decision", "state")
    said = [f"{name} {body[name]}" for name in told if isinstance(body.get(name), str) and body[name]]
    return ", ".join(said) if body else "(redacted)"


def stats_dict(found: Stats) -> dict[str, Any]:
    """The counts for --json."""
    return {
        "total": found.total,
        "redacted": found.redacted,
        "sessions": found.sessions,
        "types": ordered(found.types),
        "agents": ordered(found.agents),
        "actors": ordered(found.actors),
        "months": ordered(found.months),
        "turns": {
            "total": found.turns,
            "agents": ordered(found.turns_by_agent),
            "kinds": ordered(found.turns_by_kind),
        },
    }


def stats_text(found: Stats) -> str:
    """The counts for people."""
    lines = [
        f"{counted(found.total, 'event')} in {counted(found.sessions, 'session')}, {found.redacted:,} of them redacted"
    ]
    parts = {"types": found.types, "agents": found.agents, "actors": found.actors}
    lines += [f"  by {name[:-1]}: {ranking(counts)}" for name, counts in parts.items()]
    lines.append(f"{counted(found.turns, 'turn')}")
    lines.append(f"  by agent: {ranking(found.turns_by_agent)}")
    lines.append(f"  by kind: {ranking(found.turns_by_kind)}")
    return "\n".join(lines)


def projections(log: Log, listed: bool) -> list[dict[str, Any]]:
    """Each view with the events it is made of: how many, the last, and their ids when asked for."""
    from transcript.projections import views
    from transcript.projections.fold import FOLDED

    used: list[dict[str, Any]] = []
    folded = [(event.type, event.seq, event.id) for event in log.read() if event.type in FOLDED]
    for view in views.VIEWS:
        events = [(seq, name) for kind, seq, name in folded if kind in view.TYPES]
        part: dict[str, Any] = {"name": view.NAME, "types": sorted(view.TYPES), "events": len(events)}
        part["through"] = {"seq": events[-1][0], "id": events[-1][1]} if events else {"seq": 0, "id": ""}
        if listed:
            part["ids"] = [name for _, name in events]
        used.append(part)
    return used


def audit_dict(found: Audit, used: list[dict[str, Any]]) -> dict[str, Any]:
    """The audit for --json."""
    return {
        "total": found.total,
        "accounted": found.accounted(),
        "head": {"seq": found.through.seq, "hash": found.through.hash} if found.through else {"seq": 0, "hash": ""},
        "captured": {name: part_dict(part) for name, part in sorted(found.captured.items())},
        "decided": {name: part_dict(part) for name, part in sorted(found.decided.items())},
        "ledger": ordered(found.ledger),
        "signals": found.signals,
        "erased": found.erased,
        "index_runs": found.indexed,
        "other": ordered(found.other),
        "projected": used,
    }


def part_dict(part: dict[str, Any]) -> dict[str, Any]:
    """One agent's or actor's part of an audit."""
    return {**part, "types": ordered(part["types"]), "sessions": len(part["sessions"])}


def audit_text(found: Audit, used: list[dict[str, Any]]) -> str:
    """The audit for people."""
    lines = [f"{counted(found.total, 'event')}, {found.accounted():,} accounted for"]
    for title, parts in (("captured", found.captured), ("decided", found.decided)):
        for name, part in sorted(parts.items()):
            span = f"{minute(part['first'])} to {minute(part['last'])}"
            lines.append(f"  {title} {name}: {part['events']:,} ({ranking(part['types'])}), {span}")
    for told in found.signals:
        where = f" on {told['channel']}" if told["channel"] else ""
        what = f"{told['kind'] or 'correction'} of {told['of'][:10] or 'a redacted event'}"
        lines.append(f"  {what} by {told['by']}{where}, {minute(told['ts'])}")
    for entry in found.erased:
        if not entry.get("done"):
            who = f" by {entry['by']}" if entry.get("by") else ""
            lines.append(f"  erased {minute(entry['ts'])}{who}: {counted(entry['events'], 'event')} ({entry['how']})")
    lines.append(f"  ledger: {ranking(found.ledger) if found.ledger else 'no turn yet'}")
    lines.append(f"  index runs: {found.indexed:,}; other: {ranking(found.other)}")
    for part in used:
        lines.append(
            f"  {part['name']}: made of {counted(part['events'], 'event')}, through {part['through']['seq']:,}"
        )
    return "\n".join(lines)


def ordered(counts: Counter[str]) -> dict[str, int]:
    """Counts by name."""
    return dict(sorted(counts.items()))


def ranking(counts: Counter[str]) -> str:
    """Counts in a line, greatest first."""
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{number:,} {name}" for name, number in ranked) or "none"
