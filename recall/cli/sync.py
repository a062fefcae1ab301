"""`recall sync`: take in what the harnesses have written."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recall.cli.app import App, pass_app
from recall.cli.output import Progress, duration, emit, note, say, size, visible
from transcript.adapters.jsonl import GLUED
from transcript.skipped import worded
from transcript.telling import counted, minute

if TYPE_CHECKING:
    from transcript.adapters.base import Adapter
    from transcript.capture import SyncReport

SHOWN = 10
GONE_SHOWN = 3


@click.command()
@click.option("--full", is_flag=True, help="Compare every byte that was read before, not the last 64 KiB of each file.")
@click.option("--watch", is_flag=True, help="Go on taking in what is written, until Ctrl-C.")
@click.option("--readapt", is_flag=True, help="Read the kept source bytes again with this version's adapter.")
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Look for sessions under DIR instead of the harnesses' own folders.",
)
@click.option(
    "--adapter",
    "names",
    multiple=True,
    metavar="NAME",
    help="Only sessions of this harness (claude, codex, grok ... or wire); may be repeated.",
)
@click.option("--all-roots", is_flag=True, help="With --from: take every session found into this workspace.")
@click.option("--dry-run", is_flag=True, help="Count the sessions that would be read (--json names them); read none.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_app
def command(
    app: App,
    full: bool,
    watch: bool,
    readapt: bool,
    source: Path | None,
    names: tuple[str, ...],
    all_roots: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Take in every session of this project, word for word.

    Those of every harness. Reads on where the last sync stopped; again as often as you like, nothing is taken in
    twice. Sessions of other projects are counted, not read. Ctrl-C loses nothing.

    \b
        recall sync
    """
    from transcript.capture import sync

    if all_roots and source is None:
        raise click.UsageError("--all-roots takes in whatever is there: name the folder with --from DIR")
    adapters = chosen(names)
    if dry_run:
        say_plan(app, source, adapters, all_roots, as_json)
        return
    workspace = app.writable_workspace()
    settings = app.capture_settings()
    if readapt:
        from transcript.readapt import readapt as read_again

        with Progress("reading again") as bar:
            report = read_again(workspace, settings=settings, now=app.now(), progress=shown_by(bar))
    else:
        with Progress("taking in") as bar:
            report = sync(
                workspace,
                app.data,
                app.env,
                sources=source,
                adapters=adapters,
                all_roots=all_roots,
                full=full,
                progress=shown_by(bar),
                now=app.now(),
                settings=settings,
            )
    app.bring_up(workspace)
    emit(as_dict(report)) if as_json else say(text(report))
    if watch:
        follow(app, source, adapters, all_roots, as_json)


def chosen(names: tuple[str, ...]) -> tuple[Adapter, ...] | None:
    """The adapters of these names; None, which is all of them, for no names."""
    from transcript.adapters.registry import named, registered

    return named(names, registered().adapters) if names else None


def shown_by(bar: Progress) -> Any:
    """A callback that draws a capture's progress, in megabytes."""

    def show(at: Any) -> None:
        bar(
            at.bytes >> 20,
            max(at.bytes_total >> 20, at.bytes >> 20),
            f"MB, {at.files:,} of {counted(at.files_total, 'file')}",
        )

    return show


def follow(app: App, source: Path | None, adapters: tuple[Adapter, ...] | None, all_roots: bool, as_json: bool) -> None:
    """Report every round of a watch that took something in."""
    from transcript.watch import watch

    def new(report: SyncReport) -> str:
        return f"{minute(app.now())}  {counted(report.added, 'new event')}"

    def tell(report: SyncReport) -> None:
        if report.added or report.sightings or report.marks:
            app.bring_up(app.workspace())
            emit(as_dict(report)) if as_json else say(new(report))

    note("watching; Ctrl-C ends it and loses nothing")
    watch(
        app.writable_workspace(),
        app.data,
        app.env,
        sources=source,
        adapters=adapters,
        all_roots=all_roots,
        settings=app.capture_settings(),
        on_report=tell,
    )


def say_plan(
    app: App, source: Path | None, adapters: tuple[Adapter, ...] | None, all_roots: bool, as_json: bool
) -> None:
    """Say what a sync would look at. Reads the first lines of files it does not know, writes nothing."""
    from transcript.adapters.registry import registered
    from transcript.capture_claims import claim
    from transcript.capture_plan import count, gone_folders, plan
    from transcript.capture_state import CaptureState

    workspace = app.workspace()
    states = CaptureState(workspace).sources
    files: list[str] = []
    skipped: dict[str, int] = {}
    gone: Counter[str] = Counter()
    used = registered().adapters if adapters is None else adapters
    for claims in claim(used, app.env, source, workspace, app.data, states):
        planned, _ = plan(claims.adapter, claims.sources, states, app.data, all_roots=all_roots)
        gone += gone_folders(planned)
        usable = [item for item in planned if not item.reason]
        mine = [item for item in usable if all_roots or (item.owner is not None and item.owner.id == workspace.id)]
        files += [str(item.source.path) for item in mine]
        for reason, number in (*claims.refused.items(), *count(planned).items(), ("foreign", len(usable) - len(mine))):
            skipped[reason] = skipped.get(reason, 0) + number
    skipped = {reason: number for reason, number in skipped.items() if number}
    if as_json:
        emit({"files": files, "skipped": skipped, "gone": dict(gone)})
        return
    say(f"{counted(len(files), 'session file')} would be read")
    for line in skipped_lines(skipped, gone):
        say(line)


