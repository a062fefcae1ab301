"""Embeds some passages again and looks whether their vectors are still those of their texts; writes nothing."""

from dataclasses import dataclass

import numpy as np

from indexer.embedder import Embedder
from indexer.passage_words import headings
from indexer.store import Store
from indexer.vectors import KINDS, PASSAGE, unit

SAMPLE = 64  # passages, spread evenly over the index: other ones each day
LEAST_COSINE = 0.9  # a quantised model gives a text other vectors in another batch, alike by 0.99 and more
_BATCH = 32


@dataclass(frozen=True, slots=True)
class Checked:
    """How many vectors were compared, and the chunks whose vector is another text's or another model's."""

    compared: int = 0
    stale: tuple[int, ...] = ()


def check(store: Store, embedder: Embedder, *, day: int = 0, sample: int = SAMPLE) -> Checked:
    """Return which of a day's sample of passages have a vector unlike the one that the model makes of them now."""
    held = sorted(number // KINDS for number in store.vectors.ids() if number % KINDS == PASSAGE)
    step = max(1, -(-len(held) // sample))
    chunks = held[day % step :: step]
    texts, talk = store.texts(chunks), headings(store.run, store.generation, chunks)
    vectors = store.vectors.get([chunk * KINDS + PASSAGE for chunk in chunks])
    by_length = sorted((chunk for chunk in chunks if chunk in texts), key=lambda chunk: len(texts[chunk]))
    stale = []
    for at in range(0, len(by_length), _BATCH):
        batch = by_length[at : at + _BATCH]
        made = embedder.encode([talk.get(chunk, "") + texts[chunk] for chunk in batch])
        for chunk, vector in zip(batch, made, strict=True):
            norm = float(np.linalg.norm(vector))
            alike = float(unit(np.asarray(vector)) @ vectors[chunk * KINDS + PASSAGE]) if norm else 0.0
            if alike < LEAST_COSINE:
                stale.append(chunk)
    return Checked(len(by_length), tuple(sorted(stale)))
