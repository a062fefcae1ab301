"""The cost of facets is measured on turns that come out alike."""

import json
from pathlib import Path

import pytest
from support.book import NOW, by_bytes
from support.embedder import StubEmbedder
from support.remembered import make_remembered

from eval import facets_bench
from indexer import writer
from indexer.settings import IndexSettings
from indexer.store import Store
from recall.settings import Settings


def test_turns_with_and_without_the_file_come_out_alike(tmp_path: Path) -> None:
    held = make_remembered(tmp_path / "record")
    held.remember(held.candidate("The wagtail restarts with plan alpha.", day=3), roles=("writer",))
    with Store.open(held.log.workspace.index_path, "w") as store:
        writer.index(held.log.workspace, store, IndexSettings(), now=NOW, embedder=StubEmbedder())
        asked = (["How does the wagtail restart?", "wagtail plan alpha"], tmp_path, Settings())
        report = facets_bench.run(store, *asked, now=NOW, memories=50, count_tokens=by_bytes)
        with pytest.raises(ValueError, match="at least 1"):
            facets_bench.run(store, *asked, now=NOW, memories=0, count_tokens=by_bytes)

    assert (report.turns, report.memories, report.alike) == (2, 50, 2)
    assert report.ratio == report.with_ms / report.without_ms
    assert report.bytes == (tmp_path / "facets.json").stat().st_size
    assert json.loads(report.to_json())["alike"] == 2
    assert "2 of 2 turns came out alike" in report.to_text()
