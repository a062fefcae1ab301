"""The HTML page: problems first, every chart readable without seeing it, nothing of recorded text obeyed, small."""

import re
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from html.parser import HTMLParser

import pytest
from support.health_cases import DAY, INDEX, NOW, WELL

from eval.page_bench import largest
from health import page
from health.facts import Facts, Point, SeriesFacts
from health.markup import VOID
from health.report import Report, assess
from health.series import FIGURES
from health.signal import Level, Signal

TODAY = datetime.fromtimestamp(NOW, UTC).date()
HOSTILE = "<script>alert(1)</script> \x1b[31m \u202eturned zero\u200bwidth\ufeff \ud800 \" onload='x' "


def night(nr: int, **figures: float) -> Point:
    return Point(NOW - nr * DAY, "ok", (), ("gate",), figures)


def full(nights: int) -> Report:
    points = tuple(night(nr, **dict.fromkeys(FIGURES, 1.0 + nr % 7)) for nr in range(nights, 0, -1))
    return assess(replace(WELL, series=SeriesFacts(points), index=replace(INDEX, rows=1_663, distinct=109)))


def figure(made: str, title: str) -> str:
    """The figure of a chart."""
    begin = made.index(f"<figcaption>{title}")
    return made[begin : made.index("</figure>", begin)]


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


def test_a_signals_name_among_all_leads_to_what_is_wrong(made):
    listed = made[made.index('id="signals-head"') :]

    assert '<a href="#signal-duplicate_ratio">duplicate_<wbr>ratio</a>' in listed
    assert '<span id="signal-stored">stored</span>' in listed


def test_what_is_to_be_typed_is_set_as_code():
    text = "see 'service', run 'chmod -R go-rwx' there, then 'recall sync' or 'recall verify --full'"
    made = page.problem(Signal("stored", 1, "count", Level.FAIL, text, text, text))

    typed = ["chmod -R go-rwx", "recall sync", "recall verify --full"]
    assert re.findall("<code>([^<]*)</code>", made) == typed * 3
    assert made.count("see &#x27;service&#x27;, run ") == 3


def test_every_signal_has_its_anchor(made):
    assert {f"signal-{signal.id}" for signal in full(1).signals} <= set(Tree(made).ids)


def test_every_chart_has_title_description_and_the_figures_as_a_table(made):
    charts = [figure for figure in re.findall(r"<figure.*?</figure>", made, re.DOTALL) if 'role="img"' in figure]

    assert len(charts) == 8 + 2
    for chart in charts:
        assert re.search(r"<title id=[^>]*>[^<]+</title><desc id=[^>]*>[^<]+</desc>", chart)
        assert chart.count("<tbody>") == 1
    assert charts[0].count("<tr>") == 1 + 60  # the head, and a row for each of the newest nights
    assert "340 older: recall health --csv" in charts[0]
    assert "<td>2026-05-27 20:26</td><td>2 ms</td>" in charts[0]
    assert "median: 2 ms</li>" in charts[0]  # the newest


def test_the_calendar_tells_each_day_with_its_count(made):
    figure = made[made.index("<figcaption>claude-code") : made.index("<figcaption>codex")]

    assert TODAY.weekday() == 3
    assert "<td>2026-05-25</td><td>1</td><td></td><td></td><td>12</td><td></td><td></td><td></td>" in figure
    assert "13 turns on 2 days from <time>2025-05-19</time> to <time>2026-05-28</time>" in figure
    assert figure.count('role="img"') == 1  # nothing was taken in half a year ago
    assert re.findall(r"</svg>([^<]+)</li>", figure) == [
        "none",
        "1 to 3",
        "4 to 6",
        "7 to 9",
        "10 to 12",
    ]


def test_a_calendar_shows_the_older_half_where_something_was_taken_in_then():
    old = TODAY - timedelta(days=250)
    made = page.render(full(1), {"codex": {TODAY: 1, old: 2, TODAY - timedelta(days=400): 9}})

    figure = made[made.index("<figcaption>codex") :]
    assert [int(n) for n in re.findall(r">(\d+) turns? on 1 day from", figure)] == [2, 1]
    assert "3 turns on 2 days" in figure
    assert re.findall(r"</svg>([^<]+)</li>", figure) == ["none", "1", "2"]


