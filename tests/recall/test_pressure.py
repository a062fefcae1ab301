"""When a session nearly fills the model's window, by its harness's own count wherever there is one."""

import base64
import json
import os
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.claude import ClaudeSession
from support.dialogue import Dialogue
from support.record import NOW, make_draft

from recall.memory_settings import ConsolidationSettings
from recall.picture_tokens import PICTURE_TOKENS
from recall.pressure import crossing, filled
from recall.window_items import of_record
from recall.window_usage import Used, used_in, used_tokens
from transcript.capture import sync
from transcript.log import Log
from transcript.workspace import init

SMALL = ConsolidationSettings(window_tokens=1000, pressure=0.5)
AUTOMATIC = 78  # compactions of the real sessions that nobody asked for
LEAST_TRIGGER = 155_000


@pytest.fixture
def log(tmp_path: Path) -> Log:
    talk = Dialogue()
    talk.prompt("x" * 1000)
    talk.begin("other").reply("y" * 40_000)
    talk.begin("s1").reply("z" * 400)
    talk.reply("w" * 40_000, worker="a1")
    return talk.log(tmp_path)


def goes_on(log: Log, name: str, type: str, **body: str) -> None:
    """Add one more event to the session."""
    log.append([make_draft(name, type, session="s1", body=body, actor="assistant")], now=NOW)


def test_only_the_sessions_own_words_count(log: Log) -> None:
    """Neither another session's nor a sub-agent's text stands in its window."""
    assert filled(log, "s1") == (350, 0)


