"""Results: what they must say, how two are compared, what is drawn, and that no step escapes the ablation."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator, ValidationError

from eval import ablation
from eval.compare import compare, load
from eval.dataset import Dataset, Dialogue, Question
from eval.dataset_run import OURS, DatasetRun, Hit, Reply
from eval.measures import COMPUTED, JUDGED, RETRIEVAL, SELF, SETS, Measure
from eval.plot import svg
from eval.result import result, schema
from eval.stats import paired
from recall.cli.group import cli
from recall.settings import Settings

AT = datetime(2026, 3, 1, tzinfo=UTC)
QUESTIONS = tuple(Question(f"q{n}", "?", "even" if n % 2 == 0 else "odd", AT, frozenset({"gold"})) for n in range(8))


def replies(right):
    """A reply a question, whose first item is gold where the question's number is in `right`."""
    for number, question in enumerate(QUESTIONS):
        hit = Hit(frozenset({"gold" if number in right else "other"}), "s", 10)
        yield Reply(question, (hit,), (hit,), 10)


def made(ours=range(6), theirs=(0, 1)):
    run = DatasetRun(Dataset("self", "0" * 64, (Dialogue("d", (), QUESTIONS),)), chunks=3)
    run.replies = {OURS: list(replies(ours)), "other": list(replies(theirs))}
    return result(run, RETRIEVAL, Settings(), changed={}, command="recall eval self")


def test_figures_are_counted_by_group():
    figures = made().engines[OURS].figures

    assert figures["all"]["recall@6"].value == 6 / 8
    assert figures["even"]["recall@6"].value == 3 / 4  # of 0, 2, 4, 6 all but the last
    assert figures["all"]["recall@6"].low < 6 / 8 < figures["all"]["recall@6"].high


def test_memorycode_shows_what_its_headline_may_not_be_paid_with_and_how_it_was_asked():
    run = DatasetRun(Dataset("memorycode-test-rule", "0" * 64, (Dialogue("d", (), QUESTIONS),), "refined"), chunks=3)
    shown = {"sessions": frozenset({"s"})}
    versions = [replace(q, **shown, stale=frozenset({"t"} if n % 2 else ())) for n, q in enumerate(QUESTIONS)]
    for name, right in ((OURS, range(6)), ("FTS5", (0, 1))):
        run.replies[name] = [replace(r, question=q) for r, q in zip(replies(right), versions, strict=True)]
    found = result(run, SETS["memorycode"], Settings(), changed={}, command="recall eval memorycode")

    text = found.to_text()
    assert "labels refined" in text
    for measure in ("newest above stale", "stable R@1"):
        assert f"recall minus the other, '{measure}'" in text
        assert found.paired["FTS5"][measure].points() in text
    Draft202012Validator(schema()).validate(json.loads(found.to_json()))


def test_a_result_follows_its_schema_with_and_without_single_questions():
    validator = Draft202012Validator(schema())
    for summary in (False, True):
        validator.validate(json.loads(made().to_json(summary=summary)))


@pytest.mark.parametrize(
    "missing",
    ["data_sha256", "settings_hash", "model", "commit", "machine", "questions", "limits", "measures", "engines"],
)
def test_a_result_that_does_not_say_what_it_was_measured_on_is_none(missing):
    held = json.loads(made().to_json())
    del held[missing]

    with pytest.raises(ValidationError, match=missing):
        Draft202012Validator(schema()).validate(held)


def test_limits_name_model_family_context_and_reasoning():
    for name in ("model_family", "context_size", "reasoning_mode"):
        held = json.loads(made().to_json())
        del held["limits"][name]

        with pytest.raises(ValidationError, match=name):
            Draft202012Validator(schema()).validate(held)


