"""What may leave a live window: classes, protection, order, thresholds, policies."""

import random
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from support.dialogue import Dialogue
from support.record import NOW
from support.window import SLIDING, Labelled, full, labelled, with_policy, words

from recall.live_window import held
from recall.window import (
    ABSENT,
    ARTIFACT,
    CONVERSATION,
    HIGH,
    IN_FLIGHT,
    INDEXED,
    INSTRUCTION,
    LOGGED,
    LOW,
    MEDIUM,
    SUMMARY,
    TOOL_CALL,
    TOOL_RESULT,
    Piece,
    pieces,
)
from recall.window_items import of_record
from recall.window_policy import Plan, as_dict, plan, protected, ranked
from transcript.curation import Author, Setting, task
from transcript.event import stamp

FULL = full(1000)
PROTECTED = ("instruction", "last change", "push", "list of work", "recent", "in flight")


@pytest.fixture
def session(tmp_path: Path) -> Labelled:
    return labelled(tmp_path)


def leaving(made: Plan) -> set[str]:
    return {event for step in made.steps for event in step.piece.events}


def test_nothing_protected_is_planned_and_everything_else_may_leave(session: Labelled) -> None:
    """LCA-4.5-01."""
    left = leaving(plan(session.pieces(), full(1000, 1), SLIDING))

    free = {name for name in session.events if name not in PROTECTED}
    assert {name for name in PROTECTED if left & set(session.events[name])} == set()
    assert {name for name in free if left >= set(session.events[name])} == free


def test_each_piece_says_its_kind_source_recoverability_and_risk(session: Labelled) -> None:
    """LCA-6.2-02."""
    told = {event: one for one in session.pieces() for event in one.events}

    def fields(label: str) -> tuple[str, str, str, str]:
        one = told[session.events[label][0]]
        return one.kind, one.source, one.recoverability, one.risk

    assert {name: fields(name) for name in session.events if name != "recent"} == {
        "instruction": (INSTRUCTION, "person", INDEXED, HIGH),
        "answer to it": (CONVERSATION, "agent", INDEXED, LOW),
        "old conversation": (CONVERSATION, "person", INDEXED, LOW),
        "later conversation": (TOOL_CALL, "agent", INDEXED, LOW),  # its exchange goes on with a call
        "large result": (TOOL_RESULT, "tool", INDEXED, LOW),
        "read": (TOOL_CALL, "agent", INDEXED, LOW),
        "search": (TOOL_CALL, "agent", INDEXED, LOW),
        "failed command": (TOOL_CALL, "agent", INDEXED, MEDIUM),
        "older change": (ARTIFACT, "agent", INDEXED, MEDIUM),
        "last change": (ARTIFACT, "agent", INDEXED, MEDIUM),
        "push": (TOOL_CALL, "agent", INDEXED, HIGH),
        "list of work": (TOOL_CALL, "agent", INDEXED, LOW),
        "in flight": (IN_FLIGHT, "agent", INDEXED, HIGH),
    }
    row = as_dict(plan(session.pieces(), FULL, SLIDING))["keep"][0]
    assert {"type", "source", "recoverability", "risk"} <= row.keys()


def test_what_is_of_low_risk_old_and_recoverable_leaves_first(session: Labelled) -> None:
    """LCA-4.5-02, LCA-6.2-03."""
    names = {event: name for name, events in session.events.items() for event in events}
    made = plan(session.pieces(), full(1000, 1), SLIDING)

    order = list(dict.fromkeys(names[event] for one in ranked(s.piece for s in made.steps) for event in one.events))

    assert order == [
        "large result",
        "answer to it",
        "old conversation",
        "later conversation",
        "read",
        "search",
        "failed command",
        "older change",
    ]


def test_a_large_result_becomes_a_pointer_and_small_ones_go_with_their_calls(session: Labelled) -> None:
    """LCA-4.5-03."""
    found = [p if session.events["read"][0] not in p.events else replace(p, holds=("why",)) for p in session.pieces()]
    made = plan(found, full(1000, 1), SLIDING)

    (stub,) = made.stub
    (event,) = session.events["large result"]
    assert stub.piece.events == (event,)
    assert stub.stub == f"[tool result, 900 tokens: recall show {event[:10]}]"
    assert all(step.stub == "" for step in made.remove)
    search = next(one.piece for one in made.remove if session.events["search"][0] in one.piece.events)
    assert set(search.events) == set(session.events["search"])  # no call without its result


