"""What a step gives to the prompts it serves: found with it and without it, by words alone."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from eval.dataset_run import OURS, run
from eval.steps import Fixture, found, load
from indexer.settings import IndexSettings
from recall.language import GLOSSED
from recall.settings import Settings

FIXTURES = Path(__file__).parents[1] / "data" / "steps"


@pytest.fixture(scope="module")
def other_language(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, tuple[int, int]], ...]:
    fixture, cache = load(FIXTURES / "other_language.json"), tmp_path_factory.mktemp("steps")
    return tuple(_found(fixture, settings, cache) for settings in (Settings(), fixture.without(Settings())))


def _found(fixture: Fixture, settings: Settings, cache: Path) -> dict[str, tuple[int, int]]:
    now = datetime(2026, 3, 1, tzinfo=UTC)
    made = run(
        fixture.dataset,
        cache,
        embedder=None,
        index_settings=IndexSettings(),
        settings=settings,
        now=now,
        baselines=False,
    )
    return found(made.replies[OURS])


@pytest.mark.parametrize("language", sorted(GLOSSED))
def test_a_prompt_in_another_language_finds_the_english_record(
    other_language: tuple[dict[str, tuple[int, int]], ...], language: str
) -> None:
    with_step, without = (counts[language] for counts in other_language)

    assert with_step[1] >= 20
    assert with_step[0] >= 20
    assert without[0] <= 12


def test_a_fixture_whose_gold_is_no_record_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(
        json.dumps({"kind": "x", "off": {}, "records": [], "queries": [{"text": "q", "gold": ["r1"], "type": "t"}]})
    )
    with pytest.raises(ValueError, match="r1 is the gold of a query and no record"):
        load(path)


@pytest.mark.parametrize("text", ["{", "[]", '{"kind": "x"}'])
def test_what_is_no_fixture_is_an_error_that_names_the_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(ValueError, match=r"x\.json is no fixture"):
        load(tmp_path / "x.json")
