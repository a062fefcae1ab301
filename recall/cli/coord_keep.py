"""The commands of `recall coord` about the files themselves: written again, copied into the repository, erased."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from recall.cli.app import App, pass_app
from recall.cli.caller import name_of
from recall.cli.coord_ask import decider
from recall.cli.coord_out import Report, reports
from recall.cli.coord_work import desk_of, effects_of, settle, whole_ref

if TYPE_CHECKING:
    from transcript.redaction_plan import Plan


@click.command()
@click.option("--replace", is_flag=True, help="Also write over what was changed by hand; a copy is kept. For a person.")
@pass_app
@reports("restore")
def restore(app: App, replace: bool) -> Report:
    """Write .coord/ again from the record.

    What is missing, and what is the beginning of what it should be. Anything else is named and left, unless a
    person gives --replace; copies of what stood there are kept in the workspace's data folder.

    \b
        recall coord restore
    """
    from transcript.projections import coord_files

    desk = desk_of(app, writes=True)
    if replace:
        _, terminal = decider(app, desk, "")
        if terminal.ask("Write over what was changed by hand? (yes/no)").lower() not in ("y", "yes"):
            from transcript.errors import NotConfirmed

            raise NotConfirmed("not confirmed; nothing was changed")
    keep = desk.workspace.run_dir / coord_files.EDITED
    with desk.lock():
        before = coord_files.memory_path(desk.root).exists()
        done = coord_files.restore(desk.root, desk.state(), replace=replace, keep=keep)
        desk.forget_read()
        settle(desk, effects_of(app, desk))
    lines = [f"wrote {name}" for name in done.written]
    lines += [f"left {name}: it holds something else (--replace writes over it, keeping a copy)" for name in done.left]
    lines += [f"copies of what stood there: {keep}"] if replace and done.written and before else []
    return Report(
        text="\n".join(lines) or "all of it stands there as the record says",
        canonical_changed=coord_files.MEMORY in done.written and replace and before,
        more={"written": list(done.written), "left": list(done.left)},
        code=1 if done.left else 0,
    )


@click.command()
@click.argument("name", metavar="EVENT_ID")
@click.option("--to", type=click.Path(path_type=Path), required=True, metavar="DIR", help="A folder of the repository.")
@click.option("--dry-run", is_flag=True, help="Say what would be written, and write nothing.")
@pass_app
@reports("promote")
def promote(app: App, name: str, to: Path, dry_run: bool) -> Report:
    """Copy one item into the repository.

    With a manifest of where it comes from. .coord/ itself is scratch and is not committed. One item at a time: a
    checkpoint snapshot, a shipped artifact or an acceptance record.

    \b
        recall coord promote 2b1f6c1e-0000-5000-8000-000000000000 --to docs/evidence
    """
    from consolidation.coord_promote import promote as promoted

    desk = desk_of(app, writes=not dry_run)
    if not dry_run:
        settle(desk, effects_of(app, desk))
    event = whole_ref(desk, name.lower())
    done = promoted(desk, event, app.cwd / to, actor=name_of(app.env), dry_run=dry_run)
    applied = desk.state().item(event)
    item = (applied.item if applied is not None else None) or {}
    word = "would write" if dry_run else "wrote" if done.written else "it stands there already:"
    return Report(
        id=event,
        state="applied",
        evidence_refs=list(item.get("evidence_refs", ())),
        text=f"{word} {done.file}\n{word} {done.manifest_file}",
        more={
            "dry_run": dry_run,
            "file": str(done.file),
            "manifest_file": str(done.manifest_file),
            "manifest": done.manifest,
            "written": done.written,
        },
    )


@click.command()
@click.argument("names", metavar="EVENT_ID...", nargs=-1, required=True)
@click.option("--retention", default="", metavar="ID", help="The canonical decision (subject: retention) for it.")
@click.option("--dry-run", is_flag=True, help="Say what would be erased, and erase nothing.")
@pass_app
@reports("purge")
def purge(app: App, names: tuple[str, ...], retention: str, dry_run: bool) -> Report:
    """Erase the words of items that no longer hold. Needs a retention decision that a person approved.

    Their lines in memory.yml become lines that say that something was erased, and the chain still verifies; the record
    keeps that it happened. It cannot be undone.

    \b
        recall coord purge EVENT_ID --retention DECISION_ID --dry-run
    """
    from consolidation.coord_purge import events_of, purge_fault
    from recall.forgetting import erase
    from transcript import proposal_drafts
    from transcript.event import stamp
    from transcript.redaction_plan import plan_events
    from transcript.workspace import Workspace

    desk = desk_of(app, writes=not dry_run)
    if not dry_run:
        settle(desk, effects_of(app, desk))
    items, decision = [whole_ref(desk, name.lower()) for name in names], whole_ref(desk, retention.lower())
    fault = purge_fault(desk, items, decision)
    if fault is not None:
        raise fault.error()
    events = events_of(desk, items)
    if not dry_run and events:

        def plan(workspace: Workspace) -> Plan:
            return plan_events(workspace, events, reason=f"retention decision {decision}", by=name_of(app.env))

        with desk.lock():
            desk.append(proposal_drafts.purged(stamp(desk.now), items, decision))
            erase(desk.workspace, lambda: plan(desk.workspace), now=app.now(), by=name_of(app.env))
            desk.forget_read()
    word = "would be erased" if dry_run else "erased" if events else "was erased before"
    return Report(
        id=items[0] if len(items) == 1 else None,
        canonical_changed=bool(events) and not dry_run,
        text="\n".join(f"{name} {word}" for name in items),
        more={"dry_run": dry_run, "erased": [] if dry_run or not events else items, "retention": decision},
    )
