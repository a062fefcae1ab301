"""One event per turn, and the turn run again from it."""

import random
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from support.book import NOW, Book, by_bytes

from recall import ledger
from recall.engine import recall
from recall.ledger import Circumstances
from recall.query import Query
from recall.replay import query_of, replay_turn, settings_of
from recall.settings import BudgetSettings, GateSettings, Settings, settings_hash
from recall.turn import Turn
from scoring.weights import Weights
from transcript.errors import RecallError
from transcript.event import validate_draft
from transcript.log import Log
from transcript.workspace import Workspace

OPEN = Settings(gate=GateSettings(item=False, evidence=False, margin=False))


@pytest.fixture
def log(tmp_path: Path) -> Log:
    home = tmp_path / "ws"
    home.mkdir()
    return Log(Workspace("0f4c7f2a-0000-4000-8000-000000000001", home, None))


@pytest.fixture
def book() -> Book:
    made = Book()
    for i in range(8):
        made.say(
            f"s{i}", f"how wide is kestrel pool {i}?", f"kestrel pool {i} is {i * 3} wide, said on day {i}", days=i + 1
        )
        made.cosine[f"kestrel pool {i} is {i * 3} wide, said on day {i}"] = 0.5 + i / 100
    return made


def ask(book: Book, query: Query, settings: Settings = OPEN, already: frozenset[str] = frozenset()) -> Turn:
    return recall(query, book.reader, book.vectors, settings, now=NOW, count_tokens=by_bytes, already=already)


def test_a_turn_leaves_one_valid_event_with_all_that_was_decided(book: Book, log: Log) -> None:
    query = Query("kestrel pool", session="live", cwd="/p")
    turn = ask(book, query)
    how = Circumstances("warm", 12.3, book.reader.meta(), frozenset({"x"}), "call-1")

    log.append([ledger.draft(query, turn, OPEN, how, now=NOW)], now=NOW)
    event = ledger.last(log)

    assert event is not None
    body = log.body(event)
    assert (event.type, event.session, event.agent, event.actor) == ("recall", "live", "claude-code", "system")
    assert body["block"] == turn.block
    assert body["block_hash"] == turn.block[8:16]
    assert body["counts"]["candidates"] == turn.candidates
    assert body["counts"]["shown"] == len(body["items"]) == 6
    assert len(body["left_out"]) == min(50, len(turn.left_out))
    told = {"terms", "R", "cosine", "bm25", "relevance", "words"}
    assert set(body["left_out"][0]) >= {"pointer", "reason", *told}
    first = body["items"][0]
    assert set(first) >= {"pointer", "event", "start", "end", "kind", "ts", "terms", "R", "cosine", "bm25"}
    assert set(first["terms"]) == set("SETAQK")
    assert (body["tokens"], body["latency_ms"], body["mode"]) == (turn.tokens, 12.3, "warm")
    assert body["weights"]["alpha"] == 0.5
    assert body["settings_hash"] == settings_hash(OPEN)
    assert body["index"]["generation"] == 1


def test_an_empty_turn_has_an_event_too(book: Book, log: Log) -> None:
    """LCA 5.5-05: every submitted prompt has a ledger row."""
    query = Query("ok", session="live")

    log.append([ledger.draft(query, ask(book, query), OPEN, Circumstances("words", 1.0, call="c"), now=NOW)], now=NOW)

    event = ledger.last(log)
    assert event is not None
    assert event.body["empty_reason"] == "continuation"
    assert "items" not in event.body


def test_a_missing_session_and_a_deliberate_search_are_valid_events(book: Book) -> None:
    query = Query("kestrel pool", mode="tool")

    draft = ledger.draft(query, ask(book, query), OPEN, Circumstances("tool", 1.0, call="r1"), now=NOW)

    validate_draft(draft)
    assert draft.session == "recall:r1"
    assert draft.actor == "human"


def test_an_unknown_mode_is_refused(book: Book) -> None:
    query = Query("kestrel")
    with pytest.raises(ValueError, match="'cold'"):
        ledger.draft(query, ask(book, query), OPEN, Circumstances("cold", 1.0), now=NOW)


def test_what_policy_kept_out_stands_in_the_ledger_without_its_words(log: Log) -> None:
    """LCA 5.3-03."""
    book = Book()
    book.add("kestrel with key AKIAABCDEFGHIJKLMNOP", "final")
    query = Query("kestrel")

    draft = ledger.draft(query, ask(book, query), OPEN, Circumstances("warm", 1.0, call="c"), now=NOW)

    assert "AKIA" not in repr(draft)
    assert [set(left) for left in draft.body["left_out"]] == [{"pointer", "reason"}]
    assert draft.body["left_out"][0]["reason"] == "secret"


