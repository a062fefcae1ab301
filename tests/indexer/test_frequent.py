"""Words that very many chunks hold: their rows are added up by and by, and come to what all rows at once come to."""

import random

import pytest

from indexer import frequent
from indexer.frequent import Word, add_up


@pytest.fixture(autouse=True)
def small_windows(monkeypatch):
    monkeypatch.setattr(frequent, "WINDOW", 16)


class Counted(float):
    """A score that knows how many of its kind are held."""

    held = most = 0

    def __new__(cls, value):
        cls.held += 1
        cls.most = max(cls.most, cls.held)
        return super().__new__(cls, value)

    def __del__(self):
        Counted.held -= 1


def words_of(rows):
    return [Word(number, weight, iter(list(found.items()))) for number, (weight, found) in enumerate(rows)]


@pytest.mark.parametrize("seed", range(30))
def test_the_best_chunks_are_those_of_all_rows_added_up(seed):
    """Whatever the words share, and with many equal scores."""
    rng = random.Random(seed)
    rows = []
    for _ in range(rng.randint(1, 3)):
        ids = sorted(rng.sample(range(1, 400), rng.choice([0, 1, 15, 16, 17, 250])))
        rows.append((rng.choice([1.0, 2.0]), {one: rng.randint(-8, -1) / 4 for one in ids}))
    rows = [(-weight, found) for weight, found in rows]
    known = {one: float(rng.randint(1, 9)) for one in rng.sample(range(1, 400), 6)}
    besides, passes, most = frozenset(rng.sample(range(1, 400), 5)), lambda one: one % 3 > 0, rng.randint(1, 20)
    total = {}
    for weight, found in rows:
        for one, score in found.items():
            total[one] = total.get(one, 0.0) + weight * score
    kept = known.keys() | besides
    others = sorted((-score, one) for one, score in total.items() if one not in kept and passes(one))[:most]
    expected = {one: known.get(one, 0.0) + total.get(one, 0.0) for one in kept if one in known or one in total}
    expected |= {one: -negative for negative, one in others}

    scores = dict(known)
    held = add_up(words_of(rows), scores, besides, passes, most)

    assert scores == expected
    for number, (_, found) in enumerate(rows):
        assert {one for one in scores if one in held[number]} == found.keys() & scores.keys()


@pytest.mark.parametrize("chunks", [500, 5000])
def test_the_rows_that_are_held_do_not_become_more_with_the_chunks(chunks):
    Counted.held = Counted.most = 0
    rng = random.Random(1)
    streams = [((one, Counted(-rng.random())) for one in range(1, chunks)) for _ in range(2)]
    scores = {}

    held = add_up([Word(n, -1.0, rows) for n, rows in enumerate(streams)], scores, frozenset(), None, 10)

    assert len(scores) == 10
    assert Counted.most <= 2 * len(streams) * frequent.WINDOW
    assert max(map(len, held.values())) <= 2 * 10 + frequent.WINDOW
