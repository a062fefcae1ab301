"""The gate fitted to a store: what is measured, what is kept, and what a turn then uses."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from support.project import exchanges

from indexer.rows import IndexMeta
from recall import calibration, config
from recall.calibrate import LEAST_OWN, LEAST_PASSAGES, fitted, is_due, unrelated
from recall.calibration import Calibration
from recall.cli.group import run
from recall.settings import Settings

NOW = datetime(2026, 11, 30, tzinfo=UTC)
LOW = [n / 1000 for n in range(100)]  # unrelated: 0.000 .. 0.099
HIGH = [0.5 + n / 100 for n in range(20)]
ENOUGH = 100


def made(**changes: Any) -> Calibration:
    held = Calibration(0.41, 0.21, 1000, 300, "m", calibration.fit_for(Settings()), "2026-11-30T00:00:00Z")
    return replace(held, **changes)


def meta(chunks: int = 1000, vectors: int = 300, model: str = "m") -> IndexMeta:
    return IndexMeta(1, 1, model, "r", 4, 256, "c", 1, "", chunks, vectors, 0)


# -- fitting ---------------------------------------------------------------------------------


def test_the_threshold_stands_just_above_what_the_fitting_half_reaches() -> None:
    """Of the first fifty scores (0.30 to 0.79) 47 stay below the 48th, 0.77: 0.78 after rounding up."""
    scores = [0.3 + n / 100 for n in range(100)]
    arm = fitted("words", scores, [2 + score for score in HIGH], 0.32, passages=10_000)

    assert arm.threshold == pytest.approx(0.78, abs=0.011)
    assert arm.checked == tuple(scores[50:])
    assert arm.silent(1.045) == 0.5
    assert arm.answered(2.595) == 0.5
    assert arm.separation == 1.0


@pytest.mark.parametrize(
    ("own", "passages", "why"),
    [
        (HIGH, LEAST_PASSAGES - 1, "passages"),
        (HIGH[: LEAST_OWN - 1], 10_000, "find anything"),
        (LOW[:20], 10_000, "no higher than unrelated"),
    ],
)
def test_no_threshold_is_safe_where_the_store_says_too_little(own: list[float], passages: int, why: str) -> None:
    arm = fitted("words", LOW, own, 0.32, passages=passages)

    assert arm.threshold is None
    assert why in arm.why


@pytest.mark.parametrize(("name", "least"), [("words", 0.1), ("vectors", 0.2)])
def test_a_store_that_no_unrelated_prompt_touches_keeps_a_threshold(name: str, least: float) -> None:
    assert fitted(name, [0.0] * 100, HIGH, 0.5, passages=10_000).threshold == least


def test_equal_scores_count_half_in_the_separation() -> None:
    assert fitted("words", [0.2, 0.4], [0.3, 0.4], 0.32, passages=1).separation == (1 + 0 + 1 + 0.5) / 4


def test_the_bank_is_large_distinct_and_in_many_scripts() -> None:
    bank = unrelated()

    assert len(set(bank)) == len(bank) >= 150
    assert sum(not prompt.isascii() for prompt in bank) >= 40


# -- when ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("held", "now", "due"),
    [
        (None, meta(), True),
        (None, meta(chunks=LEAST_PASSAGES - 1), False),
        (made(), meta(), False),
        (made(), meta(chunks=1999), False),
        (made(), meta(chunks=2000), True),
        (made(), meta(vectors=600), True),
        (made(), meta(model="other"), True),
        (made(fit_for="0" * 12), meta(), True),
    ],
)
def test_a_store_is_fitted_anew_when_it_has_doubled_or_something_else_moves_its_scores(
    held: Calibration | None, now: IndexMeta, due: bool
) -> None:
    assert is_due(held, now, Settings()) is due


# -- the file --------------------------------------------------------------------------------


def test_a_turn_uses_what_was_fitted_and_a_person_wins_over_it(tmp_path: Path) -> None:
    calibration.write(tmp_path, made())

    fit = config.load(tmp_path, None, {}, home=tmp_path)
    own = config.load(tmp_path, None, {"RECALL_GATE_THRESHOLD": "0.6"}, home=tmp_path)

    assert fit.get("gate.threshold") == config.Value("gate.threshold", 0.41, config.FITTED)
    assert fit.settings().gate.threshold_words == 0.21
    assert own.settings().gate.threshold == 0.6
    assert config.load(tmp_path, None, {}).settings() == Settings()


@pytest.mark.parametrize(
    "held",
    [
        b"",
        b"{",
        b"[]",
        b'{"threshold": 0.1}',
        json.dumps({**json.loads('{"passages":1,"vectors":1,"model":"m","fit_for":"x","made":""}'),
                    "threshold": "high", "threshold_words": 0.1, "version": 1}).encode(),
    ],
)  # fmt: skip
def test_a_broken_file_is_as_good_as_none(tmp_path: Path, held: bytes) -> None:
    calibration.file(tmp_path).write_bytes(held)

    assert calibration.read(tmp_path) is None
    assert config.load(tmp_path, None, {}, home=tmp_path).settings() == Settings()


def test_thresholds_of_other_settings_do_not_count(tmp_path: Path) -> None:
    calibration.write(tmp_path, made())
    env = {"RECALL_RETRIEVAL_DENSE_WEIGHT": "0.9"}

    assert config.load(tmp_path, None, env, home=tmp_path).settings().gate == Settings().gate


def test_an_unsafe_arm_leaves_its_default(tmp_path: Path) -> None:
    calibration.write(tmp_path, made(threshold=None))

    gate = config.load(tmp_path, None, {}, home=tmp_path).settings().gate

    assert (gate.threshold, gate.threshold_words) == (Settings().gate.threshold, 0.21)


# -- the command -----------------------------------------------------------------------------


@pytest.fixture
def project(indexed: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of sixty exchanges, each about something of its own: enough here, as is a quarter of the bank."""
    monkeypatch.setattr("recall.calibrate.LEAST_PASSAGES", ENOUGH)
    quarter = unrelated()[::4]
    monkeypatch.setattr("recall.calibrate.unrelated", lambda: quarter)
    sessions = [
        exchanges(about(f"module{number % 40}", number) for number in range(20 * session, 20 * session + 20))
        for session in range(3)
    ]
    return indexed(*sessions, words_only=True)


