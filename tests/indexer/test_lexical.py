"""Search by words: FTS5's hits with our own weights, equal to BM25 worked by hand; user text is never syntax.

Case store-fts-syntax: NousResearch/hermes-agent#40541, spences10/ccrecall#29 and #23, Dicklesworthstone/meta_skill#100,
mitre/cis-bench#12.
"""

import math
import random

import pytest
from support.talk import Talk, indexed, recorded, rows

from indexer import lexical
from indexer.bm25_fallback import WordRanker
from indexer.lexical import Cut
from indexer.rows import TOOL_IDS, RowFilter
from indexer.segment import query_terms, segment
from indexer.store import Store

PROMPTS = [
    "pre-commit", "MB/s", "FIXME: the retry loop", "crate::module", "plain NOT words", "content:secret", "tokens:words",
    "AND", "OR", "NEAR(a b)", "foo AND", "*", "foo*", '"', "''", "it's", "{x}", "(", ")", "a^b", "-x", "+x", "^retry",
    "", "   ", "\n", "🚀", "x" * 20_000, "e.g. v1.2.3", "C:\\dir\\file.txt", "null\x00byte", "NEAR", "rowid:1", "a:b:c",
]  # fmt: skip


def by_hand(texts: dict[int, list[str]], term: str) -> dict[int, float]:
    """BM25 with k1 1.2, b 0.75 and idf over max(N, 2000), the formula written out."""
    average = sum(map(len, texts.values())) / len(texts)
    holding = {i: words.count(term) for i, words in texts.items() if term in words}
    idf = math.log((max(len(texts), 2000) - len(holding) + 0.5) / (len(holding) + 0.5) + 1)
    return {i: idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * len(texts[i]) / average)) for i, tf in holding.items()}


def test_scores_equal_bm25_worked_by_hand(tmp_path):
    """Words that more than half of the chunks hold included, where FTS5's own idf is a millionth."""
    rng = random.Random(3)
    words = [f"w{n}x" for n in range(12)]
    talk = Talk()
    for _ in range(40):
        talk.prompt(" ".join(rng.choices(words, weights=range(1, 13), k=rng.randint(3, 30))))
    with indexed(recorded(tmp_path, talk)) as store:
        texts = {i: text.split() for i, text in rows(store, "SELECT id, plain_text(text) FROM chunk_{g}")}
        for term in words:
            found = store.lexical([term], limit=100)
            expected = by_hand(texts, term)
            assert dict(found.hits) == pytest.approx(expected, rel=1e-9)
            assert found.df[term] == len(expected)
        both = dict(store.lexical(["w0x", "w11x"], limit=100).hits)
        one, two = by_hand(texts, "w0x"), by_hand(texts, "w11x")
        assert both == pytest.approx({i: one.get(i, 0) + two.get(i, 0) for i in one.keys() | two.keys()}, rel=1e-9)


def test_a_score_does_not_depend_on_the_size_of_the_store(tmp_path):
    """FTS5's own bm25 gives such a hit 0.000003 among two chunks and more than ten among many."""
    small, large = Talk("small"), Talk("large")
    for talk in (small, large):
        talk.prompt("the caracal sleeps under the old bridge")
    small.prompt("filler number 0 speaks of nothing much today")
    for n in range(1500):
        large.prompt(f"filler number {n} speaks of nothing much today")
    scores = []
    for name, talk in (("a", small), ("b", large)):
        with indexed(recorded(tmp_path / name, talk)) as store:
            scores.append(store.lexical(["caracal"], limit=1).hits[0][1])

    assert scores[0] == pytest.approx(scores[1], rel=0.05)
    assert scores[0] > 5


@pytest.fixture(scope="module")
def syntax(tmp_path_factory):
    talk = Talk()
    talk.prompt("The pre-commit hook reads 40 MB/s. FIXME: the retry loop never ends in crate::module.")
    talk.reply("Plain words are not operators, and a secret content column does not exist.")
    workspace = recorded(tmp_path_factory.mktemp("syntax"), talk)
    with indexed(workspace) as store:
        yield store