def test_a_picture_counts_as_the_model_counts_it_and_not_by_the_letters_that_encode_it(log: Log) -> None:
    picture = base64.b64encode(random.Random(1).randbytes(300_000)).decode()
    goes_on(log, "picture", "tool_result", call_id="c", text=json.dumps({"type": "image", "data": picture}))

    words = len(json.dumps({"type": "image", "data": ""}))
    assert filled(log, "s1") == ((1400 + words) // 4 + PICTURE_TOKENS, 0)
    assert of_record(log, "s1", len).items[-1].tokens == words + PICTURE_TOKENS


def test_a_count_that_no_window_holds_is_damage() -> None:
    for number in (10**400, -5, "many", True, 1e308):
        line = {"type": "assistant", "message": {"usage": {"input_tokens": number, "output_tokens": 7}}}
        assert used_in([json.dumps(line).encode()], "claude-code") == Used(7)


def test_a_crossing_is_told_once_until_the_next_compaction(log: Log) -> None:
    """LCA-4.6-03. Where only the record is counted, a tenth of the window is added for what no record holds."""
    before = crossing(log, "s1", SMALL, {})
    goes_on(log, "later", "conversation_turn", kind="reply", text="v" * 200)
    first, twice = crossing(log, "s1", SMALL, {}), crossing(log, "s1", SMALL, {})
    goes_on(log, "boundary", "system", subtype="compact_boundary", text="")
    compacted = crossing(log, "s1", SMALL, {})
    goes_on(log, "again", "conversation_turn", kind="reply", text="u" * 2400)
    second = crossing(log, "s1", SMALL, {})

    assert (before, first, twice, compacted) == ("", "s1#0", "", "")
    assert second.startswith("s1#")
    assert second != first


def test_no_share_switches_it_off(log: Log) -> None:
    assert crossing(log, "s1", ConsolidationSettings(window_tokens=1, pressure=0), {}) == ""


def usage(**counts: int) -> dict[str, Any]:
    return {"id": "m", "model": "claude-opus-4-8", "role": "assistant", "content": [], "usage": counts}


def test_the_harnesss_own_count_decides_where_its_file_has_one(tmp_path: Path) -> None:
    """Few words stand in the record, and the window is full of what no record holds."""
    root, home = tmp_path / "project", Path(os.environ["HOME"])
    root.mkdir()
    session = ClaudeSession(cwd=str(root))
    session.user("Go on.")
    session.record("assistant", message=usage(input_tokens=8, cache_read_input_tokens=108_000, output_tokens=400))
    session.write(home / ".claude")
    workspace = init(root, tmp_path / "data")
    sync(workspace, tmp_path / "data", os.environ)
    log, settings = Log(workspace), ConsolidationSettings()

    before = crossing(log, session.session, settings, os.environ)
    session.record("assistant", message=usage(input_tokens=8, cache_read_input_tokens=108_300, output_tokens=400))
    session.write(home / ".claude")
    after = crossing(log, session.session, settings, os.environ)

    assert filled(log, session.session)[0] < 10
    assert before == ""
    assert after == f"{session.session}#0"  # 108,708 of 0.7 x 155,000


def test_a_harness_that_was_seen_to_compact_early_is_believed_whatever_its_model_would_take(tmp_path: Path) -> None:
    root, home = tmp_path / "project", Path(os.environ["HOME"])
    root.mkdir()
    session = ClaudeSession(cwd=str(root))
    session.user("Go on.")
    session.record("assistant", message=usage(input_tokens=120_000))
    session.write(home / ".claude")
    workspace = init(root, tmp_path / "data")
    sync(workspace, tmp_path / "data", os.environ)
    log, env = Log(workspace), {**os.environ, "ANTHROPIC_MODEL": "claude-opus-4-8[1m]"}

    before = crossing(log, session.session, ConsolidationSettings(), env)
    said = {"trigger": "auto", "preTokens": 155_031}
    end = make_draft("end", "system", session="older", body={"compact": said})
    log.append([replace(end, agent="claude-code")], now=NOW)
    after = crossing(log, session.session, ConsolidationSettings(), env)

    assert (before, after) == ("", f"{session.session}#0")


@pytest.mark.parametrize(
    ("harness", "lines", "wanted"),
    [
        (
            "claude-code",
            [
                {
                    "type": "assistant",
                    "message": usage(input_tokens=1, cache_creation_input_tokens=20, output_tokens=3),
                },
                {"type": "assistant", "isSidechain": True, "message": usage(input_tokens=900)},
                {"type": "assistant", "message": {"model": "<synthetic>", "usage": {"input_tokens": 7}}},
                {"type": "user", "message": {"content": 'says "usage"'}},
            ],
            Used(24),
        ),
        (
            "claude-code",
            [
                {"type": "assistant", "message": usage(input_tokens=150_000)},
                {"type": "system", "subtype": "compact_boundary"},
            ],
            None,
        ),
        (
            "codex",
            [
                {
                    "type": "event_msg",
                    "payload": {
                        "type": "token_count",
                        "info": {"last_token_usage": {"total_tokens": 62_523}, "model_context_window": 272_000},
                    },
                },
                {"type": "event_msg", "payload": {"type": "token_count", "info": None}},
            ],
            Used(62_523, 272_000),
        ),
        ("codex", [{"type": "event_msg", "payload": {"type": "token_count"}}, {"type": "compacted"}], None),
        ("gemini-cli", [{"type": "gemini", "tokens": {"input": 1, "total": 14_269}}, {"type": "user"}], Used(14_269)),
        ("qwen-code", [{"type": "assistant", "usageMetadata": {"totalTokenCount": 5_000}}], Used(5_000)),
        (
            "pi",
            [{"type": "message", "message": {"usage": {"input": 1, "output": 2, "cacheRead": 30, "cacheWrite": 4}}}],
            Used(37),
        ),
    ],
    ids=["claude", "claude compacted", "codex", "codex compacted", "gemini", "qwen", "pi"],
)
def test_each_harnesss_own_figure(harness: str, lines: list[dict[str, Any]], wanted: Used | None) -> None:
    assert used_in((json.dumps(line).encode() for line in reversed(lines)), harness) == wanted


def test_the_figure_is_found_behind_a_picture_of_many_blocks_and_before_a_torn_line(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    answer = json.dumps({"type": "assistant", "message": usage(input_tokens=321)}).encode()
    picture = json.dumps({"type": "user", "message": {"content": "i" * 900_000}}).encode()
    file.write_bytes(answer + b"\n" + picture + b"\n" + answer.replace(b"321", b"999")[:-3])

    assert used_tokens(file, "claude-code") == Used(321)
    assert used_tokens(tmp_path / "none.jsonl", "claude-code") is None
    assert used_tokens(file, "cursor") is None


@pytest.mark.real_data
def test_the_trigger_fires_before_every_automatic_compaction_of_the_real_sessions(real_sessions: Path) -> None:
    """LCA-D-05. By the record's own words it fired before 1 of them."""
    share = ConsolidationSettings().pressure
    fired = []
    for path in sorted(real_sessions.glob("claude/*/*.jsonl")):
        lines = path.read_bytes().split(b"\n")
        for number, line in enumerate(lines):
            if b'"compact_boundary"' not in line or b'"trigger":"auto"' not in line:
                continue
            used = used_in(reversed(lines[:number]), "claude-code")
            fired.append(used is not None and used.tokens >= share * LEAST_TRIGGER)

    assert (len(fired), sum(fired)) == (AUTOMATIC, AUTOMATIC)
