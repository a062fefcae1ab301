"""Passages near in meaning: to a prompt, and to its gloss where it has one.

On the hook path: standard library only. A record in the prompt's own language is nearer to the prompt than to its
English, any other is nearer to the English: the better of both cosines counts.
"""

from collections.abc import Sequence

from indexer.rows import RowFilter
from recall.cues import Cues
from recall.turn import Vectors


def nearest(cues: Cues, vectors: Vectors, allowed: RowFilter | None) -> Sequence[tuple[int, float]] | None:
    """Return (chunk id, cosine), best first; None where no vectors can be had now."""
    near = vectors(cues.meaning, allowed)
    if near is None or cues.meaning == cues.text:
        return near
    best = dict(near)
    for chunk, cosine in vectors(cues.text, allowed) or ():
        best[chunk] = max(cosine, best.get(chunk, cosine))
    return sorted(best.items(), key=lambda hit: (-hit[1], hit[0]))