def test_every_measure_says_whether_it_is_computed_and_a_judged_one_why():
    measures = [m for held in SETS.values() for m in held] + [*SELF, *RETRIEVAL]

    assert {m.kind for m in measures} <= {COMPUTED, JUDGED}
    assert all(m.meaning for m in measures)
    with pytest.raises(ValueError, match="why none can be computed"):
        Measure("x", "judged by a model", lambda r: 1.0, JUDGED)


def test_a_clear_difference_excludes_zero_and_none_does_not():
    pair = paired({str(n): 1.0 for n in range(20)}, {str(n): float(n < 4) for n in range(20)}, samples=500)
    same = paired({"a": 1.0, "b": 0.0}, {"a": 1.0, "b": 0.0}, samples=500)

    assert (pair.mean, pair.wins, pair.losses) == (0.8, 16, 0)
    assert 0 < pair.low <= 0.8 <= pair.high
    assert (same.mean, same.low, same.high) == (0.0, 0.0, 0.0)


def test_questions_that_only_one_of_two_counts_are_left_out():
    pair = paired({"a": 1.0, "b": None, "c": 1.0}, {"a": 0.0, "b": 1.0}, samples=100)

    assert (pair.n, pair.mean) == (1, 1.0)
    assert paired({"a": None}, {"a": 1.0}, samples=100) is None


def test_two_results_are_compared_question_by_question(tmp_path):
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    first.write_text(made(ours=(0, 1)).to_json())
    second.write_text(made(ours=range(6)).to_json())
    pair = compare(load(first), load(second))["recall@6"]
    shown = CliRunner().invoke(cli, ["eval", "compare", str(first), str(second)], catch_exceptions=False).output

    assert (pair.mean, pair.wins, pair.losses) == (0.5, 4, 0)
    assert "+50.0" in shown


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda held: held.update(data_sha256="1" * 64), "different data"),
        (lambda held: held["engines"].pop("recall"), "no engine 'recall'"),
        (lambda held: [e.update(values={}) for e in held["engines"].values()], "is a summary"),
        (lambda held: held.pop("engines"), "is no result"),
    ],
)
def test_what_cannot_be_compared_is_said(tmp_path, change, says):
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    first.write_text(made().to_json())
    held = json.loads(made().to_json())
    change(held)
    second.write_text(json.dumps(held))
    done = CliRunner().invoke(cli, ["eval", "compare", str(first), str(second)])

    assert done.exit_code != 0
    assert says in done.output + str(done.exception)


def test_the_picture_has_a_bar_an_engine_as_long_as_its_value():
    import xml.etree.ElementTree as Tree

    root = Tree.fromstring(svg(made(), "recall@6"))
    widths = [float(bar.get("width")) for bar in root.iter("{http://www.w3.org/2000/svg}rect")]

    assert len(widths) == 2
    assert widths[0] / widths[1] == pytest.approx(3.0, rel=0.01)


def test_every_retrieval_setting_can_be_taken_out_or_is_known_to_switch_nothing():
    assert list(ablation.uncovered()) == []


@pytest.mark.parametrize("step", ablation.STEPS, ids=lambda step: step.name)
def test_each_step_names_settings_that_are_on_and_takes_them_out(step):
    off = ablation.without(Settings(), step)

    assert off != Settings()
    assert {key: _read(off, key) for key, _ in step.off} == dict(step.off)


def test_a_term_taken_out_is_missing_from_the_sum_whatever_it_says():
    from scoring.score import Features, score

    rich = Features(0.5, 10.0, 5.0, "prompt", (("project", True),), ("external",))
    letters = {"E": "experience", "T": "recency", "A": "authority", "Q": "applicability", "K": "risk"}
    for letter, name in letters.items():
        step = next(s for s in ablation.STEPS if s.name == f"term {letter}, {name}")
        weights = ablation.without(Settings(), step).weights
        part = next(p for p in score(rich, weights).parts if p.letter == letter)

        assert part.value != 0
        assert part.contribution == 0


def _read(settings, key):
    section, _, name = key.partition(".")
    return getattr(getattr(settings, section), name)
