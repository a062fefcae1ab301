"""Which page answers at which address: the one list of them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recall.cli.app import App
    from recall.cli.console.asked import Asked, Goto, Page

    Answer = Callable[[App, Asked], Page | Goto]


@dataclass(frozen=True, slots=True)
class Route:
    """An address, and the function of a module of this package that answers there.

    `{name:path}` in the address becomes Asked.name. With a label, the page stands in the navigation, in this order;
    part is the address of the page there that this one belongs to.
    """

    address: str
    module: str
    function: str
    label: str = ""
    part: str = ""
    method: str = "GET"

    def answer(self) -> Answer:
        """The function; its module is imported when it is first asked for."""
        found: Answer = getattr(importlib.import_module(f"recall.cli.console.{self.module}"), self.function)
        return found


ROUTES = (
    Route("/", "pages_start", "start", "Now"),
    Route("/turns", "pages_turns", "turns", "Turns"),
    Route("/turn/{name:path}", "pages_turns", "turn", part="/turns"),
    Route("/sessions", "pages_sessions", "sessions", "Sessions"),
    Route("/session/{name:path}", "pages_sessions", "session", part="/sessions"),
    Route("/at/{name:path}", "pages_sessions", "place", part="/sessions"),
    Route("/search", "pages_search", "search", "Search"),
    Route("/memories", "pages_memories", "memories", "Memories"),
    Route("/memory/{name:path}", "pages_memories", "memory", part="/memories"),
    Route("/proposals", "pages_proposals", "proposals", "Proposals"),
    Route("/proposal/{name:path}", "pages_proposals", "proposal", part="/proposals"),
    Route("/proposal/{name:path}", "pages_proposals", "prepare", part="/proposals", method="POST"),
    Route("/health", "pages_health", "health", "Health"),
)
