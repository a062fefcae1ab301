"""What health says of live windows: refused prunings, cut files, what summaries stand for, the trigger's margin."""

from pathlib import Path
from typing import Any

import pytest
from support.dialogue import Dialogue
from support.record import NOW, make_draft

from health.facts_memories import WindowFacts
from health.gather_window import window_facts
from health.signal import Level
from health.signals import window
from recall.memory_settings import ConsolidationSettings
from transcript.log import Log

DEFAULT = ConsolidationSettings()


@pytest.fixture
def log(tmp_path: Path) -> Log:
    talk = Dialogue()
    first = talk.prompt("one")
    last = talk.reply("two")
    talk.event(
        "system", {"subtype": "compact_boundary", "text": "", "compact": {"trigger": "auto", "preTokens": 90_000}}
    )
    talk.event("conversation_turn", {"kind": "summary", "text": "both", "covers": [first, last]}, actor="assistant")
    return talk.log(tmp_path)


def adds(log: Log, name: str, of: str, /, **body: Any) -> None:
    log.append([make_draft(name, of, session="s1", body=body)], now=NOW)


def pruning(log: Log, name: str, state: str) -> None:
    adds(
        log, name, "prune", session="s1", policy="sliding", state=state, reason="1 event not preserved", items=[],
        tokens_before=9, tokens_after=9, threshold=0.9,
    )  # fmt: skip


def found(log: Log, settings: ConsolidationSettings = DEFAULT) -> WindowFacts:
    return window_facts(log.workspace, {}, settings)


def test_a_refused_pruning_is_an_alarm_until_one_succeeds(log: Log) -> None:
    """LCA-6.2-04."""
    levels = [window.refused(found(log)).level]
    for number, state in enumerate(("refused", "applied")):
        pruning(log, str(number), state)
        levels.append(window.refused(found(log)).level)

    assert levels == [Level.OK, Level.FAIL, Level.OK]


def test_turns_behind_a_summary_are_all_in_the_record_or_counted(log: Log) -> None:
    """LCA-6.1-02."""
    whole = window.covered(found(log))
    adds(log, "other", "conversation_turn", kind="summary", text="more", covers=["a" * 26, "b" * 26])
    lacking = window.covered(found(log))

    assert (whole.level, whole.value) == (Level.OK, 0)
    assert (lacking.level, lacking.value) == (Level.WARN, 2)


def test_emergencies_and_cut_files_are_counted(log: Log) -> None:
    adds(log, "cut", "mark", mark="window_truncated", events=[], session="s1", missing=3, source="x")
    adds(log, "full", "mark", mark="compaction_emergency", events=[], session="s1", handoff="h.md", why="no index")

    facts = found(log)

    assert (window.truncated(facts).value, window.emergencies(facts).value) == (1, 1)
    assert window.emergencies(facts).level == Level.WARN


def test_the_margin_to_the_harnesss_compaction_is_told_and_none_is_a_failure(log: Log) -> None:
    """LCA-D-05H. The lowest compaction that was seen counts: 90,000."""
    well = window.trigger(found(log))
    late = window.trigger(found(log, ConsolidationSettings(window_tokens=200_000)))

    assert well.text == "checkpoint at 63,000 tokens, claude-code compacts at 90,000"
    assert well.value["margin"] == 27_000  # type: ignore[index]
    assert (well.value["window"], well.value["host_window"]) == (90_000, 200_000)  # type: ignore[index]
    assert late.details == ("window taken as 200,000 tokens, of claude-code 200,000",)
    assert (well.level, late.level) == (Level.OK, Level.FAIL)
    assert late.action.startswith("set consolidation.window_tokens to 0")


def test_no_window_is_judged_before_the_first_session(tmp_path: Path) -> None:
    late = ConsolidationSettings(window_tokens=1_000_000)

    signal = window.trigger(found(Dialogue().log(tmp_path), late))

    assert (signal.level, signal.text) == (Level.OK, "not known: no session yet")
