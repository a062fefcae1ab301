"""The beginning of an answer beside the passage that was found further down in it."""

from dataclasses import replace
from datetime import timedelta

import pytest
from support.book import NOW, Book, by_bytes

from indexer.rows import PRIVATE
from recall.engine import recall
from recall.query import Query
from recall.settings import BudgetSettings, GateSettings, Settings
from recall.turn import Turn

SETTINGS = Settings(gate=GateSettings(item=False, evidence=False, margin=False))
OPENING = "The nightly import was slow because of a lock on the ledger table. We moved it to a queue."
PASSAGE = "Details: the kestrel-2020 worker held loris-1818 for forty seconds, and every reader waited behind it."


def ask(book: Book, *, budget: BudgetSettings | None = None, prompt: str = "kestrel-2020 loris-1818") -> Turn:
    settings = replace(SETTINGS, budget=budget or BudgetSettings())
    return recall(Query(prompt), book.reader, None, settings, now=NOW, count_tokens=by_bytes)


def long_answer(opening: str = OPENING, *, kind: str = "final", start: int = 400) -> tuple[Book, str]:
    book = Book()
    exchange = book.say("old", "what became of the import?", "Let me look.", kinds="narration", days=3)
    event = book.add(opening, kind, exchange=exchange)
    book.add(PASSAGE, kind, exchange=exchange, event=event, start=start)
    return book, event


def test_a_passage_from_further_down_shows_how_its_answer_begins() -> None:
    book, event = long_answer()

    turn = ask(book)

    lines = turn.block.split("\n")
    begins = next(i for i, line in enumerate(lines) if line.startswith("begins ("))
    assert lines[begins] == f"begins ({event[:10]}#0-{len(OPENING)}): {OPENING}"
    assert lines[begins + 1] == f"… {PASSAGE}"
    spans = [(p.start, p.end) for p in turn.items[0].candidate.pointers if p.event == event]
    assert spans == [(400, 400 + len(PASSAGE)), (0, len(OPENING))]


def test_it_can_be_switched_off() -> None:
    book, _ = long_answer()

    turn = ask(book, budget=BudgetSettings(opening_chars=0))

    assert PASSAGE in turn.block
    assert "begins (" not in turn.block


def test_a_passage_that_begins_its_answer_has_no_other_beginning() -> None:
    book, _ = long_answer()

    turn = ask(book, prompt="nightly import ledger lock queue")

    assert OPENING in turn.block
    assert "begins (" not in turn.block


def test_a_remark_on_the_way_shows_no_beginning() -> None:
    book, _ = long_answer(kind="narration")

    assert "begins (" not in ask(book).block


def test_a_long_beginning_is_cut_at_a_sentence_and_its_pointer_with_it() -> None:
    book, _ = long_answer(
        OPENING + " " + "Nothing else in the whole of that report is of any use here. " * 6, start=900
    )

    turn = ask(book, budget=BudgetSettings(opening_chars=120))

    assert f"#0-{len(OPENING)}): {OPENING} …" in turn.block


def test_a_beginning_never_takes_room_from_the_passage() -> None:
    book, _ = long_answer()

    turn = ask(book, budget=BudgetSettings(item_chars=len(PASSAGE) + 200))

    assert PASSAGE in turn.block
    assert "begins (" not in turn.block


def test_a_beginning_that_holds_a_credential_is_not_shown() -> None:
    key = "ghp_" + "a1B2c3D4e5" * 4
    book, _ = long_answer(f"The token {key} was set in the pipeline, and that made the import pass.")

    turn = ask(book)

    assert PASSAGE in turn.block
    assert key not in turn.block


QUESTION = "Which reader hangs on sunday? " + "We saw it again on the pi, after the clock went back by one hour. " * 4
ASKED = "reader hangs sunday clock pi"
ONE = BudgetSettings(items=1)


def test_a_prompt_is_shown_with_the_beginning_of_its_answer() -> None:
    book = Book()
    book.say("old", QUESTION, OPENING, days=3)

    turn = ask(book, prompt=ASKED, budget=ONE)

    assert [r.candidate.source for r in turn.items] == ["prompt"]
    answered = turn.items[0].candidate.answered
    assert answered is not None
    assert (answered.source, answered.start, answered.end) == ("final", 0, len(OPENING))
    assert f"answered ({answered.event[:10]}#0-{len(OPENING)}): {OPENING}" in turn.block
    assert answered not in turn.items[0].candidate.pointers  # the answer itself may still be injected later


def test_an_answer_that_is_an_item_of_its_own_has_no_line_under_its_prompt() -> None:
    book = Book()
    book.say("old", QUESTION, OPENING, days=3)

    turn = ask(book, prompt=ASKED)

    assert [r.candidate.source for r in turn.items] == ["prompt", "final"]
    assert "answered (" not in turn.block


@pytest.mark.parametrize("answer", ["Let me look at the importer and its tests first.", "Done."])
def test_an_answer_that_says_nothing_has_no_line_under_its_prompt(answer: str) -> None:
    book = Book()
    book.say("old", QUESTION, answer, days=3)

    turn = ask(book, prompt=ASKED, budget=ONE)

    assert [r.candidate.source for r in turn.items] == ["prompt"]
    assert "answered (" not in turn.block


def test_the_beginning_of_an_answer_that_was_given_later_is_not_shown() -> None:
    book = Book()
    exchange = book.say("old", QUESTION, "Let me look.", kinds="narration", days=3)
    book.add(OPENING, "final", exchange=exchange, days=1)
    settings = replace(SETTINGS, budget=ONE)

    early = Query(ASKED, as_of=NOW - timedelta(days=2))
    turn = recall(early, book.reader, None, settings, now=NOW, count_tokens=by_bytes)

    assert QUESTION[:30] in turn.block
    assert "answered (" not in turn.block


def test_a_private_answer_is_not_shown_under_its_prompt() -> None:
    book = Book()
    exchange = book.say("old", QUESTION, "Let me look.", kinds="narration", days=3)
    book.add(OPENING, "final", exchange=exchange, days=3, flags=PRIVATE)

    turn = ask(book, prompt=ASKED, budget=ONE)

    assert QUESTION[:30] in turn.block
    assert "answered (" not in turn.block
