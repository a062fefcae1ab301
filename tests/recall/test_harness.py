"""What a hook's payload is taken for, and what goes back.

Case recall-stdout-purity. Public reference: thedotmack/claude-mem#3280, #3910, #621; openai/codex#45999.
"""

import json

import pytest

from recall.harness import EVENTS, Payload, Refused, answer, recognise

PROMPT = {
    "session_id": "c0442f2f-a613-5e77-899a-920779fa3307",
    "transcript_path": "/home/dev/.claude/projects/-home-dev-shop-api/c0442f2f.jsonl",
    "cwd": "/home/dev/shop-api",
    "permission_mode": "default",
    "hook_event_name": "UserPromptSubmit",
    "prompt": "anything",
}


def taken(**changes: object) -> Payload | Refused:
    return recognise("claude-code", json.dumps({**PROMPT, **changes}).encode())


def test_a_prompt_is_recognised_with_all_that_recall_uses():
    assert taken() == Payload(
        "claude-code",
        "UserPromptSubmit",
        PROMPT["session_id"],
        PROMPT["cwd"],
        "anything",
        transcript=PROMPT["transcript_path"],
    )


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b"", "payload_empty"),
        (b" \n", "payload_empty"),
        (b"hello", "payload_not_json"),
        (b"[1]", "payload_not_json"),
        (b"null", "payload_not_json"),
        (b'{"a":' * 100_000, "payload_not_json"),
        ('{"a": "é"}'.encode("latin-1"), "payload_not_utf8"),
        (json.dumps(PROMPT).encode("utf-16"), "payload_not_utf8"),
        (b"{}", "payload_unknown_shape"),
        (json.dumps({**PROMPT, "prompt": ["text"]}).encode(), "payload_unknown_shape"),
        (json.dumps({**PROMPT, "session_id": 7}).encode(), "payload_unknown_shape"),
        (json.dumps({**PROMPT, "hook_event_name": "BeforeAgent"}).encode(), "payload_unknown_shape"),
    ],
)
def test_what_is_no_payload_is_refused_by_name(raw, kind):
    assert recognise("claude-code", raw) == Refused(kind)


@pytest.mark.parametrize(
    "foreign",
    [
        {"turn_id": "turn-1", "model": "gpt-5-codex", "transcript_path": None},  # Codex
        {"hookEventName": "user_prompt_submit", "sessionId": "x"},  # Grok Build
        {"timestamp": "2026-03-01T00:00:00Z"},  # Copilot CLI in Pascal case, Gemini CLI
        {"submitted_prompt": "anything"},  # Qwen Code
        {"conversation_id": "x"},  # Cursor
    ],
    ids=["codex", "grok", "copilot", "qwen", "cursor"],
)
def test_another_harness_that_runs_the_same_line_is_refused(foreign):
    assert taken(**foreign) == Refused("payload_other_harness")


def test_a_byte_order_mark_is_no_fault():
    assert isinstance(recognise("claude-code", b"\xef\xbb\xbf" + json.dumps(PROMPT).encode()), Payload)


def test_a_line_for_a_harness_we_do_not_know_is_refused():
    assert recognise("codex", json.dumps(PROMPT).encode()) == Refused("payload_unknown_harness")


def test_a_sub_agents_prompt_is_not_answered():
    payload = taken(agent_id="a1")

    assert isinstance(payload, Payload)
    assert not payload.asks
    assert answer(payload, "block") == b""


@pytest.mark.parametrize("event", EVENTS)
def test_only_a_prompt_is_ever_answered_and_never_with_allow_or_deny(event):
    payload = taken(hook_event_name=event)

    found = answer(payload, "a block")

    if event == "UserPromptSubmit":
        assert json.loads(found) == {
            "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "a block"}
        }
    else:
        assert found == b""


def test_the_answer_is_one_ascii_line_whatever_the_block_holds():
    found = answer(taken(), 'é \x1b[31m "}\n\x00 \ud800 \u2028')

    assert found.isascii()
    assert not any(byte < 32 for byte in found)
    assert json.loads(found)["hookSpecificOutput"]["additionalContext"] == 'é \x1b[31m "}\n\x00 \ud800 \u2028'


def test_an_empty_block_prints_nothing():
    assert answer(taken(), "") == b""


@pytest.mark.parametrize(
    ("event", "source", "compacts", "captures"),
    [
        ("PreCompact", "", True, True),
        ("SessionStart", "compact", True, False),
        ("SessionStart", "clear", True, False),
        ("SessionStart", "startup", False, False),
        ("Stop", "", False, True),
        ("SessionEnd", "", False, True),
        ("SubagentStop", "", False, True),
        ("UserPromptSubmit", "", False, False),
    ],
)
def test_what_an_event_stands_for(event, source, compacts, captures):
    payload = taken(hook_event_name=event, source=source)

    assert (payload.compacts, payload.captures) == (compacts, captures)
