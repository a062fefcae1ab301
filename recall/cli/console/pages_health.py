"""The page of health: the report that `recall health --html` writes, in the console's frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from health.markup import Html, join, tag
from recall.cli.console import parts
from recall.cli.console.asked import Asked, Page

if TYPE_CHECKING:
    from recall.cli.app import App


def making(here: str) -> Html:
    """Return what stands in a report's place while the first one is made."""
    return tag("p", "The first look at this project is being taken. ", parts.link("Look again", here), role="status")


def health(app: App, asked: Asked) -> Page:
    """Return the whole report as it was made last; with `?again=1` a new one."""
    from health.page import badge, sections, summary
    from recall.cli.console.looked import looked

    found = looked(app, again=asked.query.get("again") == "1")
    if found is None:
        return Page("Health", making("/health"))
    report = found.report
    return Page(
        "Health",
        join(
            tag(
                "p",
                badge(report.level),
                " ",
                parts.ago(asked.now.timestamp() - report.at),
                " ",
                parts.link("look again", parts.address("/health", again="1")),
            ),
            summary(report),
            sections(report, found.captures),
        ),
    )