def about(word: str, step: int) -> tuple[str, str]:
    return (
        f"The {word} endpoint fails in step {step}: where is its schema?",
        f"In step {step} the {word} endpoint reads {word}/schema_{step}.sql.",
    )


def home() -> Path:
    (found,) = Path(os.environ["RECALL_HOME"]).glob("workspaces/*/log")
    return found.parent


def test_a_dry_run_prints_and_keeps_nothing(project: Path, capsys: Any) -> None:
    capsys.readouterr()
    code = run(["calibrate", "--dry-run", "--words-only"])

    assert code == 0
    said = capsys.readouterr().out
    assert "by words alone: unrelated prompts score" in said
    assert "nothing was changed" in said
    assert calibration.read(home()) is None


def test_what_is_fitted_is_kept_the_same_twice_and_dropped_on_request(project: Path, capsys: Any) -> None:
    for _ in range(2):
        assert run(["calibrate", "--words-only", "--json"]) == 0
    first, second = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith('{"arms"')]

    held = calibration.read(home())
    assert held is not None
    assert held.threshold is None
    assert held.threshold_words == first["arms"][0]["threshold"]
    assert first["arms"][0]["unrelated"] == second["arms"][0]["unrelated"]
    assert first["arms"][0]["silent"] >= 0.9
    assert run(["config", "gate.threshold_words"]) == 0
    assert config.FITTED in capsys.readouterr().out
    assert run(["calibrate", "--forget"]) == 0
    assert calibration.read(home()) is None


def test_index_fits_the_gate_of_a_store_that_is_large_enough(project: Path, capsys: Any) -> None:
    assert run(["index"]) == 0

    assert "gate" in capsys.readouterr().err
    held = calibration.read(home())
    assert held is not None
    assert ENOUGH <= held.passages < LEAST_PASSAGES
    assert calibration.file(home()).stat().st_mode & 0o077 == 0


def test_too_small_a_store_has_no_safe_threshold(indexed: Callable[..., Path], capsys: Any) -> None:
    said = ("Which port does the pelican gate use?", "The pelican gate listens on port 8713.")
    indexed(exchanges([said]), words_only=True)
    capsys.readouterr()

    with pytest.raises(SystemExit) as ended:
        run(["calibrate", "--words-only"])

    assert ended.value.code == 1
    assert "no safe threshold: only 2 passages" in capsys.readouterr().out
