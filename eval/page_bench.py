"""How fast the health page opens at its largest: in a real browser, beside a page of nothing."""

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

from eval.machine import Machine, machine
from health import page
from health.catalog import CATALOG
from health.facts import Point
from health.markup import page as made
from health.markup import tag
from health.report import Report
from health.series import FIGURES, MOST_POINTS
from health.signal import Level, Signal
from health.style import STYLE
from transcript.errors import ConfigError
from transcript.telling import counted

HARNESSES = 13
DETAILS = 25
AT = 1_780_000_000.0
EMPTY = "empty page"
_DAY = 86_400.0
# Milliseconds since the navigation began: parsed, first words painted, everything laid out and painted once more.
_TIMES = """() => new Promise(done => requestAnimationFrame(() => setTimeout(() => {
    const [page] = performance.getEntriesByType('navigation')
    const paint = performance.getEntriesByName('first-contentful-paint')[0]
    done([page.domContentLoadedEventEnd, paint ? paint.startTime : page.loadEventEnd, performance.now()])
}, 0)))"""


@dataclass(frozen=True, slots=True)
class Opened:
    """Milliseconds of each opening of one page: until it is parsed, until words show, until a frame stands."""

    bytes: int
    nodes: int
    parsed_ms: tuple[float, ...]
    painted_ms: tuple[float, ...]
    settled_ms: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class PageReport:
    """The largest page, and one of nothing."""

    browser: str
    largest: Opened
    empty: Opened
    machine: Machine

    def to_json(self) -> str:
        """Return one JSON object with every single time."""
        return json.dumps(asdict(self))

    def to_text(self) -> str:
        """Return the medians for people."""
        runs = len(self.largest.parsed_ms)
        rows = [f"the health page at its largest in {self.browser}, median of {counted(runs, 'opening')}"]
        for name, one in (("largest", self.largest), (EMPTY, self.empty)):
            parsed, painted, settled = (median(t) for t in (one.parsed_ms, one.painted_ms, one.settled_ms))
            rows.append(
                f"{name:<10} {one.bytes:>9,} bytes {one.nodes:>7,} nodes  parsed {parsed:6.0f} ms  "
                f"painted {painted:6.0f} ms  settled {settled:6.0f} ms"
            )
        times = median(self.largest.settled_ms) / median(self.empty.settled_ms)
        return "\n".join([*rows, f"settled after {times:.1f} times the {EMPTY}'s time", self.machine.to_text()])


def run(*, runs: int) -> PageReport:
    """Open both pages by turns, each time in a window of its own; ConfigError where no browser can be driven."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise ConfigError("--page needs playwright: pip install playwright, and chromium of the system") from None
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        raise ConfigError("--page needs a browser: no chromium, chromium-browser or google-chrome on the PATH")
    as_root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    pages = {"largest": largest(), "empty": made(EMPTY, tag("p", "nothing"), style=STYLE)}
    times: dict[str, list[tuple[float, float, float]]] = {name: [] for name in pages}
    nodes = {}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=as_root)
        for name, text in pages.items():
            Path(folder, f"{name}.html").write_text(text, encoding="utf-8")
        for _ in range(runs + 1):  # the first of each warms the browser up
            for name in pages:
                found, nodes[name] = _open(browser, Path(folder, f"{name}.html"))
                times[name].append(found)
        version = browser.version
        browser.close()
    opened = {
        name: Opened(len(pages[name].encode()), nodes[name], *zip(*times[name][1:], strict=True)) for name in pages
    }
    return PageReport(f"chromium {version}", opened["largest"], opened["empty"], machine())


def _open(browser: Any, file: Path) -> tuple[tuple[float, float, float], int]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(file.as_uri())
    parsed, painted, settled = page.evaluate(_TIMES)
    nodes = page.evaluate("() => document.querySelectorAll('*').length")
    context.close()
    return (parsed, painted, settled), nodes


def largest() -> str:
    """Return the page with all that it may hold: every signal failing, 400 nights, a year of each harness."""
    words = "what is wrong is told in a sentence of this length, with a figure of 1,234,567 and a unit"
    signals = tuple(
        Signal(
            id=known.id.replace("*", f"harness-{nr}"),
            value=nr,
            unit="count",
            level=Level.FAIL,
            text=words,
            meaning=words,
            action=f"run 'recall {known.remedy or 'verify'}'",
            details=tuple(f"/home/user/{'folder/' * 40}file-{nr}-{row}.jsonl: {words}" for row in range(DETAILS)),
        )
        for known in CATALOG
        for nr in range(HARNESSES if known.id.endswith("*") else 1)
    )
    points = tuple(
        Point(AT - (MOST_POINTS - night) * _DAY, "fail", (), (), _figures(night)) for night in range(MOST_POINTS)
    )
    until = datetime.fromtimestamp(AT, UTC).date()
    days: dict[date, int] = {until - timedelta(days=day): 1 + day * 37 % 900 for day in range(372)}
    captures: Mapping[str, Mapping[date, int]] = {f"harness-{nr}": days for nr in range(HARNESSES)}
    return page.render(Report("0" * 36, AT, signals, points), captures)


def _figures(night: int) -> dict[str, float]:
    return {name: 1.0 + night * (7 + nr) % 97 for nr, name in enumerate(FIGURES)}