def test_the_page_stays_below_a_megabyte_with_all_that_it_may_hold():
    year = {TODAY - timedelta(days=nr): nr + 1_000 for nr in range(370)}
    captures: dict[str, dict[date, int]] = {f"harness-{nr}": year for nr in range(11)}

    assert len(page.render(full(400), captures).encode()) < 1_000_000
    assert len(largest().encode()) < 1_000_000  # all signals failing, too
    assert len(Tree(largest()).tags) < 16_000  # what a browser's time goes into


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
    one, every, gap = (
        page.render(assess(replace(WELL, series=SeriesFacts(nights))), {})
        for nights in (
            (night(1, log_bytes=5),),
            tuple(night(nr, log_bytes=5) for nr in (5, 4, 3, 2, 1)),
            tuple(night(nr, **({} if nr == 3 else {"log_bytes": 5.0})) for nr in (5, 4, 3, 2, 1)),
        )
    )

    lone, joined, halves = (figure(of, "Size on disk") for of in (one, every, gap))
    assert len(re.findall(r'<path d="M[\d.]+ [\d.]+h0" class="dot s0">', lone)) == 1
    assert joined.count('class="dot') == 0
    assert re.search(r'<path d="M[^"M]+" class="s0">', joined)
    assert re.search(r'<path d="M[^"M]+M[^"M]+" class="s0">', halves)


def test_figures_that_are_measured_now_and_then_are_joined():
    nights = tuple(night(nr, **({"mrr": 0.5 + nr / 10} if nr % 2 else {})) for nr in (5, 4, 3, 2, 1))
    quality = figure(page.render(assess(replace(WELL, series=SeriesFacts(nights))), {}), "Rank of what was asked for")

    assert re.search(r'<path d="M[^"M]+" class="s0">', quality)
    assert re.search(r'<path d="(M[^"M]+h0){3}" class="dot s0">', quality)
    assert "mean: 60%</li>" in quality


def test_what_is_nought_in_every_night_or_not_known_is_said_and_not_drawn():
    nights = (night(2, failed=0.0, misses=0.0), night(1, failed=0.0, misses=0.0))
    made = page.render(assess(replace(WELL, series=SeriesFacts(nights))), {})

    assert "<b>Failures</b>: 0 in 2 kept reports." in made
    assert "No night has kept these figures yet: Time a turn waits; " in made
    assert "<svg" not in made


@pytest.mark.parametrize(
    ("top", "marks"),
    [(3.0, ["0", "1", "2", "3"]), (226.0, ["0", "100", "200", "300"]), (0.5, ["0", "1"]), (9.0, ["0", "5", "10"])],
)
def test_the_axis_is_marked_at_round_values_up_to_the_highest(top, marks):
    made = page.render(
        assess(replace(WELL, series=SeriesFacts((night(2, tokens_p50=0.0), night(1, tokens_p50=top))))), {}
    )

    assert re.findall(r'text-anchor="end">([\d,.]+)</text>', figure(made, "Tokens a turn is given")) == marks


@pytest.mark.parametrize(("problems", "kept"), [(1, 10), (40, 10), (100, 4), (500, 1)])
def test_the_more_is_wrong_the_fewer_details_of_each_are_listed(problems, kept):
    details = tuple(f"detail {nr}" for nr in range(12))
    bad = (Signal("stored", 1, "count", Level.FAIL, "text", "meaning", "action", details=details),) * problems
    made = page.sections(Report("w", NOW, bad), {})

    assert made.count("<li>detail ") == problems * kept
    assert made.count(f"<li>and {12 - kept} more; recall health --json lists them</li>") == problems


def test_hostile_and_endless_text_is_shown_cut_and_escaped():
    bad = Signal("stored", 1, "count", Level.FAIL, HOSTILE, HOSTILE, HOSTILE, details=(HOSTILE, "x" * 1_000_000) * 30)
    made = page.render(Report(HOSTILE, NOW, (bad,)), {HOSTILE: {TODAY: 1}})

    Tree(made)
    assert "<script" not in made
    assert "\x1b" not in made
    assert not {"\u202e", "\u200b", "\ufeff"} & set(made)
    shown = "&lt;script&gt;alert(1)&lt;/script&gt; \\x1b[31m \\u202eturned zero\\u200bwidth\\ufeff \\ud800 &quot;"
    assert shown in made
    assert "(1,000,000 characters)" in made
    assert "and 50 more" in made
    assert len(made) < 100_000
