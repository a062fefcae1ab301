"""`recall index`: make the record searchable."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from recall.cli import index_memories
from recall.cli.app import App, choose, demo_option, moment, pass_app
from recall.cli.calibrate import refit_if_due
from recall.cli.index_build import backfill, compact, rebuild
from recall.cli.output import Progress, duration, emit, note, say, size
from recall.cli.reading import door
from recall.cli.work import weigh
from transcript.errors import LockBusy
from transcript.telling import counted

if TYPE_CHECKING:
    from indexer.embedder import Embedder
    from indexer.queue import EmbedReport
    from indexer.store import Store
    from indexer.writer import IndexReport
    from transcript.workspace import Workspace

ORDER = "persons' messages and final answers first, newest session first"


@click.group(invoke_without_command=True)
@click.option("--words-only", is_flag=True, help="Leave the vectors for later.")
@click.option("--limit", type=click.IntRange(min=1), help="Most vectors of this run.")
@click.option("--since", metavar="TIME", help="No vectors for what was said before.")
@click.option("--threads", type=click.IntRange(min=1), help="Threads of the model; one on battery by default.")
@click.option("--retry", is_flag=True, help="Try texts again that were set aside because they ended the process.")
@click.option("--dry-run", is_flag=True, help="Say what there is to do, and do nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def command(
    ctx: click.Context,
    words_only: bool,
    limit: int | None,
    since: str | None,
    threads: int | None,
    retry: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Make the record searchable: words at once, vectors behind.

    Vectors are made for persons' messages and final answers first, newest session first, each batch kept as soon as it
    is made. Ctrl-C loses nothing; the next run goes on. A second run over the same record stores nothing.

    \b
        recall index
    """
    if ctx.invoked_subcommand is not None:
        return
    app = ctx.ensure_object(App)
    if dry_run:
        say_status(app, as_json)
        return
    after = moment(since) if since else None
    words, vectors = run(app, words_only=words_only, limit=limit, since=after, threads=threads, retry=retry)
    if as_json:
        emit({"words": words.counts(), "vectors": vectors_dict(vectors) if vectors else None})
        return
    if vectors is not None:
        say(vectors_text(vectors))


def run(
    app: App,
    *,
    words_only: bool = False,
    limit: int | None = None,
    since: datetime | None = None,
    threads: int | None = None,
    retry: bool = False,
) -> tuple[IndexReport, EmbedReport | None]:
    """Bring words, then vectors up to the end of the record."""
    from indexer import power
    from indexer.settings import DEFAULT_MODEL

    workspace = app.writable_workspace()
    settings = app.config.index()
    power.lower_priority()
    count = power.thread_count(threads or settings.threads)
    # Another model than the default may take less at a time, so chunks can be cut only once it is known.
    early = None if settings.model == DEFAULT_MODEL else app.embedder(count)
    with app.store(workspace, "w") as store:
        words = index_words(app, workspace, store, early)
        weigh(app, workspace, store)
        note(words_text(words))
        if words_only:
            return words, None
        embedder = early or (app.embedder(count) if settings.model == DEFAULT_MODEL else None)
        if embedder is None:
            return words, None
        vectors = embed(app, store, embedder, limit=limit, since=since, retry=retry)
        refit_if_due(app, workspace, store)
        return words, vectors


def index_words(app: App, workspace: Workspace, store: Store, embedder: Embedder | None) -> IndexReport:
    """The first half: passages, pointers, words."""
    from indexer.writer import index

    with Progress("words") as bar:
        return index(
            workspace,
            store,
            app.config.index(),
            now=app.now(),
            embedder=embedder,
            progress=lambda done, total: bar(done, total, "events"),
        )


def embed(
    app: App, store: Store, embedder: Embedder, *, limit: int | None, since: datetime | None, retry: bool
) -> EmbedReport | None:
    """The second half: vectors, in the order of their worth."""
    from indexer import queue

    def show(done: int, total: int, rate: float, left: float) -> None:
        bar(done, total, f"{rate:.0f} a second, {duration(left)} left; {ORDER}")

    try:
        with Progress("vectors") as bar:
            return queue.embed(
                store,
                embedder,
                app.config.index(),
                limit=limit,
                since=int(since.timestamp()) if since else None,
                retry_set_aside=retry,
                progress=show,
            )
    except LockBusy as error:
        note(str(error))
        return None


