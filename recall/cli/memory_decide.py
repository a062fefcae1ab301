"""The commands of `recall memory` that are a person's decision: put away, take back, accept, decline.

Each is a proposal that is shown, signed and applied in one go, by the person who types it at a terminal. Given by
anybody else it becomes a proposal that waits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recall.cli.app import App, pass_app
from recall.cli.curate import Said, curated
from recall.cli.memory_proposal import waiting
from recall.cli.memory_read import bare, memory_of
from recall.cli.memory_signed import Events, decided_at_once
from recall.cli.memory_write import at_work, written

if TYPE_CHECKING:
    from consolidation.commands import Hand
    from consolidation.model import Candidate
    from transcript.event import Draft
    from transcript.memories import CandidateState
    from transcript.workspace import Workspace


@click.command()
@click.argument("name", metavar="ID")
@click.option("--reason", required=True, help="Why it is put away.")
@curated
@pass_app
def archive(app: App, name: str, reason: str, said: Said) -> None:
    """Put a memory away. It is kept, and not shown as current any more. A person's decision, signed.

    \b
        recall memory archive abcdefghij --reason "the service was shut down"
    """
    from transcript import memory_drafts as drafts
    from transcript.errors import CurationError

    desk, hand = at_work(app, said)
    memory, reason = memory_of(hand.state, name), worded(reason)
    if memory.archived:
        raise CurationError(f"{memory.id[:10]} is archived already; 'recall memory restore' takes it back")
    decided_at_once(
        desk,
        {"operation": "archive", **_about(memory.id, reason)},
        lambda _: f"{memory.id[:10]} is archived",
        rehearse=lambda: [drafts.archived(hand.at, memory.id, reason=reason, actor=hand.by.name)],
    )


@click.command()
@click.argument("name", metavar="ID")
@click.option("--reason", required=True, help="Why it is taken back.")
@curated
@pass_app
def restore(app: App, name: str, reason: str, said: Said) -> None:
    """Take a memory out of the archive. A person's decision, signed.

    \b
        recall memory restore abcdefghij --reason "still in use"
    """
    from transcript import memory_drafts as drafts
    from transcript.errors import CurationError

    desk, hand = at_work(app, said)
    memory, reason = memory_of(hand.state, name), worded(reason)
    if not memory.archived:
        raise CurationError(f"{memory.id[:10]} is not archived")
    decided_at_once(
        desk,
        {"operation": "add", **_about(memory.id, reason), "subject": "restore"},
        lambda _: f"{memory.id[:10]} is restored",
        rehearse=lambda: [drafts.restored(hand.at, memory.id, reason=reason, actor=hand.by.name)],
    )


@click.command()
@click.argument("name", metavar="ID")
@curated
@pass_app
def accept(app: App, name: str, said: Said) -> None:
    """Take in what waits. A person's decision, signed.

    A statement becomes a memory and takes the place of what it contradicts; an edited file that of its memory; a link
    between words of the transcript retires the older ones; a memory that was proposed to be put away is archived.
    'recall memory list --proposals' shows what waits.

    \b
        recall memory accept abcdefghij
    """
    from consolidation.commands import accepted

    desk, hand = at_work(app, said)
    candidate, held = proposal(desk.workspace, hand, name)
    decided_at_once(
        desk,
        accepting(candidate),
        lambda found: told(candidate, found),
        new=_new(hand, candidate, held),
        rehearse=lambda: accepted(hand, candidate, held),
    )


@click.command()
@click.argument("name", metavar="ID")
@curated
@pass_app
def decline(app: App, name: str, said: Said) -> None:
    """Turn down what waits. It stays in the transcript and is not proposed again. A person's decision, signed.

    \b
        recall memory decline abcdefghij
    """
    from consolidation.commands import declined

    desk, hand = at_work(app, said)
    candidate, held = proposal(desk.workspace, hand, name)
    decided_at_once(
        desk,
        accepting(candidate),
        lambda _: f"{candidate.id[:10]} is declined",
        word="decline",
        new=_new(hand, candidate, held),
        rehearse=lambda: declined(hand, candidate, held),
    )


COMMANDS = (archive, restore, accept, decline)
MOST_SUMMARY = 4000


def _about(memory: str, reason: str) -> dict[str, object]:
    return {"target_ref": f"memory:{memory}", "summary": reason[:MOST_SUMMARY], "evidence_refs": [f"recall:{memory}"]}


def accepting(candidate: Candidate) -> dict[str, object]:
    """The action of taking in what waits. Words that are private stand in the record alone, as its evidence."""
    said = "a private statement" if candidate.privacy == "private" else candidate.text
    summary = f"Take in as {candidate.memory_type}: {said}"
    if candidate.found_by == "archive":
        summary = f"Put away: {said if candidate.privacy == 'private' else candidate.why or said}"
    if candidate.supersedes is not None:
        summary += f" (in the place of {candidate.supersedes.pointer})"
    return {
        "operation": "add",
        "target_ref": f"candidate:{candidate.id}",
        "summary": summary[:MOST_SUMMARY],
        "evidence_refs": [f"recall:{candidate.id}"],
    }


def told(candidate: Candidate, found: Events) -> str:
    """What came of taking something in."""
    links = [one.body for one in found if one.type == "memory.superseded"]
    lines = [f"{one.body['memory'][:10]} is archived" for one in found if one.type == "memory.archived"]
    lines += [
        f"{one['by']['event'][:10]} takes the place of {one['of']['event'][:10]} ({one['reason']})" for one in links
    ]
    return "; ".join(lines) or f"{written(found)[:10]} {candidate.memory_type}: {candidate.text}"


def _new(hand: Hand, candidate: Candidate, held: CandidateState | None) -> list[Draft]:
    """The events that say that something waits which the record does not have yet, such as an edited file."""
    from transcript import memory_drafts as drafts

    if held is not None:
        return []
    waits = drafts.decided(hand.at, candidate.id, "transcript_only", "awaits_person", pending=True, tier="governed")
    return [drafts.candidate(hand.at, candidate.body()), waits]


def worded(reason: str) -> str:
    """A reason without what stands around it; CurationError for one without words."""
    from transcript.errors import CurationError

    if not reason.strip():
        raise CurationError("the reason has no words")
    return reason.strip()


def proposal(workspace: Workspace, hand: Hand, name: str) -> tuple[Candidate, CandidateState | None]:
    """What waits under a name; PointerError for nothing, CurationError for what was decided."""
    from transcript.errors import CurationError, PointerError

    short, found = bare(name), waiting(workspace, hand.state)
    fits = [one for key, one in found.items() if short and key.startswith(short)]
    if len(fits) == 1:
        return fits[0]
    decided = [
        one.decided for key, one in hand.state.candidates.items() if short and key.startswith(short) and one.decided
    ]
    if not fits and decided:
        raise CurationError(f"{name} was decided already: {decided[0]['outcome']} ({decided[0]['reason']})")
    what = f"names {len(fits):,} proposals" if fits else "is no proposal"
    raise PointerError(f"{name!r} {what}; 'recall memory list --proposals' shows what waits")
