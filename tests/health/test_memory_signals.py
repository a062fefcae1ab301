"""What health says of memories, checkpoints and the night."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from support.record import NOW
from support.running import CAUSE, Running, make_running, talk_of_causes

from health.facts import Facts
from health.facts_memories import MemoryFacts
from health.gather_memory import memory_facts
from health.report import assess
from health.signal import Level, Signal
from indexer.store import Store
from recall.memory_settings import ConsolidationSettings
from transcript import memory_drafts as drafts
from transcript.event import stamp
from transcript.memory_told import Told

WELL = MemoryFacts(states={"current": 3}, checkpoint_at=0.0, checkpoint_state="complete", elected=1, fixed=2)


def signal(facts: MemoryFacts, id: str) -> Signal:
    return next(one for one in assess(Facts("w", 60.0, memories=facts)).signals if one.id == id)


@pytest.mark.parametrize(
    ("changes", "level", "said"),
    [
        ({}, Level.OK, "none"),
        ({"key_fault": ""}, Level.OK, "there"),
        ({"approvals": 2}, Level.WARN, "none, 2 approvals"),
        ({"key_fault": "key_exposed"}, Level.WARN, "key_exposed"),
    ],
)
def test_a_missing_key_is_a_fault_only_where_approvals_count(
    changes: dict[str, object], level: Level, said: str
) -> None:
    found = signal(replace(WELL, **changes), "approval_key")  # type: ignore[arg-type]

    assert (found.level, found.text) == (level, said)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Running:
    made = make_running(tmp_path_factory.mktemp("health"), talk_of_causes(CAUSE))
    made.run("session_end")
    made.run("mistake", link=made.events("conversation_turn")[0].id, later=1)
    return made


def facts(project: Running, tmp_path: Path, *, days: int = 0) -> MemoryFacts:
    return memory_facts(project.workspace, tmp_path, ConsolidationSettings(), now=NOW + timedelta(days=days))


def test_elected_and_fixed_checkpoints_are_both_counted(project: Running, tmp_path: Path) -> None:
    """LCA-6.4-01."""
    found = facts(project, tmp_path)

    assert (found.elected, found.fixed, dict(found.triggers)) == (1, 1, {"session_end": 1, "mistake": 1})
    assert (found.checkpoint_state, found.states) == ("complete", {"current": 1})


def test_a_memory_that_expired_is_not_current_in_the_index(project: Running, tmp_path: Path) -> None:
    """The index knows of the interval; one that does not is a failure of health."""
    (memory,) = project.state().memories.values()
    told = Told(stamp(NOW))
    ends = {"valid_to": stamp(NOW + timedelta(days=1))}
    project.log.append([drafts.amended(told, memory.id, ends, because="", actor="ana")], now=NOW)
    before = facts(project, tmp_path, days=2)
    project.index()
    after = facts(project, tmp_path, days=2)
    with Store.open(project.workspace.index_path) as store:
        assert store.chunks_of(memory.id)

    assert (dict(before.states), before.shown_though_gone) == ({"expired": 1}, (memory.id[:10],))
    assert after.shown_though_gone == ()
