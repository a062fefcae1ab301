"""Reads the record from where the index stands and stores passages, pointers and words in short transactions."""

import contextlib
import json
import platform
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from indexer import dictionary, memories
from indexer.embedder import Embedder
from indexer.exchange import CURATED_TYPES, FOLDED_TYPES, INDEXED_TYPES, Fold, Prepared
from indexer.marks import catch_up
from indexer.memories import seconds
from indexer.own_output import OwnOutput
from indexer.passages import Cutter, chunk_key, event_text
from indexer.replacements import LINKED_CLASSES, replacements
from indexer.rows import ROLES, SOURCE_CLASSES
from indexer.schema import merge_words
from indexer.segment import SEGMENTATION_VERSION, segment
from indexer.settings import IndexSettings, config_hash
from indexer.store import WRITER, Shape, Store
from indexer.store_write import NewChunk, Rows
from indexer.talk import heading, speaker_of
from indexer.tokens import TokenCounter
from indexer.wishes import is_wish
from transcript.canonical import b32id
from transcript.errors import LockBusy, RecordError, StoreError
from transcript.event import Draft, Event, Position
from transcript.kept_out import opts_out
from transcript.lock import FileLock
from transcript.log import Log
from transcript.workspace import Workspace

Progress = Callable[[int, int], None]
BATCH_CHUNKS = 160  # chunks of one transaction: the write lock is held for some tens of milliseconds
LOCK_SECONDS = 120.0
MANY_CHUNKS = 2000  # of one run, after which the file is looked after
MOST_FAILURES, MOST_OF_FAILURE = 20, 160  # that the report of a run keeps


@dataclass(slots=True)
class IndexReport:
    """What one run did."""

    generation: int = 0
    scanned: int = 0
    indexed: int = 0
    chunks: int = 0  # stored
    known: int = 0  # passages that were there already: a pointer more, no row
    pointers: int = 0
    sightings: int = 0
    marks: int = 0
    exchanges: int = 0
    secrets: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)  # "event: reason", at most 100
    estimated_tokens: int = 0
    seconds: float = 0.0
    longest_hold_ms: float = 0.0
    watermark: int = 0
    mismatch: str = ""  # what differs between index and settings, with the command that mends it

    def counts(self) -> dict[str, Any]:
        """Return the figures as the record keeps them."""
        names = ("scanned", "indexed", "chunks", "known", "pointers", "sightings", "marks", "exchanges", "secrets")
        counts: dict[str, Any] = {name: getattr(self, name) for name in names}
        counts |= {"failed": len(self.failed), "skipped": dict(sorted(self.skipped.items()))}
        counts |= {"failures": kept(self.failed)} if self.failed else {}
        return counts | ({"estimated": self.estimated_tokens} if self.estimated_tokens else {})


def index(
    workspace: Workspace,
    store: Store,
    settings: IndexSettings,
    *,
    now: datetime,
    embedder: Embedder | None = None,
    progress: Progress | None = None,
    record: bool = True,
) -> IndexReport:
    """Bring the words of the index up to the end of the record; vectors are `queue.embed`'s.

    A second run over the same record stores nothing. Killed at any moment, the next run goes on where the last
    transaction ended. LockBusy when another process is indexing. With record, an `index_run` event is appended
    when something came in.
    """
    lock = index_lock(workspace)
    if not lock.acquire(LOCK_SECONDS):
        raise LockBusy("the index of this workspace is being written by another process; try again")
    try:
        store.ensure_generation(shape_of(settings, embedder))
        with store.transaction(changes=False):
            store.register_writer(WRITER, str(store.meta().schema), now, host=platform.node())
        read = position(store.meta().watermark)
        catch_up(Log(workspace), store, through=read.seq if read else 0)
        held = store.meta().n_chunks
        report = fill(workspace, store, store.generation, settings, now=now, embedder=embedder, progress=progress)
        if report.chunks > max(MANY_CHUNKS, held):
            with contextlib.suppress(StoreError, LockBusy):  # no room for a copy, or a long reader
                settle(store)
    finally:
        lock.release()
    report.mismatch = mismatch(store, settings, embedder)
    if report.indexed or report.sightings or report.marks or report.failed:
        store.note_run("index", report.counts(), now)
        if record:
            record_run(Log(workspace), store, "index", report.counts(), now)
    return report


