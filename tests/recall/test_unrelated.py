"""LCA 5.4-06: no resemblance, one query, no injected token. The demo's store is small, where everything is rare."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from indexer.embedder import load
from indexer.store import Store
from recall.calibrate import unrelated
from recall.cli.app import App, vector_search
from recall.cli.group import cli
from recall.engine import recall
from recall.query import Query
from recall.settings import Settings

pytestmark = pytest.mark.model

MORE = (
    "what is the capital of Mongolia?",
    "recommend a good film for tonight",
    "how do I tie a bowline?",
    "which gift would my uncle like?",
    "is the swimming lesson cancelled today?",
    "what time is sunset in Oslo?",
    "do we have enough flour for pizza?",
    "how do I descale the coffee machine?",
    "who painted the ceiling in that chapel?",
    "when is the next parent evening?",
)


def test_unrelated_prompts_inject_next_to_nothing(tmp_path: Path) -> None:
    outcome = CliRunner().invoke(cli, ["demo"], obj=App({"RECALL_HOME": str(tmp_path)}, tmp_path, tmp_path))
    assert outcome.exit_code == 0, outcome.output
    (index,) = (tmp_path / "demo").rglob("index.sqlite")

    with Store.open(index) as store:
        for vectors in (vector_search(store, load(), 100), None):
            turns = [
                recall(
                    Query(prompt, session="new"),
                    store,
                    vectors,
                    Settings(),
                    now=datetime(2026, 4, 20, tzinfo=UTC),
                    count_tokens=len,
                )
                for prompt in (*unrelated(), *MORE)
            ]

            assert len(turns) == len(unrelated()) + len(MORE)
            assert 20 * sum(turn.tokens == 0 for turn in turns) >= 19 * len(turns)  # as before: two of forty
