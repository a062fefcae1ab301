"""Asks the questions of a dataset of the shipped engine and of plain baselines, over one open index a dialogue."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from eval.dataset import Dataset, Dialogue, Question
from eval.dialogue_index import OpenDialogue, opened
from eval.engines import Answer, Engine
from eval.judge import Item
from eval.labels import LabelledQuery
from eval.lineup import OURS, Engines, Search, Variant, lineup, search_of
from eval.vector_cache import CachedEmbedder
from indexer.embedder import Embedder
from indexer.settings import IndexSettings
from indexer.store import Store
from indexer.tokens import TokenCounter
from recall.settings import Settings
from recall.turn import CountTokens

NOTHING = "no recall"
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Hit:
    """One item of a list: the turns it points to, their session, and the tokens of its text."""

    turns: frozenset[str]
    session: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Reply:
    """What one engine returned to one question: the list it ranked, what it injected, and the tokens of that."""

    question: Question
    ranked: tuple[Hit, ...]
    injected: tuple[Hit, ...]
    tokens: int

    @property
    def sessions(self) -> tuple[str, ...]:
        """The distinct sessions of the ranked list, in order of first sight."""
        return tuple(dict.fromkeys(hit.session for hit in self.ranked))


@dataclass(slots=True)
class DatasetRun:
    """The replies of every engine, in the order of the questions."""

    dataset: Dataset
    replies: dict[str, list[Reply]] = field(default_factory=dict)
    chunks: int = 0
    vectors: int = 0
    model: str = "none"


def run(
    dataset: Dataset,
    cache: Path,
    *,
    embedder: Embedder | None,
    index_settings: IndexSettings,
    settings: Settings,
    now: datetime,
    baselines: bool = True,
    words: bool = True,
    variants: Mapping[str, Variant] | None = None,
    engines: Engines | None = None,
    progress: Progress | None = None,
) -> DatasetRun:
    """Ask every question of ours, of its variants and of plain rankings; `engines` replaces them all."""
    cached = None if embedder is None else CachedEmbedder(embedder, cache / "vectors")
    count = TokenCounter()
    asked = {OURS: Variant(settings), **(variants or {})}

    def usual(store: Store, search: Search) -> dict[str, Engine]:
        found = lineup(store, search, asked, count, words=words, baselines=baselines)
        return found | ({NOTHING: lambda _: Answer((), (), 0)} if baselines else {})

    made, done, total = DatasetRun(dataset), 0, len(dataset.questions)
    for dialogue in dataset.dialogues:
        with opened(dialogue, cache, embedder=cached, settings=index_settings, now=now) as held:
            for name, engine in (engines or usual)(held.store, search_of(held.store, cached)).items():
                made.replies.setdefault(name, []).extend(ask(dialogue, engine, held, count))
            meta = held.store.meta()
            made.chunks, made.vectors = made.chunks + meta.n_chunks, made.vectors + meta.n_vectors
            made.model = meta.model or made.model
        done += len(dialogue.questions)
        if progress is not None:
            progress(done, total, dialogue.id)
    return made


def ask(dialogue: Dialogue, engine: Engine, held: OpenDialogue, count: CountTokens) -> Iterable[Reply]:
    """Ask one engine every question of a dialogue, each at its own time."""
    for question in dialogue.questions:
        asked = LabelledQuery(question.id, question.text, question.type, question.asked_at, question.session, (), ())
        answer = engine(asked)
        yield Reply(question, _hits(answer.ranked, held, count), _hits(answer.injected, held, count), answer.tokens)


def _hits(items: Sequence[Item], held: OpenDialogue, count: CountTokens) -> tuple[Hit, ...]:
    found = []
    for item in items:
        turns = [held.turn_of[p.event] for p in item.pointers if p.event in held.turn_of]
        if turns:
            found.append(Hit(frozenset(turns), held.session_of[turns[0]], count(item.text)))
    return tuple(found)