def test_a_call_and_its_large_result_leave_together_or_stay_together(session: Labelled) -> None:
    read, (result,) = session.events["read"][0], session.events["large result"]
    found = session.pieces()
    kept = [replace(one, holds=("why",)) if result in one.events else one for one in found]

    made, stays = plan(found, full(1000, 1), SLIDING), plan(kept, full(1000, 1), SLIDING)

    gone = {event for step in made.remove for event in step.piece.events}
    assert {read, result} <= gone
    assert made.stub == ()
    assert leaving(stays).isdisjoint({read, result})
    assert "a result of it stays" in {one.why for one in stays.keep if read in one.piece.events}


def test_a_plan_ends_when_its_goal_is_reached(session: Labelled) -> None:
    made = plan(session.pieces(), full(1400, 1000), SLIDING)

    assert made.goal == 600
    assert [step.piece.kind for step in made.steps] == [TOOL_RESULT]
    assert made.tokens_after <= made.goal
    assert made.is_enough


@pytest.mark.parametrize(
    ("tokens", "fired"),
    [(599, ()), (600, (0.6,)), (749, (0.6,)), (750, (0.6, 0.75)), (900, (0.6, 0.75, 0.9)), (1500, (0.6, 0.75, 0.9))],
)
def test_thresholds_fire_in_their_order(session: Labelled, tokens: int, fired: tuple[float, ...]) -> None:
    """LCA-6.2-01."""
    made = plan(session.pieces(), full(tokens), SLIDING)

    assert made.fired == fired
    assert bool(made.steps) == bool(fired)
    assert ("below the first threshold" in made.skipped_because) == (not fired)


@pytest.mark.parametrize(("policy", "says"), [("autocompact", "the harness compacts"), ("off", "this is a report")])
def test_the_other_policies_plan_nothing_out_and_say_why(session: Labelled, policy: str, says: str) -> None:
    """LCA-9.2-02."""
    made = plan(session.pieces(), full(2000), with_policy(policy))

    assert made.steps == ()
    assert says in made.skipped_because
    assert made.fired == (0.6, 0.75, 0.9)
    assert made.tokens_after == 2000


def test_what_is_not_in_the_record_is_never_planned(session: Labelled) -> None:
    """LCA-4.5-02."""
    items = of_record(session.log, "s1", words).items
    lost = set(session.events["search"][:1])
    found = pieces(
        [replace(item, seq=0) if item.id in lost else item for item in items], indexed={item.id for item in items}
    )

    made = plan(found, full(1000, 1), SLIDING)

    (piece,) = [kept for kept in made.keep if kept.piece.recoverability == ABSENT]
    assert lost < set(piece.piece.events)
    assert "not in the record" in piece.why
    assert leaving(made).isdisjoint(piece.piece.events)


def test_what_recall_was_told_to_stay_out_of_is_never_planned_and_what_is_not_yet_indexed_comes_last(
    session: Labelled,
) -> None:
    items = of_record(session.log, "s1", words).items
    out = set(session.events["old conversation"])
    late = set(session.events["answer to it"])
    found = session.pieces(
        indexed={i.id for i in items} - out - late, watermark=max(i.seq for i in items if i.id in out)
    )
    behind = session.pieces(indexed={i.id for i in items} - late, watermark=1)

    assert {one.recoverability for one in found if out & set(one.events)} == {LOGGED}
    assert out.isdisjoint(leaving(plan(found, full(1000, 1), SLIDING)))
    order = ranked(step.piece for step in plan(behind, full(1000, 1), SLIDING).steps)
    assert [one.events for one in order if one.risk == LOW][-1] == tuple(late)


