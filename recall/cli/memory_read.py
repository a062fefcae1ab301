"""The commands of `recall memory` that read: list, show, history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recall.cli.app import App, choose, demo_option, pass_app
from recall.cli.memory_proposal import say_proposal, say_proposals, waiting
from recall.cli.output import emit, head, note, say
from recall.cli.reading import door
from transcript.memory_words import MEMORY_TYPES, STATES
from transcript.telling import counted, minute

if TYPE_CHECKING:
    from collections.abc import Mapping

    from consolidation.experience import Experience
    from consolidation.model import Candidate
    from transcript.log import Log
    from transcript.memories import CandidateState, Memory, MemoryState
    from transcript.workspace import Workspace

HELD = ("current", "expired", "future")  # what MEMORY.md lists


@click.command("list")
@click.option("--type", "kind", type=click.Choice(MEMORY_TYPES), help="Only of this type.")
@click.option(
    "--state", type=click.Choice([*STATES, "all"]), help="Only in this state; by default what was not put away."
)
@click.option("--tag", help="Only with this tag.")
@click.option("--project", help="Only of this project.")
@click.option("--for", "role", metavar="ROLE", help="Only for this role.")
@click.option("--proposals", is_flag=True, help="What waits for a person, edited files among it.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a memory.")
@demo_option
@pass_app
def listed(
    app: App,
    kind: str | None,
    state: str | None,
    tag: str | None,
    project: str | None,
    role: str | None,
    proposals: bool,
    as_json: bool,
    demo: bool,
) -> None:
    """List what is remembered.

    What has proved itself most comes first, then the newest; extracts of sessions behind. Each with its state, type,
    E (the weight that citations, corrections and outcomes gave it) and the day it was said.

    \b
        recall memory list --type user_preference
    """
    from transcript.memories import fold_memories

    app = choose(app, demo)
    workspace = app.workspace()
    log = app.log(workspace)
    held, exit_ = fold_memories(log), door(app, workspace)
    if proposals:
        from consolidation.edits import hand_edits
        from recall.cli.consolidate import say_unread

        found_waiting = waiting(workspace, held).items()
        say_proposals({name: one for name, one in found_waiting if exit_.lets_body(name, one[0].body())}, as_json)
        say_unread(hand_edits(workspace, held).unread)
        return
    weights, now = weighed(app, log), app.now()
    found = [
        memory
        for memory in exit_.state(held).memories.values()
        if (kind is None or memory.memory_type == kind)
        and (state == "all" or memory.state_at(now) in ((state,) if state else HELD))
        and (tag is None or tag in memory.tags)
        and (project is None or project in memory.projects)
        and (role is None or role in (*memory.roles, *memory.critical_for))
    ]
    found.sort(key=lambda memory: (memory.said_at, memory.id), reverse=True)
    found.sort(key=lambda memory: (-weights.value(memory.id), memory.kind == "summary"))
    for memory in found:
        at, value = memory.state_at(now), weights.value(memory.id)
        if as_json:
            emit({**memory_json(memory), "state": at, "experience": value})
            continue
        marks = "".join(f", {what}" for what, is_so in marks_of(memory).items() if is_so)
        say(
            f"{memory.id[:10]} {at:<10} {memory.memory_type:<15} {value:.2f} {head(memory.statement)}"
            f" ({memory.said_at[:10]}, {counted(len(memory.sources), 'source')}{marks})"
        )
    if not found and not as_json:
        note("nothing is remembered" + (" that fits" if held.memories else "; 'recall checkpoint' makes memories"))


@click.command()
@click.argument("name", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@demo_option
@pass_app
def show(app: App, name: str, as_json: bool, demo: bool) -> None:
    """Print a memory, or what may become one.

    With everything that is known of it. Its statement and why it holds, since when and until when, each claim with
    the source that says it, and what it has done: every counter that its weight is made of. Of what waits for a
    person: what it would replace, and what verification found.

    \b
        recall memory show abcdefghij
    """
    from transcript.memories import fold_memories

    app = choose(app, demo)
    workspace = app.workspace()
    log = app.log(workspace)
    held = door(app, workspace).state(fold_memories(log))
    proposal = candidate_named(workspace, held, name)
    if proposal is not None:
        say_proposal(*proposal, as_json)
        return
    memory = memory_of(held, name)
    weights = weighed(app, log, injected=True)
    done, value = weights.of(memory.id), weights.value(memory.id)
    candidate = held.candidates.get(memory.candidate)
    verdicts = candidate.verdicts if candidate is not None else ()
    claims = next((one.get("claims") or [] for one in verdicts if one.get("claims")), [])
    state = memory.state_at(app.now())
    if as_json:
        emit(
            {
                **memory_json(memory),
                "state": state,
                "claims": [_claim(memory, one) for one in claims],
                "experience": value,
                "raw": done.raw,
                "roles_experience": dict(done.roles),
                "hits": done.hits,
                "injected": done.injected,
                "prevented": done.prevented,
                "counters": dict(done.counters),
                "reviewers": [(one.get("reviewer") or {}).get("id") for one in verdicts],
            }
        )
        return
    say(f"{memory.id[:10]} {state} {memory.memory_type} ({memory.label}, {memory.verified.replace('_', ' ')})")
    say(memory.statement)
    if memory.why:
        say(f"Why: {memory.why}")
    for line in _facts(memory, state):
        say(f"  {line}")
    for one in claims:
        claim = _claim(memory, one)
        say(f"  {claim['support']:<8} {claim['pointer'] or '-'}  {head(claim['text'])}")
    if not claims:
        for span in memory.sources:
            say(f"  source   {span.pointer}")
    counters = ", ".join(f"{what} {number:,}" for what, number in done.counters.items() if number)
    say(f"  E {value:.2f} (raw {done.raw:g}): {counters or 'nothing yet'}; shown {done.injected:,}")


@click.command()
@click.argument("name", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object an event.")
@demo_option
@pass_app
def history(app: App, name: str, as_json: bool, demo: bool) -> None:
    """Print every event of a memory or candidate.

    The oldest first. Who said what about it and why, from the proposal to the last citation.

    \b
        recall memory history abcdefghij
    """
    from consolidation.story import story
    from transcript.memories import fold_memories

    app = choose(app, demo)
    log = app.log(app.workspace())
    held = door(app, log.workspace).state(fold_memories(log))
    for told in story(log, held, either(held, name)):
        if as_json:
            emit({"id": told.id, "type": told.type, "ts": told.ts, "actor": told.actor, "text": told.text})
        else:
            say(f"{minute(told.ts)}  {told.type:<24} {told.id[:10]}  {told.actor}  {told.text}".rstrip())


COMMANDS = (listed, show, history)


class Weights:
    """What memories weigh, by id."""

    def __init__(self, app: App, found: Mapping[str, Experience]) -> None:
        self._scales, self._found = app.config.settings().scales, found

    def of(self, name: str) -> Experience:
        """What a memory has done."""
        from consolidation.experience import Experience

        return self._found.get(name) or Experience()

    def value(self, name: str) -> float:
        """E of a memory, as the score takes it."""
        from dataclasses import replace

        from scoring.experience import experience_value

        done, scales = self.of(name), self._scales
        if scales.experience_form == "hits":
            scales = replace(scales, experience_cap=max(1, *(one.hits for one in self._found.values()), 0))
        return experience_value(done.raw, done.hits, scales)


def weighed(app: App, log: Log, *, injected: bool = False) -> Weights:
    """What the memories of a record weigh under the settings."""
    from consolidation.experience import experience_of

    config = app.config
    return Weights(app, experience_of(log, config.experience(), agent=config.memory().agent, injected=injected))


def candidate_named(
    workspace: Workspace, held: MemoryState, name: str
) -> tuple[Candidate, CandidateState | None] | None:
    """What may become a memory that a name begins; None where it begins a memory, nothing, or more than one."""
    from consolidation.candidates import candidate_of

    short = bare(name)
    if not short or any(key.startswith(short) for key in held.memories):
        return None
    found = {key: one for key, one in waiting(workspace, held).items() if key.startswith(short)}
    found |= {key: (candidate_of(one.body), one) for key, one in held.candidates.items() if key.startswith(short)}
    return next(iter(found.values())) if len(found) == 1 else None


def memory_of(held: MemoryState, name: str) -> Memory:
    """The memory that an id or a pointer names, by its beginning; PointerError for none or more than one."""
    from transcript.errors import PointerError

    short = bare(name)
    found = [memory for key, memory in held.memories.items() if key.startswith(short)] if short else []
    if len(found) == 1:
        return found[0]
    if found:
        raise PointerError(f"{name!r} names {len(found):,} memories; give more of the id")
    if short and any(key.startswith(short) for key in held.candidates):
        raise PointerError(f"{name} is a candidate and no memory; see 'recall memory list --proposals'")
    raise PointerError(f"no memory is called {name!r}; 'recall memory list --state all' shows them")


def either(held: MemoryState, name: str) -> str:
    """The whole id of the memory or candidate that a name begins."""
    from transcript.errors import PointerError

    short = bare(name)
    found = [key for key in (*held.memories, *held.candidates) if short and key.startswith(short)]
    if len(found) != 1:
        what = f"names {len(found):,}" if found else "names no memory and no candidate"
        raise PointerError(f"{name!r} {what}; 'recall memory list --state all' and '--proposals' show them")
    return found[0]


def bare(name: str) -> str:
    """An id as it was typed, without what stands around it in a pointer."""
    return name.strip().strip("[]()<>`'\".,;").partition("#")[0].lower()


def marks_of(memory: Memory) -> dict[str, bool]:
    """What is to be seen of a memory at a glance."""
    return {
        "inference": memory.label == "inference",
        "conflict": bool(memory.conflicts),
        "stale": bool(memory.stale_paths),
        "private": memory.privacy == "private",
    }


def memory_json(memory: Memory) -> dict[str, Any]:
    """A memory as plain values; sources as pointers."""
    from dataclasses import asdict

    return {**asdict(memory), "sources": [span.pointer for span in memory.sources], "text": memory.text}


def _claim(memory: Memory, claim: Mapping[str, Any]) -> dict[str, str]:
    source = claim.get("source", -1)
    there = isinstance(source, int) and 0 <= source < len(memory.sources)
    pointer = memory.sources[source].pointer if there else ""
    return {"text": str(claim.get("text", "")), "pointer": pointer, "support": str(claim.get("support", ""))}


def _facts(memory: Memory, state: str) -> list[str]:
    lists = (
        ("tags", memory.tags),
        ("projects", memory.projects),
        ("for", memory.roles),
        ("critical for", memory.critical_for),
    )
    found = [f"valid [{memory.valid_from[:16]}, {memory.valid_to[:16]}), {memory.privacy}"]
    found += [f"{name}: {', '.join(values)}" for name, values in lists if values]
    if memory.mistake:
        found.append(f"avoid {memory.mistake[0]}, do {memory.mistake[1]} instead")
    if memory.superseded_by:
        found.append(f"superseded by {memory.superseded_by[:10]} ({memory.supersession_note})")
    found += [f"supersedes {name[:10]}" for name in memory.supersedes]
    if state == "refuted":
        found.append(f"refuted by {memory.refuted_because[:10]}")
    found += [f"{path}: {'changed since' if path in memory.stale_paths else 'as it was'}" for path, _ in memory.files]
    found += [f"conflicts with candidate {name[:10]}" for name in memory.conflicts]
    found += [f"approved: {name[:10]}" for name in memory.approved]
    return found