def words_text(report: IndexReport) -> str:
    """What the first half did, in a line or a few."""
    lines = [
        f"{counted(report.chunks, 'new passage')} from {counted(report.indexed, 'event')}, searchable by words now "
        f"({counted(report.known, 'repeats', 'repeat')} one that is there; {duration(report.seconds)})"
    ]
    if report.secrets:
        lines.append(f"  {counted(report.secrets, 'secret')} masked")
    lines += [f"  not indexed: {failure}" for failure in report.failed[:10]]
    if report.mismatch:
        lines.append(f"  {report.mismatch}")
    return "\n".join(lines)


def vectors_text(report: EmbedReport) -> str:
    """What the second half did."""
    if report.refused:
        return f"no vectors made: {report.refused}"
    speed = f", {report.embedded / report.seconds:.0f} a second" if report.embedded and report.seconds else ""
    lines = [
        f"{counted(report.embedded, 'vector')} made in {duration(report.seconds)}{speed}; "
        f"{counted(report.remaining, 'is', 'are')} missing"
    ]
    if report.failed:
        lines.append(f"  {counted(report.failed, 'text')} failed and will be tried again")
    if report.set_aside:
        texts = counted(report.set_aside, "text")
        lines.append(f"  {texts} ended the process three times; 'recall index --retry' tries again")
    lines += [f"  {failure}" for failure in report.failures[:10]]
    return "\n".join(lines)


def vectors_dict(report: EmbedReport) -> dict[str, Any]:
    """Every figure of the second half."""
    names = ("total", "embedded", "failed", "set_aside", "truncated", "remaining", "refused", "stopped")
    return {
        **{name: getattr(report, name) for name in names},
        "seconds": round(report.seconds, 3),
        "model_seconds": round(report.model_seconds, 3),
        "failures": report.failures,
    }


@command.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@demo_option
@pass_app
def status(app: App, as_json: bool, demo: bool) -> None:
    """Print how far words and vectors are.

    \b
        recall index status
    """
    say_status(choose(app, demo), as_json)


def say_status(app: App, as_json: bool) -> None:
    """Read the index and say what there is to do."""
    from indexer.audit import by_class, last_run, watermark_seq
    from indexer.queue import wanted_chunks

    workspace = app.workspace()
    if not workspace.index_path.exists():
        waiting = unread(app, workspace, "")
        if as_json:
            emit({"generation": None, "unread": waiting})
        else:
            say(f"no index yet; {counted(waiting, 'event waits', 'events wait')}")
        return
    with app.store(workspace) as store:
        meta = store.meta()
        wanted = wanted_chunks(store, store.generation, app.config.index())
        classes = by_class(store)
        waiting = unread(app, workspace, meta.watermark)
        memories = index_memories.in_index(store, app.log(workspace), door(app, workspace))
        building = store.building()
        if as_json:
            emit(
                {
                    "generation": meta.generation,
                    "building": building,
                    "model": meta.model,
                    "config_hash": meta.config_hash,
                    "read": watermark_seq(store),
                    "unread": waiting,
                    "chunks": meta.n_chunks,
                    "by_class": classes,
                    "memories": memories,
                    "vectors": meta.n_vectors,
                    "vectors_wanted": wanted,
                    "bytes": workspace.index_path.stat().st_size,
                    "backend": store.backend.vectors,
                    "last_run": last_run(store),
                }
            )
            return
        kinds = ", ".join(f"{number:,} {name}" for name, number in classes.items())
        say(f"record   {counted(waiting, 'event waits', 'events wait') if waiting else 'all of it has been read'}")
        say(f"words    {counted(meta.n_chunks, 'passage')} ({kinds})")
        for line in index_memories.lines(memories):
            say(f"         {line}")
        say(f"vectors  {meta.n_vectors:,} of {wanted:,} wanted, by {meta.model or 'no model yet'}; {ORDER}")
        size_now = size(workspace.index_path.stat().st_size)
        say(f"index    generation {meta.generation}, {size_now}, vectors searched by {store.backend.vectors}")
        if building:
            say(f"         generation {building} is being built beside it")


def unread(app: App, workspace: Workspace, watermark: str) -> int:
    """How many events that the index folds stand behind the place it has read to."""
    from indexer.exchange import FOLDED_TYPES
    from indexer.writer import position

    return sum(event.type in FOLDED_TYPES for event in app.log(workspace).read(position(watermark)))


command.add_command(rebuild)
command.add_command(compact)
command.add_command(backfill)
