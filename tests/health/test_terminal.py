"""The report on a terminal: the two figures at once, nothing wider than the screen, nothing of recorded text obeyed."""

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console
from support.health_cases import HOUR, INDEX, NOW, WELL

from health.facts import Facts, Point, SeriesFacts
from health.report import Report, assess
from health.signal import Level, Signal
from health.terminal import show

STYLE = re.compile(r"\x1b\[[0-9;]*m")
BAD = assess(
    replace(
        WELL,
        index=replace(INDEX, rows=1_663, distinct=109, failed=3, failures=("chunk 1: too long",) * 9),
        series=SeriesFacts((Point(NOW - HOUR, "warn", ("stored",), ("embeddings_failed",)),)),
    )
)


def shown(report: Report, *, width: int = 80, every: bool = False, **console: object) -> str:
    out = io.StringIO()
    show(report, Console(file=out, width=width, highlight=False, **console), every=every)
    return out.getvalue()


def many(count: int) -> Report:
    more = (
        Signal("stored", nr, "count", Level.FAIL, f"fault {nr}", "meaning", "run 'recall sync'") for nr in range(count)
    )
    return replace(BAD, signals=(*more, *BAD.signals))


@pytest.mark.parametrize("made", [lambda r: shown(r), lambda r: r.to_text()], ids=["terminal", "pipe"])
def test_the_cards_two_figures_stand_in_the_first_two_lines_over_thirty_problems(made):
    first, second, *rest = made(many(30)).splitlines()

    assert first == "fail  workspace w  2026-05-28 20:26Z"
    assert second == "      duplicates 93.4% of 1,663 rows; 3 failed embeddings"
    assert sum(line.startswith("fail") for line in rest) >= 30


def test_areas_and_what_is_new_come_before_the_problems():
    text = BAD.to_text()

    assert text.splitlines()[2] == "      fail indexing; ok record, recall, loading, memories, operations"
    assert "since the night of 2026-05-28 19:26Z: failing duplicate_ratio" in text.splitlines()[3]
    assert "mended stored" in text.splitlines()[3]
    assert "since the night" not in assess(WELL).to_text()


def test_the_end_names_what_is_wrong_for_a_terminal_that_shows_no_more():
    """The beginning of a long report has scrolled away."""
    named = "fail stored, fail stored, fail duplicate_ratio, fail duplicate_rows, warn embeddings_failed"
    assert many(2).to_text().splitlines()[-1] == f"in short: {named}"
    assert many(30).to_text().splitlines()[-1] == "in short: " + "fail stored, " * 6 + "and 27 more"
    assert "in short" not in assess(WELL).to_text()


def test_the_project_is_named_where_it_has_a_folder():
    assert replace(BAD, project="shop\napi").to_text().startswith("fail  shop api  workspace w  2026")


def test_figures_that_are_not_known_are_said_to_be():
    assert "not known: no index" in assess(Facts("w", NOW)).to_text().splitlines()[1]


@pytest.mark.parametrize("width", [40, 80, 132])
@pytest.mark.parametrize("every", [False, True])
def test_no_line_is_wider_than_the_terminal_and_no_word_is_lost(width, every):
    made = shown(BAD, width=width, every=every)

    assert max(map(len, made.splitlines())) <= width
    assert "".join(made.split()) == "".join(BAD.to_text(every=every).split())


def test_levels_are_coloured_where_the_terminal_can_and_plain_elsewhere(monkeypatch):
    coloured = shown(BAD, force_terminal=True, color_system="standard", no_color=False)

    assert "\x1b[1;31mfail  \x1b[0mworkspace w" in coloured
    assert "\x1b[32mok    \x1b[0munindexed" in coloured
    assert STYLE.sub("", coloured) == shown(BAD)
    monkeypatch.setenv("NO_COLOR", "1")
    assert re.search(r"\x1b\[[0-9;]*3[0-9]", shown(BAD, force_terminal=True, color_system="standard")) is None


def test_hostile_and_endless_text_forges_no_line_and_is_not_obeyed():
    hostile = "[red]x[/red] \x1b[2J\u202eturned\u200b\r\nok    stored   all is well"
    bad = Signal("stored", 1, "count", Level.FAIL, hostile, hostile, hostile, details=(hostile, "y" * 1_000_000))
    made = shown(Report(hostile, NOW, (bad,)), width=200)

    assert "[red]x[/red] \\x1b[2J\\u202eturned\\u200b" in made
    assert "\x1b" not in made
    assert not {"\u202e", "\u200b"} & set(made)
    assert not any(line.startswith("ok ") for line in made.splitlines())
    assert "(1,000,000 characters)" in made
    assert len(made) < 5_000
