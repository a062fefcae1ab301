"""Which memories a candidate may repeat, contradict or replace. Likeness proposes them and decides nothing."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from consolidation.claims import claims
from consolidation.contradiction import difference
from consolidation.model import Candidate, Touched, folded
from consolidation.subject import shared
from consolidation.support import says
from indexer.rows import RowFilter
from recall.facts import Facts, facts
from transcript.memories import Memory, MemoryState

if TYPE_CHECKING:
    from indexer.embedder import Embedder
    from indexer.store import Store

NEAREST = 10
LOOKED_AT = 20  # by words, and of the same subject: what is compared by meaning as well
SAME_WORDS = 0.8  # Jaccard of content words from which two statements of equal facts mean the same
MOST_KEPT = 4096  # vectors of statements, for the length of a run
_vectors: dict[tuple[str, str], Any] = {}


def touched(
    candidate: Candidate, state: MemoryState, store: "Store | None" = None, embedder: "Embedder | None" = None
) -> list[Touched]:
    """Return memories of any state near to a candidate, nearest first: equal, near by words or meaning, same subject.

    By meaning all that words find are compared where there is an embedder, and what the store's vectors find besides.
    A summary touches none: it tells what a session said, and takes no statement's place.
    """
    if candidate.kind != "statement":
        return []
    memories = [memory for memory in state.memories.values() if memory.kind == "statement"]
    ours, text = facts(candidate.text), folded(candidate.text)
    theirs = [facts(memory.statement) for memory in memories]
    weight = _weights(theirs)
    likeness = [
        1.0 if folded(memory.statement) == text else _likeness(ours, other, weight)
        for memory, other in zip(memories, theirs, strict=True)
    ]
    order = sorted((at for at in range(len(memories)) if likeness[at]), key=lambda at: (-likeness[at], memories[at].id))
    about = {at: shared(candidate.text, memories[at].statement) for at in order}
    chosen = {*order[:LOOKED_AT], *[at for at in order if about[at]][:LOOKED_AT]}
    chosen |= {at for at, memory in enumerate(memories) if memory.candidate == candidate.id}
    cosines: dict[int, float] = {}
    if embedder is not None and memories:
        chosen |= _nearest(candidate, memories, store, embedder)
        said = _encoded([candidate.text, *(memories[at].statement for at in sorted(chosen))], embedder)
        cosines = {at: float(vector @ said[0]) for at, vector in zip(sorted(chosen), said[1:], strict=True)}
    found = [
        Touched(memories[at], likeness[at], about.get(at, frozenset()), round(cosines.get(at, 0.0), 4)) for at in chosen
    ]
    return sorted(found, key=lambda one: (-max(one.likeness, one.cosine), one.memory.id))


def same_meaning(candidate: Candidate, memory: Memory) -> bool:
    """Whether a memory says what the candidate says: holds it, or has its facts and nearly all of its other words."""
    if folded(candidate.text) == folded(memory.statement):
        return True
    if all(says(memory.statement, claim.text) for claim in claims(candidate.text)):
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


def _nearest(candidate: Candidate, memories: Sequence[Memory], store: "Store | None", embedder: "Embedder") -> set[int]:
    """The memories nearest by the index's vectors; none where it has none of this model."""
    if store is None or not store.serves(embedder.id, embedder.revision, embedder.dimension):
        return set()
    places = {chunk: at for at, memory in enumerate(memories) for chunk in store.chunks_of(memory.id)}
    if not places:
        return set()
    [vector] = _encoded([candidate.text], embedder)
    return {places[hit.chunk_id] for hit in store.nearest(vector, NEAREST, RowFilter(only=frozenset(places)))}


def _encoded(texts: Sequence[str], embedder: "Embedder") -> list[Any]:
    """One unit vector a text; each text is encoded once in a run."""
    if len(_vectors) > MOST_KEPT:
        _vectors.clear()
    new = [text for text in dict.fromkeys(texts) if (embedder.id, text) not in _vectors]
    if new:
        _vectors.update({(embedder.id, text): row for text, row in zip(new, embedder.encode(new), strict=True)})
    return [_vectors[embedder.id, text] for text in texts]
