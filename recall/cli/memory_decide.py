"""The commands of `recall memory` that are a person's decision: put away, take back, accept, decline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recall.cli.app import App, pass_app
from recall.cli.curate import Said, curated
from recall.cli.memory_proposal import waiting
from recall.cli.memory_read import bare, memory_of
from recall.cli.memory_write import at_work, finish, written

if TYPE_CHECKING:
    from consolidation.commands import Hand
    from consolidation.model import Candidate
    from transcript.memories import CandidateState, Memory
    from transcript.workspace import Workspace


@click.command()
@click.argument("name", metavar="ID")
@click.option("--reason", required=True, help="Why it is put away.")
@curated
@pass_app
def archive(app: App, name: str, reason: str, said: Said) -> None:
    """Put a memory away: it is kept, and not shown as current any more. A person's decision.

    \b
        recall memory archive abcdefghij --reason "the service was shut down"
    """
    from transcript import memory_drafts as drafts
    from transcript.errors import CurationError

    desk, hand = at_work(app, said)
    memory, reason = persons(hand, name, "archives"), worded(reason)
    if memory.archived:
        raise CurationError(f"{memory.id[:10]} is archived already; 'recall memory restore' takes it back")
    finish(
        desk, [drafts.archived(hand.at, memory.id, reason=reason, actor=hand.by.name)], f"{memory.id[:10]} is archived"
    )


@click.command()
@click.argument("name", metavar="ID")
@click.option("--reason", required=True, help="Why it is taken back.")
@curated
@pass_app
def restore(app: App, name: str, reason: str, said: Said) -> None:
    """Take a memory out of the archive. A person's decision.

    \b
        recall memory restore abcdefghij --reason "still in use"
    """
    from transcript import memory_drafts as drafts
    from transcript.errors import CurationError

    desk, hand = at_work(app, said)
    memory, reason = persons(hand, name, "restores"), worded(reason)
    if not memory.archived:
        raise CurationError(f"{memory.id[:10]} is not archived")
    finish(
        desk, [drafts.restored(hand.at, memory.id, reason=reason, actor=hand.by.name)], f"{memory.id[:10]} is restored"
    )


@click.command()
@click.argument("name", metavar="ID")
@curated
@pass_app
def accept(app: App, name: str, said: Said) -> None:
    """Take in what waits. A person's decision.

    A statement becomes a memory and takes the place of what it contradicts; an edited file that of its memory; a link
    between words of the transcript retires the older ones; a memory that was proposed to be put away is archived.
    'recall memory list --proposals' shows what waits.

    \b
        recall memory accept abcdefghij
    """
    from consolidation.commands import accepted

    desk, hand = at_work(app, said)
    candidate, held = proposal(desk.workspace, hand, name)
    found = accepted(hand, candidate, held)
    links = [one.body for one in found if one.type == "memory.superseded"]
    told = [f"{one.body['memory'][:10]} is archived" for one in found if one.type == "memory.archived"]
    told += [
        f"{one['by']['event'][:10]} takes the place of {one['of']['event'][:10]} ({one['reason']})" for one in links
    ]
    finish(desk, found, "; ".join(told) or f"{written(found)[:10]} {candidate.memory_type}: {candidate.text}")


@click.command()
@click.argument("name", metavar="ID")
@curated
@pass_app
def decline(app: App, name: str, said: Said) -> None:
    """Turn down what waits: it stays in the transcript and is not proposed again. A person's decision.

    \b
        recall memory decline abcdefghij
    """
    from consolidation.commands import declined

    desk, hand = at_work(app, said)
    candidate, held = proposal(desk.workspace, hand, name)
    finish(desk, declined(hand, candidate, held), f"{candidate.id[:10]} is declined")


COMMANDS = (archive, restore, accept, decline)


def persons(hand: Hand, name: str, does: str) -> Memory:
    """The memory that a person's command is about; CurationError where an agent gives it."""
    from transcript.errors import CurationError

    if not hand.is_person:
        raise CurationError(f"{hand.by.name} is an agent; a person {does} memories")
    return memory_of(hand.state, name)


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