@pytest.mark.parametrize("prompt", PROMPTS, ids=range(len(PROMPTS)))
def test_no_prompt_is_read_as_query_syntax(syntax, prompt):
    """Even when the raw text is handed over as a term, past the segmentation."""
    assert syntax.lexical([prompt], limit=5) is not None
    assert syntax.lexical(query_terms(prompt), limit=5) is not None


@pytest.mark.parametrize("prompt", ["pre-commit", "MB/s", "FIXME: the retry loop", "crate::module"])
def test_prompts_that_look_like_syntax_find_their_words(syntax, prompt):
    assert syntax.lexical(query_terms(prompt), limit=5).hits[0][0] == 1


def test_operators_and_columns_are_searched_as_words(syntax):
    assert {hit for hit, _ in syntax.lexical(query_terms("plain NOT words"), limit=5).hits} == {2}
    assert {hit for hit, _ in syntax.lexical(query_terms("content:secret"), limit=5).hits} == {2}
    assert syntax.lexical(["plain NOT words"], limit=5).hits == ()


def test_blank_prompts_have_no_terms(syntax):
    assert query_terms("") == query_terms("   \n") == []
    assert syntax.lexical([], limit=5).hits == ()


def test_only_allowed_chunks_are_returned_and_fill_the_limit(tmp_path):
    talk = Talk()
    for n in range(60):
        talk.prompt(f"otter {'otter ' * (60 - n)} line {n}")
    with indexed(recorded(tmp_path, talk)) as store:
        ids = [i for i, _ in rows(store, "SELECT id, text FROM chunk_{g} ORDER BY id")]
        only = RowFilter(frozenset(ids[-3:]))
        without = RowFilter(None, frozenset(ids[:-3]))

        for allowed in (only, without, set(ids[-3:]), lambda chunk_id: chunk_id in ids[-3:]):
            assert {hit for hit, _ in store.lexical(["otter"], limit=3, allowed=allowed).hits} == set(ids[-3:])


def test_matched_names_the_terms_of_each_hit(tmp_path):
    talk = Talk()
    talk.prompt("alpha beta")
    talk.prompt("beta gamma")
    with indexed(recorded(tmp_path, talk)) as store:
        found = store.lexical(["alpha", "beta", "absent"], limit=5)

    assert found.matched == {1: {0, 1}, 2: {1}}
    assert found.df == {"alpha": 1, "beta": 2, "absent": 0}
    assert [hit for hit, _ in found.hits] == [1, 2]


def test_frequent_words_are_dropped_only_in_large_stores(tmp_path):
    talk = Talk()
    for n in range(300):
        talk.prompt(f"common {'rare' if n == 7 else 'other' if n % 2 else 'else'} u{n}u")
    with indexed(recorded(tmp_path, talk)) as store:
        terms = ["common", "rare", "other", "u7u", "absent"]
        small = store.lexical(terms, limit=400)
        large = store.lexical(terms, limit=400, cut=Cut(from_chunks=100, frequent_share=0.05, rarest_terms=6))

    assert small.dropped == ()
    assert len(small.hits) == 300
    assert set(large.dropped) == {"common", "other", "absent"}
    assert [hit for hit, _ in large.hits] == [8]
    assert large.df["common"] > 15


def test_when_all_words_are_frequent_the_two_rarest_stay(tmp_path):
    talk = Talk()
    for n in range(300):
        talk.prompt("common often " + ("usual " if n % 3 else "") + f"u{n}u")
    with indexed(recorded(tmp_path, talk)) as store:
        found = store.lexical(["common", "often", "usual"], limit=400, cut=Cut(from_chunks=100))

    assert found.dropped == ("often",)
    assert found.df["usual"] == 200


def test_an_exact_identifier_is_found_by_words(tmp_path):
    """LCA-5.2.1-02: an error code among many lookalikes; vectors of hashed words put it anywhere."""
    talk = Talk()
    for n in range(200):
        talk.prompt(f"the build failed with error E{n:04d} in src/app/mod{n}.rs again and again")
    with indexed(recorded(tmp_path, talk)) as store:
        assert store.lexical(query_terms("what was E0137 about"), limit=3).hits[0][0] == 138
        assert store.lexical(query_terms("mod42.rs"), limit=3).hits[0][0] == 43


