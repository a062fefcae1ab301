"""`recall index rebuild`, `compact` and `backfill`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from recall.cli.app import App, moment, pass_app
from recall.cli.output import Progress, duration, emit, note, say, size
from recall.cli.work import weigh
from transcript.telling import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from indexer.embedder import Embedder

DRY_RUN = "dry run: nothing was changed"


def shown_words(bar: Progress) -> Callable[[int, int], None]:
    """Draw how far the words are."""
    return lambda done, total: bar(done, total, "events")


def shown_vectors(bar: Progress) -> Callable[[int, int, float, float], None]:
    """Draw how far the vectors are and how long they still take."""
    return lambda done, total, rate, left: bar(done, total, f"vectors; {rate:.0f} a second, {duration(left)} left")


def model(app: App, words_only: bool, threads: int | None) -> Embedder | None:
    """The embedder, unless words are enough; gives way to everything else on this machine."""
    from indexer import power

    power.lower_priority()
    return None if words_only else app.embedder(power.thread_count(threads or app.config.index().threads))


@click.command()
@click.option("--words-only", is_flag=True, help="Without the model: vectors of unchanged text stay in use.")
@click.option("--threads", type=click.IntRange(min=1), help="Threads of the model; one on battery by default.")
@click.option("--dry-run", is_flag=True, help="Say what differs from the settings, and build nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_app
def rebuild(app: App, words_only: bool, threads: int | None, dry_run: bool, as_json: bool) -> None:
    """Build the index anew from the record.

    Beside the one that serves: the old one serves until the new one is whole. Stopped at any moment, the next run
    goes on. Vectors of equal text and model are taken over. A damaged index is put aside first.

    \b
        recall index rebuild
    """
    from indexer import rebuild as build
    from indexer.writer import mismatch

    workspace = app.writable_workspace()
    settings = app.config.index()
    embedder = model(app, words_only, threads)
    if dry_run:
        with app.store(workspace) as store:
            say(
                mismatch(store, settings, embedder) or "the index fits the settings; a rebuild would give the same rows"
            )
        note(DRY_RUN)
        return
    with build.fresh_store(workspace.index_path) as store, Progress("building") as bar:
        report = build.rebuild(
            workspace,
            store,
            settings,
            now=app.now(),
            embedder=embedder,
            progress=shown_words(bar),
            embed_progress=shown_vectors(bar),
        )
        if report.flipped:
            weigh(app, workspace, store)
    made = report.vectors.embedded if report.vectors else 0
    if as_json:
        emit(
            {
                "generation": report.generation,
                "resumed": report.resumed,
                "serves": report.flipped,
                "chunks": report.words.chunks,
                "pointers": report.words.pointers,
                "vectors_reused": report.reused,
                "vectors_made": made,
                "failed": report.words.failed,
                "refused": report.vectors.refused if report.vectors else "",
            }
        )
        return
    say(
        f"generation {report.generation} {'serves' if report.flipped else 'is not whole yet; run it again'}: "
        f"{counted(report.words.chunks, 'passage')}, {counted(report.reused, 'vector')} taken over, {made:,} made"
    )
    for failure in report.words.failed[:10]:
        say(f"  not indexed: {failure}")
    if report.vectors is not None and report.vectors.refused:
        note(report.vectors.refused)


@click.command()
@click.option("--dry-run", is_flag=True, help="Count what would go, and change nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_app
def compact(app: App, dry_run: bool, as_json: bool) -> None:
    """Merge copies and give space back.

    Takes out what belongs to nothing.

    \b
        recall index compact
    """
    from indexer import text_audit
    from indexer.audit import agreement
    from indexer.rebuild import compact as run

    workspace = app.writable_workspace()
    if dry_run:
        with app.store(workspace) as store:
            found, parts = text_audit.count(store), agreement(store)
        counts = {
            "rows": found.rows,
            "copies": found.rows - found.distinct,
            "orphan_vectors": parts.orphan_vectors,
            "orphan_pointers": parts.orphan_pointers,
        }
        if as_json:
            emit(counts)
        else:
            say(
                f"{counted(found.rows, 'row')}, {counted(counts['copies'], 'copy', 'copies')}, "
                f"{counted(parts.orphan_vectors, 'vector')} and {counted(parts.orphan_pointers, 'pointer')} of nothing"
            )
        note(DRY_RUN)
        return
    with app.store(workspace, "w") as store:
        report = run(workspace, store, now=app.now())
    if as_json:
        emit(asdict(report))
        return
    say(
        f"{counted(report.rows, 'row')}; {counted(report.copies, 'copy', 'copies')} merged, "
        f"{counted(report.orphan_vectors, 'vector')} and {counted(report.orphan_pointers, 'pointer')} of nothing "
        f"taken out; {size(report.bytes_before)} -> "
        f"{size(report.bytes_after)}"
    )


@click.command()
@click.option("--since", required=True, metavar="TIME", help="Look at everything that was said since.")
@click.option("--words-only", is_flag=True, help="Leave vectors out.")
@click.option("--threads", type=click.IntRange(min=1), help="Threads of the model; one on battery by default.")
@click.option("--dry-run", is_flag=True, help="Count the events that would be looked at, and change nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_app
def backfill(app: App, since: str, words_only: bool, threads: int | None, dry_run: bool, as_json: bool) -> None:
    """Look at every event since a time again.

    Takes in what the index lacks. What is there already is counted and left alone; running it twice brings
    nothing twice.

    \b
        recall index backfill --since 2026-03-01
    """
    from indexer.exchange import INDEXED_TYPES
    from indexer.rebuild import backfill as run

    after = moment(since)
    workspace = app.writable_workspace()
    if dry_run:
        limit = after.strftime("%Y-%m-%dT%H:%M:%S")
        seen = sum(event.type in INDEXED_TYPES and event.ts >= limit for event in app.log(workspace).read())
        say(f"{counted(seen, 'event')} would be looked at")
        note(DRY_RUN)
        return
    embedder = model(app, words_only, threads)
    with app.store(workspace, "w") as store, Progress("looking again") as bar:
        report = run(
            workspace,
            store,
            app.config.index(),
            since=after,
            now=app.now(),
            embedder=embedder,
            embed_progress=shown_vectors(bar),
        )
    counts = {name: getattr(report, name) for name in ("scanned", "inserted", "deduped", "failed")}
    counts["vectors"] = report.vectors.embedded if report.vectors else 0
    if as_json:
        emit(counts)
        return
    say(
        f"{counted(report.scanned, 'event')} looked at; {report.inserted:,} new, {report.deduped:,} there already, "
        f"{report.failed:,} failed; {counted(counts['vectors'], 'vector')} made"
    )
    for failure in report.failures[:10]:
        note(failure)
