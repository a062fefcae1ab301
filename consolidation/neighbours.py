"""Which memories a candidate may repeat, contradict or replace. Likeness proposes them and decides nothing."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from consolidation.claims import claims
from consolidation.contradiction import difference
from consolidation.model import Candidate, Touched, folded
from consolidation.subject import shared
from consolidation.support import COVERED, QUOTED, support
from indexer.rows import RowFilter
from recall.facts import Facts, facts
from transcript.memories import Memory, MemoryState

if TYPE_CHECKING:
    from indexer.embedder import Embedder
    from indexer.store import Store

NEAREST = 10
SAME_SUBJECT = 20
COSINE = 0.85
SAME_WORDS = 0.8  # Jaccard of content words from which two statements of equal facts mean the same


def touched(
    candidate: Candidate, state: MemoryState, store: "Store | None" = None, embedder: "Embedder | None" = None
) -> list[Touched]:
    """Return memories of any state near to a candidate, nearest first: equal, near by words or meaning, same subject.

    Likeness is in [0, 1]: the larger of the words' weighted Jaccard and the cosine, 1 for equal words. By meaning only
    where the store holds vectors of this embedder.
    """
    memories = [memory for memory in state.memories.values() if memory.kind == "statement"]
    ours, text = facts(candidate.text), folded(candidate.text)
    theirs = [facts(memory.statement) for memory in memories]
    weight = _weights(theirs)
    likeness = [
        1.0 if folded(memory.statement) == text else _likeness(ours, other, weight)
        for memory, other in zip(memories, theirs, strict=True)
    ]
    order = sorted(range(len(memories)), key=lambda at: (-likeness[at], memories[at].id))
    by_words = [at for at in order[:NEAREST] if likeness[at] > 0]
    about = {at: shared(candidate.text, memories[at].statement) for at in order if likeness[at] > 0}
    chosen = {*by_words, *[at for at in order if about.get(at)][:SAME_SUBJECT]}
    for at, cosine in _by_meaning(candidate, memories, store, embedder).items():
        likeness[at] = max(likeness[at], cosine)
        chosen.add(at)
    chosen |= {at for at, memory in enumerate(memories) if memory.candidate == candidate.id}
    found = [Touched(memories[at], likeness[at], about.get(at, frozenset())) for at in chosen]
    return sorted(found, key=lambda one: (-one.likeness, one.memory.id))


def same_meaning(candidate: Candidate, memory: Memory) -> bool:
    """Whether a memory says what the candidate says: holds it, or has its facts and nearly all of its other words."""
    if folded(candidate.text) == folded(memory.statement):
        return True
    if all(support(c.text, [memory.statement]).kind in (QUOTED, COVERED) for c in claims(candidate.text)):
        return True
    a, b = facts(candidate.text), facts(memory.statement)
    if set(a.named) != set(b.named) or a.numbers != b.numbers or a.denies != b.denies:
        return False
    whole = a.words | b.words
    if not whole or len(a.words & b.words) < SAME_WORDS * len(whole):
        return False
    return difference(candidate.text, memory.statement) is None


def _weights(all_facts: Sequence[Facts]) -> dict[str, float]:
    """How rare each word is among memories."""
    counts = Counter(word for one in all_facts for word in one.stems)
    return {word: math.log(1 + len(all_facts) / count) for word, count in counts.items()}


def _likeness(one: Facts, other: Facts, weight: dict[str, float]) -> float:
    both = one.stems & other.stems
    if not both & (one.words | other.words) and not set(one.named) & set(other.named):
        return 0.0
    whole = sum(weight.get(word, 1.0) for word in one.stems | other.stems)
    return sum(weight.get(word, 1.0) for word in both) / whole if whole else 0.0


def _by_meaning(
    candidate: Candidate, memories: Sequence[Memory], store: "Store | None", embedder: "Embedder | None"
) -> dict[int, float]:
    """The memories whose vectors lie near, by their place; none where the index has no vectors of this model."""
    if store is None or embedder is None or not store.serves(embedder.id, embedder.revision, embedder.dimension):
        return {}
    places = {chunk: at for at, memory in enumerate(memories) for chunk in store.chunks_of(memory.id)}
    if not places:
        return {}
    [vector] = embedder.encode([candidate.text])
    hits = store.nearest(vector, NEAREST, RowFilter(only=frozenset(places)))
    return {places[hit.chunk_id]: hit.similarity for hit in hits if hit.similarity >= COSINE}
