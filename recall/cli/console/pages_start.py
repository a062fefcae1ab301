"""The first page: what is wrong, and what the newest turns were given."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING

from health.markup import Html, join, tag
from recall.cli.console import parts
from recall.cli.console.asked import Asked, Page
from recall.cli.console.pages_health import making
from recall.cli.console.pages_turns import turn_entry
from transcript.errors import RecallError
from transcript.telling import counted

if TYPE_CHECKING:
    from health.report import Report
    from recall.cli.app import App

MOST_PROBLEMS = 8
TURNS = 8
LOOK_BACK = 50


def start(app: App, asked: Asked) -> Page:
    """Return the problems of health, the worst first, and the newest turns."""
    from recall.cli.console.looked import looked

    found = looked(app)
    told = _problems(found.report, asked) if found is not None else (making("/"),)
    try:
        turns = _turns(app, asked)
    except RecallError as error:  # of a damaged record health alone still tells
        turns = parts.section("Newest turns", tag("p", str(error)), id_="turns")
    return Page("Now", join(parts.section("Health", *told, id_="health"), turns))


def _problems(report: Report, asked: Asked) -> tuple[Html, ...]:
    from health.page import badge, problem

    bad = sorted((one for one in report.signals if one.level), key=lambda one: -one.level)
    left = len(bad) - MOST_PROBLEMS
    counts = next((one.value for one in report.signals if one.id == "proposals"), None)
    waiting = int(counts["waiting"]) if isinstance(counts, Mapping) else 0
    more = f"{left:,} more, and every signal" if left > 0 else "every signal"
    told = f"{counted(waiting, 'proposal waits', 'proposals wait')} for a decision"
    return (
        tag("p", badge(report.level), f" {parts.ago(asked.now.timestamp() - report.at)} ", parts.link(more, "/health")),
        tag("p", parts.link(told, "/proposals")) if waiting else Html(""),
        *(map(problem, bad[:MOST_PROBLEMS]) if bad else (tag("p", "Nothing is wrong."),)),
    )


def _turns(app: App, asked: Asked) -> Html:
    from recall import ledger
    from recall.cli.reading import door

    log = app.log(app.workspace())
    exit_ = door(app, log.workspace)
    newest = islice(ledger.turns(log, modes=(*ledger.MODES, ledger.START_MODE)), LOOK_BACK)
    found = islice((one for one in newest if exit_.lets_event(log, one)), TURNS)
    return parts.section(
        "Newest turns",
        parts.listing(
            (turn_entry(one, log.body(one), asked) for one in found),
            empty="No turn yet: no hook has answered here, and nothing was searched for.",
        ),
        tag("p", parts.link("all turns", "/turns?all=1")),
        id_="turns",
    )
