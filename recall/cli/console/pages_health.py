"""The page of health: the report that `recall health --html` writes, in the console's frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from health.markup import join, tag
from recall.cli.console import parts
from recall.cli.console.asked import Asked, Page

if TYPE_CHECKING:
    from recall.cli.app import App


def health(app: App, asked: Asked) -> Page:
    """Return the whole report as it was made last; with `?again=1` a new one."""
    from health.page import badge, sections, summary
    from recall.cli.console.looked import looked

    found = looked(app, again=asked.query.get("again") == "1")
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
