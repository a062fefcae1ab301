"""When a turn stays silent."""

from dataclasses import replace

import pytest

from recall.gate import Asked, asked, closed, gate_score, item_refused, rare_terms
from recall.settings import GateSettings
from recall.turn import Candidate, Pointer

GATE = GateSettings(threshold=0.5, threshold_words=0.3)


def candidate(*, cosine: float | None = None, matched: str = "", relevance: float = 1.0) -> Candidate:
    at = Pointer("e" * 26, 0, 5, "s", 0, "final")
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

    assert closed(items, Asked(words, words, words_only), GATE) == expected


def test_the_evidence_part_can_be_switched_off() -> None:
    off = replace(GATE, evidence=False)

    assert closed([candidate(relevance=0.01)], Asked(1, 1, words_only=False), off) == ""


def test_the_gate_score_damps_short_prompts() -> None:
    assert gate_score([candidate(relevance=0.8)], Asked(1, 1, words_only=False), GATE) == pytest.approx(0.4)
    assert gate_score([candidate(relevance=0.8)], Asked(7, 7, words_only=False), GATE) == pytest.approx(0.7)
    assert gate_score([candidate(relevance=0.8)], Asked(0, 0, words_only=False), GATE) == 0.0


@pytest.mark.parametrize(
    ("cosine", "matched", "expected"),
    [(0.5, "ledger", 0.6), (0.49, "ledger", 0.4), (None, "ledger", 0.4), (0.9, "used", 0.4), (0.9, "", 0.4)],
    ids=["clear", "not near", "no vector", "only a common word", "no word"],
)
def test_a_short_prompt_is_not_damped_where_a_passage_clearly_answers_it(
    cosine: float | None, matched: str, expected: float
) -> None:
    """Two content words would else keep the right answer back: "which ledger is used here?"."""
    prompt = Asked(2, 2, words_only=False, rare=frozenset({"ledger", "used"}), telling=frozenset({"ledger"}))
    item = candidate(cosine=cosine, matched=matched, relevance=0.6)

    assert gate_score([item], prompt, GATE) == pytest.approx(expected)


def test_new_words_close_the_gate_where_only_words_were_searched() -> None:
    assert gate_score([candidate(relevance=0.8)], Asked(7, 7, words_only=True), GATE) == pytest.approx(0.7)
    assert gate_score([candidate(relevance=0.8)], Asked(8, 2, words_only=True), GATE) == pytest.approx(
        0.8 * 8 / 9 * 0.5
    )
    assert gate_score([candidate(relevance=0.8)], Asked(8, 2, words_only=False), GATE) == pytest.approx(0.8 * 8 / 9)


def test_a_prompt_is_read_by_how_often_its_words_were_said() -> None:
    prompt = asked({"here": 3, "common": 900, "new": 0}, passages=100, words_only=True, settings=GateSettings())

    assert prompt == Asked(3, 2, words_only=True, rare=frozenset({"here"}), telling=frozenset({"here"}))


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
