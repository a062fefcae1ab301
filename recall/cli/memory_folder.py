"""The commands of `recall memory` for whole sets: another tool's folder, the validity of all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recall.cli.app import App, pass_app
from recall.cli.curate import Said, curated
from recall.cli.output import Progress, emit, note, say
from transcript.paths import user_path
from transcript.telling import counted

if TYPE_CHECKING:
    from transcript.workspace import Workspace


@click.command("import")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@curated
@click.pass_context
@pass_app
def import_(app: App, ctx: click.Context, folder: Path, said: Said) -> None:
    """Take in the memories of FOLDER.

    Markdown files of this or another tool. Each file is loaded or named with the reason why not; exits 1 when one was
    not. What no source of this project says is kept as an inference. Again, nothing is taken in twice; a file that
    changed takes the place of what it said.

    \b
        recall memory import ~/notes/memories --dry-run
    """
    from consolidation.imported import imported
    from consolidation.loader import load
    from recall.cli.memory_write import at_work, bring_up

    desk, hand = at_work(app, said)
    loaded = load(folder)
    with Progress("taking in") as bar:
        done = [0]

        def one_more() -> None:
            done[0] += 1
            bar(done[0], len(loaded.memories), "files")

        found = imported(hand, loaded, folder.resolve().name, one_more)
        if not said.dry_run:
            desk.log.append(found.drafts, now=desk.now)
            bring_up(app, desk.workspace)
    layouts = ", ".join(f"{number:,} {name}" for name, number in sorted(loaded.layouts.items()))
    if said.as_json:
        emit(
            {
                "dry_run": said.dry_run,
                "loaded": len(loaded.memories),
                "layouts": dict(loaded.layouts),
                "new": found.new,
                "known": found.known,
                "waiting": dict(found.waiting),
                "replaced": dict(found.replaced),
                "failed": dict(found.failed),
            }
        )
    else:
        bad = "; ".join(f"{path} ({reason})" for path, reason in found.failed)
        missing = f"{len(found.failed):,} not{f': {bad}' if bad else ''}"
        say(f"{len(loaded.memories):,} loaded ({layouts or 'none'}), {missing}")
        new = f"{counted(len(found.new), 'memory', 'memories')} {'would be new' if said.dry_run else 'new'}"
        replaced = f", {len(found.replaced):,} replaced since" if found.replaced else ""
        say(f"{new}, {len(found.known):,} known, {len(found.waiting):,} waiting{replaced}")
        for path, reason in (*found.waiting, *found.replaced):
            say(f"  {path}: {reason}")
    ctx.exit(1 if found.failed else 0)


@click.command("backfill-validity")
@curated
@pass_app
def backfill(app: App, said: Said) -> None:
    """Fill in since when and until when each memory holds.

    From its sources and from what took its place. Prints how many have both after it. Never overwrites an interval
    that is there.

    \b
        recall memory backfill-validity --dry-run
    """
    from consolidation.validity import backfill as filled
    from consolidation.validity import coverage
    from recall.cli.memory_write import at_work, bring_up
    from transcript.memories import fold_memories

    desk, hand = at_work(app, said)
    found = filled(hand.state, hand.log, hand.at, hand.by)
    after = coverage(hand.state, found)
    if found and not said.dry_run:
        desk.log.append(found, now=desk.now)
        bring_up(app, desk.workspace)
        after = coverage(fold_memories(desk.log), [])
    if said.as_json:
        emit({"dry_run": said.dry_run, "amended": len(found), **after.as_dict()})
    else:
        say(f"{'would amend' if said.dry_run else 'amended'} {counted(len(found), 'memory', 'memories')}")
        say(after.text)


COMMANDS = (import_, backfill)


def take_folders(app: App, workspace: Workspace) -> int:
    """Take in the memories of the folders that `memory.folders` names; return how many events are new.

    What fails is said and keeps nothing else from being taken in: 'recall memory import' names each file.
    """
    from consolidation.commands import Hand
    from consolidation.imported import imported
    from consolidation.loader import load
    from recall.cli.work import settings_of
    from transcript.curation import Author
    from transcript.event import stamp
    from transcript.memories import fold_memories
    from transcript.memory_told import Told

    settings, log, added = settings_of(app), app.log(workspace), 0
    for name in filter(None, settings.memory.folders.split(os.pathsep)):
        folder = user_path(name)
        if not folder.is_dir():
            note(f"memory.folders: {folder} is no folder; correct the setting")
            continue
        by, at = Author("memory.folders", "agent"), Told(stamp(app.now()))
        hand = Hand(log, fold_memories(log), by, at, workspace.id_key(), settings, workspace.root)
        found = imported(hand, load(folder), folder.resolve().name)
        if found.failed:
            files = counted(len(found.failed), "file")
            note(
                f"memory.folders: {files} of {folder} not taken in; 'recall memory import {folder} --dry-run' says why"
            )
        added += len(log.append(found.drafts, now=app.now()))
    return added