def fill(
    workspace: Workspace,
    store: Store,
    generation: int,
    settings: IndexSettings,
    *,
    now: datetime,
    embedder: Embedder | None = None,
    progress: Progress | None = None,
) -> IndexReport:
    """Read the record from a generation's watermark to its end into that generation."""
    began = time.perf_counter()
    store.longest_hold_ms = 0.0
    log = Log(workspace)
    report = IndexReport(generation=generation)
    rows = Rows(store, generation, store.has_table(f"chunk_fts_{generation}") and store.backend.fts5)
    fold = Fold(rows, now=int(now.timestamp()))
    start = position(store.meta_of(generation).watermark)
    preparer = Preparer(log, rows, cutter(workspace, settings, embedder), report, start)
    end = log.head().seq
    first = start.seq if start else 0
    for batch, last in preparer.batches(log.read(start), settings.batch_events):
        try:
            with store.transaction(changes=bool(batch)):
                for prepared in batch:
                    fold.apply(prepared)
                rows.flush()
                report.chunks += rows.new_chunks
                rows.commit_watermark(watermark(last))
        except BaseException:
            rows.forget()
            raise
        if batch and dictionary.is_due(store.run, generation):
            dictionary.renew(store.run, store.packing, transaction=partial(store.transaction, changes=False))
        if progress is not None:
            progress(last.seq - first, max(end - first, last.seq - first))
        report.watermark = last.seq
    report.pointers, report.sightings, report.marks = fold.pointers, fold.sightings, fold.marks
    report.exchanges, report.known = fold.prompts, fold.known
    report.indexed -= fold.opted_out
    if fold.opted_out:
        report.skipped["opted_out"] = fold.opted_out
    report.estimated_tokens = preparer.estimated
    report.longest_hold_ms = store.longest_hold_ms
    report.seconds = time.perf_counter() - began
    if report.chunks > MANY_CHUNKS:
        store.checkpoint()
    return report


def settle(store: Store) -> None:
    """Write the file anew after most of it came in: added bit by bit, its pages have gaps and the words many pieces."""
    if store.backend.fts5 and store.has_table(f"chunk_fts_{store.generation}"):
        with store.transaction(changes=False):
            merge_words(store.run, store.generation)
    store.vacuum()


class Preparer:
    """Cuts, masks and counts outside the transaction, so that the write lock is held for rows alone."""

    def __init__(
        self, log: Log, rows: Rows, cutter: Cutter, report: IndexReport, start: Position | None = None
    ) -> None:
        self._log, self._rows, self._cutter, self._report = log, rows, cutter, report
        self._own = OwnOutput(log, start)
        self._count = TokenCounter()

    def batches(self, events: Iterator[Event], most: int) -> Iterator[tuple[list[Prepared], Position]]:
        """Yield prepared events in batches, each with the position behind its last event."""
        batch: list[Prepared] = []
        chunks = read = 0
        last: Position | None = None
        for event in events:
            self._report.scanned += 1
            prepared = self.prepare(event)
            if prepared is not None:
                batch.append(prepared)
                chunks += len(prepared.chunks)
            last = event.position
            read += 1
            if len(batch) >= most or chunks >= BATCH_CHUNKS or read >= 2000:
                yield batch, last
                batch, chunks, read = [], 0, 0
        if last is not None and read:
            yield batch, last

    @property
    def estimated(self) -> int:
        """How many token counts had to be estimated."""
        return self._count.fallbacks

    def prepare(self, event: Event) -> Prepared | None:
        """Return what the fold needs of an event, None when it has nothing to fold or cannot be read."""
        if event.type not in FOLDED_TYPES:
            self._report.skipped[event.type] += 1
            return None
        if event.type not in INDEXED_TYPES:
            return Prepared(event)
        if not event.body:
            self._report.skipped["redacted"] += 1
            return None
        try:
            text = event_text(event.type, self._log.body(event))
        except RecordError as error:
            self._fail(event, str(error))
            return None
        if event.type == "tool_call":
            self._own.note(event)
        elif event.type == "tool_result" and self._own.holds(event, text):
            self._report.skipped["own_output"] += 1
            return Prepared(event)
        said = event.body.get("kind")
        if said == "prompt" and opts_out(text):
            self._report.indexed += 1
            return Prepared(event, opts_out=True)
        preferred = event.body.get("memory_type") == "user_preference" and is_wish(text.partition("\nWhy: ")[0])
        head = self._cutter.head(text) if said in ("prompt", "worker_prompt") else ""
        chunks: list[tuple[int, int, bytes, NewChunk | None]] = []
        wishes: list[int] = []
        source_class, role = class_and_role(event)
        before = heading(speaker_of(event.body), seconds(event.ts)) if said == "prompt" else ""
        for cut in self._cutter.cuts(text, tool=source_class == "tool"):
            key = chunk_key(source_class, role, before + cut.text)
            chunks.append((cut.start, cut.end, key, self._new(key, source_class, role, cut.text, before)))
            if (said == "prompt" and not before and is_wish(cut.text)) or (preferred and not wishes):
                wishes.append(cut.start)
        self._report.indexed += 1
        return Prepared(event, chunks, head, wishes=frozenset(wishes))

    def _new(self, key: bytes, source_class: str, role: str, text: str, before: str = "") -> NewChunk | None:
        """Return what to store of a chunk, None when the store has it."""
        if self._rows.chunk_id(key):
            return None
        self._report.secrets += text.count("[secret:")
        kept = text.rstrip()
        return NewChunk(
            key,
            SOURCE_CLASSES.index(source_class),
            ROLES.index(role),
            kept,
            " ".join(segment(before + kept)),
            self._count(kept),
            replacements(kept) if source_class in LINKED_CLASSES else (),
        )

    def _fail(self, event: Event, reason: str) -> None:
        if len(self._report.failed) < 100:
            self._report.failed.append(f"{event.pointer}: {reason}")


