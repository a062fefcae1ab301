"""What a text is by its form."""

import pytest

from recall.forms import is_announcement, is_pasted, is_question


@pytest.mark.parametrize(
    "text",
    [
        "Let me look at the importer.",
        "Now I'll update the test:",
        "Good. Let me run the build again.",
        "The file is here:",
        "Ich werde jetzt die Tests starten.",
        "Je vais vérifier le fichier.",
    ],
)
def test_what_only_says_the_next_step_is_an_announcement(text: str) -> None:
    assert is_announcement(text)


@pytest.mark.parametrize(
    "text", ["The pool size was too small.", "Let me know if you want more.", "Let me " + "explain it in full " * 20]
)
def test_findings_and_long_texts_are_none(text: str) -> None:
    assert not is_announcement(text)


@pytest.mark.parametrize("text", ["why is it slow?", "How do we deploy this", "warum ist das so", "¿qué? 什么？"])
def test_questions_are_seen_by_mark_or_first_word(text: str) -> None:
    assert is_question(text)


@pytest.mark.parametrize("text", ["use the pool. it is faster", "Is fine. Keep the flag and drop the prompt."])
def test_statements_are_no_questions(text: str) -> None:
    assert not is_question(text)


def test_a_list_of_headings_and_bullets_looks_pasted() -> None:
    assert is_pasted("# Plan\n- one\n- two\n1. three\ntext")
    assert not is_pasted("please use flags - not prompts")
