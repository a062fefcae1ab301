"""Words that stand side by side in the prompt lift a passage in which they do so too."""

import pytest

from recall.phrases import adjacent, lifted, stem_of, word_weights
from recall.turn import Candidate, Pointer

FREQUENCY = {"always": 9, "function": 9, "names": 9, "start": 9}


def passages(*texts):
    return [
        Candidate(i, text, (Pointer(f"e{i}", 0, 9, "s", i, "prompt"),), relevance=0.5) for i, text in enumerate(texts)
    ]


def test_a_passage_that_keeps_the_words_together_is_lifted_above_one_that_does_not():
    found = lifted(
        passages("start function argument names", "function names are short", "nothing"),
        "always start function names",
        FREQUENCY,
        100,
        most=0.2,
    )

    assert [(c.chunk, pytest.approx(c.relevance)) for c in found] == [(0, 0.6), (1, 0.6), (2, 0.5)]


def test_all_pairs_together_give_the_whole_lift_and_forms_of_a_word_are_one():
    found = lifted(
        passages("unrelated", "it starts function name checks"), "start function names", FREQUENCY, 100, most=0.2
    )

    assert [(c.chunk, pytest.approx(c.relevance)) for c in found] == [(1, 0.7), (0, 0.5)]


def test_a_prompt_without_neighbouring_words_lifts_nothing():
    items = passages("function names", "names")

    assert lifted(items, "names", {"names": 3}, 100, most=0.2) == items
    assert lifted([], "function names", FREQUENCY, 100, most=0.2) == []


def test_directive_words_weigh_nothing_and_rare_words_more():
    weight = word_weights({"always": 2, "function": 500, "kestrel": 1}, 5000)

    assert set(weight) == {stem_of("function"), stem_of("kestrel")}
    assert weight[stem_of("kestrel")] > weight[stem_of("function")]
    assert adjacent("always kestrel function", weight) == {
        (stem_of("kestrel"), stem_of("function")): weight[stem_of("function")]
    }
