"""The 273 real sessions from record to answer: the index is a view that the record gives again, and nothing doubles."""

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from support.capture import Project
from support.embedder import StubEmbedder

from indexer import queue, writer
from indexer.settings import IndexSettings
from indexer.store import Store
from recall.cli.app import vector_search
from recall.engine import recall
from recall.query import Query
from recall.settings import Settings
from scoring.pool import score_pool

pytestmark = [pytest.mark.real_data, pytest.mark.slow]

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SETTINGS = IndexSettings()
QUERIES = 40
SLICE = 3000  # chunks whose vectors the real model makes
WRITE = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from indexer import writer
from indexer.settings import IndexSettings
from indexer.store import Store
from transcript.capture import sync
from transcript.workspace import open_workspace
project, data, sessions = map(Path, sys.argv[1:])
workspace = open_workspace(project, data, create=None)
sync(workspace, data, {}, sources=sessions, all_roots=True)
with Store.open(workspace.index_path, "w") as store:
    print(writer.index(workspace, store, IndexSettings(), now=datetime.now(UTC)).chunks)
"""


@pytest.fixture(scope="module")
def queries(shared: Path) -> list[str]:
    lines = (shared / "devrecall" / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["query"] for line in lines][:QUERIES]


@pytest.fixture(scope="module")
def project(real_sessions: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """All sessions taken in by two processes at once, words indexed by both."""
    made = Project(tmp_path_factory.mktemp("corpus"))
    command = [sys.executable, "-c", WRITE, str(made.root), str(made.data), str(real_sessions)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    ends = [process.communicate(timeout=1200) for process in both]
    assert [process.returncode for process in both] == [0, 0], ends
    return made


@pytest.fixture
def store(project: Project) -> Iterator[Store]:
    with Store.open(project.workspace.index_path, "w") as opened:
        yield opened


def figures(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """Chunk keys and all their pointers, as the record gives them."""
    g = store.generation
    keys = list(store.run(f"SELECT key FROM chunk_{g} ORDER BY key"))
    pointers = store.run(
        f"SELECT c.key, v.event, p.start, p.end, p.kind, p.flags, p.ts FROM pointer_{g} p"
        f" JOIN chunk_{g} c ON c.id = p.chunk_id JOIN event_{g} v ON v.id = p.event ORDER BY 1, 2, 3, 4, 5"
    )
    return {"keys": keys, "pointers": list(pointers)}


def top(store: Store, embedder: Any, queries: list[str]) -> list[list[str]]:
    """The first six events of each query, with how their text begins."""
    vectors = vector_search(store, embedder, Settings().retrieval.vector_limit)
    assert vectors is not None
    return [
        [f"{row.candidate.pointer.event}#{row.candidate.pointer.start}" for row in turn.ranked[:6]]
        for turn in (
            recall(
                Query(text, mode="tool"),
                store,
                vectors,
                Settings(),
                now=NOW,
                count_tokens=len,
                scorer=score_pool,
            )
            for text in queries
        )
    ]


def test_two_processes_at_once_double_nothing(project: Project, store: Store) -> None:
    g = store.generation
    rows, distinct = next(iter(store.run(f"SELECT count(*), count(DISTINCT key) FROM chunk_{g}")))
    again = project.sync(sources=None, now=NOW)
    words = writer.index(project.workspace, store, SETTINGS, now=NOW)

    assert rows == distinct > 90_000
    assert again.added == 0
    assert words.chunks == 0
    ids = [event.id for event in project.events()]
    assert len(ids) == len(set(ids))


def test_the_index_built_again_is_the_same_index(project: Project, real_sessions: Path, queries: list[str]) -> None:
    """Deleted and rebuilt from the record alone: equal keys, pointers and first six of forty queries.

    LCA-12.1-04: with vectors as long as the shipped model's it is at most a fifth of the session files.
    """
    embedder = StubEmbedder(dimension=384)
    seen = []
    for _ in range(2):
        for suffix in ("", "-wal", "-shm"):
            project.workspace.index_path.with_name(f"index.sqlite{suffix}").unlink(missing_ok=True)
        with Store.open(project.workspace.index_path, "w") as store:
            writer.index(project.workspace, store, SETTINGS, now=NOW, embedder=embedder)
            report = queue.embed(store, embedder, SETTINGS)
            assert (report.failed, report.remaining) == (0, 0)
            seen.append((figures(store), top(store, embedder, queries)))

    chunks, size = len(seen[0][0]["keys"]), project.workspace.index_path.stat().st_size
    assert chunks > 90_000
    assert seen[0] == seen[1]
    assert size <= 0.20 * sum(path.stat().st_size for path in real_sessions.rglob("*") if path.is_file())
    assert size <= 4_900 * chunks


@pytest.mark.model
def test_the_real_model_gives_the_same_answers_again(project: Project, queries: list[str], tmp_path: Path) -> None:
    """The newest 3,000 passages with the shipped model, built twice; the second time every vector is made anew."""
    from indexer.embedder import load

    embedder = load()
    seen = []
    for _ in range(2):
        for suffix in ("", "-wal", "-shm"):
            project.workspace.index_path.with_name(f"index.sqlite{suffix}").unlink(missing_ok=True)
        with Store.open(project.workspace.index_path, "w") as store:
            writer.index(project.workspace, store, SETTINGS, now=NOW, embedder=embedder)
            report = queue.embed(store, embedder, SETTINGS, limit=SLICE)
            assert (report.embedded, report.failed) == (SLICE, 0)
            seen.append(top(store, embedder, queries))

    assert seen[0] == seen[1]
