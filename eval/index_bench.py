"""Times capture and indexing on a folder of transcripts: first sync, second sync, words, vectors, one new session.

Each step runs in a process of its own, so that its memory is its own. One session is held back and taken in last, as
happens after a turn.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from eval.corpus import unpacked
from eval.machine import Machine, load, machine
from eval.tables import table
from indexer.settings import IndexSettings
from transcript.telling import counted

Progress = Callable[[str], None]
_CHILD = "import sys; sys.path.append(sys.argv.pop(1)); from eval.index_bench import child; child(sys.argv[1])"


@dataclass(frozen=True, slots=True)
class Step:
    """One step: seconds of its work and of its whole process, most memory, and what it counted."""

    name: str
    seconds: float
    process_seconds: float
    memory_mb: float
    counts: dict[str, float]


@dataclass(frozen=True, slots=True)
class IndexBenchReport:
    """All steps with the figures that follow from them."""

    steps: tuple[Step, ...]
    source_bytes: int
    files: int
    new_session_bytes: int
    chunks: int
    vectors: int
    wanted_vectors: int
    index_bytes: int
    model: str
    model_share: float | None
    model_share_whole: float | None
    exchanges_a_second: float
    machine: Machine
    load_after: tuple[float, float, float]

    @property
    def bytes_per_chunk(self) -> float:
        """Bytes of index.sqlite for each chunk."""
        return self.index_bytes / self.chunks if self.chunks else 0.0

    def to_text(self) -> str:
        """Return the steps as a table and the derived figures."""
        rows = [[s.name, s.seconds, s.process_seconds, s.memory_mb, _counts(s.counts)] for s in self.steps]
        lines = [
            f"index: {counted(self.files, 'file')}, {self.source_bytes / 1e6:,.0f} MB; model {self.model}",
            self.machine.to_text() + f", load after {'/'.join(f'{value:.1f}' for value in self.load_after)}",
            "",
            table(["step", "seconds", "whole process", "MB", "counted"], rows),
            "",
            f"{self.index_bytes:,} bytes, {self.chunks:,} chunks, {self.vectors:,} of {self.wanted_vectors:,} vectors: "
            f"{self.bytes_per_chunk:,.0f} bytes a chunk",
            f"the new session has {self.new_session_bytes / 1e6:,.1f} MB",
        ]
        if self.model_share is not None and self.model_share_whole is not None:
            projected = "" if self.vectors >= self.wanted_vectors else ", projected to all wanted vectors"
            lines.append(
                f"inside the model: {self.model_share:.0%} of the vectors' step, {self.model_share_whole:.0%} of words "
                f"and vectors together{projected}; {self.exchanges_a_second:,.1f} exchanges a second{projected}"
            )
        return "\n".join(lines)

    def to_json(self) -> str:
        """Return the report as one JSON object."""
        return json.dumps({**asdict(self), "bytes_per_chunk": round(self.bytes_per_chunk, 1)})


def run(
    transcripts: Path,
    scratch: Path,
    *,
    settings: IndexSettings,
    models: Path | None = None,
    rows: int | None = 2000,
    words_only: bool = False,
    progress: Progress | None = None,
) -> IndexBenchReport:
    """Run all steps in scratch; rows bounds how many vectors are made (None: all that are wanted)."""
    tell = progress or (lambda _: None)
    source = unpacked(transcripts, scratch, tell)
    held = _held_back(source)
    copied = scratch / "sessions"
    files, size = _copy(source, copied, without=held)
    bench = _Bench(scratch, copied, settings, models)
    before = machine()
    steps = []

    def step(name: str, work: str, **arguments: Any) -> Step:
        tell(name)
        steps.append(bench.step(name, work, **arguments))
        return steps[-1]

    step("first sync", "sync")
    step("sync, nothing new", "sync")
    words = step("words", "words")
    step("words, nothing new", "words")
    vectors = None if words_only else step("vectors", "vectors", rows=rows)
    target = copied / held.relative_to(source)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(held, target)
    step("one new session: sync and words", "both")
    if not words_only and rows is None:
        step("one new session: its vectors", "vectors")
    facts = bench.step("facts", "facts").counts
    share, whole = _shares(words, vectors, facts["wanted"])
    return IndexBenchReport(
        tuple(steps),
        source_bytes=size,
        files=files,
        new_session_bytes=held.stat().st_size,
        chunks=int(facts["chunks"]),
        vectors=int(facts["vectors"]),
        wanted_vectors=int(facts["wanted"]),
        index_bytes=int(facts["bytes"]),
        model="none" if words_only else settings.model,
        model_share=share,
        model_share_whole=whole,
        exchanges_a_second=_rate(words, vectors, facts["wanted"]),
        machine=before,
        load_after=load(),
    )


class _Bench:
    """Runs steps in child processes over one data folder."""

    def __init__(self, scratch: Path, sessions: Path, settings: IndexSettings, models: Path | None) -> None:
        project = scratch / "project"
        project.mkdir(parents=True, exist_ok=True)
        self._task = {
            "data": str(scratch / "data"),
            "project": str(project),
            "sessions": str(sessions),
            "settings": asdict(settings),
            "models": str(models) if models is not None else None,
        }

    def step(self, name: str, work: str, **arguments: Any) -> Step:
        """Run one step and return what it printed."""
        task = json.dumps({**self._task, "work": work, "arguments": arguments})
        site = str(Path(__file__).resolve().parent.parent)
        started = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-I", "-c", _CHILD, site, task], stdout=subprocess.PIPE, check=False, env=dict(os.environ)
        )
        whole = time.perf_counter() - started
        if done.returncode:
            raise RuntimeError(f"the step '{name}' ended with {done.returncode}; its message stands above")
        told = json.loads(done.stdout)
        return Step(name, round(told["seconds"], 3), round(whole, 3), round(told["memory_mb"], 1), told["counts"])


def child(task: str) -> None:
    """Do one step in this process and print its figures as JSON."""
    given = json.loads(task)
    started = time.perf_counter()
    counts = _WORK[given["work"]](given)
    seconds = counts.pop("seconds", time.perf_counter() - started)
    print(json.dumps({"seconds": seconds, "memory_mb": _memory_mb(), "counts": counts}))


def _sync(given: dict[str, Any]) -> dict[str, float]:
    from transcript.capture import sync
    from transcript.workspace import open_workspace

    data = Path(given["data"])
    workspace = open_workspace(Path(given["project"]), data, create="capture")
    report = sync(workspace, data, {}, sources=Path(given["sessions"]), all_roots=True, now=datetime.now(UTC))
    return {"seconds": report.seconds, "events": report.added, "MB": round(report.bytes / 1e6, 1)}


def _words(given: dict[str, Any]) -> dict[str, float]:
    from indexer.store import Store
    from indexer.writer import index

    workspace = _workspace(given)
    with Store.open(workspace.index_path, "w") as store:
        report = index(workspace, store, IndexSettings(**given["settings"]), now=datetime.now(UTC))
    return {
        "seconds": report.seconds,
        "chunks": report.chunks,
        "exchanges": report.exchanges,
        "longest lock ms": round(report.longest_hold_ms, 1),
    }


def _vectors(given: dict[str, Any]) -> dict[str, float]:
    from indexer.embedder import load as load_embedder
    from indexer.queue import embed
    from indexer.store import Store

    settings = IndexSettings(**given["settings"])
    embedder = load_embedder(settings.model, data_home=given["models"], threads=settings.threads)
    with Store.open(_workspace(given).index_path, "w") as store:
        report = embed(store, embedder, settings, limit=given["arguments"].get("rows"))
    if report.refused:
        raise SystemExit(report.refused)
    rate = report.embedded / report.seconds if report.seconds else 0.0
    return {
        "seconds": report.seconds,
        "rows": report.embedded,
        "rows a second": round(rate, 1),
        "model seconds": round(report.model_seconds, 3),
    }


def _both(given: dict[str, Any]) -> dict[str, float]:
    taken, made = _sync(given), _words(given)
    return {
        "seconds": taken["seconds"] + made["seconds"],
        "sync seconds": round(taken["seconds"], 3),
        "events": taken["events"],
        "chunks": made["chunks"],
    }


def _facts(given: dict[str, Any]) -> dict[str, float]:
    from indexer.queue import wanted_chunks
    from indexer.store import Store

    workspace = _workspace(given)
    with Store.open(workspace.index_path, "w") as store:
        store.checkpoint()
        meta = store.meta()
        wanted = wanted_chunks(store, store.generation, IndexSettings(**given["settings"]))
    return {
        "chunks": meta.n_chunks,
        "vectors": meta.n_vectors,
        "wanted": wanted,
        "bytes": workspace.index_path.stat().st_size,
    }


_WORK: dict[str, Callable[[dict[str, Any]], dict[str, float]]] = {
    "sync": _sync,
    "words": _words,
    "vectors": _vectors,
    "both": _both,
    "facts": _facts,
}


def _workspace(given: dict[str, Any]) -> Any:
    from transcript.workspace import open_workspace

    return open_workspace(Path(given["project"]), Path(given["data"]))


def _shares(words: Step, vectors: Step | None, wanted: float) -> tuple[float | None, float | None]:
    """Return the model's share of the vectors' step, and of words and vectors with all wanted vectors made."""
    if vectors is None or not vectors.counts["rows"] or not vectors.seconds:
        return None, None
    inside = vectors.counts["model seconds"]
    factor = max(1.0, wanted / vectors.counts["rows"])
    return inside / vectors.seconds, inside * factor / (words.seconds + vectors.seconds * factor)


def _rate(words: Step, vectors: Step | None, wanted: float) -> float:
    """Return exchanges a second over words and vectors, as if all wanted vectors were made at the same pace."""
    seconds = words.seconds
    if vectors is not None and vectors.counts["rows"]:
        seconds += vectors.seconds * max(1.0, wanted / vectors.counts["rows"])
    return words.counts["exchanges"] / seconds if seconds else 0.0


def _held_back(source: Path) -> Path:
    """Return the session to take in last: of all main files the one whose size is nearest to the mean."""
    files = [path for path in source.rglob("*.jsonl") if not path.name.startswith("agent-")]
    if not files:
        raise FileNotFoundError(f"no sessions (*.jsonl) in {source}")
    mean = sum(path.stat().st_size for path in files) / len(files)
    return min(files, key=lambda path: (abs(path.stat().st_size - mean), str(path)))


def _copy(source: Path, target: Path, *, without: Path) -> tuple[int, int]:
    """Copy all session files but one; return how many and how many bytes."""
    files = size = 0
    for path in sorted(source.rglob("*")):
        if not path.is_file() or path == without:
            continue
        to = target / path.relative_to(source)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, to)
        files, size = files + 1, size + path.stat().st_size
    return files, size


def _memory_mb() -> float:
    try:
        import resource
    except ImportError:
        return 0.0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1e6 if sys.platform == "darwin" else 1e3)


def _counts(counts: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:,.10g}" for name, value in counts.items())
