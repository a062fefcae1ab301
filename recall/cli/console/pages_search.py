"""A search as `recall query` makes it, with the same reasons as a turn; it leaves no row in the ledger."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from health.markup import Html, join, tag
from recall.cli.console import explained, parts
from recall.cli.console.asked import Asked, Page
from transcript.telling import counted

if TYPE_CHECKING:
    from recall.cli.app import App
    from recall.turn import Ranked

MOST_LISTED = 20
TEXT_SHOWN = 400
QUERY_CHARS = 4_000


def search(app: App, asked: Asked) -> Page:
    """What the past says about the words that were typed; without any, the field alone."""
    from recall.cli.query import listed, reason

    text = asked.query.get("q", "")[:QUERY_CHARS]
    field = parts.finder("/search", "q", text, label="Words or a question")
    if not text.strip():
        told = "Searches this project's past as a turn does, and shows why each result stands where it does."
        return Page("Search", join(field, tag("p", told, class_="soft")))
    turn = app.ask(text, record=False)
    found = listed(turn)
    shown = sum(1 for one in found if one.shown)
    how = "by words alone" if turn.words_only else "by words and vectors"
    head = f"{counted(len(found), 'result')}, {shown} of which a turn would show; searched {how}"
    results = (_result(number, one, asked) for number, one in enumerate(found[:MOST_LISTED], start=1))
    return Page(
        "Search",
        join(
            field,
            tag("p", head, "" if len(found) <= MOST_LISTED else f"; the best {MOST_LISTED} are here"),
            parts.facts({"gate": explained.gate(asdict(turn.budget.signals))}) if turn.ranked else None,
            explained.legend() if found else None,
            parts.listing(results, empty=f"Nothing found: {reason(turn)}."),
        ),
    )


def _result(number: int, ranked: Ranked, asked: Asked) -> Html:
    from recall.cli.query import shortened
    from recall.explain import item_json
    from recall.injection import label
    from transcript.secrets import veil

    item = ranked.candidate
    told = item_json(ranked)
    answered = item.head.strip() if item.source != "prompt" else ""
    notes = (tag("p", note, class_="soft") for note in item.notes)
    return parts.entry(
        f"{number}.",
        tag("strong", label(item)[0]),
        parts.pointer(told["pointer"]),
        parts.when(item.pointer.said, asked.now),
        explained.verdict("" if ranked.shown else ranked.verdict),
        below=join(
            tag("p", "asked: ", veil(shortened(" ".join(answered.split()), TEXT_SHOWN // 2)), class_="soft")
            if answered
            else None,
            parts.words(veil(shortened(item.text, TEXT_SHOWN))),
            *notes,
            parts.folded(f"R {ranked.score.total:.3f}: the terms", explained.scored(told, told["weights"])),
        ),
    )
