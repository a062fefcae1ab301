"""Small labelled fixtures, one for each kind of prompt that a step of the retrieval serves: found with and without it.

A fixture is JSON: `kind`, `off` (the settings that take the step out), `records` (`id`, `text`) and `queries` (`text`,
`gold`, the ids that answer, and a `type`).
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from eval.dataset import USER, Dataset, Dialogue, Question, Turn
from eval.dataset_run import Reply
from recall.settings import Settings

_FIRST = datetime(2026, 1, 5, 9, tzinfo=UTC)
_APART = timedelta(hours=3)


@dataclass(frozen=True, slots=True)
class Fixture:
    """A fixture read: its questions over one dialogue, each record in a session of its own."""

    kind: str
    off: dict[str, Any]
    dataset: Dataset

    def without(self, settings: Settings) -> Settings:
        """Return the settings with the step of this kind taken out."""
        for key, value in self.off.items():
            section, _, name = key.partition(".")
            settings = replace(settings, **{section: replace(getattr(settings, section), **{name: value})})
        return settings


def load(path: Path) -> Fixture:
    """Read a fixture; ValueError names what is wrong with it."""
    raw = path.read_bytes()
    try:
        held = json.loads(raw)
        turns = tuple(
            Turn(r["id"], r["id"], "dev", r["text"], _FIRST + n * _APART, USER) for n, r in enumerate(held["records"])
        )
        asked_at = _FIRST + (len(turns) + 8) * _APART
        questions = tuple(
            Question(f"q{n}", q["text"], q["type"], asked_at, frozenset(q["gold"]), frozenset(q["gold"]))
            for n, q in enumerate(held["queries"], 1)
        )
        kind, off = held["kind"], dict(held["off"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path.name} is no fixture of a step: {error!r}") from error
    unknown = {gold for question in questions for gold in question.turns} - {turn.id for turn in turns}
    if unknown:
        raise ValueError(f"{path.name}: {min(unknown)} is the gold of a query and no record")
    dialogue = Dialogue(kind, turns, questions)
    return Fixture(kind, off, Dataset(kind, hashlib.sha256(raw).hexdigest(), (dialogue,)))


def found(replies: Sequence[Reply], k: int = 6) -> dict[str, tuple[int, int]]:
    """Return, for each type of query, how many of how many have a gold record among the first k; "" is all of them."""
    counts: dict[str, tuple[int, int]] = {}
    for reply in replies:
        hit = any(item.turns & reply.question.turns for item in reply.ranked[:k])
        for name in ("", reply.question.type):
            have, of = counts.get(name, (0, 0))
            counts[name] = (have + hit, of + 1)
    return counts
