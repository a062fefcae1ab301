"""The prompt on an item's head line says where it stands."""

from dataclasses import replace

from support.book import NOW, Book, by_bytes

from recall.engine import recall
from recall.query import Query
from recall.settings import BudgetSettings, GateSettings, Settings
from recall.turn import Turn

SETTINGS = Settings(gate=GateSettings(item=False, evidence=False, margin=False))
LONG = "We saw it again on sunday. " * 8 + "The reader hangs."
ANSWER = "Done: the kestrel-2020 worker held loris-1818 for forty seconds."


def ask(book: Book, *, budget: BudgetSettings | None = None, prompt: str = "kestrel-2020 loris-1818") -> Turn:
    settings = replace(SETTINGS, budget=budget or BudgetSettings())
    return recall(Query(prompt), book.reader, None, settings, now=NOW, count_tokens=by_bytes)


def test_an_answer_names_the_place_of_the_prompt_above_it() -> None:
    book = Book()
    book.say("old", LONG, ANSWER, days=3)

    turn = ask(book)

    asked = turn.items[0].candidate.asked
    assert asked is not None
    assert (asked.source, asked.start, asked.end) == ("prompt", 0, 160)
    assert asked.event not in {p.event for p in turn.items[0].candidate.pointers}
    line = next(line for line in turn.block.split("\n") if line.startswith("asked ("))
    assert line.startswith(f"asked ({asked.event[:10]}#0-160): We saw it again on sunday.")


def test_a_shorter_prompt_is_named_to_its_end() -> None:
    book = Book()
    book.say("old", "What hangs?", ANSWER, days=3)

    asked = ask(book).items[0].candidate.asked

    assert asked is not None
    assert (asked.start, asked.end) == (0, len("What hangs?"))


def test_without_a_head_line_there_is_no_place_of_a_prompt() -> None:
    book = Book()
    book.say("old", LONG, ANSWER, days=3)
    book.say("older", "yes, go on", ANSWER.replace("forty", "fifty"), days=4)

    switched_off = ask(book, budget=BudgetSettings(head_chars=0))
    of_each = {r.candidate.head: r.candidate.asked for r in ask(book).ranked}

    assert all(r.candidate.asked is None for r in switched_off.ranked)
    assert of_each["yes, go on"] is None
    assert of_each[LONG[:300]] is not None


def test_a_prompt_that_was_not_shown_whole_may_still_be_shown_itself() -> None:
    book = Book()
    book.say("old", LONG, ANSWER, days=3)
    shown = ask(book).items[0].candidate
    assert shown.asked is not None

    turn = recall(
        Query("which reader hangs on sunday"), book.reader, None, SETTINGS, now=NOW, count_tokens=by_bytes,
        already=frozenset(p.event for p in shown.pointers),
    )  # fmt: skip

    assert [r.candidate.pointer.event for r in turn.items] == [shown.asked.event]