def test_an_open_task_and_a_recorded_step_keep_their_exchanges(session: Labelled) -> None:
    talk = session.events
    at = Setting(stamp(NOW), "recall:1", "run", {}, session.log.workspace.id)
    author = Author("ana", "human")
    session.log.append([task(author, at, "T1", "add", title="Rename it", evidence=[talk["read"][0]])], now=NOW)

    def why() -> dict[str, str]:
        return held(session.log, "s1", of_record(session.log, "s1", words).items)

    opened = why()
    left = leaving(plan(session.pieces(held=opened), full(1000, 1), SLIDING))
    session.log.append([task(author, replace(at, key="2"), "T1", "done")], now=NOW)

    assert opened == {talk["read"][0]: "task T1 is open"}
    assert left.isdisjoint(talk["read"])
    assert why() == {}


def test_a_long_answer_is_many_exchanges_and_the_summary_of_a_compaction_stays(tmp_path: Path) -> None:
    talk = Dialogue()
    talk.prompt("before it")
    talk.event("system", {"subtype": "compact_boundary", "text": ""}, actor="system")
    talk.event("conversation_turn", {"kind": "summary", "text": "what was"}, actor="assistant")
    talk.prompt("Look through all of it.")
    for number in range(40):
        talk.bash(f"cat {number}.txt", "word " * 50)
    talk.reply("Done.")
    found = Labelled(talk.log(tmp_path)).pieces()

    made = plan(found, full(3000), SLIDING)

    assert found[0].kind == SUMMARY
    assert "before it" not in {i.text for i in of_record(Labelled(talk.log(tmp_path / "b")).log, "s1", words).items}
    assert len({one.exchange for one in found}) > 40
    assert made.is_enough is False
    assert len(made.steps) == 34  # of 40 calls and the answer, the last six exchanges stay; so does what was asked
    assert found[0].events[0] not in leaving(made)


def test_nobody_elses_words_and_nothing_taken_back_stand_in_a_window(tmp_path: Path) -> None:
    talk = Dialogue()
    gone = talk.prompt("taken back")
    talk.reply("a sub-agent's", worker="a1")
    talk.begin("s2").prompt("another session's")
    talk.begin("s1").prompt("stays")
    talk.event("mark", {"mark": "rewound", "events": [gone], "note": ""}, actor="system")

    assert [item.text for item in of_record(talk.log(tmp_path), "s1", words).items] == ["stays"]


@pytest.mark.parametrize("seed", range(60))
def test_no_protected_event_ever_leaves_and_a_plan_takes_no_more_than_it_needs(seed: int) -> None:
    chance = random.Random(seed)
    found = list(random_pieces(chance))
    settings = replace(SLIDING, keep_exchanges=chance.randint(0, 8), stub_tokens=chance.choice([0, 50, 400]))
    pressure = full(chance.randint(0, 4000), chance.choice([1, 500, 2000]))

    made = plan(found, pressure, settings)

    stays = protected(found, settings)
    assert leaving(made).isdisjoint(stays)
    assert {event for one in found for event in one.events} == leaving(made) | {
        event for kept in made.keep for event in kept.piece.events
    }
    for step in made.steps:
        assert step.piece.recoverability != ABSENT
        assert step.piece.risk != HIGH
        assert not step.piece.holds
    if made.steps:
        without_last = made.tokens_after + ranked_last(made).freed
        assert without_last > made.goal


def ranked_last(made: Plan):  # type: ignore[no-untyped-def]
    order = ranked(step.piece for step in made.steps)
    return next(step for step in made.steps if step.piece is order[-1])


def random_pieces(chance: random.Random) -> Iterable[Piece]:
    for place in range(chance.randint(0, 60)):
        kind = chance.choice([CONVERSATION, TOOL_CALL, TOOL_RESULT, ARTIFACT, INSTRUCTION, IN_FLIGHT, SUMMARY])
        yield Piece(
            events=(f"e{place}",),
            kind=kind,
            source=chance.choice(["person", "agent", "tool", "host"]),
            recoverability=chance.choice([INDEXED, INDEXED, LOGGED, ABSENT]),
            risk=chance.choice([LOW, LOW, MEDIUM, HIGH]),
            tokens=chance.randint(0, 200),
            seq=place + 1,
            said_at="",
            exchange=place // 2 + 1,
            place=place,
            holds=("why",) if chance.random() < 0.1 else (),
        )
