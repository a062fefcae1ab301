"""What a recall's budget buys: no recall, fixed numbers of items, fixed tokens and the adaptive budget, side by side.

Every arm is the shipped engine with other budget settings and nothing else. A question of a set is a single turn, so
of the signals of `recall.adaptive` only the evidence and the memories are live here; what a session did with its last
injection is not known, and no branch that needs it (defer, skip after an unused injection) is taken.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from eval.corpus import Corpus
from eval.dataset import Dataset, Question
from eval.dataset_run import Reply, run
from eval.engines import Answer, Engine, evaluate, shipped
from eval.labels import LabelledQuery, LabelSet
from eval.lineup import Search, search_of
from eval.outcome import Outcome
from eval.vector_cache import CachedEmbedder
from indexer.embedder import Embedder
from indexer.settings import IndexSettings
from indexer.store import Store
from indexer.tokens import TokenCounter
from recall.adaptive import ADAPTIVE, FIXED
from recall.settings import Settings
from recall.turn import CountTokens

ITEMS = (1, 2, 3, 4, 6)
TOKENS = (250, 500, 1000, 1500, 2000)
NONE = "none"
DEFAULT = f"items {ITEMS[-1]}"  # what a turn injects today, and what the adaptive budget is compared with
MOST_ITEMS = 40
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Asked:
    """One question under one arm. A measure is None where it does not count: nothing can be found for silence.

    `hit`: whether some of the answer was injected. `strict`: whether its very words were. `coverage`: the share of its
    turns (its files, its sessions where nothing finer is labelled) that was.
    """

    question: str
    hit: float | None
    strict: float | None
    coverage: float | None
    tokens: int
    ms: float


@dataclass(slots=True)
class Arms:
    """Every arm's answers over one set, in the same order of questions."""

    name: str
    sha256: str
    chunks: int = 0
    vectors: int = 0
    model: str = "none"
    asked: dict[str, list[Asked]] = field(default_factory=dict)


def arms(settings: Settings) -> dict[str, Settings | None]:
    """Name -> settings of every arm; None is no recall."""
    found: dict[str, Settings | None] = {NONE: None}
    for items in ITEMS:
        found[f"items {items}"] = _with(settings, items=items, mode=FIXED)
    for tokens in TOKENS:
        room = {"items": MOST_ITEMS, "chars": 16 * tokens, "bytes": 16 * tokens}
        found[f"tokens {tokens}"] = _with(settings, tokens=tokens, mode=FIXED, **room)
    found[ADAPTIVE] = _with(settings, mode=ADAPTIVE)
    return found


def _with(settings: Settings, **changes: object) -> Settings:
    return replace(settings, budget=replace(settings.budget, **changes))  # type: ignore[arg-type]


class _Timed:
    """Engines of all arms over one open index, which note the milliseconds of each question."""

    def __init__(self, settings: Settings, count: CountTokens) -> None:
        self._arms, self._count = arms(settings), count
        self.ms: dict[str, list[float]] = {name: [] for name in self._arms}

    def engines(self, store: Store, search: Search) -> dict[str, Engine]:
        """Return an engine for each arm. Prompts are encoded before the first clock starts: every arm finds them."""
        warmed: set[str] = set()

        def timed(name: str, settings: Settings | None) -> Engine:
            inner = None
            if settings is not None:
                inner = shipped(store, search(settings.retrieval.vector_limit), settings, self._count)

            def answer(query: LabelledQuery) -> Answer:
                if inner is not None and query.id not in warmed:
                    warmed.add(query.id)
                    inner(query)
                started = time.perf_counter()
                answered = Answer((), (), 0) if inner is None else inner(query)
                self.ms[name].append((time.perf_counter() - started) * 1000)
                return answered

            return answer

        return {name: timed(name, settings) for name, settings in self._arms.items()}


def over_dialogues(
    dataset: Dataset,
    cache: Path,
    *,
    embedder: Embedder | None,
    index_settings: IndexSettings,
    settings: Settings,
    now: datetime,
    progress: Progress,
) -> Arms:
    """Ask the questions of a dataset under every arm."""
    timed = _Timed(settings, TokenCounter())
    made = run(
        dataset, cache, embedder=embedder, index_settings=index_settings, settings=settings, now=now,
        engines=timed.engines, progress=lambda done, total, name: progress(f"{done:,} of {total:,} questions, {name}"),
    )  # fmt: skip
    asked = {
        name: [_of_reply(reply, ms) for reply, ms in zip(replies, timed.ms[name], strict=True)]
        for name, replies in made.replies.items()
    }
    return Arms(dataset.name, dataset.sha256, made.chunks, made.vectors, made.model, asked)


def _of_reply(reply: Reply, ms: float) -> Asked:
    """Judge by turns where turns are labelled, else by sessions."""
    gold = reply.question.turns or reply.question.sessions
    found = {one for hit in reply.injected for one in (hit.turns if reply.question.turns else {hit.session})}
    return _asked(reply.question, gold, found, reply.tokens, ms)


def _asked(question: Question, gold: frozenset[str], found: set[str], tokens: int, ms: float) -> Asked:
    if not question.answerable or not gold:
        return Asked(question.id, None, None, None, tokens, ms)
    hit = float(bool(gold & found))
    return Asked(question.id, hit, hit if question.turns else None, len(gold & found) / len(gold), tokens, ms)


def over_devrecall(
    corpus: Corpus, labels: LabelSet, *, embedder: Embedder | None, settings: Settings, progress: Progress
) -> Arms:
    """Ask the labelled queries over real sessions under every arm."""
    record = corpus.record_map(labels.spans, labels.sha256)
    timed = _Timed(settings, TokenCounter())
    with Store.open(corpus.workspace.index_path) as store:
        cached = None if embedder is None else CachedEmbedder(embedder, corpus.cache / "vectors")
        meta = store.meta()
        made = Arms(
            "devrecall", labels.sha256, meta.n_chunks, meta.n_vectors if cached is not None else 0, meta.model or "none"
        )
        for name, engine in timed.engines(store, search_of(store, cached)).items():
            progress(f"devrecall, {name}")
            found = evaluate(name, engine, labels.queries, record, time.perf_counter)
            made.asked[name] = [_of_outcome(o, ms) for o, ms in zip(found.injected, timed.ms[name], strict=True)]
    return made


def _of_outcome(outcome: Outcome, ms: float) -> Asked:
    if not outcome.evidence_files:
        return Asked(outcome.query, None, None, None, outcome.tokens, ms)
    found = frozenset[str]().union(*outcome.files) & outcome.evidence_files
    hit, strict = float(any(outcome.hits)), float(any(outcome.strict))
    return Asked(outcome.query, hit, strict, len(found) / len(outcome.evidence_files), outcome.tokens, ms)
