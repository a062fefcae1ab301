"""When a turn stays silent."""

from dataclasses import replace

import pytest

from indexer.lexical import idf
from recall.gate import Asked, asked, closed, gate_score, item_refused, rare_terms, session_cover
from recall.settings import GateSettings
from recall.turn import Candidate, Pointer

GATE = GateSettings(threshold=0.5, threshold_words=0.3)


def prompt(words: int, *, known: int | None = None, words_only: bool = False, covered: float = 1.0) -> Asked:
    """A prompt of so many content words, of which session "s" holds this share."""
    return Asked(words, words if known is None else known, words_only, covered={"s": covered})


def candidate(
    *, cosine: float | None = None, matched: str = "", relevance: float = 1.0, session: str = "s"
) -> Candidate:
    at = Pointer("e" * 26, 0, 5, session, 0, "final")
    return Candidate(
        1, "text", (at,), cosine=cosine, matched=frozenset(matched.split()), evidence=relevance, relevance=relevance
    )


@pytest.mark.parametrize(
    ("evidence", "words", "words_only", "expected"),
    [
        ([], 5, False, "no_candidates"),
        ([0.0], 5, False, "no_candidates"),
        ([0.6], 5, False, ""),
        ([0.59], 5, False, "low_evidence"),
        ([0.6], 1, False, "low_evidence"),
        ([0.4], 4, True, ""),
        ([0.4], 4, False, "low_evidence"),
    ],
    ids=["nothing", "no match", "at threshold", "below", "one word damps", "words only", "with vectors"],
)
def test_the_best_evidence_opens_the_gate(evidence: list[float], words: int, words_only: bool, expected: str) -> None:
    items = [candidate(relevance=value) for value in evidence]

    assert closed(items, prompt(words, words_only=words_only), GATE) == expected


def test_the_evidence_part_can_be_switched_off() -> None:
    off = replace(GATE, evidence=False)

    assert closed([candidate(relevance=0.01)], prompt(1), off) == ""


def test_the_gate_score_damps_short_prompts() -> None:
    assert gate_score([candidate(relevance=0.8)], prompt(1)) == pytest.approx(0.4)
    assert gate_score([candidate(relevance=0.8)], prompt(7)) == pytest.approx(0.7)
    assert gate_score([candidate(relevance=0.8)], prompt(0)) == 0.0


@pytest.mark.parametrize(("covered", "expected"), [(1.0, 0.6), (0.5, 0.45), (0.0, 0.3)])
def test_half_of_the_evidence_is_earned_by_the_words_that_the_session_holds(covered: float, expected: float) -> None:
    assert gate_score([candidate(relevance=0.8)], prompt(3, covered=covered)) == pytest.approx(expected)


def test_evidence_counts_with_the_words_of_its_own_session() -> None:
    """A question of another subject resembles one passage, and its words lie scattered over others."""
    read = Asked(3, 3, words_only=False, covered={"near": 0.2, "full": 1.0})

    alone, together = candidate(relevance=0.8, session="near"), candidate(relevance=0.6, session="full")

    assert gate_score([alone], read) == pytest.approx(0.8 * 0.6 * 3 / 4)
    assert gate_score([alone, together], read) == pytest.approx(0.6 * 3 / 4)
    assert gate_score([candidate(relevance=0.8, session="other")], read) == pytest.approx(0.8 * 0.5 * 3 / 4)


def test_new_words_close_the_gate_where_only_words_were_searched() -> None:
    item = candidate(relevance=0.8)

    assert gate_score([item], prompt(7, words_only=True)) == pytest.approx(0.7)
    assert gate_score([item], prompt(8, known=2, words_only=True)) == pytest.approx(0.8 * 8 / 9 * 0.5)
    assert gate_score([item], prompt(8, known=2)) == pytest.approx(0.8 * 8 / 9)


def test_a_prompt_is_read_by_how_often_its_words_were_said() -> None:
    frequency = {"here": 3, "common": 900, "new": 0}
    items = [candidate(matched="common"), candidate(matched="here"), candidate(matched="common", session="other")]

    read = asked(items, frequency, passages=100, words_only=True, settings=GateSettings())

    assert (read.words, read.known, read.words_only, read.rare) == (3, 2, True, {"here"})
    assert read.covered == session_cover(items, {term: idf(100, held) for term, held in frequency.items()})


def test_a_session_covers_what_its_passages_hold_together_each_word_by_its_weight() -> None:
    items = [candidate(matched="a"), candidate(matched="a b"), candidate(matched="c d", session="other")]

    assert session_cover(items, {"a": 1.0, "b": 2.0, "c": 3.0, "e": 4.0}) == {"s": 0.3, "other": 0.3}
    assert session_cover([candidate()], {}) == {"s": 0.0}


@pytest.mark.parametrize(
    ("cosine", "matched", "expected"),
    [
        (0.499, "", "below_floor"),
        (0.500, "", ""),
        (0.501, "", ""),
        (None, "", "below_floor"),
        (0.2, "loris1818", ""),
        (None, "loris1818", ""),
        (0.2, "common", "below_floor"),
    ],
)
def test_an_item_needs_nearness_or_a_rare_word(cosine: float | None, matched: str, expected: str) -> None:
    item = candidate(cosine=cosine, matched=matched)

    assert item_refused(item, best=1.0, rare=frozenset({"loris1818"}), settings=GATE) == expected


def test_with_its_other_parts_off_the_gate_is_the_plain_floor() -> None:
    """LCA 5.4-01: 0.499 is out and 0.501 is in."""
    plain = GateSettings(rare=False, evidence=False, margin=False)

    refused = [
        item_refused(candidate(cosine=c, matched="loris1818"), best=1.0, rare=frozenset({"loris1818"}), settings=plain)
        for c in (0.499, 0.501)
    ]

    assert refused == ["below_floor", ""]


def test_an_item_far_below_the_best_is_left_out() -> None:
    settings = replace(GATE, margin_share=0.5)

    kept, dropped = (item_refused(candidate(cosine=0.9, relevance=r), best=1.0, rare=frozenset(), settings=settings)
                     for r in (0.5, 0.49))  # fmt: skip

    assert (kept, dropped) == ("", "below_margin")
    assert item_refused(candidate(cosine=0.9, relevance=0.1), best=1.0, rare=frozenset(),
                        settings=replace(settings, margin=False)) == ""  # fmt: skip


def test_a_word_is_rare_by_its_share_and_a_small_store_counts_as_two_thousand() -> None:
    frequency = {"here": 20, "there": 21, "nowhere": 0}

    assert rare_terms(frequency, passages=2, share=0.01) == {"here"}
    assert rare_terms(frequency, passages=40_000, share=0.01) == {"here", "there"}
