"""Whether an answer used what was injected: labelled pairs, and the way through the record."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from support.book import NOW

from recall import ledger, use
from recall.use import NAMED, OVERLAP, UNUSED, Injected, Use, judge_use
from transcript.canonical import b32id
from transcript.event import Draft, Event, stamp
from transcript.log import Log
from transcript.workspace import Workspace

CASES = json.loads((Path(__file__).parents[1] / "data" / "use_pairs.json").read_text(encoding="utf-8"))


def judged() -> Iterator[tuple[bool, Use]]:
    """Each labelled pair of an item and an answer, with what was found."""
    for number, case in enumerate(CASES):
        items = [
            Injected((pointer[0] if pointer else b32id("pair", f"{number}:{place}"),), text)
            for place, (text, _, *pointer) in enumerate(case["items"])
        ]
        found = judge_use(items, case["answer"], [case["prompt"], *case["seen"]])
        yield from ((label == "used", one) for (_, label, *_), one in zip(case["items"], found, strict=True))


def test_what_is_called_used_was_used_nine_times_in_ten() -> None:
    pairs = list(judged())
    called = [was for was, found in pairs if found.kind]
    were = [bool(found.kind) for was, found in pairs if was]

    assert len(pairs) >= 60
    assert sum(called) / len(called) >= 0.9
    assert sum(were) / len(were) >= 0.7


def test_a_pointer_that_is_named_is_the_stronger_evidence() -> None:
    items = [Injected(("abcdefghij" + "k" * 16,), "The pool has nine lanes."), Injected(("x" * 26,), "It rains.")]

    found = judge_use(items, "As abcdefghij says, it has enough of them.", [])

    assert found == [Use(NAMED, ("abcdefghij",)), Use(UNUSED)]


def test_words_that_the_session_had_anyway_are_no_evidence() -> None:
    item = Injected(("x" * 26,), "The importer listens on 7431 behind gate_two.")

    assert judge_use([item], "It is 7431, behind gate_two.", [])[0].kind == OVERLAP
    assert judge_use([item], "It is 7431, behind gate_two.", ["tool: 7431 gate_two"])[0].kind == UNUSED


def test_words_of_two_items_speak_for_neither() -> None:
    one, other = Injected(("a" * 26,), "Use port 7431 at gate_two."), Injected(("b" * 26,), "gate_two, 7431, open.")

    assert [found.kind for found in judge_use([one, other], "7431 at gate_two", [])] == [UNUSED, UNUSED]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    home = tmp_path / "w"
    home.mkdir()
    return Workspace("0f4c7f2a-0000-4000-8000-000000000001", home, None)


def said(number: int, text: str, kind: str = "prompt", session: str = "live", type: str = "conversation_turn") -> Draft:
    at = stamp(NOW + timedelta(seconds=number))
    body = {"text": text, **({"kind": kind} if type == "conversation_turn" else {"call_id": "c1"})}
    actor = {"prompt": "user", "reply": "assistant"}.get(kind, "tool")
    return Draft(
        type=type, id=b32id("use", f"{session}{number}{text}"), ts=at, ts_source="record", session=session,
        agent="claude-code", actor=actor, origin="internal", body=body,
    )  # fmt: skip


def turn(log: Log, prompt: str, item: Event, number: int = 10) -> Event:
    text = log.text(item)
    body = {
        "mode": "warm", "prompt": prompt, "asked_in": "live", "block_hash": "00000000",
        "items": [{"event": item.id, "pointer": item.id[:10], "start": 0, "end": len(text), "R": 0.5, "bm25": 1.0}],
    }  # fmt: skip
    at = stamp(NOW + timedelta(seconds=number))
    draft = Draft(
        type="recall", id=b32id("turn", str(number)), ts=at, ts_source="record", session="live", agent="claude-code",
        actor="system", origin="internal", body=body,
    )  # fmt: skip
    return log.append([draft], now=NOW)[0]


def test_an_answer_is_read_from_the_record_up_to_the_next_prompt(workspace: Workspace) -> None:
    log = Log(workspace)
    (item,) = log.append([said(0, "The importer listens on 7431 behind gate_two.", "reply", "old")], now=NOW)
    asked = turn(log, "which port?", item)
    log.append([said(11, "which port?"), said(12, "It is 7431, behind gate_two.", "reply")], now=NOW)

    assert [found.kind for found in use.used(log, asked) or ()] == [OVERLAP]


@pytest.mark.parametrize(
    "between",
    [
        [said(12, "No idea.", "reply"), said(13, "and then?"), said(14, "7431, behind gate_two.", "reply")],
        [said(12, "7431 gate_two", "", type="tool_result"), said(13, "It is 7431, behind gate_two.", "reply")],
        [said(12, "It is 7431, behind gate_two.", "reply", session="other"), said(13, "No idea.", "reply")],
    ],
    ids=["the next prompt's answer", "a tool had shown it", "another session's answer"],
)
def test_what_is_not_the_answer_to_it_is_no_use_of_it(between: list[Draft], workspace: Workspace) -> None:
    log = Log(workspace)
    (item,) = log.append([said(0, "The importer listens on 7431 behind gate_two.", "reply", "old")], now=NOW)
    asked = turn(log, "which port?", item)
    log.append([said(11, "which port?"), *between], now=NOW)

    assert [found.kind for found in use.used(log, asked) or ()] == [UNUSED]


def test_uses_are_noted_once_the_answer_is_there(workspace: Workspace) -> None:
    from recall.turnstate import Last, TurnState

    log = Log(workspace)
    (item,) = log.append([said(0, "The importer listens on 7431 behind gate_two.", "reply", "old")], now=NOW)
    asked = turn(log, "which port?", item)
    state = TurnState(workspace.run_dir, "live")
    state.settle([item.id], Last(asked.id, frozenset({1})))

    before = use.note_uses(workspace)
    log.append([said(11, "which port?"), said(12, "No idea, sorry.", "reply")], now=NOW)
    unknown = state.last()
    after = use.note_uses(workspace)

    assert (before, after, use.note_uses(workspace)) == (0, 1, 0)
    assert unknown == Last(asked.id, frozenset({1}), None)
    assert state.last() == Last(asked.id, frozenset({1}), False)
    assert use.read_uses(workspace.run_dir) == {asked.id: [1, 0, 0]}
    assert ledger.last(log, modes=ledger.HOOK_MODES) == asked


def test_the_answers_to_many_turns_are_those_to_each_of_them(workspace: Workspace) -> None:
    """Two turns of one session and one that nobody answered, with another session in between."""
    log = Log(workspace)
    (item,) = log.append([said(0, "The importer listens on 7431 behind gate_two.", "reply", "old")], now=NOW)
    first = turn(log, "which port?", item)
    log.append([said(11, "which port?"), said(12, "7431.", "reply"), said(13, "8080.", "reply", "other")], now=NOW)
    second = turn(log, "which gate?", item, 14)
    log.append([said(15, "which gate?"), said(16, "7431 gate_two", "", type="tool_result")], now=NOW)
    log.append([said(17, "gate_two.", "reply"), said(18, "and then?"), said(19, "Nothing.", "reply")], now=NOW)
    third = turn(log, "never asked", item, 20)

    found = {t.id: given for t, given in use.answers(log, [third, second, first])}

    assert {name: given.text for name, given in found.items()} == {
        first.id: "7431.",
        second.id: "gate_two.",
        third.id: "",
    }
    assert found == {t.id: use.answered(log, t) for t in (first, second, third)}
    assert found[second.id].seen == ("7431 gate_two",)
