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


PRINTED = """2026-03-01T10:00:00Z starting worker 1
2026-03-01T10:00:01Z connected
[2026-03-01 10:00:02] listening
ERROR the socket is gone"""


@pytest.mark.parametrize(
    "text",
    [
        PRINTED,
        "10:00:01 a\n10:00:02 b\n10:00:03 c\n10:00:04 d",
        "commit 7c35564 a\ncommit 310776e b\ncommit d968e77 c\ncommit 4dd3942 d",
        "Traceback\n  at run (a.js)\n  at main (a.js)\n  at go (b.js)\n  at x (c.js)",
    ],
    ids=["stamps and levels", "times", "hashes", "stack"],
)
def test_a_programs_output_looks_pasted(text: str) -> None:
    assert is_pasted(text)


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(PRINTED.split("\n")[:3]),
        "use port 8080\nand port 9090\nnot 7070\nnor 6060\nplease",
        "we decided this in 2026\nafter the outage\nof the database\nin the first week\nof march",
        "the facade\nthe decade\nof deadbeef\nand feedface\nand accede",
    ],
    ids=["three lines", "ports", "sentences", "words of hex letters"],
)
def test_a_persons_own_lines_do_not(text: str) -> None:
    assert not is_pasted(text)
