"""Scores words that very many chunks hold, without ever holding all their rows.

One query a word gives its rows by rising chunk id. They are added up a window of ids at a time, and of what a window
holds only the best stay: a search takes as much room in a large store as in a small one, and finds the same.
"""

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter

WINDOW = 4096  # rows of a word that are held at once

Row = tuple[int, float]  # chunk id, FTS5's score


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a query: its place there, what FTS5's score is to be multiplied by, and its rows by rising id."""

    number: int
    weight: float
    rows: Iterator[Row]


def add_up(
    words: Sequence[Word],
    scores: dict[int, float],
    besides: AbstractSet[int],
    passes: Callable[[int], bool] | None,
    most: int,
) -> dict[int, set[int]]:
    """Add what the words are worth to scores: in the chunks that stand there and those besides, and in the best `most`
    of all others that pass.

    Returns for each word's number which of these chunks hold it.
    """
    kept = scores.keys() | besides
    held: dict[int, set[int]] = {word.number: set() for word in words}
    best: list[tuple[float, int]] = []
    worst = -math.inf
    for window in _windows([word.rows for word in words]):
        sums: dict[int, float] = {}
        for word, rows in zip(words, window, strict=True):
            for one, score in rows.items():
                sums[one] = sums.get(one, 0.0) + score * word.weight
        known = sums.keys() & kept
        for one in known:
            scores[one] = scores.get(one, 0.0) + sums.pop(one)
        found = [(-total, one) for one, total in sums.items() if total > worst and (passes is None or passes(one))]
        known |= {one for _, one in found}
        for word, rows in zip(words, window, strict=True):
            held[word.number] |= rows.keys() & known
        best += found
        if len(best) > 2 * most:
            best = sorted(best)[:most]
            worst = -best[-1][0]
            stay = kept | {one for _, one in best}
            held = {number: chunks & stay for number, chunks in held.items()}
    scores.update((one, -negative) for negative, one in sorted(best)[:most])
    return held


def _windows(streams: Sequence[Iterator[Row]]) -> Iterator[list[dict[int, float]]]:
    """Yield the streams' rows up to one id after another: what a window says of a chunk is all they say."""
    ahead: list[list[Row]] = [[] for _ in streams]
    while True:
        for rows, stream in zip(ahead, streams, strict=True):
            rows += islice(stream, WINDOW - len(rows))
        if not any(ahead):
            return
        last = min((rows[-1][0] for rows in ahead if len(rows) == WINDOW), default=math.inf)
        ends = [bisect_right(rows, last, key=itemgetter(0)) for rows in ahead]
        yield [dict(rows[:end]) for rows, end in zip(ahead, ends, strict=True)]
        ahead = [rows[end:] for rows, end in zip(ahead, ends, strict=True)]