def class_and_role(event: Event) -> tuple[str, str]:
    """Return source class and role of an event's passages."""
    if event.type in memories.SAID:
        return memories.class_and_role(event)
    if event.type == "conversation_turn":
        if event.body.get("kind") == "summary":
            return "summary", "assistant"
        return "conversation", "user" if event.body.get("kind") == "prompt" else "assistant"
    if event.type in ("tool_call", "tool_result"):
        return "tool", "tool"
    if event.type in CURATED_TYPES:
        return "curated", "human" if event.actor == "human" else "assistant"
    return "reasoning", "assistant"


def cutter(workspace: Workspace, settings: IndexSettings, embedder: Embedder | None) -> Cutter:
    """Return the cutter of a workspace; without an embedder the default model's tokenizer sets the limit."""
    if embedder is not None:
        return Cutter(settings, embedder.max_tokens, embedder.count, workspace.id_key())
    from indexer.embed_onnx import MAX_TOKENS, tokenizer

    return Cutter(settings, MAX_TOKENS, tokenizer().count, workspace.id_key())


def shape_of(settings: IndexSettings, embedder: Embedder | None) -> Shape:
    """Return what a new generation is built with."""
    if embedder is None:
        from indexer.embed_onnx import MAX_TOKENS

        return Shape(config_hash(settings, max_tokens=MAX_TOKENS), SEGMENTATION_VERSION, MAX_TOKENS)
    return Shape(
        config_hash(settings, max_tokens=embedder.max_tokens),
        SEGMENTATION_VERSION,
        embedder.max_tokens,
        embedder.id,
        embedder.revision,
        embedder.dimension,
    )


def mismatch(store: Store, settings: IndexSettings, embedder: Embedder | None) -> str:
    """Return what differs between the index and the settings in one sentence, "" when nothing does."""
    held, wanted = store.meta(), shape_of(settings, embedder)
    differs = []
    if held.config_hash != wanted.config_hash:
        differs.append(f"chunk settings {held.config_hash} in the index, {wanted.config_hash} wanted")
    if wanted.model and held.dimension and not store.serves(wanted.model, wanted.revision, wanted.dimension):
        differs.append(
            f"model {held.model} ({held.revision}, {held.dimension}) in the index,"
            f" {wanted.model} ({wanted.revision}, {wanted.dimension}) wanted"
        )
    return f"{'; '.join(differs)}; run 'recall index rebuild'" if differs else ""


def index_lock(workspace: Workspace) -> FileLock:
    """Return the lock that one writer of rows holds; embedding has its own."""
    return FileLock(workspace.run_dir / "index.lock")


def watermark(at: Position) -> str:
    """Return a position of the record as the index keeps it."""
    return json.dumps({"segment": at.segment, "offset": at.offset, "seq": at.seq, "hash": at.hash}, sort_keys=True)


def position(text: str) -> Position | None:
    """Return the position that a watermark stands for, None before the first run."""
    return Position(**json.loads(text)) if text else None


def kept(failures: list[str]) -> list[str]:
    """Return the failures of a run as the record keeps them: the first, shortened."""
    return [line[:MOST_OF_FAILURE] for line in failures[:MOST_FAILURES]]


def record_run(log: Log, store: Store, kind: str, counts: dict[str, Any], now: datetime) -> None:
    """Append an `index_run` event; a record that cannot be written now gets it with the next write."""
    meta = store.meta()
    at = position(meta.watermark)
    body = {
        "run": kind,
        "counts": counts,
        "model": meta.model,
        "generation": meta.generation,
        "writer": WRITER,
        "watermark": at.seq if at else 0,
    }
    draft = Draft(
        type="index_run",
        id=b32id("index_run", log.run_id, kind, str(meta.data_version), now.isoformat()),
        ts="",
        ts_source="capture",
        session=f"recall:{log.run_id}",
        agent="recall",
        actor="system",
        origin="internal",
        body=body,
    )
    try:
        log.append_or_spool(draft, now=now, lock_timeout=1.0)
    except (RecordError, OSError):
        return  # a read-only record: the index keeps its own list of runs
