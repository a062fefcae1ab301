"""`recall coord propose`: write down what should change, for a person to decide on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recall.cli.app import App, pass_app
from recall.cli.caller import name_of
from recall.cli.coord_out import Report, reports
from recall.cli.coord_work import desk_of, effects_of, named, same_waiting, settle, whole_ref

if TYPE_CHECKING:
    from collections.abc import Mapping

    from consolidation.coord_decide import Shown
    from consolidation.coord_desk import CoordDesk
    from consolidation.coord_effects import RecallEffects
    from consolidation.coord_schema import Document

OPERATIONS = ("add", "supersede", "archive", "delete")
FROM = {"decision": "decision", "question": "question", "outcome": "outcome"}  # type of event -> kind of item
ACTION_OPTIONS = (
    click.option("--target", metavar="REF", help="What it changes: an item's id, memory:ID, procedure:PATH ..."),
    click.option("--summary", metavar="T", help="What is to hold, in one compact statement."),
    click.option("--evidence", multiple=True, metavar="REF", help="What it rests on; may be repeated."),
    click.option("--kind", metavar="K", help="decision (the default), question, artifact or outcome."),
    click.option("--subject", metavar="T", help="What it is about; two decisions on one subject are a conflict."),
    click.option("--content", metavar="PATH=FILE", help="The text of a procedure or identity file, taken from FILE."),
)


def action_options(command: Any) -> Any:
    """Add the options that say what is to be done."""
    for option in reversed(ACTION_OPTIONS):
        command = option(command)
    return command


@click.command()
@click.argument("operation", type=click.Choice(OPERATIONS), required=False)
@action_options
@click.option(
    "--file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    default=None,
    metavar="DOC",
    help="A whole document.",
)
@click.option("--from", "pointer", metavar="POINTER", help="A recorded decision, question or outcome to take it from.")
@click.option("--task", default="", metavar="T", help="The task it comes from.")
@click.option("--revises", metavar="ID", help="The proposal that this one takes the place of.")
@click.option("--dry-run", is_flag=True, help="Check it and write nothing.")
@pass_app
@reports("propose")
def propose(
    app: App,
    operation: str | None,
    target: str | None,
    summary: str | None,
    evidence: tuple[str, ...],
    kind: str | None,
    subject: str | None,
    content: str | None,
    file: Path | None,
    pointer: str | None,
    task: str,
    revises: str | None,
    dry_run: bool,
) -> Report:
    """Propose to change a fact that agents share.

    Adds, supersedes, archives or deletes one. Writes one file below .coord/memory-proposals and nothing else: it
    counts only once a person approved it and it was applied. Without evidence it stays pending.

    \b
        recall coord propose add --summary "Times are stored in UTC" --evidence docs/time.md --task T12
    """
    from transcript.projections.coord_files import proposal_path

    desk = desk_of(app, writes=not dry_run)
    given: dict[str, Any] = {
        "target": target,
        "summary": summary,
        "evidence": evidence,
        "kind": kind,
        "subject": subject,
    }
    if file is not None:
        if operation or pointer or content or any(given.values()):
            raise click.UsageError("--file is a whole document: leave out the operation and what describes one")
        document = _whole(app.cwd / file)
    else:
        if operation is None:
            raise click.UsageError("what is to be done? add, supersede, archive or delete; or --file DOC")
        action = action_of(app, desk, operation, content=content, **given)
        if pointer is not None:
            action, found_task = _taken(app, desk, pointer, action)
            task = task or found_task
        action = _with_subject(desk, action)
        if not str(action["summary"]).strip():
            raise click.UsageError("--summary says what is to hold")
        before = named(desk, revises) if revises else ""
        waits = None if before else same_waiting(desk, action)
        if waits is not None:  # a person is asked once, however many agents think of it
            return _told(waits, desk, proposal_path(desk.root, waits.id), "it waits already:")
        document = desk.drafted(action, source_task=task or "recall coord propose", revises=before)
    return _proposed(app, desk, document, dry_run=dry_run)


def _proposed(app: App, desk: CoordDesk, document: Document, *, dry_run: bool) -> Report:
    from transcript.projections.coord_files import proposal_path

    effects = effects_of(app, desk)
    if not dry_run:
        settle(desk, effects)
    _refuse_taken(desk, document)
    refuse_impossible(desk, document, effects)
    if not dry_run:
        with desk.lock():
            _refuse_taken(desk, document)
            desk.put(document, by=name_of(app.env))
    word = "would write" if dry_run else "wrote"
    return _told(document, desk, proposal_path(desk.root, document.id), word, dry_run=dry_run)


def _told(document: Document, desk: CoordDesk, path: Path, word: str, *, dry_run: bool = False) -> Report:
    from consolidation.coord_refs import UNRESOLVED
    from consolidation.coord_schema import action_hash, proposal_hash

    missing = not document.evidence_refs
    hashes = desk.references().hashes(document.evidence_refs)
    unresolved = [ref for ref, value in hashes.items() if value == UNRESOLVED]
    reason = "no evidence: revise it with evidence, else it is never applied" if missing else "a person has to decide"
    lines = [f"{word} {path}", f"pending: {reason}"]
    lines += [f"nothing opens behind this evidence: {', '.join(unresolved)}"] if unresolved else []
    return Report(
        id=document.id,
        state="proposed",
        evidence_refs=document.evidence_refs,
        human_decision_required=True,
        text="\n".join(lines),
        more={
            "dry_run": dry_run,
            "path": str(path),
            "document_hash": proposal_hash(document),
            "action_hash": action_hash(document),
            "pending_reason": "no_evidence" if missing else "not_decided",
            "unresolved": unresolved,
        },
    )


def action_of(
    app: App,
    desk: CoordDesk,
    operation: str,
    *,
    target: str | None,
    summary: str | None,
    evidence: tuple[str, ...],
    kind: str | None,
    subject: str | None,
    content: str | None,
) -> dict[str, Any]:
    """The action that options describe, shortened ids in full; what is not given is not in it."""
    target = whole_ref(desk, target) if target is not None else None
    action: dict[str, Any] = {"operation": operation, "target_ref": target, "summary": summary or ""}
    action["evidence_refs"] = list(dict.fromkeys(whole_ref(desk, ref) if ":" in ref else ref for ref in evidence))
    action |= {name: value for name, value in (("kind", kind), ("subject", subject)) if value}
    if content is not None:
        path, mark, file = content.partition("=")
        if not mark or not file:
            raise click.UsageError("--content is PATH=FILE: where it goes, and the file that holds the text")
        try:
            text = (app.cwd / file).read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            raise click.UsageError(f"{file} is no UTF-8 text") from None
        except OSError as error:
            raise click.UsageError(f"{file} cannot be read ({error.strerror})") from None
        if target is not None and target.partition(":")[2] != path:
            raise click.UsageError(f"--target {target} and --content {path} name two places: they must name one")
        action["content"] = {"path": path, "text": text}
    return action


def _with_subject(desk: CoordDesk, action: dict[str, Any]) -> dict[str, Any]:
    """The action with the subject of what it takes the place of, unless it names one of its own."""
    held = desk.state().item(str(action["target_ref"])) if action["operation"] == "supersede" else None
    before = (held.item or {}).get("subject") if held is not None else None
    return action if before is None else {"subject": before, **action}


def refuse_impossible(desk: CoordDesk, document: Document, effects: RecallEffects) -> None:
    """CoordError where the action of a document cannot be done as things stand."""
    from consolidation.coord_refs import action_fault

    fault = action_fault(document.action, desk.references()) or effects.check(document.action)
    if fault is not None:
        raise fault.error()


def revised_action(desk: CoordDesk, effects: RecallEffects, shown: Shown, changed: Mapping[str, Any]) -> dict[str, Any]:
    """The action of what was shown with other words; CoordError where nothing changed or it cannot be proposed so."""
    from transcript.coord_codes import Refusal

    before = shown.document
    action = {**before.action, **changed}
    if action == dict(before.action):
        raise Refusal("schema", "action", "nothing was changed; the new proposal would say the same").error()
    draft = desk.drafted(action, source_task=str(before.raw["source_task"]), revises=before.id)
    refuse_impossible(desk, draft, effects)
    return action


def _whole(path: Path) -> Document:
    """The document of a file; CoordError where it is none, or one that says it was decided."""
    from consolidation.coord_schema import parse
    from transcript.coord_codes import Refusal

    document = parse(path.read_bytes())
    if document.state != "proposed" or document.decision is not None:
        raise Refusal("schema", "state", "a new proposal has the state `proposed` and no decision").error()
    return document


def _refuse_taken(desk: CoordDesk, document: Document) -> None:
    """`id_taken` where another document has this id; the same one, written again, is none."""
    from consolidation.coord_schema import proposal_hash
    from transcript.coord_codes import refused

    known, held = desk.state().documents.get(document.id), desk.documents().by_id.get(document.id)
    if known is not None and (known.state != "proposed" or known.document_hash != proposal_hash(document)):
        raise refused("id_taken", "proposal_id")
    if held is not None and proposal_hash(held.document) != proposal_hash(document):
        raise refused("id_taken", "proposal_id")


def _taken(app: App, desk: CoordDesk, pointer: str, action: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """The action filled in from something recorded, which becomes its evidence, and the task that was named there."""
    from recall.cli.reading import door
    from transcript.curation import resolve
    from transcript.errors import PointerError

    whole, event = resolve(desk.log, pointer)
    door(app, desk.workspace).refuse_event(desk.log, event)
    if event.type not in FROM or event.origin != "internal":
        raise PointerError(f"{pointer} is no decision, question or outcome of ours but a {event.type}")
    body = event.body
    statement = str(body.get("statement") or body.get("text") or "")
    filled = {**action, "summary": action["summary"] or statement}
    filled["evidence_refs"] = list(dict.fromkeys([f"recall:{whole}", *action["evidence_refs"]]))
    if action["operation"] in ("add", "supersede") and action["target_ref"] is None:
        filled.setdefault("kind", FROM[event.type])
    return filled, str(body.get("task") or "")
