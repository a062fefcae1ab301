"""The commands of `recall memory` that change something: recorded, in effect at once; nothing is deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recall.cli.app import App, end_moment, moment, pass_app
from recall.cli.curate import Desk, Said, curated, evidence_option
from recall.cli.memory_read import memory_of
from recall.cli.output import emit, note, say
from transcript.memory_words import MEMORY_TYPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consolidation.commands import Hand
    from consolidation.model import Candidate
    from transcript.event import Draft, Event
    from transcript.memories import Span
    from transcript.workspace import Workspace

because_option = click.option("--because", required=True, metavar="POINTER", help="What shows it; it must open.")
project_option = click.option("--project", "projects", multiple=True, metavar="NAME", help="A project it is of.")
role_option = click.option("--for", "roles", multiple=True, metavar="ROLE", help="A role it is for.")
private_option = click.option(
    "--private", is_flag=True, help="Told in your own sessions alone: to no channel, no file and no other agent."
)
shared_option = click.option(
    "--shared", is_flag=True, help="Others may see it too: shared channels, other agents. A person's choice."
)
valid_to_option = click.option(
    "--valid-to", metavar="DATE", help="Until when it holds; a day alone is the last one on which it does (UTC)."
)
tag_option = click.option("--tag", "tags", multiple=True, metavar="TAG", help="A tag; may be repeated.")


@click.command()
@click.argument("text")
@click.option(
    "--type", "kind", type=click.Choice(MEMORY_TYPES), default="project_fact", show_default=True, help="What it is."
)
@click.option("--why", default="", help="Why it holds; without, it is kept as an inference.")
@evidence_option
@tag_option
@project_option
@role_option
@click.option("--critical", is_flag=True, help="The roles of --for must have it.")
@private_option
@shared_option
@click.option("--valid-from", metavar="DATE", help="Since when it holds (UTC); by default from now on.")
@valid_to_option
@click.option("--avoid", default="", metavar="X", help="The mistake that it keeps from being made: what not to do.")
@click.option("--instead", default="", metavar="Y", help="What to do in the place of --avoid.")
@curated
@pass_app
def add(
    app: App,
    text: str,
    kind: str,
    why: str,
    evidence: tuple[str, ...],
    tags: tuple[str, ...],
    projects: tuple[str, ...],
    roles: tuple[str, ...],
    critical: bool,
    private: bool,
    shared: bool,
    valid_from: str | None,
    valid_to: str | None,
    avoid: str,
    instead: str,
    said: Said,
) -> None:
    """Remember TEXT, one statement.

    It is checked against its evidence and against what is remembered. What contradicts a memory is refused; what no
    evidence says, or what has no reason, is kept as an inference and shown as one.

    \b
        recall memory add "Releases are tagged by CI" --why "tags by hand were lost" --evidence abcdefghij#0-80
    """
    from consolidation.commands import add as added
    from consolidation.commands import proposed
    from consolidation.commands import said as candidate_of
    from transcript.errors import CurationError
    from transcript.event import stamp

    if bool(avoid) != bool(instead):
        raise click.UsageError("--avoid and --instead go together: what not to do, and what to do")
    if critical and not roles:
        raise click.UsageError("--critical needs --for ROLE: for whom it is critical")
    interval = {"valid_from": stamp(moment(valid_from))} if valid_from else {}
    if valid_to:
        interval["valid_to"] = ends(valid_to, interval.get("valid_from") or stamp(app.now()))
    desk, hand = at_work(app, said, adds=True)
    if critical and not hand.is_person:
        raise CurationError(f"{hand.typed_by} is an agent; what a role must have is laid down by a person")
    candidate = candidate_of(
        hand,
        text,
        why=why,
        memory_type=kind,
        sources=tuple(places(hand, evidence)),
        projects=projects,
        roles=roles,
        tags=tags,
        mistake=(avoid, instead) if avoid else None,
        worker=said.worker,
        **privacy_of(hand, private, shared),
    )
    if said.worker:
        found = proposed(hand, candidate)
        finish(desk, found, f"{candidate.id[:10]} is proposed; the next 'recall checkpoint' decides on it")
        return
    more: dict[str, Any] = {"critical_for": list(roles)} if critical else {}
    more |= interval
    done = added(hand, candidate, more)
    target = done.decision.target[:10]
    if done.decision.reason in ("duplicate", "confirmed"):
        told = f"{target} says that already" + ("; it is confirmed" if done.drafts else "")
    elif done.decision.pending:
        told = f"{candidate.id[:10]} waits for a person: 'recall memory accept {candidate.id[:10]}'"
    else:
        kept = next(str(one.body["statement"]) for one in done.drafts if one.type == "memory.written")
        told = f"{done.decision.memory[:10]} {kind}: {kept}" + inference_note(candidate, done.drafts)
        told += "; the rest is left out: its evidence does not say it" if kept != candidate.text else ""
    if done.verdict.conflicts and done.decision.outcome == "memory":
        told += f"; it takes the place of {done.verdict.conflicts[0].memory[:10]}"
    finish(desk, done.drafts, told)


@click.command()
@click.argument("name", metavar="ID")
@click.option("--statement", help="What it is to say; the old statement stays as its past.")
@click.option("--why", help="Why it holds.")
@tag_option
@click.option("--untag", "untags", multiple=True, metavar="TAG", help="A tag to take off.")
@project_option
@role_option
@click.option("--type", "kind", type=click.Choice(MEMORY_TYPES), help="What it is.")
@valid_to_option
@private_option
@shared_option
@curated
@pass_app
def edit(
    app: App,
    name: str,
    statement: str | None,
    why: str | None,
    tags: tuple[str, ...],
    untags: tuple[str, ...],
    projects: tuple[str, ...],
    roles: tuple[str, ...],
    kind: str | None,
    valid_to: str | None,
    private: bool,
    shared: bool,
    said: Said,
) -> None:
    """Say a memory in other words, or change its data.

    Its data is what stands around the words: type, tags, roles and the like. Another statement or reason is another
    memory that takes the old one's place and keeps its weight. If the old one was wrong, use 'recall memory correct'.

    \b
        recall memory edit abcdefghij --tag git --valid-to 2026-12-31
    """
    from consolidation.commands import may_change, restated
    from transcript import memory_drafts as drafts

    desk, hand = at_work(app, said)
    memory = memory_of(hand.state, name)
    changed: dict[str, Any] = {}
    if tags or untags:
        changed["tags"] = [one for one in dict.fromkeys((*memory.tags, *tags)) if one not in untags]
    changed |= {key: list(dict.fromkeys(new)) for key, new in (("projects", projects), ("roles", roles)) if new}
    changed |= {"type": kind} if kind else {}
    changed |= privacy_of(hand, private, shared)
    changed |= {"valid_to": ends(valid_to, memory.valid_from)} if valid_to else {}
    restates = statement is not None or why is not None
    if not restates and not changed:
        raise click.UsageError("nothing to change; give --statement or another option")
    found: list[Draft] = []
    told = f"{memory.id[:10]} amended: {', '.join(changed)}"
    target = memory.id
    if restates:
        found = restated(hand, memory, statement, reason="edit", why=why)
        target = written(found)
        told = f"{memory.id[:10]} is superseded by {target[:10]} (edit)"
    if changed:
        may_change(hand, memory)
        found.append(drafts.amended(hand.at, target, changed, because=memory.id, **hand.who))
    finish(desk, found, told)


@click.command()
@click.argument("name", metavar="ID")
@click.argument("statement", required=False)
@because_option
@click.option("--why", help="Why the new statement holds; by default what it corrects.")
@curated
@pass_app
def correct(app: App, name: str, statement: str | None, because: str, why: str | None, said: Said) -> None:
    """Say that a memory is wrong, and what is right.

    STATEMENT is what is right; without one nothing takes its place. It takes effect at once: the memory is not shown
    as current any more, whatever weight it had.

    \b
        recall memory correct abcdefghij --because klmnopqrst "The port is 8443"
    """
    from consolidation.commands import freed, refuted, restated

    desk, hand = at_work(app, said)
    memory = memory_of(hand.state, name)
    [shown] = places(hand, (because,))
    if statement is None:
        found = refuted(hand, memory, shown.event, why or "corrected", [shown])
        told = f"{memory.id[:10]} is refuted ({shown.pointer})"
        told += "".join(f"; {one.id[:10]} says again what it had replaced" for one in found if is_memory(one))
        told += "".join(f"; {words.pointer} holds again" for words in freed(hand.state, memory))
    else:
        found = restated(
            hand,
            memory,
            statement,
            reason="correction",
            why=why or f"corrects {memory.id[:10]}",
            sources=[shown],
            since=hand.log.get(shown.event).ts,
        )
        told = f"{memory.id[:10]} is superseded by {written(found)[:10]} (correction)"
    finish(desk, found, told)


COMMANDS = (add, edit, correct)


def privacy_of(hand: Hand, private: bool, shared: bool) -> dict[str, str]:
    """The class that was asked for, {} for none; CurationError where an agent would let others see."""
    from transcript.errors import CurationError

    if private and shared:
        raise click.UsageError("--private and --shared say the opposite")
    if shared and not hand.is_person:
        raise CurationError(f"{hand.typed_by} is an agent; what others may see is a person's choice")
    return {"privacy": "private" if private else "shared"} if private or shared else {}


def at_work(app: App, said: Said, *, adds: bool = False) -> tuple[Desk, Hand]:
    """The desk of a command, and who commands what of memories; a sub-agent may only add, which is a proposal."""
    from consolidation.commands import Hand
    from recall.cli.work import settings_of
    from transcript.errors import CurationError
    from transcript.memories import fold_memories
    from transcript.memory_told import Told

    desk = Desk(app, said)
    if said.worker and not adds:
        raise CurationError(
            f"{said.worker} is a sub-agent; what it says of a memory counts through consolidation: "
            "'recall correct POINTER TEXT --worker ID --as agent'"
        )
    at = Told(
        desk.at.ts,
        session=desk.at.session,
        agent=desk.by.agent,
        actor="human" if desk.by.kind == "human" else "assistant",
        key=desk.at.key,
        where=desk.at.where,
    )
    state = fold_memories(desk.log, snapshot=not said.dry_run)
    workspace = desk.workspace
    return desk, Hand(desk.log, state, desk.by, at, workspace.id_key(), settings_of(app), workspace.root)


def places(hand: Hand, pointers: Sequence[str]) -> list[Span]:
    """The places that pointers name; PointerError for one that opens nothing."""
    from consolidation.span import span_of

    return [span_of(hand.log, pointer, key=hand.key) for pointer in pointers]


def finish(desk: Desk, found: Sequence[Draft], told: str) -> None:
    """Write events, let files and index follow, and say what was done."""
    dry = desk.said.dry_run
    if found and not dry:
        desk.log.append(list(found), now=desk.now)
        bring_up(desk.app, desk.workspace)
    if desk.said.as_json:
        events = [{"id": one.id, "type": one.type, "body": one.body} for one in found]
        emit({"dry_run": dry, "text": told, "events": events})
    else:
        say(f"would be: {told}" if dry else told)


def bring_up(app: App, workspace: Workspace) -> None:
    """Bring views, files and, where there is one, the index up to the record, so that a change takes effect at once."""
    from consolidation import standing_set
    from indexer.settings import DEFAULT_MODEL
    from indexer.writer import index
    from recall.cli.work import settings_of
    from transcript.errors import LockBusy

    standing_set.keep_up(workspace, settings_of(app), now=app.now())
    app.bring_up(workspace)  # rules files hold part of what is carried
    if not workspace.index_path.exists():
        return
    settings = app.config.index()
    embedder = None if settings.model == DEFAULT_MODEL else app.embedder()
    try:
        with app.store(workspace, "w") as store:
            index(workspace, store, settings, now=app.now(), embedder=embedder)
    except LockBusy:
        note("the index is being written; it takes this in when that is done")


def written(found: Sequence[Draft | Event]) -> str:
    """The id of the memory among some events, "" for none."""
    return next((one.id for one in found if is_memory(one)), "")


def inference_note(candidate: Candidate, found: Sequence[Draft]) -> str:
    """Why a new memory is kept as an inference, "" where it is a claim."""
    label = next((one.body["label"] for one in found if one.type == "memory.written"), "claim")
    if label == "claim":
        return ""
    if not candidate.sources:
        return "; kept as an inference: it has no evidence (--evidence POINTER)"
    return "; kept as an inference: " + (
        "it has no reason (--why)" if not candidate.why else "its evidence does not say it"
    )


def is_memory(event: Draft | Event) -> bool:
    """Whether an event is a memory."""
    return event.type == "memory.written"


def ends(text: str, begins: str) -> str:
    """The end that a person gave, as the record writes moments; UsageError where it comes before the beginning."""
    from transcript.event import stamp

    found = stamp(end_moment(text))
    if begins and found <= begins:
        raise click.UsageError(
            f"--valid-to {text} is not after {begins[:10]}, since when it holds: it would never hold; "
            "'recall memory add' takes --valid-from DATE"
        )
    return found