def test_only_the_first_of_what_was_left_out_has_its_scores(log: Log) -> None:
    book = Book()
    for i in range(20):
        book.add(f"kestrel pool {i} is {i * 3} wide, said on day {i}", "final")
    query = Query("kestrel pool")

    left = ledger.draft(query, ask(book, query), OPEN, Circumstances("warm", 1.0, call="c"), now=NOW).body["left_out"]

    assert ["terms" in item for item in left] == [i < 10 for i in range(len(left))]
    assert len(left) > 10


def test_turns_come_newest_first_and_by_mode(book: Book, log: Log) -> None:
    for i, mode in enumerate(("warm", "tool", "words")):
        query = Query(f"kestrel {i}", session="live")
        how = Circumstances(mode, 1.0, call=str(i))
        log.append([ledger.draft(query, ask(book, query), OPEN, how, now=NOW + timedelta(seconds=i))], now=NOW)

    assert [e.body["mode"] for e in ledger.turns(log)] == ["words", "tool", "warm"]
    assert [e.body["mode"] for e in ledger.turns(log, modes=("warm", "words"))] == ["words", "warm"]
    assert len(ledger.recent(log, 2)) == 2
    newest = ledger.last(log)
    assert newest is not None
    assert ledger.find(log, newest.id[:8]) == newest
    assert ledger.find(log, newest.body["block_hash"]) is not None
    assert ledger.find(log, "zzzz") is None


@pytest.mark.parametrize("seed", range(10))
def test_a_recorded_turn_gives_the_same_block_again(seed: int, book: Book, log: Log) -> None:
    """LCA 4.4-08."""
    rng = random.Random(seed)
    settings = replace(
        OPEN,
        weights=Weights(gamma=rng.random()),
        budget=BudgetSettings(items=rng.randrange(1, 7), chars=rng.choice([900, 4800])),
    )
    query = Query(rng.choice(["kestrel pool", "how wide is kestrel", "said on day"]), session="live")
    already = frozenset(r.candidate.pointer.event for r in ask(book, query, settings).items[: rng.randrange(3)])
    turn = ask(book, query, settings, already)
    how = Circumstances("warm", 1.0, book.reader.meta(), already, "c")
    log.append([ledger.draft(query, turn, settings, how, now=NOW)], now=NOW)
    event = ledger.last(log)
    assert event is not None

    again = replay_turn(log.body(event), book.reader, book.vectors, count_tokens=by_bytes)

    assert again.same
    assert again.turn.block == turn.block
    assert again.differences == ()
    assert query_of(log.body(event)) == query


def test_a_replay_on_a_moved_index_looks_only_at_what_was_said_by_then(book: Book) -> None:
    query = Query("kestrel pool", session="live")
    turn = ask(book, query)
    body = ledger.draft(query, turn, OPEN, Circumstances("warm", 1.0, book.reader.meta(), call="c"), now=NOW).body
    book.add("kestrel pool of tomorrow", "final", session="later", days=-1)
    book._run("UPDATE meta SET value = '7' WHERE key = 'data_version'")

    again = replay_turn(body, book.reader, book.vectors, count_tokens=by_bytes)

    assert again.same
    assert again.differences == ("the index was written to since, by vectors or a compaction; the record is the same",)


def test_a_turn_by_words_is_replayed_by_words(book: Book) -> None:
    book.words_only = True
    query = Query("kestrel pool", session="live")
    turn = ask(book, query)
    body = ledger.draft(query, turn, OPEN, Circumstances("words", 1.0, book.reader.meta(), call="c"), now=NOW).body
    book.words_only = False

    assert replay_turn(body, book.reader, book.vectors, count_tokens=by_bytes).same


def test_a_redacted_turn_cannot_be_replayed(book: Book) -> None:
    with pytest.raises(RecallError, match="redacted"):
        replay_turn({}, book.reader, None, count_tokens=by_bytes)


def test_settings_come_back_from_what_differed() -> None:
    settings = replace(OPEN, weights=Weights(beta=0.0, extra=(("X", 0.5),)))

    assert settings_of(ledger.changed(settings)) == settings
    assert ledger.changed(Settings()) == {}
    assert settings_of({"gone.name": 1, "gate.gone": 2}) == Settings()
