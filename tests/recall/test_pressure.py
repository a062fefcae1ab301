"""When a session nearly fills the model's window."""

from pathlib import Path

import pytest
from support.dialogue import Dialogue
from support.record import NOW, make_draft

from recall.memory_settings import ConsolidationSettings
from recall.pressure import crossing, filled
from transcript.log import Log

SMALL = ConsolidationSettings(window_tokens=1000, pressure=0.5)


@pytest.fixture
def log(tmp_path: Path) -> Log:
    talk = Dialogue()
    talk.prompt("x" * 1200)
    talk.begin("other").reply("y" * 40_000)
    talk.begin("s1").reply("z" * 400)
    talk.reply("w" * 40_000, worker="a1")
    return talk.log(tmp_path)


def goes_on(log: Log, name: str, type: str, **body: str) -> None:
    """Add one more event to the session."""
    log.append([make_draft(name, type, session="s1", body=body, actor="assistant")], now=NOW)


def test_only_the_sessions_own_words_count(log: Log) -> None:
    """Neither another session's nor a sub-agent's text stands in its window."""
    assert filled(log, "s1") == (400, 0)


def test_a_crossing_is_told_once_until_the_next_compaction(log: Log) -> None:
    """LCA-4.6-03."""
    before = crossing(log, "s1", SMALL)
    goes_on(log, "later", "conversation_turn", kind="reply", text="v" * 800)
    first, twice = crossing(log, "s1", SMALL), crossing(log, "s1", SMALL)
    goes_on(log, "boundary", "system", subtype="compact_boundary", text="")
    compacted = crossing(log, "s1", SMALL)
    goes_on(log, "again", "conversation_turn", kind="reply", text="u" * 2400)
    second = crossing(log, "s1", SMALL)

    assert (before, first, twice, compacted) == ("", "s1#0", "", "")
    assert second.startswith("s1#")
    assert second != first


def test_no_share_switches_it_off(log: Log) -> None:
    assert crossing(log, "s1", ConsolidationSettings(window_tokens=1, pressure=0)) == ""
