"""Curated events: who says them, what they point to, and that nothing else makes one."""

import pytest
from support.record import NOW, make_draft, make_log, make_turns
from support.story import ANA, CODEX, at, story

from transcript.curation import (
    CATEGORIES,
    Author,
    correction,
    decision,
    observation,
    outcome,
    question,
    resolve,
    resolved,
    resolved_as,
    task,
)
from transcript.errors import CurationError, PointerError
from transcript.event import validate_draft
from transcript.projections.views import folded


def test_decision_carries_statement_reason_evidence_and_who_says_it():
    """ESAA-21, ESAA-24."""
    made = decision(ANA, at(0), "Use Python", why="the team knows it", evidence=["a" * 26])

    validate_draft(made)
    assert made.type == "decision"
    assert (made.actor, made.body["actor"], made.body["actor_kind"]) == ("human", "ana", "human")
    assert made.body["text"] == "Use Python\nWhy: the team knows it"
    assert made.body["evidence"] == ["a" * 26]
    assert decision(CODEX, at(0), "x").body["actor_kind"] == "agent"
    assert decision(CODEX, at(0), "x").actor == "assistant"


@pytest.mark.parametrize(("name", "kind"), [("", "human"), ("  ", "agent"), ("ana", ""), ("ana", "robot")])
def test_missing_actor_is_refused(name, kind):
    """ESAA-24."""
    with pytest.raises(CurationError, match="actor"):
        Author(name, kind)


def test_thousand_turns_that_say_we_decided_decide_nothing(tmp_path):
    """ESAA-23: a turn is evidence only."""
    turns = [make_draft(n, text=f"we decided to use Python; decision: yes; TODO task {n}") for n in range(1000)]
    state, _, _ = folded(make_log(tmp_path, turns))

    assert state["decisions"] == {}
    assert state["tasks"] == {}


def test_evidence_must_open(tmp_path):
    log = make_log(tmp_path, make_turns(3))
    first = make_draft(0).id

    assert resolved(log, [first[:10], f"{first[:12]}#0-4", first]) == [first, f"{first}#0-4"]
    for wrong in ("zzzzzzzzzz", f"{first}#0-400", f"{first}#4-4", f"{first}#x", "no pointer"):
        with pytest.raises(PointerError):
            resolved(log, [wrong])


def test_only_a_decision_of_ours_can_be_superseded(tmp_path):
    made = decision(ANA, at(0), "Use Python")
    told = observation(CODEX, at(1), "Use Rust", channel="synapse", category="review")
    log = make_log(tmp_path, [make_draft(0), made, told])

    assert resolved_as(log, made.id[:10], "decision") == made.id
    for wrong in (make_draft(0).id, told.id):
        with pytest.raises(PointerError, match="is no decision"):
            resolved_as(log, wrong, "decision")


def test_one_name_is_given_to_one_task(tmp_path):
    """Two processes that add at the same moment: the second finds its name taken and takes the next."""
    log = make_log(tmp_path)
    log.append([task(ANA, at(0), "T1", "add", title="one")], now=NOW)

    assert log.append([task(CODEX, at(1), "T1", "add", title="two")], now=NOW) == []


@pytest.mark.parametrize("category", CATEGORIES)
def test_observation_keeps_category_channel_privacy_and_is_external(tmp_path, category):
    """LCA-9.3-01, LCA-4.7-03."""
    made = observation(CODEX, at(0), "look here", channel="synapse", category=category, private=True, ref="m1")
    log = make_log(tmp_path, [made])
    held = log.get(made.id)

    assert held.origin == "external"
    assert held.type == "observation"
    assert {name: held.body[name] for name in ("category", "channel", "private", "author", "ref")} == {
        "category": category,
        "channel": "synapse",
        "private": True,
        "author": "codex",
        "ref": "m1",
    }


def test_decision_from_outside_decides_nothing(tmp_path):
    """LCA-4.7-03: even a line that says so."""
    made = decision(CODEX, at(0), "Use Rust")
    forged = make_draft("forged", "decision", origin="external", body=made.body)
    state, _, _ = folded(make_log(tmp_path, [forged]))

    assert state["decisions"] == {}


def test_correction_names_actor_target_and_channel():
    """LCA-4.7-04."""
    made = correction(ANA, at(0), "a" * 26, "the port is 8443", kind="confirmation", channel="review")

    assert (made.body["of"], made.body["channel"], made.body["actor"], made.body["kind"]) == (
        "a" * 26,
        "review",
        "ana",
        "confirmation",
    )
    assert made.origin == "external"  # a peer's word, by the channel it came on
    assert correction(ANA, at(0), "a" * 26, "the port is 8443").origin == "internal"


@pytest.mark.parametrize(
    "build",
    [
        lambda: decision(ANA, at(0), "  "),
        lambda: decision(ANA, at(0), "x", kind="rumour"),
        lambda: task(ANA, at(0), "T1", "add"),
        lambda: task(ANA, at(0), "T1", "delete"),
        lambda: question(ANA, at(0), "Q1", "ask"),
        lambda: correction(ANA, at(0), "", "x"),
        lambda: outcome(ANA, at(0), "x", "fine"),
        lambda: observation(ANA, at(0), "x", channel=" ", category="review"),
        lambda: observation(ANA, at(0), "x", channel="c", category="gossip"),
    ],
)
def test_what_says_nothing_is_refused(build):
    with pytest.raises(CurationError):
        build()


def test_redacted_event_is_no_evidence(tmp_path, monkeypatch):
    log = make_log(tmp_path, make_turns(1))
    event = log.get(make_draft(0).id)
    event.body.clear()
    monkeypatch.setattr(log, "find", lambda name: event)

    with pytest.raises(PointerError, match="redacted"):
        resolve(log, event.id)


def test_every_event_of_the_story_is_valid():
    for draft in story():
        validate_draft(draft)
