"""What is known of a thing: over names that changed, over what took whose place, and at a day."""

from datetime import UTC, datetime

import pytest
from support.embedder import StubEmbedder
from support.record import NOW
from support.remembered import AT, DAY, make_remembered

from consolidation.graph import build, facts
from indexer import queue
from indexer.settings import IndexSettings
from indexer.store import Store
from indexer.writer import index
from recall.replaced import listed
from transcript import memory_drafts as drafts
from transcript.memories import Span

OLD = "Releases are cut by `ship_it` after two approvals."
NEW = "Every release goes through the release workflow on GitHub."
RENAMED = "I renamed `deploy_queue` to `deploy_stream` in the scheduler."
DECIDED = "Items of `deploy_queue` are kept for nine days."


@pytest.fixture
def held(tmp_path):
    """A record in which one statement took another's place, and a name was replaced."""
    made = make_remembered(tmp_path)
    old = made.remember(made.candidate(OLD, day=2), why="auditors ask for it")
    new = made.remember(made.candidate(NEW, day=20), why="one place for all")
    places = (Span(old.id, 0, len(old.text)), Span(new.id, 0, len(new.text)))
    made.append([drafts.superseded(AT, *places, reason="contradiction", since=new.said_at)])
    made.remember(made.candidate(DECIDED, day=3), why="audits look back a week")
    made.say(RENAMED, day=5, by="user")
    return made


def on(day: int) -> datetime:
    return datetime(2026, 1, day, 12, tzinfo=UTC)


def test_what_took_whose_place_is_followed_both_ways(held):
    graph = build(held.state, {})

    by_the_new = [(fact.text, fact.via) for fact in facts(graph, "release workflow")]
    by_the_old = [(fact.text, fact.via) for fact in facts(graph, "ship_it")]

    assert by_the_new == [(NEW, ""), (OLD, "before")]
    assert by_the_old == [(NEW, "after"), (OLD, "")]


@pytest.mark.parametrize(("day", "text"), [(1, None), (2, OLD), (19, OLD), (20, NEW), (28, NEW)])
def test_a_day_is_answered_by_what_held_on_it(held, day, text):
    found = [fact.text for fact in facts(build(held.state, {}), "release workflow", on(day))]

    assert found == ([text] if text else [])


def test_the_new_name_finds_what_was_decided_under_the_old_one_and_likeness_does_not(held):
    """LCA-6.3-09: a class of questions that vectors miss."""
    for number in range(30):
        held.say(f"The stream of items {number} is kept in the scheduler for deploy step {number}.", day=6)
    embedder, settings = StubEmbedder(), IndexSettings()
    with Store.open(held.log.workspace.index_path, "w") as store:
        index(held.log.workspace, store, settings, now=NOW, embedder=embedder)
        queue.embed(store, embedder, settings)
        [question] = embedder.encode(["what was decided about deploy_stream"])
        near = store.passages({hit.chunk_id for hit in store.nearest(question, 5)})
        replaced = [(one.old, one.new) for one in listed(store)]

    found = facts(build(held.state, {}, replaced), "deploy_stream")

    assert not any(DECIDED in passage.text for passage in near.values())
    assert [(fact.text, fact.via) for fact in found] == [(DECIDED, "as deploy_queue")]
    assert found[0].valid_from == DAY.format(3)


def test_decisions_stand_beside_memories_and_end_when_another_replaces_them(held):
    decisions = {
        "a" * 26: {"statement": "Logs go to a file.", "ts": DAY.format(4), "superseded_by": "b" * 26},
        "b" * 26: {"statement": "Logs go to syslog.", "ts": DAY.format(9), "superseded_by": ""},
    }

    found = facts(build(held.state, decisions), "logs")

    assert [(fact.text, fact.valid_from, fact.valid_to) for fact in found] == [
        ("Logs go to syslog.", DAY.format(9), ""),
        ("Logs go to a file.", DAY.format(4), DAY.format(9)),
    ]


def test_a_decision_that_a_memory_quotes_is_told_once(held):
    place = held.say("Caches are kept in Redis.", day=7)
    held.remember(held.candidate("Caches are kept in Redis.", place, day=7))

    found = facts(
        build(held.state, {place.event: {"statement": "Caches are kept in Redis.", "ts": DAY.format(7)}}), "Redis"
    )

    assert [fact.kind for fact in found] == ["project_fact"]


def test_what_was_refuted_or_archived_is_not_known(held):
    [memory] = [one for one in held.state.memories.values() if one.statement == DECIDED]
    held.append([drafts.archived(AT, memory.id, reason="gone", actor="ana")])

    assert facts(build(held.state, {}), "deploy_queue") == []


def test_entities_are_the_names_that_statements_hold(held):
    entities = build(held.state, {}).entities

    assert {"ship_it", "deploy_queue", "GitHub"} <= {one.name for one in entities.values()}


def test_names_that_replaced_each_other_in_a_circle_end(held):
    graph = build(held.state, {}, [("deploy_queue", "deploy_stream"), ("deploy_stream", "deploy_queue")])

    assert [fact.text for fact in facts(graph, "deploy_stream")] == [DECIDED]
