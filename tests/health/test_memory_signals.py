"""What health says of memories, checkpoints and the night."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from support.record import NOW
from support.running import CAUSE, Running, make_running, talk_of_causes

from health.facts import Facts, MemoryFacts
from health.gather_memory import memory_facts
from health.report import assess
from health.signal import Level, Signal
from indexer.store import Store
from recall.memory_settings import ConsolidationSettings
from transcript import memory_drafts as drafts
from transcript.event import stamp
from transcript.memory_told import Told

WELL = MemoryFacts(states={"current": 3}, checkpoint_at=0.0, checkpoint_state="complete", elected=1, fixed=2)

BOTH = "1 elected, 2 by a trigger (elected 1, nightly 2)"
KEPT = "of 2 compacted sessions kept by a checkpoint"
GONE = "1 memory that no longer holds is current in the index"


def signal(facts: MemoryFacts, id: str) -> Signal:
    return next(one for one in assess(Facts("w", 60.0, memories=facts)).signals if one.id == id)


@pytest.mark.parametrize(
    ("changes", "id", "level", "said"),
    [
        ({}, "memories", Level.OK, "3 current"),
        ({"conflicts": 1, "waiting": 2}, "memories", Level.WARN, "3 current, 2 waiting, 1 in conflict"),
        ({"edited": ("a.md: memory_edited",)}, "memory_files", Level.WARN, "1 file differs from the record"),
        ({}, "checkpoint_last", Level.OK, "complete 60 s ago"),
        (
            {"checkpoint_state": "incomplete", "checkpoint_failed": "index"},
            "checkpoint_last",
            Level.WARN,
            "incomplete 60 s ago, the step index failed",
        ),
        ({"triggers": {"elected": 1, "nightly": 2}}, "checkpoint_triggers", Level.OK, BOTH),
        ({"due": {"bloat": "501 memories"}}, "checkpoint_due", Level.WARN, "bloat: 501 memories"),
        ({"compactions": {"ok": 2}}, "compactions", Level.OK, f"2 {KEPT}"),
        ({"compactions": {"ok": 1, "unprotected": 1}}, "compactions", Level.WARN, f"1 {KEPT}"),
        ({}, "nightly_last", Level.OK, "never ran"),
        (
            {"nightly_at": 0.0, "nightly_state": "failed", "nightly_failed": ("verify",)},
            "nightly_last",
            Level.WARN,
            "failed 60 s ago: verify",
        ),
        ({}, "approval_key", Level.OK, "none"),
        ({"key_fault": ""}, "approval_key", Level.OK, "there"),
        ({"approvals": 2}, "approval_key", Level.WARN, "none, 2 approvals"),
        ({"key_fault": "key_exposed"}, "approval_key", Level.WARN, "key_exposed"),
        ({"decided": {"accepted": 3, "pending": 0}}, "verification", Level.OK, "3 accepted"),
        ({"shown_though_gone": ("abcdefghij",)}, "expired_current", Level.FAIL, GONE),
    ],
)  # fmt: skip
def test_a_signal_says_what_is_and_how_bad_it_is(changes: dict[str, object], id: str, level: Level, said: str) -> None:
    found = signal(replace(WELL, **changes), id)  # type: ignore[arg-type]

    assert (found.level, found.text) == (level, said)
    assert bool(found.action) == bool(level)


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
