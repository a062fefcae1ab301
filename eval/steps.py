"""Small labelled fixtures, one for each kind of prompt that a step of the retrieval serves: found with and without it.

A fixture is JSON: `kind`, `off` (the settings that take the step out), perhaps `lacks` (what the index lacks then),
`records` (`id`, `text`; where it matters `session`, `said` and `role`) and `queries` (`text`, `gold`, the ids that
answer, a `type`, and perhaps `asked_at`).
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from eval.ablation import STEPS, Step, without
from eval.dataset import USER, Dataset, Dialogue, Question, Turn
from eval.dataset_run import Reply, run
from eval.engines import Engine
from eval.lineup import Search, of_variants
from eval.tables import table
from indexer.embedder import Embedder
from indexer.plain_index import LACKS, plain_index
from indexer.settings import IndexSettings
from indexer.store import Store
from indexer.tokens import TokenCounter
from recall.settings import Settings

WITH, WITHOUT = "with", "without"
_FIRST = datetime(2026, 1, 5, 9, tzinfo=UTC)
_APART = timedelta(hours=3)


@dataclass(frozen=True, slots=True)
class Fixture:
    """A fixture read: its questions over one dialogue, each record in a session of its own."""

    kind: str
    off: dict[str, Any]
    dataset: Dataset
    lacks: tuple[str, ...] = ()  # what the index of the run without the step lacks (indexer.plain_index.LACKS)

    def without(self, settings: Settings) -> Settings:
        """Return the settings with the step of this kind taken out."""
        return without(settings, Step(self.kind, tuple(self.off.items())))


def load(path: Path) -> Fixture:
    """Read a fixture; ValueError names what is wrong with it."""
    raw = path.read_bytes()
    try:
        held = json.loads(raw)
        turns = tuple(_turn(r, _FIRST + n * _APART) for n, r in enumerate(held["records"]))
        late = _FIRST + (len(turns) + 8) * _APART
        questions = tuple(_question(n, q, late) for n, q in enumerate(held["queries"], 1))
        kind, off, lacks = held["kind"], dict(held["off"]), tuple(held.get("lacks", ()))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path.name} is no fixture of a step: {error!r}") from error
    unknown = {gold for question in questions for gold in question.turns} - {turn.id for turn in turns}
    if unknown:
        raise ValueError(f"{path.name}: {min(unknown)} is the gold of a query and no record")
    dialogue = Dialogue(kind, turns, questions)
    if not {*lacks} <= {*LACKS}:
        raise ValueError(f"{path.name}: an index can lack {' or '.join(LACKS)}, not {', '.join(lacks)}")
    return Fixture(kind, off, Dataset(kind, hashlib.sha256(raw).hexdigest(), (dialogue,)), lacks)


def _turn(record: Mapping[str, str], said: datetime) -> Turn:
    at = datetime.fromisoformat(record["said"]) if "said" in record else said
    return Turn(record["id"], record.get("session", record["id"]), "dev", record["text"], at, record.get("role", USER))


def _question(number: int, query: Mapping[str, Any], late: datetime) -> Question:
    asked_at = datetime.fromisoformat(query["asked_at"]) if "asked_at" in query else late
    gold = frozenset(query["gold"])
    return Question(f"q{number}", query["text"], query["type"], asked_at, gold, gold)


def found(replies: Sequence[Reply], k: int = 6) -> dict[str, tuple[int, int]]:
    """Return, for each type of query, how many of how many have a gold record among the first k; "" is all of them."""
    counts: dict[str, tuple[int, int]] = {}
    for reply in replies:
        hit = any(item.turns & reply.question.turns for item in reply.ranked[:k])
        for name in ("", reply.question.type):
            have, of = counts.get(name, (0, 0))
            counts[name] = (have + hit, of + 1)
    return counts


@dataclass(frozen=True, slots=True)
class Row:
    """What came of one kind: engine -> type of query -> (found, asked); "" is all of them."""

    kind: str
    off: Mapping[str, Any]
    counts: Mapping[str, Mapping[str, tuple[int, int]]]
    lacks: tuple[str, ...] = ()

    def figures(self) -> dict[str, Any]:
        """Return the counts as JSON keeps them."""
        return {
            "off": dict(self.off),
            "lacks": list(self.lacks),
            "found": {name: dict(by_type) for name, by_type in self.counts.items()},
        }


def measure(
    fixture: Fixture,
    cache: Path,
    *,
    embedder: Embedder | None,
    index_settings: IndexSettings,
    settings: Settings,
    now: datetime,
    ablate: bool = False,
) -> Row:
    """Ask a fixture's queries with the step that serves them and without it, through the shipped engine."""
    variants, count = {WITH: settings}, TokenCounter()
    bare = {WITHOUT: fixture.without(settings)}
    if ablate:
        variants |= {f"without {step.name}": without(settings, step) for step in STEPS}
    with ExitStack() as copies:

        def engines(store: Store, search: Search) -> dict[str, Engine]:
            plain = copies.enter_context(plain_index(store, fixture.lacks)) if fixture.lacks else store
            return of_variants(variants, count)(store, search) | of_variants(bare, count)(plain, search)

        asked = run(
            fixture.dataset, cache, embedder=embedder, index_settings=index_settings, settings=settings, now=now,
            engines=engines,
        )  # fmt: skip
    counts = {name: found(replies) for name, replies in asked.replies.items()}
    return Row(fixture.kind, fixture.off, counts, fixture.lacks)


def to_text(rows: Sequence[Row]) -> str:
    """Return the rows as a table of recall@6; with an ablation, a line for every step that changes a kind."""
    head = ["kind", "queries", "with", "without", "taken out by"]
    body = []
    for row in rows:
        (have, of), (least, _) = row.counts[WITH][""], row.counts[WITHOUT][""]
        off = [f"{key}={value}" for key, value in row.off.items()] + [f"an index without {name}" for name in row.lacks]
        body.append([row.kind, str(of), f"{have / of:.2f}", f"{least / of:.2f}", ", ".join(off)])
    text = table(head, body)
    changed = [
        [row.kind, name, f"{(by_type[''][0] - row.counts[WITH][''][0]):+d}"]
        for row in rows
        for name, by_type in row.counts.items()
        if name not in (WITH, WITHOUT) and by_type[""][0] != row.counts[WITH][""][0]
    ]
    return text + ("\n\n" + table(["kind", "", "queries found"], changed) if changed else "")
