"""A word that the index does not hold, in the nearest spelling that it does: other letters, then typing errors."""

import pytest
from support.book import Book

from recall.cues import read_cues
from recall.typos import distance, errors_allowed, nearest, other_ways, respelled

SAID = (
    "The connection to the database is pooled.",
    "Compression of the exports is off, the exporter zips them.",
    "Müller wrote the importer for Łódź; the Straße is split.",
    "Every committed migration needs a way back.",
)


@pytest.fixture(scope="module")
def book() -> Book:
    made = Book()
    for number, text in enumerate(SAID):
        made.say(f"s{number}", f"note {number}", text, days=number + 1)
    return made


@pytest.mark.parametrize(
    ("one", "other", "errors"),
    [
        ("index", "index", 0), ("idnex", "index", 1), ("indx", "index", 1), ("indexx", "index", 1),
        ("indes", "index", 1),
        ("databse", "database", 1), ("conecion", "connection", 2), ("abcdef", "uvwxyz", 3), ("a", "abcd", 3),
    ],
)  # fmt: skip
def test_letters_added_left_out_changed_or_swapped_are_counted(one: str, other: str, errors: int) -> None:
    assert distance(one, other, 2) == distance(other, one, 2) == errors


def test_longer_words_may_have_more_errors_and_short_ones_none() -> None:
    assert [errors_allowed("x" * n) for n in (3, 4, 5, 7, 8, 20)] == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("databse", "database"), ("conection", "connection"), ("comression", "compression"), ("exprots", "exports"),
     ("migraiton", "migration"), ("commited", "committed")],
)  # fmt: skip
def test_a_mistyped_word_is_found_though_the_index_keeps_stems(book: Book, typed: str, meant: str) -> None:
    assert nearest(typed, book.reader) == meant


@pytest.mark.parametrize("typed", ["mueller", "lodz", "strasse"])
def test_the_same_letters_are_known_however_they_are_written(book: Book, typed: str) -> None:
    assert book.reader.unheld([typed, *other_ways(typed)])[0] == typed
    changed = set(respelled(read_cues(typed), book.reader).terms)
    assert changed
    assert typed not in changed
    assert not book.reader.unheld(sorted(changed))


def test_words_that_are_held_stay_as_they_are(book: Book) -> None:
    cues = read_cues("database migration exports")

    assert respelled(cues, book.reader) is cues


@pytest.mark.parametrize(
    "prompt",
    [
        "tell me about kubernetes and zookeeper",  # nothing like it was ever said
        "what did Databse decide",  # a name
        "warum ist die databse nicht gespeichert und wird gelöscht",  # another language
        "use `dbe`",  # too short
    ],
)
def test_new_subjects_names_and_foreign_words_are_not_taken_for_errors(book: Book, prompt: str) -> None:
    assert "database" not in respelled(read_cues(prompt), book.reader).terms


def test_a_mistyped_prompt_finds_what_was_said(book: Book) -> None:
    from recall.candidates import candidates
    from recall.query import Query
    from recall.settings import RetrievalSettings

    prompt = "databse conection"
    for on in (True, False):
        found = candidates(Query(prompt), read_cues(prompt), book.reader, None, RetrievalSettings(respell=on))
        assert [c.text for c in found.candidates if "database" in c.text] == ([SAID[0]] if on else [])
