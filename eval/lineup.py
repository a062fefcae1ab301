"""The engines of a run: ours, ours with other settings or another scorer, and the plain rankings beside them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from eval.baselines import DEPTH, Baselines
from eval.engines import Engine, shipped
from indexer.embedder import Embedder
from indexer.store import Store
from recall.settings import Settings
from recall.turn import CountTokens, Scorer, Vectors
from recall.vector_search import vector_search
from scoring.score import score_all

OURS, WORDS = "recall", "recall, words only"
Search = Callable[[int], Vectors | None]  # how many to look for -> the search by vectors; None: words only
Engines = Callable[[Store, Search], dict[str, Engine]]


@dataclass(frozen=True, slots=True)
class Variant:
    """A way to ask the shipped engine; without a search of its own it has that of the run."""

    settings: Settings
    scorer: Scorer = score_all
    search: Search | None = None


def search_of(store: Store, embedder: Embedder | None) -> Search:
    """Return the vector half of a search, as the hook's service and `recall query` have it; none without embedder."""
    return lambda k: None if embedder is None else vector_search(store, embedder, k)


def lineup(
    store: Store,
    search: Search,
    variants: Mapping[str, Variant],
    count: CountTokens,
    *,
    words: bool = False,
    baselines: bool = False,
) -> dict[str, Engine]:
    """Return the engines by name over one open index: the variants, then what is asked for besides.

    `words` adds ours without vectors, where there are some; `baselines` the plain rankings.
    """
    found: dict[str, Engine] = {}
    for name, variant in variants.items():
        vectors = (variant.search or search)(variant.settings.retrieval.vector_limit)
        found[name] = shipped(store, vectors, variant.settings, count, variant.scorer)
    deep = search(DEPTH)
    if words and deep is not None:
        found[WORDS] = shipped(store, None, variants[OURS].settings, count)
    return found | (Baselines(store, deep, count).engines() if baselines else {})


def of_variants(variants: Mapping[str, Settings], count: CountTokens) -> Engines:
    """Return the maker of these engines and no others."""
    return lambda store, search: lineup(store, search, {n: Variant(s) for n, s in variants.items()}, count)
