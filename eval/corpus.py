"""Takes a folder of transcripts into a workspace of its own and keeps it between runs: record, index, vectors.

Everything goes through the shipped capture, writer and queue; only the vectors come from a cache when the same text
was encoded by the same model before.
"""

import hashlib
import shutil
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from eval.labels import Span
from eval.record_map import RecordMap, build, cached
from eval.vector_cache import CachedEmbedder
from indexer.embedder import Embedder
from indexer.passages import event_text
from indexer.queue import embed
from indexer.settings import IndexSettings, config_hash
from indexer.store import Store
from indexer.writer import index
from transcript.capture import sync
from transcript.log import Log
from transcript.settings import CaptureSettings
from transcript.telling import counted
from transcript.workspace import Workspace, open_workspace

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Corpus:
    """A workspace that holds a whole folder of transcripts, indexed."""

    workspace: Workspace
    data: Path
    cache: Path

    def record_map(self, spans: tuple[Span, ...], key: str) -> RecordMap:
        """Return where each event stands; kept until the record or the labels change."""
        log = Log(self.workspace)

        def make() -> RecordMap:
            return build(log.read(), spans, lambda event: event_text(event.type, log.body(event)))

        return cached(self.data / "record-map.json", f"{log.head().hash}:{key}", make)


def prepare(
    transcripts: Path,
    cache: Path,
    *,
    embedder: Embedder | None,
    settings: IndexSettings,
    now: datetime,
    progress: Progress,
    fresh: bool = False,
) -> Corpus:
    """Return the corpus of transcripts (a folder or a tar archive), built where it is missing or out of date.

    fresh builds the index anew; the record and the cached vectors stay.
    """
    source = unpacked(transcripts, cache, progress)
    data = cache / f"corpus-{hashlib.sha256(str(source.resolve()).encode()).hexdigest()[:12]}"
    project = data / "project"
    project.mkdir(parents=True, exist_ok=True)
    workspace = open_workspace(project, data, create="capture")
    progress("taking in transcripts")
    taken = sync(workspace, data, {}, sources=source, all_roots=True, now=now, settings=CaptureSettings(native=False))
    progress(f"{counted(taken.added, 'new event')} from {counted(taken.files, 'file')} in {taken.seconds:.1f} s")
    wanted = config_hash(settings, max_tokens=embedder.max_tokens) if embedder is not None else ""
    if fresh or _outdated(workspace, wanted):
        _remove(workspace.index_path)
    with Store.open(workspace.index_path, "w") as store:
        made = index(workspace, store, settings, now=now, embedder=embedder, record=False)
        progress(f"{made.chunks:,} new chunks in {made.seconds:.1f} s")
        if embedder is not None:
            before = CachedEmbedder(embedder, cache / "vectors")
            done = embed(store, before, settings, progress=_shown(progress))
            if done.refused:
                raise ValueError(done.refused)
            progress(f"{done.embedded:,} new vectors, {before.encoded:,} by the model, in {done.seconds:.1f} s")
    return Corpus(workspace, data, cache)


def unpacked(transcripts: Path, cache: Path, progress: Progress) -> Path:
    """Return a folder of transcripts; an archive is unpacked into the cache once."""
    if transcripts.is_dir():
        return transcripts
    if not transcripts.is_file():
        raise FileNotFoundError(f"no transcripts at {transcripts}; name a folder or an archive of session files")
    stat = transcripts.stat()
    name = hashlib.sha256(f"{transcripts.resolve()}\x1f{stat.st_size}\x1f{stat.st_mtime_ns}".encode()).hexdigest()[:12]
    folder = cache / f"transcripts-{name}"
    if not folder.is_dir():
        progress(f"unpacking {transcripts.name}")
        partial = cache / f"transcripts-{name}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        with tarfile.open(transcripts) as archive:
            archive.extractall(partial, filter="data")
        partial.rename(folder)
    return folder


def _outdated(workspace: Workspace, wanted: str) -> bool:
    if not workspace.index_path.exists() or not wanted:
        return False
    with Store.open(workspace.index_path) as store:
        return store.generation > 0 and store.meta().config_hash != wanted


def _remove(index_path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        index_path.with_name(index_path.name + suffix).unlink(missing_ok=True)


def _shown(progress: Progress) -> Callable[[int, int, float, float], None]:
    last = 0

    def show(done: int, total: int, rate: float, left: float) -> None:
        nonlocal last
        if done - last >= 1000 or done == total:
            last = done
            progress(f"vectors {done:,} of {total:,}, {rate:.0f} a second, {left:.0f} s left")

    return show
