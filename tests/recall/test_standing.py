"""A person's standing wishes: looked at for a prompt that is about to act, and for no other."""

from dataclasses import replace

import pytest
from support.book import NOW, Book, by_bytes

from indexer.rows import WISH as MARKED
from indexer.wishes import MOST_CHARS, is_wish
from recall.engine import recall
from recall.query import Query
from recall.settings import GateSettings, Settings
from recall.standing import about_to_act

WISH = "Never commit straight to main, always make a branch first."


@pytest.mark.parametrize(
    "text",
    [
        WISH, "Please don't add comments that repeat the code.", "From now on use pnpm.",
        "No, keep it in its own file.",
        "I prefer tabs here", "You should never mock the database", "stop adding emojis",
        "Make sure that it is tested.",
        "The build is green.\n- always run the linter first", "Bitte immer auf Englisch schreiben.",
        "Ab jetzt ohne Semikolon", "Utilise toujours des tabulations", "Désormais en français", "Nunca uses var",
        "Before you push, run the tests.",
    ],
)  # fmt: skip
def test_what_lays_down_how_work_is_done_is_a_wish(text: str) -> None:
    assert is_wish(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "why does it always fail?", "It never returns.", "The test always passed before.", "never mind",
        "should we never retry?", "Add a column to the export.", "I don't know", "Das ging nie.",
        WISH + " x" * MOST_CHARS,
    ],
)  # fmt: skip
def test_reports_questions_orders_and_long_texts_are_none(text: str) -> None:
    assert not is_wish(text)


@pytest.mark.parametrize(
    "text",
    ["commit the changes", "please add a column", "Can you create the PR?", "ok, now refactor the parser",
     "let's merge it",
     "The tests fail. Fix the parser.", "schreib einen Test", "die Spalte umbenennen", "ajoute une colonne",
     "crea una prueba"],
)  # fmt: skip
def test_an_order_is_about_to_act(text: str) -> None:
    assert about_to_act(text)


@pytest.mark.parametrize(
    "text",
    ["", "why does the commit fail?", "what tests do we have", "how do I add a column?", "the commit is broken",
     "Add-ons are listed here?", "warum ist die Spalte leer", "quelle colonne"],
)  # fmt: skip
def test_a_question_or_a_report_is_not(text: str) -> None:
    assert not about_to_act(text)


@pytest.fixture(scope="module")
def book() -> Book:
    made = Book()
    made.add(WISH, "prompt", session="rules", days=90, flags=MARKED)
    for days, part in enumerate(("parser", "writer", "header", "footer", "logo", "index", "queue", "mailer"), 1):
        made.say(part, f"commit the exporter changes in the {part}", f"The {part} commit is made.", days=10 * days)
    return made


def _ranks(book: Book, prompt: str, wish: float, mode: str = "turn") -> int:
    """The place of the wish in the ranked list; 0 where it is not in it."""
    settings = Settings(gate=GateSettings(item=False, evidence=False, margin=False))
    settings = replace(settings, retrieval=replace(settings.retrieval, wish=wish))
    turn = recall(Query(prompt, mode=mode), book.reader, None, settings, now=NOW, count_tokens=by_bytes)
    return next((n for n, r in enumerate(turn.ranked, 1) if r.candidate.text == WISH), 0)


def test_a_wish_stands_higher_for_a_prompt_that_is_about_to_break_it(book: Book) -> None:
    prompt = "commit the exporter changes of today"

    assert 0 < _ranks(book, prompt, 0.8) < _ranks(book, prompt, 0.0)


def test_a_question_and_a_deliberate_search_are_not_lifted(book: Book) -> None:
    for prompt, mode in (("which commit has the exporter changes", "turn"), ("commit the exporter changes", "tool")):
        assert _ranks(book, prompt, 0.2, mode) == _ranks(book, prompt, 0.0, mode)


def test_a_wish_of_another_subject_is_not_injected(book: Book) -> None:
    for prompt in (
        "write a haiku about autumn leaves",
        "add a column to the price list",
        "translate the letter to Greek",
    ):
        turn = recall(Query(prompt), book.reader, None, Settings(), now=NOW, count_tokens=by_bytes)
        assert WISH not in turn.block


def test_a_bare_command_may_bring_a_wish(book: Book) -> None:
    turn = recall(Query("commit this"), book.reader, None, Settings(), now=NOW, count_tokens=by_bytes)

    assert not any(r.verdict == "bare_command" for r in turn.ranked if r.candidate.text == WISH)
    assert any(r.candidate.text == WISH for r in turn.ranked)
