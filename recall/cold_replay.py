"""Rebuilds everything from a copy of the record alone, in an empty folder, and says part by part whether it is equal.

The copy holds the segments of `log/` and the blobs they name, and the workspace's key, on which the marks of masked
credentials depend: no head, no snapshot, no view, no index. It is removed at the end, and by the next replay or erasure
should this one be killed.
"""

import contextlib
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from indexer import contents, queue, standing, writer
from indexer.embedder import Embedder
from indexer.settings import IndexSettings
from indexer.store import Store
from transcript.errors import IndexMissing, RecordError
from transcript.lock import FileLock
from transcript.log import Log
from transcript.paths import read_file, secure_dir
from transcript.projections import memory_files, views
from transcript.telling import counted
from transcript.workspace import Workspace

FOLDER = "cold"
WHOLE = ("passages", "words")  # parts that an erasure leaves as a rebuild makes them
EQUAL, DIFFERS, ABSENT = "equal", "differs", "absent"
Progress = Callable[[int, int], None]
Weigh = Callable[[Store], object]


@dataclass(frozen=True, slots=True)
class Part:
    """One thing rebuilt: equal, differs, or absent (there is none at hand to compare with)."""

    name: str
    state: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Replay:
    """What came out: the views and the memories' files, then the parts of the index."""

    events: int
    views: tuple[Part, ...]
    index: tuple[Part, ...]

    @property
    def equal(self) -> bool:
        """Whether nothing that is at hand differs."""
        return all(part.state != DIFFERS for part in (*self.views, *self.index))


def replay(
    workspace: Workspace,
    settings: IndexSettings,
    embedder: Embedder | None,
    *,
    now: datetime,
    vectors: bool = False,
    progress: Progress | None = None,
    weigh: Weigh | None = None,
) -> Replay:
    """Rebuild views and index, with vectors on request, beside those at hand, and compare; those stay as they are.

    `weigh` puts into an index made anew what memories are worth, which lies above what indexing knows.
    RecordError where the record itself is damaged; LockBusy while another replay runs.
    """
    with FileLock(workspace.run_dir / f"{FOLDER}.lock", timeout=0.0):
        clear(workspace)
        try:
            cold = _copy(workspace)
            told = Log(cold).recover(now=now)  # makes the head anew from the chain, and writes that down
            made = views.rendered(views.folded(Log(cold), snapshot=False)[0])
            remembered = views.memory_pages(Log(cold), snapshot=False)
            return Replay(
                Log(cold).head().seq - len(told),
                (*_views(workspace, made), *_memories(workspace, remembered)),
                tuple(_index(workspace, cold, settings, embedder, now, vectors, progress, weigh)),
            )
        finally:
            clear(workspace)


def clear(workspace: Workspace) -> None:
    """Remove what a replay that was killed left; it holds words of the record."""
    shutil.rmtree(workspace.run_dir / FOLDER, ignore_errors=True)


def _copy(workspace: Workspace) -> Workspace:
    """Return a workspace of the same id in an empty folder, which has the record's segments, its blobs and the key."""
    cold = Workspace(workspace.id, secure_dir(workspace.run_dir / FOLDER), workspace.root)
    secure_dir(cold.log_dir)
    for path in workspace.log_dir.glob("activity*.jsonl"):
        shutil.copy(path, cold.log_dir / path.name)
    with contextlib.suppress(RecordError, FileNotFoundError):  # without a head, the chain itself says how far it goes
        os.truncate(cold.activity, Log(workspace).head().length)  # nothing of what is being written behind it
    if workspace.blobs_dir.is_dir():
        shutil.copytree(workspace.blobs_dir, cold.blobs_dir, copy_function=_linked)
    if workspace.key_path.exists():
        shutil.copy(workspace.key_path, cold.key_path)
    return cold


