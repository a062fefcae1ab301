"""A turn with a prompt in another language: over an English record, over one in its own, and what the gate counts."""

import pytest
from support.book import NOW, Book, by_bytes

from recall.candidates import candidates
from recall.cues import read_cues
from recall.engine import recall
from recall.query import Query
from recall.settings import GateSettings, RetrievalSettings, Settings

PROMPT = "warum ist die Sicherung auf kestrel fehlgeschlagen"
ENGLISH = "The backup failed because the disk of the host was full."
GERMAN = "Die Sicherung ist fehlgeschlagen, weil die Platte voll war."


def asked(book: Book, *, gloss: bool = True) -> list[str]:
    settings = Settings(RetrievalSettings(gloss=gloss), gate=GateSettings(item=False, evidence=False, margin=False))
    turn = recall(Query(PROMPT), book.reader, None, settings, now=NOW, count_tokens=by_bytes)
    return [item.candidate.text for item in turn.items]


@pytest.fixture
def book() -> Book:
    made = Book()
    made.say("changelog", "write a changelog", "The changelog is written.", days=2)
    return made


def test_an_english_record_is_found_by_a_german_prompt_and_only_with_the_gloss(book: Book) -> None:
    book.say("host", "look at the host", ENGLISH, days=3)

    assert asked(book)[0] == ENGLISH
    assert asked(book, gloss=False) == []


def test_a_record_in_the_prompts_own_language_is_found_as_before(book: Book) -> None:
    book.say("platte", "sieh nach", GERMAN, days=3)

    assert asked(book)[0] == GERMAN
    assert asked(book, gloss=False)[0] == GERMAN


def test_the_gate_counts_a_word_and_its_english_once(book: Book) -> None:
    book.say("host", "look at the host", ENGLISH, days=3)

    found = candidates(Query(PROMPT), read_cues(PROMPT), book.reader, None, RetrievalSettings())

    assert {word: bool(count) for word, count in found.frequency.items()} == (
        {"backup": True, "fail": True, "kestrel": False}
    )


def test_a_word_that_no_passage_holds_in_either_language_counts_once(book: Book) -> None:
    found = candidates(Query(PROMPT), read_cues(PROMPT), book.reader, None, RetrievalSettings())

    assert set(found.frequency) == {"sicherung", "fehlgeschlagen", "kestrel"}
