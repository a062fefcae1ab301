"""The health page in a real browser: whoever cannot see colours, has a small screen or no mouse misses nothing."""

import json
import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from support.health_cases import DAY, INDEX, NOW, WELL
from support.hooks import PATIENCE_MS

from eval import page_bench
from health import page as health_page
from health.facts import Facts, Point, SeriesFacts
from health.report import assess
from health.series import FIGURES

sync_api = pytest.importorskip("playwright.sync_api", reason="needs the group browser")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs the group browser")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's chromium")]

FOCUSED = "() => { const e = document.activeElement; return [e.tagName, e.textContent.slice(0, 40)] }"
OUTLINED = "() => getComputedStyle(document.activeElement).outlineStyle"
REACHED = (
    "() => document.querySelectorAll('a[href], summary, details[open] [tabindex], :not(details) > [tabindex]').length"
)

COLOURS = "() => (s => [s.color, s.backgroundColor])(getComputedStyle(document.body))"
STROKE = "name => getComputedStyle(document.querySelector(name)).stroke"
OPACITY = "name => getComputedStyle(document.querySelector(name)).fillOpacity"
MOVING = """() => [...document.querySelectorAll('*')].map(e => getComputedStyle(e))
    .filter(s => s.transitionDuration !== '0s' || s.scrollBehavior === 'smooth').length"""
IN_SIGHT = """id => { const at = document.getElementById(id).getBoundingClientRect()
    return at.top >= 0 && at.top < innerHeight }"""
LEFT_OUT = """() => [...document.querySelectorAll('article, figure, #signals details')]
    .filter(e => getComputedStyle(e).contentVisibility !== 'visible').length"""
BROKEN = """() => [...document.querySelectorAll('#signals td:first-child :is(span, a)')].flatMap(e => [...e.childNodes])
    .filter(n => { const r = document.createRange(); r.selectNodeContents(n); return r.getClientRects().length > 1 })
    .map(n => n.textContent)"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    as_root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=as_root, timeout=PATIENCE_MS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page with all there may be, and one of a project without anything."""
    until = datetime.fromtimestamp(NOW, UTC).date()
    nights = tuple(Point(NOW - nr * DAY, "ok", (), (), dict.fromkeys(FIGURES, 1.0 + nr % 7)) for nr in range(60, 0, -1))
    index = replace(INDEX, rows=1_663, distinct=109, failed=3, failures=("/a/very/long/path/" * 20, "x" * 300))
    full = assess(replace(WELL, series=SeriesFacts(nights), index=index))
    days = {until - timedelta(days=nr): 1 + nr % 40 for nr in range(0, 360, 2)}
    made = {"full": (full, {"claude-code": days, "codex": days}), "empty": (assess(Facts("w", NOW)), {})}
    folder = tmp_path_factory.mktemp("pages")
    for name, (report, captures) in made.items():
        (folder / f"{name}.html").write_text(health_page.render(report, captures), encoding="utf-8")
    (folder / "largest.html").write_text(page_bench.largest(), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in (*made, "largest")}


@pytest.fixture
def look(browser: Any, pages: dict[str, Path]) -> Iterator[Any]:
    """Opens a page; what it asks for besides itself, and what the browser complains of, is collected."""
    contexts = []

    def opened(name: str, *, width: int = 1280, scheme: str = "light", **more: Any) -> tuple[Any, list[str]]:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, **more)
        contexts.append(context)
        context.set_default_timeout(PATIENCE_MS)
        page, heard = context.new_page(), []
        page.on("request", lambda request: heard.append(request.url))
        page.on("console", lambda message: heard.append(message.text))
        page.goto(pages[name].as_uri())
        return page, heard

    yield opened
    for context in contexts:
        context.close()


