"""How alike two texts are."""

import pytest

from recall.likeness import folded, jaccard, tokens, without_ids


@pytest.mark.parametrize(
    "other", ["use THE pool", 'Use  "the" pool'.replace('"', ""), "Use the\npool", "use the pool "], ids=str
)
def test_case_and_blanks_fold_away(other: str) -> None:
    assert folded("Use the pool") == folded(other)


def test_kinds_of_quotes_fold_to_one() -> None:
    assert folded("say “hi”") == folded('say "hi"') == folded("say 'hi'")


def test_letters_that_only_look_alike_fold_to_one() -> None:
    plain, hidden = "The payment gateway has port 8080.", "The раyment gate\u200bway has роrt ８０８０."

    assert folded(plain) == folded(hidden)
    assert jaccard(tokens(plain), tokens(hidden)) == 1.0


def test_another_word_or_number_does_not_fold() -> None:
    assert folded("port 8080") != folded("port 9090")


def test_jaccard_is_shared_words_over_all_words() -> None:
    assert jaccard(tokens("a b c d"), tokens("c d e f")) == pytest.approx(2 / 6)
    assert jaccard(tokens(""), tokens("")) == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "run 7c35564 ended",
        "run 80b5532c-e69c-5fb2-87a1-88437a0a9d12 ended",
        "run 2026-03-01 ended",
        "run 2026-03-01T10:00:00.123Z ended",
        "run 2026-03-01 10:00:00 ended",
        "run 10:00:00,5 ended",
    ],
)
def test_ids_and_times_can_be_left_out(text: str) -> None:
    assert tokens(without_ids(text)) <= {"run", "ended", "z"}


@pytest.mark.parametrize("text", ["port 8080", "1234 rows", "v1.2.3", "the decade", "feedface", "at 10:30", "sha256"])
def test_numbers_and_words_stay(text: str) -> None:
    assert without_ids(text) == text
