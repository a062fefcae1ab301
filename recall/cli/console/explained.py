"""Why an item was shown or not: its six terms as bars, its evidence, its verdict; the same for a turn and a search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from health.markup import Html, join, tag
from recall.cli.console import parts
from recall.cli.console.parts import Bar

if TYPE_CHECKING:
    from transcript.log import Log

MEANT = {
    "S": "how near it is to the prompt",
    "E": "how far it has proved itself",
    "T": "how recent it is",
    "A": "how much its source counts",
    "Q": "how well it fits the place",
    "K": "what speaks against it",
}


def verdict(reason: str) -> Html:
    """Return what became of an item, in words: shown, or left out and why; "" is shown."""
    from recall.explain import SILENCE

    return parts.badge("shown", "ok") if not reason else parts.badge(f"left out: {SILENCE.get(reason, reason)}")


def scored(item: Mapping[str, Any], weights: Mapping[str, float]) -> Html:
    """Return R with its terms as bars and the evidence of S; nothing for an item that was not scored.

    item as in the ledger or in `recall explain --json`; weights by the letters of the terms.
    """
    from recall.explain import DEMOTIONS
    from scoring.score import TERMS

    if "terms" not in item:
        return Html("")
    values = item["terms"]
    rows = [
        Bar(f"{term.letter} {term.name}", values[term.letter], weights.get(term.letter, 0.0), term.sign < 0)
        for term in TERMS
        if term.letter in values
    ]
    near = "no vector" if item.get("cosine") is None else f"cosine {item['cosine']:.3f}"
    matched = item.get("words", item.get("matched"))
    found = f"words: {' '.join(matched)}" if matched else "no word of the prompt"
    evidence = f"relevance {item.get('relevance', 0):.3f}, {near}, bm25 {item.get('bm25', 0):.2f}, {found}"
    demoted = "; ".join(DEMOTIONS.get(one, one) for one in item.get("demoted", ()))
    return join(
        tag("p", tag("strong", f"R {item.get('R', 0):.3f}"), " = sum of"),
        parts.bars(rows, label="The terms of R"),
        tag("p", evidence, class_="soft"),
        tag("p", f"demoted: {demoted}", class_="soft") if demoted else None,
    )


def legend() -> Html:
    """Return what the letters mean."""
    from scoring.score import TERMS

    rows = {f"{term.letter} {term.name}": MEANT.get(term.letter, "") for term in TERMS}
    return parts.folded("What the bars mean", parts.facts(rows))


def gate(signals: Mapping[str, Any]) -> Html | None:
    """Return what the gate compared as a bar with a line at the threshold; None where nothing was compared."""
    if not signals.get("threshold"):
        return None
    best, needed = signals["best"], signals["threshold"]
    state = parts.badge("open", "ok") if best >= needed else parts.badge("shut", "warn")
    told = f" the best match scores {best:.3f}, {needed:.3f} is needed"
    return join(parts.gauge(best, max(best, needed), mark=needed), " ", state, told)


def said(log: Log, item: Mapping[str, Any], most: int) -> str:
    """Return how the words begin that an item of the ledger points at, credentials masked; "" where they are gone."""
    from indexer.passages import event_text
    from recall.cli.query import shortened
    from recall.show import parse_pointer
    from transcript.errors import PointerError, RecordError
    from transcript.secrets import veil

    try:
        _, start, end = parse_pointer(str(item.get("pointer", "")))
        event = log.get(str(item["event"])) if "event" in item else log.find(str(item["pointer"]))
        words = event_text(event.type, log.body(event))[start:end]
    except (PointerError, RecordError):
        return ""
    return veil(shortened(" ".join(words.split()), most))


def by_letter(weights: Mapping[str, Any]) -> dict[str, float]:
    """Return the weights of a turn as the ledger has them, by the letters of their terms."""
    from scoring.score import TERMS
    from scoring.weights import Weights

    held = Weights(**weights)
    return {term.letter: held.of(term.letter) for term in TERMS}