def as_dict(report: SyncReport) -> dict[str, Any]:
    """Every figure of a report."""
    return {
        "added": report.added,
        "sightings": report.sightings,
        "marks": report.marks,
        "by_type": dict(report.by_type),
        "harnesses": {
            name: {
                "files": of.files,
                "sessions": of.sessions,
                "added": of.added,
                "by_type": dict(of.by_type),
                "skipped": dict(of.skipped),
                "unknown": dict(of.unknown),
                "damaged": of.damaged,
            }
            for name, of in report.harnesses.items()
        },
        "sessions": report.sessions,
        "files": report.files,
        "changed": report.changed,
        "bytes": report.bytes,
        "records": dict(report.records),
        "skipped": dict(report.skipped),
        "gone": dict(report.gone),
        "unknown": dict(report.unknown),
        "notes": dict(report.notes),
        "damaged": [{"file": f, "line": n, "offset": o, "reason": r} for f, n, o, r in report.damaged],
        "rewound": report.rewound,
        "missing": report.missing,
        "incomplete": [{"file": f, "bytes": n} for f, n in report.incomplete],
        "failed": [{"file": f, "reason": r} for f, r in report.failed],
        "refused": [{"adapter": n, "reason": r} for n, r in report.refused],
        "seconds": round(report.seconds, 3),
        "llm_tokens": report.llm_tokens,
    }


def text(report: SyncReport) -> str:
    """A report for people: what came in, what was passed over and why, what was damaged."""
    kinds = ", ".join(
        f"{number:,} {name}" for name, number in report.by_type.most_common() if name not in ("sighting", "mark")
    )
    lines = [
        f"{counted(report.added, 'new event')} from {report.changed:,} of {counted(report.files, 'file')}, "
        f"{counted(report.sessions, 'session')} ({size(report.bytes)} in {duration(report.seconds)})"
    ]
    if kinds:
        lines.append(f"  {kinds}")
    if len(report.harnesses) > 1:
        lines += [
            f"  {name}: {counted(of.added, 'new event')}, {counted(of.files, 'file')},"
            f" {counted(of.sessions, 'session')}"
            for name, of in sorted(report.harnesses.items())
            if of.files or of.by_type
        ]
    if report.sightings or report.marks:
        sightings = counted(report.sightings, "sighting of a record that is", "sightings of records that are")
        lines.append(f"  {sightings} there already, {counted(report.marks, 'mark')}")
    lines += skipped_lines(report.skipped, report.gone)
    if report.unknown:
        lines.append(f"  unknown kinds, kept raw: {', '.join(f'{n:,} {k}' for k, n in report.unknown.most_common())}")
    damaged = [damage for damage in report.damaged if damage[3] != GLUED]
    for file, line, offset, reason in damaged[:SHOWN]:
        lines.append(f"  damaged: {file} line {line} (byte {offset}): {reason}")
    if len(damaged) > SHOWN:
        lines.append(f"  and {counted(len(damaged) - SHOWN, 'more damaged line')}; --json lists them")
    if mended := len(report.damaged) - len(damaged):
        one, many = "line held more than one record", "lines held more than one record"
        lines.append(f"  {counted(mended, one, many)}; every one was taken in")
    lines += [f"  not read: {file}: {reason}" for file, reason in report.failed[:SHOWN]]
    lines += [f"  adapter refused: {name} {reason}" for name, reason in report.refused]
    if report.rewound:
        files = counted(len(report.rewound), "file was rewritten", "files were rewritten")
        lines.append(f"  {files} by the harness and read again")
    if report.missing:
        one, many = "file is gone; the record keeps what it held", "files are gone; the record keeps what they held"
        lines.append(f"  {counted(len(report.missing), one, many)}")
    return "\n".join(lines)


def skipped_lines(skipped: Any, gone: Counter[str]) -> list[str]:
    """One line for each reason why sessions were passed over, and the folders that are gone, the fullest first."""
    lines = [f"  passed over: {worded(reason, number)}" for reason, number in sorted(skipped.items())]
    lines += [f"    {number:,} of {visible(folder)}" for folder, number in gone.most_common(GONE_SHOWN)]
    if len(gone) > GONE_SHOWN:
        lines.append(f"    and of {counted(len(gone) - GONE_SHOWN, 'other folder')}; --json names them")
    return lines