def _linked(source: str, target: str) -> None:
    """Blobs are never written again: a second name for one is a copy of it that takes no room."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy(source, target)


def _views(workspace: Workspace, made: dict[str, bytes]) -> list[Part]:
    folder = views.folder_of(workspace.root)
    if folder is None:
        return [Part(name, ABSENT, "the project was never initialised") for name in made]
    return [_compared_view(name, _bytes(folder / name), data) for name, data in made.items()]


def _memories(workspace: Workspace, made: dict[str, bytes]) -> list[Part]:
    """Compare the files of the memories; nothing is said where there are none."""
    folder = views.folder_of(workspace.root)
    if folder is None or not made:
        return []
    wrong = memory_files.differing(views.memory_folder(folder), made)
    return [Part(memory_files.FOLDER, DIFFERS if wrong else EQUAL, ", ".join(wrong[:3]) or counted(len(made), "file"))]


def _compared_view(name: str, held: bytes | None, made: bytes) -> Part:
    if held is None:
        return Part(name, DIFFERS, "it is missing")
    return Part(name, EQUAL if held == made else DIFFERS)


def _bytes(path: Path) -> bytes | None:
    try:
        return read_file(path)
    except OSError:
        return None


def _index(
    workspace: Workspace,
    cold: Workspace,
    settings: IndexSettings,
    embedder: Embedder | None,
    now: datetime,
    vectors: bool,
    progress: Progress | None,
    weigh: Weigh | None,
) -> list[Part]:
    try:
        held = Store.open(workspace.index_path)
    except IndexMissing:
        return [Part("index", ABSENT, "there is none; 'recall index' makes it")]
    with held, held.snapshot():
        wrong = writer.mismatch(held, settings, embedder) or _behind(workspace, held)
        if wrong:
            return [Part("index", DIFFERS, wrong)]
        with Store.open(cold.index_path, "w") as made:
            built = writer.index(cold, made, settings, now=now, embedder=embedder, progress=progress, record=False)
            if built.failed:
                raise RecordError(f"{counted(len(built.failed), 'event')} cannot be indexed: {built.failed[0]}")
            if weigh is not None:
                weigh(made)
            parts = _compared(held, made, erased=next(Log(cold).read_back(only="redaction"), None) is not None)
            if weigh is not None:
                parts.append(_weights(held, made))
            if vectors and embedder is not None:
                queue.embed(made, embedder, settings)
                parts.append(_vectors(held, made))
            return parts


def _behind(workspace: Workspace, held: Store) -> str:
    """Say how far the index at hand is behind the record, "" when it has read all that it reads."""
    from indexer.audit import watermark_seq
    from indexer.exchange import FOLDED_TYPES
    from transcript.sieve import Sieve, type_field

    seen, waiting = watermark_seq(held), 0
    for event in Log(workspace).read_back(sieve=Sieve(tuple(map(type_field, sorted(FOLDED_TYPES))))):
        if event.seq <= seen:
            break
        waiting += 1
    return f"it is {counted(waiting, 'event')} behind the record; run 'recall index' first" if waiting else ""


def _compared(held: Store, made: Store, *, erased: bool) -> list[Part]:
    """Compare part by part. A turn erased since the index was built leaves a gap there; a rebuild closes it."""
    here, there = contents.contents(held), contents.contents(made)
    found = []
    for name, part in there.items():
        if here[name] == part:
            found.append(Part(name, EQUAL, counted(part.rows, "row")))
            continue
        rows = f"{here[name].rows:,} rows at hand, {part.rows:,} from the record"
        gap = "; turns were erased, whose exchanges a rebuild cuts anew" if erased and name not in WHOLE else ""
        found.append(Part(name, DIFFERS, rows + gap))
    return found


def _weights(held: Store, made: Store) -> Part:
    """Compare what memories and cited passages have earned."""
    here, there = standing.weights(held), standing.weights(made)
    differ = sum(here.get(event) != there.get(event) for event in here.keys() | there.keys())
    if differ:
        return Part("weights", DIFFERS, f"{differ:,} of {len(there):,} differ; 'recall index' brings them up")
    return Part("weights", EQUAL, counted(len(there), "row"))


def _vectors(held: Store, made: Store) -> Part:
    """Compare the vectors at hand with those made anew; the index may lack some, which are still to be made."""
    differ, count = contents.vectors_differ(held, made)
    if not count:
        return Part("vectors", ABSENT, "none are made yet")
    return Part("vectors", DIFFERS if differ else EQUAL, f"{differ:,} of {count:,} differ" if differ else f"{count:,}")
