"""The HTML page: problems first, every chart readable without seeing it, nothing of recorded text obeyed, small."""

import re
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from html.parser import HTMLParser

import pytest
from support.health_cases import DAY, INDEX, NOW, WELL

from health import page
from health.facts import Facts, Point, SeriesFacts
from health.markup import VOID
from health.report import Report, assess
from health.series import FIGURES
from health.signal import Level, Signal

TODAY = datetime.fromtimestamp(NOW, UTC).date()
HOSTILE = "<script>alert(1)</script> \x1b[31m \u202eturned \ud800 \" onload='x' "


def night(nr: int, **figures: float) -> Point:
    return Point(NOW - nr * DAY, "ok", (), ("gate",), figures)


def full(nights: int) -> Report:
    points = tuple(night(nr, **dict.fromkeys(FIGURES, 1.0 + nr % 7)) for nr in range(nights, 0, -1))
    return assess(replace(WELL, series=SeriesFacts(points), index=replace(INDEX, rows=1_663, distinct=109)))


class Tree(HTMLParser):
    """The page as a browser nests it: fails where an element is closed by another's end."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.labels: list[str] = []
        self.tags: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        held = dict(attrs)
        self.ids += [held["id"]] if "id" in held else []
        self.links += [held["href"]] if "href" in held else []
        self.labels += held.get("aria-labelledby", "").split()
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def made():
    return page.render(full(400), {"claude-code": {TODAY: 12, TODAY - timedelta(days=3): 1}, "codex": {TODAY: 1}})


def test_the_page_is_well_formed_and_its_references_lead_somewhere(made):
    tree = Tree(made)

    assert len(set(tree.ids)) == len(tree.ids)
    assert {f"#{id}" for id in tree.ids} >= set(tree.links)
    assert set(tree.ids) >= set(tree.labels)
    assert tree.links


def test_the_page_asks_for_nothing_and_runs_nothing(made):
    assert re.search(r"https?:|src=|<script|@import|url\(|<link|<iframe| on\w+=", made) is None
    assert "default-src &#x27;none&#x27;" in made


def test_the_two_figures_and_the_problems_come_before_everything_else(made):
    card = made.index("93.4% of 1,663 rows")
    problem = made.index('id="signal-duplicate_ratio"')

    assert card < made.index("<main>") < problem < made.index("<svg")
    assert "<code>recall index compact</code>" in made[problem : made.index("</article>", problem)]
    assert "since the night of 2026-05-27 20:26Z: failing duplicate_ratio" in made[:problem]


def test_every_signal_has_its_anchor(made):
    assert {f"signal-{signal.id}" for signal in full(1).signals} <= set(Tree(made).ids)


def test_every_chart_has_title_description_and_the_figures_as_a_table(made):
    charts = [figure for figure in re.findall(r"<figure.*?</figure>", made, re.DOTALL) if 'role="img"' in figure]

    assert len(charts) == 8 + 2
    for chart in charts:
        assert re.search(r"<title id=[^>]*>[^<]+</title><desc id=[^>]*>[^<]+</desc>", chart)
        assert chart.count("<tbody>") == 1
    assert charts[0].count("<tr>") == 1 + 400  # the head, and a row a night
    assert "<td>2026-05-27 20:26</td><td>2 ms</td>" in charts[0]


def test_the_calendar_tells_each_day_with_its_count(made):
    assert f"<title>{TODAY}: 12 turns</title>" in made
    assert f"<title>{TODAY - timedelta(days=3)}: 1 turn</title>" in made
    assert "13 turns on 2 days from 2025-05-26 to 2026-05-28" in made


def test_the_page_stays_below_a_megabyte_with_all_that_it_may_hold():
    year = {TODAY - timedelta(days=nr): nr + 1_000 for nr in range(370)}
    captures: dict[str, dict[date, int]] = {f"harness-{nr}": year for nr in range(11)}

    assert len(page.render(full(400), captures).encode()) < 1_000_000


def test_an_empty_series_and_an_empty_record_say_so():
    made = page.render(assess(Facts("w", NOW)), {})

    assert "Nothing to draw yet" in made
    assert "<svg" not in made
    assert "No turn of the last year is in the record." in made
    assert "No night has kept a report yet" in made
    assert "not known: no index" in made
    assert "nan" not in made
    Tree(made)


def test_one_night_is_a_dot_and_a_gap_is_no_line():
    one = page.render(assess(replace(WELL, series=SeriesFacts((night(1, turns=5),)))), {})
    nights = tuple(night(nr, **({} if nr == 3 else {"turns": 5.0})) for nr in (5, 4, 3, 2, 1))
    gap = page.render(assess(replace(WELL, series=SeriesFacts(nights))), {})

    assert one.count("<circle") == 1
    assert one.count("no night has kept this figure yet") == 7  # of the eight charts
    assert gap[gap.index("Turns</figcaption>") :].count('class="s0"') == 2 + 1  # two pieces and the legend's


def test_hostile_and_endless_text_is_shown_cut_and_escaped():
    bad = Signal("stored", 1, "count", Level.FAIL, HOSTILE, HOSTILE, HOSTILE, details=(HOSTILE, "x" * 1_000_000) * 30)
    made = page.render(Report(HOSTILE, NOW, (bad,)), {HOSTILE: {TODAY: 1}})

    Tree(made)
    assert "<script" not in made
    assert "\x1b" not in made
    assert "\u202e" not in made
    assert "&lt;script&gt;alert(1)&lt;/script&gt; \\x1b[31m \\u202eturned \\ud800 &quot;" in made
    assert "(1,000,000 characters)" in made
    assert "and 40 more" in made
    assert len(made) < 100_000
