"""What a step gives to the prompts it serves: found with it and without it, by words alone."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from eval.dataset_run import OURS, run
from eval.steps import WITH, WITHOUT, Fixture, found, load, measure, to_text
from indexer.embedder import load as load_model
from indexer.settings import IndexSettings
from recall.language import GLOSSED
from recall.settings import Settings

pytestmark = pytest.mark.slow

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


# Kind -> how many of its queries are found, at least, by words alone; with the step taken out, at most.
LEAST = {
    "identifiers": (29, 26), "paths": (37, 31), "error_codes": (41, 32), "camel_case": (27, 18), "cjk": (29, 4),
    "accents": (40, 30), "typos": (28, 23), "time_words": (28, 12), "question_answer": (21, 8), "wish": (19, 6),
}  # fmt: skip


@pytest.mark.parametrize("kind", sorted(LEAST))
def test_the_step_that_serves_a_kind_of_prompt_finds_what_is_missed_without_it(kind: str, tmp_path: Path) -> None:
    fixture = load(FIXTURES / f"{kind}.json")
    row = measure(
        fixture, tmp_path, embedder=None, index_settings=IndexSettings(), settings=Settings(),
        now=datetime(2026, 4, 1, tzinfo=UTC),
    )  # fmt: skip
    (have, of), (less, _) = row.counts[WITH][""], row.counts[WITHOUT][""]

    assert of >= 20
    assert have >= LEAST[kind][0]
    assert less <= LEAST[kind][1]
    assert less <= have


# The same with vectors, for the kinds that words alone might serve and vectors spoil, or the other way round.
LEAST_WITH_VECTORS = {"accents": (40, 39), "cjk": (29, 16), "other_language": (230, 75)}


@pytest.mark.model
@pytest.mark.parametrize("kind", sorted(LEAST_WITH_VECTORS))
def test_the_step_finds_what_vectors_alone_miss(kind: str, tmp_path: Path) -> None:
    row = measure(
        load(FIXTURES / f"{kind}.json"), tmp_path, embedder=load_model(), index_settings=IndexSettings(),
        settings=Settings(), now=datetime(2026, 4, 1, tzinfo=UTC),
    )  # fmt: skip
    (have, _), (less, _) = row.counts[WITH][""], row.counts[WITHOUT][""]

    assert have >= LEAST_WITH_VECTORS[kind][0]
    assert less <= LEAST_WITH_VECTORS[kind][1]


def test_the_kinds_are_all_there_and_each_names_a_setting() -> None:
    fixtures = [load(path) for path in FIXTURES.glob("*.json")]

    assert {fixture.kind for fixture in fixtures} == {*LEAST, "other_language"}
    assert all(fixture.off and fixture.without(Settings()) != Settings() for fixture in fixtures)


def test_the_table_and_the_figures_say_the_same(tmp_path: Path) -> None:
    fixture = load(FIXTURES / "typos.json")
    row = measure(
        fixture, tmp_path, embedder=None, index_settings=IndexSettings(), settings=Settings(),
        now=datetime(2026, 4, 1, tzinfo=UTC), ablate=True,
    )  # fmt: skip
    lost = row.counts[WITHOUT][""][0] - row.counts[WITH][""][0]

    assert row.figures()["found"][WITH][""] == row.counts[WITH][""]
    assert f"{row.counts[WITH][''][0] / 30:.2f}" in to_text([row]).splitlines()[2]
    assert any("nearest spelling" in line and f"{lost:+d}" in line for line in to_text([row]).splitlines())


def test_what_an_index_lacks_is_taken_out_of_a_copy_alone(tmp_path: Path) -> None:
    """Of the step only the prompt's half would go otherwise: the index would still hold a name in its parts."""
    fixture = load(FIXTURES / "camel_case.json")
    given = {"embedder": None, "index_settings": IndexSettings(), "settings": Settings()}
    now = datetime(2026, 4, 1, tzinfo=UTC)
    whole, by_prompt = (measure(f, tmp_path, now=now, **given) for f in (fixture, replace(fixture, lacks=())))

    assert whole.counts[WITH] == by_prompt.counts[WITH]
    assert whole.counts[WITHOUT][""][0] < by_prompt.counts[WITHOUT][""][0]
    assert whole.figures()["lacks"] == ["parts"]
    assert "an index without parts" in to_text([whole])


def test_a_fixture_whose_gold_is_no_record_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(
        json.dumps({"kind": "x", "off": {}, "records": [], "queries": [{"text": "q", "gold": ["r1"], "type": "t"}]})
    )
    with pytest.raises(ValueError, match="r1 is the gold of a query and no record"):
        load(path)


def test_an_index_lacks_only_what_is_known(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"kind": "x", "off": {}, "lacks": ["vowels"], "records": [], "queries": []}))
    with pytest.raises(ValueError, match="can lack parts or accents, not vowels"):
        load(path)


@pytest.mark.parametrize("text", ["{", "[]", '{"kind": "x"}'])
def test_what_is_no_fixture_is_an_error_that_names_the_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(ValueError, match=r"x\.json is no fixture"):
        load(tmp_path / "x.json")
