"""Candidates: what is left unread could not have come among the best."""

import random
from dataclasses import replace

import pytest
from support.book import DAY, NOW, Book

from recall import candidates as module
from recall.candidates import candidates
from recall.cues import read_cues
from recall.query import Query
from recall.settings import RetrievalSettings

WORDS = [f"{kind}{n}" for kind in ("gateway", "invoice", "ledger") for n in "abcde"]
OTHER = [f"{kind}{n}" for kind in ("meadow", "river") for n in "abcdefgh"]


def book(rng: random.Random) -> Book:
    made = Book()
    for number in range(60):
        prompt = " ".join(rng.choices(WORDS, k=rng.randrange(2, 8))) + rng.choice(["?", ".", ""])
        answers = [" ".join(rng.choices(OTHER, k=rng.randrange(3, 20))) for _ in range(rng.randrange(1, 4))]
        made.say(f"s{number % 7}", f"{number} {prompt}", *(f"{number}.{i} {a}" for i, a in enumerate(answers)))
    return made


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("k", [5, 50])
def test_leaving_passages_unread_changes_no_candidate(seed, k, monkeypatch):
    rng = random.Random(seed)
    made = book(rng)
    query = Query(" ".join(rng.sample(WORDS, 3)), "running")
    settings = replace(RetrievalSettings(), k=k, arm=60)

    def run():
        return candidates(query, read_cues(query.prompt), made.reader, None, settings).candidates

    quick = run()
    answers = [c for c in quick if c.source == "final" and not c.bm25]
    monkeypatch.setattr(module, "_surely", lambda *_: -1.0)

    assert quick == run()
    assert answers or k < 50  # some answers come in by their prompt alone, so that leaving one unread would show


def test_what_was_said_in_the_named_time_is_lifted_and_nothing_is_left_out() -> None:
    book = Book()
    book.add("The importer got another batch size.", "final", session="new", days=1)
    book.add("The importer got another file lock.", "final", session="old", days=40)
    now = int(NOW.timestamp())
    cues = replace(read_cues("importer change"), when=(now - 41 * DAY, now - 39 * DAY))

    for weight, first in ((0.0, "batch size"), (0.5, "file lock")):
        found = candidates(Query("importer change"), cues, book.reader, None, RetrievalSettings(when=weight)).candidates
        assert len(found) == 2
        assert first in max(found, key=lambda c: (round(c.relevance, 6), c.pointer.said)).text
