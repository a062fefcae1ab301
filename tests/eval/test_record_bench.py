import json
from collections import Counter

import pytest

from eval import case_study, record_bench
from transcript.capture import sync
from transcript.log import Log
from transcript.workspace import init


def taken_in(folder, times):
    project = folder / "project"
    project.mkdir(parents=True)
    workspace = init(project, folder / "data")
    case_study.write(folder / "sessions", project, times=times)
    sync(workspace, folder / "data", {}, sources=folder / "sessions")
    return list(Log(workspace).read())


@pytest.mark.parametrize("times", [1, 2])
def test_the_log_is_that_of_the_case_study(tmp_path, times):
    """ESAA-42: 570 events, 562 turns, 304 of Codex, 79 of Claude, 67 of Grok, and what the paper leaves open."""
    events = [event for event in taken_in(tmp_path, times) if event.type in ("conversation_turn", "tool_call")]
    turns = Counter(event.agent for event in events if event.type == "conversation_turn")

    assert len(events) == 570 * times
    assert turns.total() == 562 * times
    assert (turns["codex"], turns["claude-code"], turns["grok-build"]) == (304 * times, 79 * times, 67 * times)
    assert turns["rare"] == 2
    assert turns["remainder"] == 112 * times - 2


def test_the_rare_word_stands_in_the_oldest_turn_alone(tmp_path):
    events = taken_in(tmp_path, 1)

    held = [event for event in events if case_study.RARE_WORD in str(event.body.get("text"))]

    assert [(event.agent, event.ts) for event in held] == [("rare", min(event.ts for event in events))]


@pytest.mark.slow
def test_everything_is_timed_through_the_commands(tmp_path):
    report = record_bench.run(tmp_path, times=(1,), rounds=1)

    (size,) = report.sizes
    named = {timed.name: timed for timed in size.took}
    assert size.events >= 570
    assert named["sync"].command.ms > 0 < named["context: the newest turns"].work.ms
    assert all(named[f"context: {name}"].command.ms > 0 for name in record_bench.WINDOWS)
    assert size.whole.ms == sum(named[name].command.ms for name in list(named)[:3])
    assert size.snapshot_ratio > 0
    assert "sync, project and verify as commands" in report.to_text()
    assert json.loads(report.to_json())["sizes"][0]["events"] == size.events


def test_no_rounds_are_refused(tmp_path):
    with pytest.raises(ValueError, match="at least 1"):
        record_bench.run(tmp_path, rounds=0)
