"""Builds a new generation beside the one that serves, merges copies that got in, and takes in what was missed."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from indexer import dictionary, queue, standing, writer
from indexer.embedder import Embedder
from indexer.exchange import INDEXED_TYPES, Fold, Prepared
from indexer.queue import EmbedReport
from indexer.schema import drop_generation
from indexer.settings import IndexSettings
from indexer.store import WRITER, Shape, Store
from indexer.store_write import Rows
from indexer.vectors import KINDS
from indexer.words_table import refill
from indexer.writer import IndexReport
from transcript.errors import IndexMissing, IndexNewer, IndexUnreadable, LockBusy
from transcript.log import Log
from transcript.workspace import Workspace

_BATCH = 512
BEGUN = "rebuild_begun"  # what a run is called that may never end


@dataclass(slots=True)
class RebuildReport:
    """What a rebuild did; `flipped` tells whether the new generation serves."""

    generation: int = 0
    resumed: bool = False
    words: IndexReport = field(default_factory=IndexReport)
    reused: int = 0  # vectors taken over from the generation before
    vectors: EmbedReport | None = None
    flipped: bool = False


@dataclass(slots=True)
class CompactReport:
    """What a compaction took out."""

    rows: int = 0
    copies: int = 0
    pointers_merged: int = 0
    orphan_vectors: int = 0
    orphan_pointers: int = 0
    bytes_before: int = 0
    bytes_after: int = 0


@dataclass(slots=True)
class BackfillReport:
    """What a second look at old sources brought."""

    scanned: int = 0
    inserted: int = 0
    deduped: int = 0
    failed: int = 0
    failures: list[str] = field(default_factory=list)
    vectors: EmbedReport | None = None


def rebuild(
    workspace: Workspace,
    store: Store,
    settings: IndexSettings,
    *,
    now: datetime,
    embedder: Embedder | None = None,
    progress: writer.Progress | None = None,
    embed_progress: queue.Progress | None = None,
    should_stop: Callable[[], bool] | None = None,
    record: bool = True,
) -> RebuildReport:
    """Build the index anew from the record and let it serve once it is whole.

    The generation that serves goes on serving until then. Stopped or killed, the next call goes on where this one
    was. Vectors of equal chunks, model and revision are taken over. Without an embedder (words only) those of the old
    model stay in use. A text that cannot be embedded does not hold the new generation back.
    """
    lock = writer.index_lock(workspace)
    if not lock.acquire(writer.LOCK_SECONDS):
        raise LockBusy("the index of this workspace is being written by another process; try again")
    try:
        report = _rebuild(workspace, store, settings, now, embedder, progress, embed_progress, should_stop)
    finally:
        lock.release()
    if report.flipped:
        with contextlib.suppress(LockBusy):
            writer.settle(store)
        store.note_run("rebuild", report.words.counts(), now)
        if record:
            writer.record_run(Log(workspace), store, "rebuild", report.words.counts(), now)
    return report


def _rebuild(
    workspace: Workspace,
    store: Store,
    settings: IndexSettings,
    now: datetime,
    embedder: Embedder | None,
    progress: writer.Progress | None,
    embed_progress: queue.Progress | None,
    should_stop: Callable[[], bool] | None,
) -> RebuildReport:
    report = RebuildReport()
    shape = _shape(store, settings, embedder)
    report.generation, report.resumed = _generation(store, shape)
    g = report.generation
    store.note_run(BEGUN, {"generation": g}, now)
    report.words = writer.fill(workspace, store, g, settings, now=now, embedder=embedder, progress=progress)
    report.reused = reuse_vectors(store, store.generation, g) if store.generation else 0
    if embedder is not None:
        report.vectors = queue.embed(
            store, embedder, settings, generation=g, progress=embed_progress, should_stop=should_stop
        )
        if report.vectors.stopped or report.vectors.refused:
            return report
        writer.fill(workspace, store, g, settings, now=now, embedder=embedder)  # what came in meanwhile
    flip(store, g)
    report.flipped = True
    return report


def _shape(store: Store, settings: IndexSettings, embedder: Embedder | None) -> Shape:
    shape = writer.shape_of(settings, embedder)
    if embedder is None and store.generation:
        held = store.meta()
        if held.dimension and held.max_tokens >= shape.max_tokens:
            return replace(shape, model=held.model, revision=held.revision, dimension=held.dimension)
    return shape


def _generation(store: Store, shape: Shape) -> tuple[int, bool]:
    """Return the generation to fill: the one begun earlier when it is of this shape, else a new one."""
    begun = store.building()
    if begun is not None:
        held = store.meta_of(begun)
        same = (held.config_hash, held.segmentation, held.model, held.revision, held.dimension)
        if same == (shape.config_hash, shape.segmentation, shape.model, shape.revision, shape.dimension):
            return begun, True
        with store.transaction(changes=False):
            drop_generation(store.run, begun)
    with store.transaction(changes=False):
        return store.new_generation(shape, serving=False), False


def reuse_vectors(store: Store, old: int, new: int) -> int:
    """Copy vectors of chunks with equal key between generations of one model and revision; return how many."""
    before, after = store.meta_of(old), store.meta_of(new)
    if not before.dimension or (before.model, before.revision, before.dimension) != (
        after.model,
        after.revision,
        after.dimension,
    ):
        return 0
    source, target = store.vectors_of(old), store.vectors_of(new)
    there = target.ids()
    held = source.ids()
    pairs = [
        (a * KINDS + kind, b * KINDS + kind)
        for a, b in store.run(f"SELECT o.id, n.id FROM chunk_{new} n JOIN chunk_{old} o ON o.key = n.key")
        for kind in range(KINDS)
        if a * KINDS + kind in held and b * KINDS + kind not in there
    ]
    for at in range(0, len(pairs), _BATCH):
        part = pairs[at : at + _BATCH]
        found = source.get([a for a, _ in part])
        with store.transaction():
            target.add([b for a, b in part if a in found], np.stack([found[a] for a, _ in part if a in found]))
            store.run("UPDATE generation SET n_vectors = n_vectors + ? WHERE id = ?", (len(found), new))
    return len(pairs)


def flip(store: Store, generation: int) -> None:
    """Let a finished generation serve, in one transaction; then drop the one before."""
    old = store.generation
    with store.transaction():
        store.run("UPDATE generation SET state = 'serving' WHERE id = ?", (generation,))
        store.run("UPDATE meta SET value = ? WHERE key = 'generation'", (str(generation),))
        if old:
            standing.carry_over(store.run, old, generation)
            store.run("UPDATE generation SET state = 'retired' WHERE id = ?", (old,))
    store.refresh()
    if old:
        with store.transaction(changes=False):
            drop_generation(store.run, old)


def fresh_store(path: Path) -> Store:
    """Open the index for a rebuild; one that is damaged or from a newer version is put aside first."""
    try:
        return Store.open(path, "w")
    except IndexMissing:
        raise
    except (IndexUnreadable, IndexNewer):
        for suffix in ("", "-wal", "-shm"):
            part = path.with_name(path.name + suffix)
            if part.exists():
                part.replace(path.with_name(f"{path.name}.unreadable{suffix}"))
        return Store.open(path, "w")


def compact(workspace: Workspace, store: Store, *, now: datetime, record: bool = True) -> CompactReport:
    """Merge rows of equal key or text (their pointers go to the first), take out what belongs to nothing, free space.

    Other writers of the index are forgotten with that: what is left is as ours would have written it.
    """
    lock = writer.index_lock(workspace)
    if not lock.acquire(writer.LOCK_SECONDS):
        raise LockBusy("the index of this workspace is being written by another process; try again")
    try:
        report = CompactReport(bytes_before=_bytes(store))
        g = store.generation
        for same in ("key", "source_class, role, plain_text(text)"):  # a foreign writer's copies have keys of their own
            copies = list(
                store.run(
                    f"SELECT id, keep FROM (SELECT id, min(id) OVER (PARTITION BY {same}) AS keep FROM chunk_{g})"
                    " WHERE id <> keep ORDER BY id"
                )
            )
            for at in range(0, len(copies), _BATCH):
                with store.transaction():
                    report.pointers_merged += _merge(store, g, copies[at : at + _BATCH])
            report.copies += len(copies)
        _settle(store, g, report)
        dictionary.renew(store.run, store.packing, transaction=store.transaction)
        store.vacuum()
        report.bytes_after = _bytes(store)
    finally:
        lock.release()
    counts = {name: getattr(report, name) for name in CompactReport.__slots__}
    store.note_run("compact", counts, now)
    if record:
        writer.record_run(Log(workspace), store, "compact", counts, now)
    return report


def _merge(store: Store, g: int, copies: list[tuple[int, int]]) -> int:
    """Move the pointers and, where the kept row has none, the vector of each copy; drop the copy."""
    vectors = store.vectors
    held = vectors.get([n * KINDS for pair in copies for n in pair]) if store.meta().dimension else {}
    moved = 0
    for copy, keep in copies:
        store.run(f"UPDATE OR IGNORE pointer_{g} SET chunk_id = ? WHERE chunk_id = ?", (keep, copy))
        moved += store.changes()
        store.run(f"DELETE FROM pointer_{g} WHERE chunk_id = ?", (copy,))
        if copy * KINDS in held and keep * KINDS not in held:
            held[keep * KINDS] = held[copy * KINDS]
            vectors.add([keep * KINDS], held[keep * KINDS][None, :])
        store.run(f"DELETE FROM embed_state_{g} WHERE id = ?", (copy,))
        store.run(f"DELETE FROM chunk_{g} WHERE id = ?", (copy,))
    if held:
        store.remove_vectors(g, [copy for copy, _ in copies if copy * KINDS in held])
    return moved


def _settle(store: Store, g: int, report: CompactReport) -> None:
    """Bring the unique key, the words and the counts back in line with the chunks."""
    chunks = {row[0] for row in store.run(f"SELECT id FROM chunk_{g}")}
    report.rows = len(chunks)
    lost = sorted({number // KINDS for number in store.vectors.ids()} - chunks) if store.meta().dimension else []
    report.orphan_vectors = len(lost)
    for at in range(0, len(lost), _BATCH):
        with store.transaction():
            store.remove_vectors(g, lost[at : at + _BATCH])
    with store.transaction():
        store.run(f"DELETE FROM pointer_{g} WHERE chunk_id NOT IN (SELECT id FROM chunk_{g})")
        report.orphan_pointers = store.changes()
        gone = f"NOT IN (SELECT id FROM chunk_{g})"
        store.run(f"DELETE FROM replaced_{g} WHERE chunk_id {gone}")
        store.run(f"DELETE FROM proposed_{g} WHERE one_chunk {gone} OR other_chunk {gone}")
        store.run(f"CREATE UNIQUE INDEX IF NOT EXISTS chunk_key_{g} ON chunk_{g} (key)")
        if store.backend.fts5:
            refill(store.run, store.packing, g)
        store.recount(g)
        store.run("DELETE FROM index_writers WHERE name <> ?", (WRITER,))  # one that writes again registers again


def backfill(
    workspace: Workspace,
    store: Store,
    settings: IndexSettings,
    *,
    since: datetime,
    now: datetime,
    embedder: Embedder | None = None,
    embed_progress: queue.Progress | None = None,
    should_stop: Callable[[], bool] | None = None,
    record: bool = True,
) -> BackfillReport:
    """Look at every event since a time again, whatever the watermark says, and take in what the index lacks.

    What is there already is counted as deduped; running it again brings nothing twice. With an embedder the vectors
    that are missing since that time follow.
    """
    held = writer.position(store.meta().watermark) if store.generation else None
    run = writer.index(workspace, store, settings, now=now, embedder=embedder, record=False)
    report = BackfillReport(failures=list(run.failed))
    lock = writer.index_lock(workspace)
    if not lock.acquire(writer.LOCK_SECONDS):
        raise LockBusy("the index of this workspace is being written by another process; try again")
    try:
        _look_again(workspace, store, settings, since, now, embedder, report, held.seq if held else 0)
    finally:
        lock.release()
    report.failed = len(report.failures)
    if embedder is not None:
        report.vectors = queue.embed(
            store,
            embedder,
            settings,
            since=int(since.timestamp()),
            progress=embed_progress,
            should_stop=should_stop,
        )
    counts: dict[str, Any] = {n: getattr(report, n) for n in ("scanned", "inserted", "deduped", "failed")}
    counts |= {"failures": writer.kept(report.failures)} if report.failures else {}
    store.note_run("backfill", counts, now)
    if record:
        writer.record_run(Log(workspace), store, "backfill", counts, now)
    return report


def _look_again(
    workspace: Workspace,
    store: Store,
    settings: IndexSettings,
    since: datetime,
    now: datetime,
    embedder: Embedder | None,
    report: BackfillReport,
    known_to: int,
) -> None:
    log = Log(workspace)
    rows = Rows(store, store.generation, store.has_table(f"chunk_fts_{store.generation}") and store.backend.fts5)
    fold = Fold(rows, now=int(now.timestamp()), late=True)
    again = IndexReport()
    preparer = writer.Preparer(log, rows, writer.cutter(workspace, settings, embedder), again)
    missing: list[Prepared] = []
    for event in log.read():
        if event.type not in INDEXED_TYPES or not event.body or event.ts < since.strftime("%Y-%m-%dT%H:%M:%S"):
            continue
        report.scanned += 1
        held = rows.find_event(event.id)
        if held is not None:
            fresh = event.seq > known_to and held[2] >= 0  # what stays out is no news
            report.inserted += fresh
            report.deduped += not fresh
            continue
        prepared = preparer.prepare(event)
        if prepared is not None:
            missing.append(prepared)
    for at in range(0, len(missing), settings.batch_events):
        with store.transaction():
            for prepared in missing[at : at + settings.batch_events]:
                fold.apply(prepared)
            rows.flush()
            rows.commit_counts()
    report.inserted += len(missing) - fold.opted_out
    report.deduped += fold.opted_out
    report.failures += [line for line in again.failed if line not in report.failures]


def _bytes(store: Store) -> int:
    pages, size = (next(iter(store.run(f"PRAGMA {name}")))[0] for name in ("page_count", "page_size"))
    return int(pages * size)
