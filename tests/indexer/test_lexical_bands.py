"""What tools printed does not crowd out or slow down the search of what was said."""

from contextlib import ExitStack

import pytest
from support.talk import Talk, indexed, recorded, rows

from indexer import frequent
from indexer.lexical import Cut, _Band, _Words
from indexer.rows import TOOL_IDS, RowFilter


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    talk = Talk()
    for n in range(120):
        talk.prompt(f"the otter crosses river number {n} u{n}u")
        talk.result(f"otter otter otter log line {n} v{n}v")
    with indexed(recorded(tmp_path_factory.mktemp("bands"), talk)) as opened:
        yield opened


def test_tools_have_their_own_ids(store):
    ids = dict(rows(store, "SELECT id, source_class FROM chunk_{g}"))

    assert {i >= TOOL_IDS for i, source in ids.items() if source == 1} == {True}
    assert {i >= TOOL_IDS for i, source in ids.items() if source != 1} == {False}
    assert min(i for i in ids if i >= TOOL_IDS) == TOOL_IDS
    assert max(i for i in ids if i < TOOL_IDS) == 120


def test_tools_get_their_own_share_of_the_hits(store):
    hits = [i for i, _ in store.lexical(["otter"], limit=400).hits]

    assert sum(i < TOOL_IDS for i in hits) == 120
    assert sum(i >= TOOL_IDS for i in hits) == Cut().tool_limit


def test_a_word_is_weighed_by_the_chunks_of_its_own_kind(store):
    """FTS5's idf counts both kinds; ours does not, so printing a word often does not devalue saying it."""
    only_said = store.lexical(["river"], limit=1).hits[0][1]
    both = dict(store.lexical(["otter"], limit=400).hits)

    said = max(score for i, score in both.items() if i < TOOL_IDS)
    assert said == pytest.approx(only_said, rel=1e-6)


def test_a_frequent_word_of_tools_is_still_searched_in_what_was_said(store):
    cut = Cut(from_chunks=100, frequent_share=1.0, tool_share=0.1)

    found = store.lexical(["v7v", "v8v", "otter"], limit=400, cut=cut)

    hits = [i for i, _ in found.hits]
    assert sum(i < TOOL_IDS for i in hits) == 120
    assert sum(i >= TOOL_IDS for i in hits) == 2
    assert found.dropped == ()


def test_the_rows_of_one_search_are_bounded(store):
    few = store.lexical(
        ["u3u", "river", "crosses", "number"], limit=400, cut=Cut(from_chunks=100, frequent_share=1.0, most_rows=150)
    )

    assert set(few.dropped) == {"crosses", "number"}
    assert few.df["u3u"] == 1
    assert len(few.hits) == 120


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """Two stores, one four times as large, in which every passage holds the same words, shorter ones scoring higher."""
    with ExitStack() as opened:
        made = {}
        for passages in (300, 1200):
            talk = Talk()
            for n in range(passages):
                talk.prompt(f"common often {'rare ' if n % 100 == 50 else ''}{'filler ' * (n * 7 % 30)}u{n}u")
            made[passages] = opened.enter_context(indexed(recorded(tmp_path_factory.mktemp("frequent"), talk)))
        yield made


BOUNDED = Cut(from_chunks=100, held_rows=100)


@pytest.fixture
def small_windows(monkeypatch):
    monkeypatch.setattr(frequent, "WINDOW", 64)


@pytest.mark.parametrize("terms", [["common"], ["often", "common"], ["common", "rare"]], ids=" ".join)
def test_a_search_holds_no_more_rows_in_a_larger_store(stores, small_windows, terms):
    for store in stores.values():
        words = _Words(store.run, store.generation, terms)
        words.look(_Band(0, TOOL_IDS), BOUNDED, None, 20, frozenset({7, 8, 9}))

        rare = words.df.get("rare", 0)
        assert len(words._scores) == 20 + 3 + rare
        assert all(len(rows) <= 2 * 20 + frequent.WINDOW + 3 + rare for rows in words._held.values())


@pytest.mark.parametrize("terms", [["common"], ["often", "common"], ["common", "rare"]], ids=" ".join)
@pytest.mark.parametrize("passages", [300, 1200])
def test_rows_seen_by_and_by_give_the_hits_that_all_rows_give(stores, small_windows, passages, terms):
    """Chunks that may not be found take no place, and one that a rare word found is known to hold the frequent one."""
    store, allowed = stores[passages], RowFilter(None, frozenset(range(1, passages, 3)))
    besides = frozenset({7, 9, 12})

    by_and_by, at_once = (
        store.lexical(terms, limit=25, allowed=allowed, besides=besides, cut=cut)
        for cut in (BOUNDED, Cut(from_chunks=100))
    )

    assert {hit for hit, _ in at_once.hits[25:]} == {9, 12}
    assert by_and_by == at_once
    assert by_and_by.df["common"] == passages
