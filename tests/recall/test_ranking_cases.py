"""Recorded faults of other tools that ranking has to stand: a crowd of copies, a clock that is wrong."""

import json
import math
import runpy
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.capture import NOW, Project
from support.embedder import StubEmbedder
from support.record import make_draft
from support.story import ANA, at

from health.gather_index import index_facts
from health.signal import Level
from health.signals.index import implausible_times
from indexer import queue, writer
from indexer.settings import IndexSettings
from indexer.store import Store
from indexer.tokens import TokenCounter
from recall.engine import recall
from recall.query import Query
from recall.settings import GateSettings, Settings
from recall.turn import Turn, Vectors
from recall.vector_search import vector_search
from transcript.curation import decision
from transcript.log import Log

pytestmark = pytest.mark.real_data
OPEN = Settings(gate=GateSettings(item=False, evidence=False, margin=False))
TODAY = datetime(2026, 6, 20, 12, tzinfo=UTC)


def moved(source: Path, target: Path, *roots: tuple[str, Path]) -> None:
    """Copy a session file, its project's folder renamed to that of this test."""
    text = source.read_text(encoding="utf-8")
    for name, root in roots:
        text = text.replace(f'"{name}"', f'"{root}"')
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")


def ask(store: Store, prompt: str, vectors: Vectors | None = None, *, now: datetime = NOW) -> Turn:
    return recall(Query(prompt), store, vectors, OPEN, now=now, count_tokens=TokenCounter())


@pytest.fixture
def dated(shared: Path, tmp_path: Path) -> Project:
    """The four records of the case time-future, taken in and indexed with its clock."""
    project = Project(tmp_path)
    for source in sorted((shared / "cases/time-future/input").rglob("*.jsonl")):
        moved(source, project.config / "projects/shop" / source.name, ("/home/dev/shop-api", project.root))
    project.sync(now=TODAY)
    with Store.open(project.workspace.index_path, "w") as store:
        writer.index(project.workspace, store, IndexSettings(), now=TODAY, embedder=StubEmbedder())
    return project


def test_case_time_future(dated: Project) -> None:
    """headroom#3139, muninndb#493: no record gains by a time that cannot be, none is lost, and health counts them."""
    with Store.open(dated.workspace.index_path) as store:
        turns = [ask(store, "importer batch size", now=TODAY - timedelta(days=day)) for day in (0, 1)]
    facts, _ = index_facts(dated.workspace, IndexSettings(), StubEmbedder)

    listed = [[ranked.candidate.text for ranked in turn.ranked] for turn in turns]
    assert "dunlin-2828" in listed[0][0]
    assert len(listed[0]) == 4
    for turn in turns:
        for ranked in turn.ranked:
            recency = ranked.score.value("T")
            assert math.isfinite(ranked.score.total)
            assert 0 <= recency <= 1
    ages = {ranked.candidate.text: ranked.score.value("T") for ranked in turns[0].ranked}
    ahead = [value for text, value in ages.items() if "smew" in text or "scoter" in text]
    assert len(ahead) == 2
    assert max(ahead) <= 1
    old = ("dunlin", "twite")
    order = [[text for text in texts if any(name in text for name in old)] for texts in listed]
    assert order[0] == order[1]
    assert facts.implausible_times == 3
    assert implausible_times(facts).level is Level.WARN


def test_case_recall_superseded(shared: Path, tmp_path: Path) -> None:
    """MemPalace/mempalace#224, jcode#1104: a link to its own replacement retires a statement, use does not undo it."""
    case = shared / "cases/recall-superseded/input"
    prompt = json.loads((case / "prompt.json").read_text(encoding="utf-8"))["prompt"]
    project = Project(tmp_path)
    for source in sorted(case.rglob("*.jsonl")):
        moved(source, project.config / "projects/shop" / source.name, ("/home/dev/shop-api", project.root))
    project.sync()
    log = Log(project.workspace)
    old = next(event for event in log.read() if "oriole-1515" in log.text(event))

    def order() -> tuple[list[str], Turn]:
        with Store.open(project.workspace.index_path, "w") as store:
            writer.index(project.workspace, store, IndexSettings(), now=NOW, embedder=StubEmbedder())
            turn = ask(store, prompt)
        return [ranked.candidate.text for ranked in turn.ranked], turn

    def stale(turn: Turn) -> int:
        return next(n for n, ranked in enumerate(turn.ranked) if ranked.candidate.pointer.event == old.id)

    before, first = order()
    log.append([decision(ANA, at(0), "Deploy the docs site on Fridays only")], now=NOW)
    beside, second = order()
    log.append([decision(ANA, at(1), "The release workflow oriole-1616 deploys", supersedes=old.id)], now=NOW)
    injected = {"prompt": prompt, "items": [{"event": old.id}]}
    log.append([make_draft(f"use {n}", "recall", body=injected) for n in range(30)], now=NOW)
    after, third = order()

    assert "oriole-1616" in before[0]  # 2: the newer first, each with its date
    assert stale(first) > 0
    assert all(day in first.block for day in ("2026-03-01", "2026-06-10"))
    assert {*before} < {*beside}  # 5
    assert second.ranked[stale(second)].verdict == first.ranked[stale(first)].verdict == "shown"
    assert not any(ranked.candidate.notes for ranked in second.ranked)
    assert after.index("The release workflow oriole-1616 deploys") < stale(third)  # 3
    (note,) = third.ranked[stale(third)].candidate.notes
    assert "oriole-1616" in note


def test_case_store_knn_limit(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """sqlite-vec#157, basic-memory#604: more nearer copies than a search may return hide nothing of another project."""
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(shared / "cases/store-knn-limit/make_input.py"))
    bulk, needle = Project(tmp_path, "bulk"), Project(tmp_path, "needle")
    roots = (("/home/dev/bulk", bulk.root), ("/home/dev/needle", needle.root))
    for source in sorted((tmp_path / "input").glob("*.jsonl")):
        moved(source, bulk.config / "projects" / source.stem / source.name, *roots)
    asked: list[int] = []
    run: Callable[..., object] = Store.run

    def noted(self: Store, sql: str, values: tuple[object, ...] = ()) -> object:
        if "AND k = ?" in sql:
            asked.append(int(str(values[1])))
        return run(self, sql, values)

    monkeypatch.setattr(Store, "run", noted)
    texts = {}
    for project in (bulk, needle):
        project.sync()
        with Store.open(project.workspace.index_path, "w") as store:
            writer.index(project.workspace, store, IndexSettings(), now=NOW, embedder=StubEmbedder())
            queue.embed(store, StubEmbedder(), IndexSettings())
            turn = ask(store, "cache eviction policy", vector_search(store, StubEmbedder(), 9000))
            texts[project.root.name] = [ranked.candidate.text for ranked in turn.ranked]
            assert store.clamped > 0
            assert len(store.nearest(StubEmbedder().encode(["cache eviction policy"])[0], 9000)) <= 4096

    assert "lynx-8080" in texts["needle"][0]
    assert not any("lynx-8080" in text for text in texts["bulk"])
    assert len(texts["bulk"]) > 1
    assert asked
    assert all(0 <= k <= 4096 for k in asked)