def test_without_fts5_rank_bm25_gives_the_same_scores(tmp_path):
    """CARD-03. The words are chosen so that the coarser stems agree."""
    rng = random.Random(5)
    talk = Talk()
    for _ in range(50):
        talk.prompt(" ".join(rng.choices(["cat", "dog", "bird", "fox", "ant"], k=rng.randint(2, 20))))
    workspace = recorded(tmp_path, talk)
    with indexed(workspace) as store:
        expected = store.lexical(["cat", "fox"], limit=20)
    with Store.open(workspace.index_path, fts=False) as store:
        found = store.lexical(["cat", "fox"], limit=20)

    assert dict(found.hits) == pytest.approx(dict(expected.hits), rel=1e-9)
    assert found.matched == expected.matched


@pytest.mark.parametrize("fts", [True, False], ids=["fts5", "rank-bm25"])
def test_a_word_that_stands_in_every_one_of_three_passages_finds_them_all(tmp_path, fts):
    talk = Talk()
    for said in ("the gateway listens on a port", "restart the gateway", "the gateway writes to its own log there"):
        talk.prompt(said)
    with indexed(recorded(tmp_path, talk), fts=fts) as store:
        found = store.lexical(["gateway"], limit=10)

    assert len(found.hits) == 3
    assert all(score > 5 for _, score in found.hits)  # the idf of three among 2,000


def test_the_fallback_takes_an_empty_corpus_and_unknown_words():
    assert WordRanker([], 1).search(["x"], limit=5).hits == ()
    assert WordRanker([(1, "")], 1).search(["x"], limit=5).hits == ()
    assert WordRanker([(1, " ".join(segment("one two")))], 1).search(["three"], limit=5).hits == ()


def test_an_index_written_without_fts5_gets_its_words_when_fts5_is_there(tmp_path):
    """store-no-extension (c): nothing is lost."""
    talk = Talk()
    talk.prompt("the caracal sleeps")
    workspace = recorded(tmp_path, talk)
    with indexed(workspace, fts=False) as store:
        assert not store.has_table("chunk_fts_1")
        assert store.lexical(["caracal"], limit=1).hits[0][0] == 1
    with Store.open(workspace.index_path, "w") as store:
        assert store.has_table("chunk_fts_1")
        assert store.lexical(["caracal"], limit=1).hits[0][0] == 1


def test_what_tools_print_does_not_change_what_talk_weighs(tmp_path):
    """A word that is rare among what was said stays rare, however often tools print it."""
    scores = []
    for name, prints in (("quiet", 0), ("loud", 400)):
        talk = Talk()
        for n in range(20):
            talk.prompt(f"the caracal of row {n} sleeps" if n < 2 else f"a plain line {n} of five")
        for n in range(prints):
            talk.result(f"the caracal of line {n} prints")
        with indexed(recorded(tmp_path / name, talk)) as store:
            hits = [(i, s) for i, s in store.lexical(["caracal"], limit=1000).hits if i < TOOL_IDS]
            assert len(store.lexical(["caracal"], limit=1000).hits) == 2 + min(prints, Cut().tool_limit)
            scores.append(dict(hits))

    assert scores[0].keys() == scores[1].keys()
    assert list(scores[0].values()) == pytest.approx(list(scores[1].values()), rel=0.05)


def test_what_was_written_after_the_chunks_were_counted_does_not_stop_a_search(tmp_path, monkeypatch):
    """Each count is a look of its own at the store, and another process may write between two of them."""
    talk = Talk()
    for said in ("the gateway listens on a port", "restart the gateway", "the gateway writes to its own log there"):
        talk.prompt(said)
    monkeypatch.setattr(lexical, "indexed_chunks", lambda execute, generation: 1)
    with indexed(recorded(tmp_path, talk)) as store:
        found = store.lexical(["gateway"], limit=10)

    assert len(found.hits) == 3
    assert lexical.idf(5000, 5002) > 0