@pytest.mark.parametrize("name", ["full", "empty"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_is_accessible_fits_and_asks_for_nothing(
    look: Any, pages: dict[str, Path], name: str, scheme: str, width: int
) -> None:
    page, heard = look(name, width=width, scheme=scheme)
    page.evaluate("() => document.querySelectorAll('details').forEach(one => one.open = true)")

    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    assert heard == [pages[name].as_uri()]
    found = axe.Axe().run(page)
    assert [(one["id"], one["nodes"][0]["target"]) for one in found.response["violations"]] == []
    assert len(found.response["passes"]) > 10


def test_everything_is_reached_by_keyboard_in_the_order_of_the_page(look: Any) -> None:
    page, _ = look("full")
    wanted = page.evaluate(REACHED)
    seen: list[float] = []
    for _ in range(wanted):
        page.keyboard.press("Tab")
        assert page.evaluate(OUTLINED) != "none", page.evaluate(FOCUSED)
        seen.append(page.evaluate("() => [...document.querySelectorAll('*')].indexOf(document.activeElement)"))

    assert len(set(seen)) == wanted
    assert seen == sorted(seen)


def test_a_charts_figures_open_by_keyboard(look: Any) -> None:
    page, _ = look("full")
    summary = page.get_by_text("Time a turn waits: figures")
    table = page.get_by_role("region", name="Time a turn waits: figures")
    assert not table.is_visible()

    summary.focus()
    page.keyboard.press("Enter")

    assert table.is_visible()
    assert table.get_by_role("row").count() == 61


@pytest.mark.parametrize("style", [":root { font-size: 200% }", ":root { zoom: 2 }"], ids=["larger text", "zoom"])
def test_twice_the_size_fits_without_scrolling_sideways(look: Any, style: str) -> None:
    page, _ = look("full")
    before = page.locator("h1").bounding_box()["height"]
    page.add_style_tag(content=style)
    page.evaluate("() => document.querySelectorAll('details').forEach(one => one.open = true)")

    assert page.locator("h1").bounding_box()["height"] > 1.9 * before
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 1280


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_charts_and_levels_are_seen_in_colours_of_the_readers_own(look: Any, scheme: str) -> None:
    page, _ = look("full", scheme=scheme, forced_colors="active")
    text, paper = page.evaluate(COLOURS)

    assert text != paper
    assert {page.evaluate(STROKE, f".charts path.s{nr}") for nr in range(3)} == {text}
    assert page.evaluate(STROKE, ".axis") not in (text, paper)
    shades = [float(page.evaluate(OPACITY, f".year .d{nr}")) for nr in range(5)]
    assert shades == sorted(set(shades))
    assert [one["id"] for one in axe.Axe().run(page).response["violations"]] == []


@pytest.mark.parametrize("width", [1280, 390])
def test_a_signals_address_leads_to_it_though_what_lies_between_was_never_laid_out(look: Any, width: int) -> None:
    page, _ = look("largest", width=width)
    for id in ("signal-embedder", "signal-recall_quality"):
        page.locator(f"#signals a[href='#{id}']").focus()
        page.keyboard.press("Enter")
        page.wait_for_function(IN_SIGHT, arg=id)

        assert page.evaluate("() => document.querySelector(':target').id") == id


def test_nothing_moves(look: Any) -> None:
    page, _ = look("full", reduced_motion="reduce")

    assert page.evaluate("() => document.getAnimations().length") == 0
    assert page.evaluate(MOVING) == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_paper_it_is_black_on_white_and_whole(look: Any, scheme: str) -> None:
    page, _ = look("full", scheme=scheme)
    page.emulate_media(media="print", color_scheme=scheme)

    assert page.evaluate(COLOURS) == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]
    assert not page.locator("nav").is_visible()
    assert page.locator(".charts svg").first.is_visible()
    assert page.evaluate(LEFT_OUT) == 0
    assert not page.get_by_text("Time a turn waits: figures").is_visible()


@pytest.mark.bench
def test_the_page_at_its_largest_is_timed_beside_an_empty_one() -> None:
    with ThreadPoolExecutor(1) as apart:  # of the browser that the other tests hold open
        report = apart.submit(page_bench.run, runs=2).result()

    held = json.loads(report.to_json())
    assert held["largest"]["nodes"] > 100 * held["empty"]["nodes"]
    assert all(painted > 0 for name in ("largest", "empty") for painted in held[name]["painted_ms"])


def test_a_small_screen_breaks_names_between_their_words(look: Any) -> None:
    """A column of letters one below the other can be read by nobody."""
    page, _ = look("full", width=390)
    broken = page.evaluate(BROKEN)

    assert page.locator("#signals td:first-child :is(span, a)").count() > 80
    assert broken == []
