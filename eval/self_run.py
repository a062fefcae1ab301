"""Asks the questions of a user's own record: with the settings of now, and with those or the models proposed."""

import math
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from eval.dataset import Dataset
from eval.dataset_run import DatasetRun, ask
from eval.dialogue_index import OpenDialogue
from eval.lineup import Search, Variant, lineup
from indexer.embedder import Embedder
from indexer.rows import RowFilter
from indexer.said import Said, vector_texts
from indexer.store import Store
from indexer.tokens import TokenCounter
from recall.turn import Vectors

BATCH = 64
Progress = Callable[[int, int, str], None]


def run(
    data: Dataset,
    store: Store,
    events: Sequence[Said],
    search: Search,
    variants: Mapping[str, Variant],
    *,
    baselines: bool = True,
    progress: Progress | None = None,
    until: float = math.inf,
) -> DatasetRun:
    """Ask every question of the variants, ours as it is set now among them, and of plain rankings. Writes nothing.

    TimeoutError once the monotonic clock is past `until`.
    """
    count = TokenCounter()
    engines = lineup(store, search, variants, count, words=baselines, baselines=baselines)
    meta = store.meta()
    made = DatasetRun(data, chunks=meta.n_chunks, vectors=meta.n_vectors, model=meta.model or "none")
    held = OpenDialogue(store, {s.event: s.event for s in events}, {s.event: min(s.sessions) for s in events})
    for number, (name, engine) in enumerate(engines.items()):
        if progress is not None:
            progress(number, len(engines), name)
        replies = made.replies.setdefault(name, [])
        for dialogue in data.dialogues:
            for reply in ask(dialogue, engine, held, count):
                if time.monotonic() > until:
                    raise TimeoutError(f"the time was over after {len(replies)} questions to {name}")
                replies.append(reply)
    return made


class OtherModel:
    """The vectors of another model over the passages that have one now: the same passages, only the encoder differs."""

    def __init__(self, store: Store, embedder: Embedder, progress: Progress | None = None) -> None:
        """Encode every passage; ValueError where there is none. Minutes for a large store."""
        self._embedder = embedder
        texts = list(vector_texts(store))
        if not texts:
            raise ValueError("the index has no vectors yet to compare a model with; 'recall index' makes them")
        self._ids = np.array([chunk for chunk, _ in texts])
        rows = []
        for first in range(0, len(texts), BATCH):
            rows.append(embedder.encode([text for _, text in texts[first : first + BATCH]]))
            if progress is not None:
                progress(min(first + BATCH, len(texts)), len(texts), "")
        self._rows = np.vstack(rows)

    def search(self, k: int) -> Vectors:
        """Return the search for the k nearest, as the index's own is."""

        def near(prompt: str, allowed: RowFilter | None) -> list[tuple[int, float]]:
            likeness = self._rows @ self._embedder.encode([prompt])[0]
            found: list[tuple[int, float]] = []
            for at in np.argsort(-likeness, kind="stable"):
                chunk = int(self._ids[at])
                if allowed is None or chunk in allowed:
                    found.append((chunk, float(likeness[at])))
                    if len(found) == k:
                        break
            return found

        return near
