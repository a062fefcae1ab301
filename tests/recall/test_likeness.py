"""How alike two texts are."""

import pytest

from recall.likeness import folded, jaccard, tokens


@pytest.mark.parametrize(
    "other", ["use THE pool", 'Use  "the" pool'.replace('"', ""), "Use the\npool", "use the pool "], ids=str
)
def test_case_and_blanks_fold_away(other: str) -> None:
    assert folded("Use the pool") == folded(other)


def test_kinds_of_quotes_fold_to_one() -> None:
    assert folded("say “hi”") == folded('say "hi"') == folded("say 'hi'")


def test_another_word_or_number_does_not_fold() -> None:
    assert folded("port 8080") != folded("port 9090")


def test_jaccard_is_shared_words_over_all_words() -> None:
    assert jaccard(tokens("a b c d"), tokens("c d e f")) == pytest.approx(2 / 6)
    assert jaccard(tokens(""), tokens("")) == 0.0
