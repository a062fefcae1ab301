"""What a hook's payload is taken for, and what goes back, harness by harness.

Case recall-stdout-purity. Public reference: thedotmack/claude-mem#3280, #3910, #621; openai/codex#45999.
"""

import json
from typing import Any

import pytest
from support.payloads import ASKED, CWD, PAYLOADS, SESSION, STRAYS, raw

from recall.contracts import CONTRACTS, EVENTS
from recall.harness import Payload, Refused, answer, recognise

OWN = [(harness, event) for harness, events in PAYLOADS.items() for event in events]
MUTE = {"grok-build"}

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
        (json.dumps({**PROMPT, "session_id": " "}).encode(), "payload_unknown_shape"),
        (json.dumps({**PROMPT, "session_id": "\ud83e"}).encode(), "payload_unknown_shape"),
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
    assert recognise("amp", json.dumps(PROMPT).encode()) == Refused("payload_unknown_harness")


def took(harness: str, event: str, **changes: Any) -> Payload:
    found = recognise(harness, raw(harness, event, **changes))
    assert isinstance(found, Payload), found
    return found


def test_every_harness_has_payloads_to_test_with():
    assert set(PAYLOADS) == set(CONTRACTS)


@pytest.mark.parametrize(("harness", "event"), OWN)
def test_each_harness_own_payload_is_taken_for_what_it_is(harness, event):
    found = took(harness, event)

    assert (found.harness, found.event, found.session, found.cwd) == (harness, event, SESSION, CWD)
    assert found.prompt == (ASKED if event == "UserPromptSubmit" else "")
    assert found.source == ("startup" if "source" in PAYLOADS[harness][event] else "")


@pytest.mark.parametrize(("caller", "event"), OWN)
def test_a_payload_of_any_other_harness_is_refused(caller, event):
    """The same installed line is run by clients that read another one's settings."""
    taken_by = {harness: recognise(harness, raw(caller, event)) for harness in CONTRACTS if harness != caller}

    assert taken_by == dict.fromkeys(taken_by, Refused("payload_other_harness"))


@pytest.mark.parametrize(("harness", "event"), OWN)
def test_without_a_name_the_payload_tells_its_harness(harness, event):
    assert recognise("any", raw(harness, event)) == took(harness, event)


@pytest.mark.parametrize("stray", [*STRAYS.values(), {}, {"session_id": "x"}])
def test_without_a_name_what_is_nobodys_is_refused(stray):
    assert recognise("any", json.dumps(stray).encode()) == Refused("payload_unknown_shape")


@pytest.mark.parametrize("stray", STRAYS.values(), ids=STRAYS)
@pytest.mark.parametrize("harness", [harness for harness in CONTRACTS if harness != "grok-build"])
def test_a_payload_that_no_line_of_ours_is_installed_for_is_refused(harness, stray):
    found = recognise(harness, json.dumps(stray).encode())

    assert found in (Refused("payload_other_harness"), Refused("payload_unknown_shape"))


def test_grok_builds_own_prompt_is_not_asked_about():
    assert recognise("grok-build", json.dumps(STRAYS["grok-build asks"]).encode()) == Refused("payload_unknown_shape")


@pytest.mark.parametrize(
    ("harness", "transcript", "call"),
    [
        ("claude-code", f"/home/dev/.claude/projects/-home-dev-shop-api/{SESSION}.jsonl", "p1"),
        ("codex", f"/home/dev/.codex/sessions/2026/11/30/rollout-2026-11-30T01-53-53-{SESSION}.jsonl", "01a22a28-9901"),
        ("gemini-cli", "/home/dev/.gemini/tmp/shop-api/chats/session-2026-11-30T01-53-c0442f2f.jsonl", ""),
        ("qwen-code", f"/home/dev/.qwen/projects/-home-dev-shop-api/chats/{SESSION}.jsonl", f"{SESSION}########0"),
        ("copilot-cli", "", ""),
        ("cursor", "", "g1"),
        ("pi", "/home/dev/.pi/s.jsonl", ""),
    ],
)
def test_file_and_call_of_a_prompt_are_read_where_the_harness_names_them(harness, transcript, call):
    found = took(harness, "UserPromptSubmit")

    assert (found.transcript, found.call) == (transcript, call)


SPECIFIC = {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "a block"}}
STARTS = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "a block"}}
TOP = {"additionalContext": "a block"}
ANSWERS = {
    "claude-code": (SPECIFIC, STARTS),
    "codex": (SPECIFIC, STARTS),
    "gemini-cli": ({"hookSpecificOutput": {"hookEventName": "BeforeAgent", "additionalContext": "a block"}}, None),
    "qwen-code": (SPECIFIC, None),
    "copilot-cli": (TOP, None),
    "cursor": ({"continue": True, "additional_context": "a block"},) * 2,
    "pi": (TOP, TOP),
    "opencode": (TOP, TOP),
    "cline": (TOP, TOP),
}


@pytest.mark.parametrize(("harness", "event"), OWN)
def test_the_answer_has_exactly_the_form_that_this_harness_takes(harness, event):
    """Codex fails on one key more, Copilot reads no other, and a capture event that prints makes the model go on."""
    found = answer(took(harness, event), "a block")

    place = {"UserPromptSubmit": 0, "SessionStart": 1}.get(event)
    if place is None or harness in MUTE or ANSWERS[harness][place] is None:
        assert found == b""
    else:
        assert json.loads(found) == ANSWERS[harness][place]


@pytest.mark.parametrize(
    ("harness", "mark"),
    [
        ("claude-code", "agent_id"),
        ("codex", "agent_id"),
        ("gemini-cli", "agent_id"),
        ("qwen-code", "agent_id"),
        ("copilot-cli", "agentId"),
        ("pi", "agent_id"),
    ],
)
@pytest.mark.parametrize("event", ["UserPromptSubmit", "SessionStart"])
def test_what_happens_inside_a_sub_agent_is_not_answered(harness, mark, event):
    found = recognise(harness, raw(harness, event, **{mark: "a1"}))

    assert not isinstance(found, Payload) or not (found.asks or found.opens or answer(found, "a block"))


@pytest.mark.parametrize("harness", ["gemini-cli", "qwen-code"])
@pytest.mark.parametrize("prompt", ["", " \n"])
def test_a_harness_that_asks_again_after_a_tool_call_gets_nothing_and_nothing_is_counted(harness, prompt):
    again = raw(harness, "UserPromptSubmit", prompt=prompt, submitted_prompt=None)

    assert recognise(harness, again) == Refused("")


def test_geminis_compression_counts_only_when_somebody_asked_for_it():
    """With `auto` it comes before each request of the model, whether anything is compressed or not."""
    assert recognise("gemini-cli", raw("gemini-cli", "PreCompact", trigger="auto")) == Refused("")
    assert took("gemini-cli", "PreCompact").compacts


@pytest.mark.parametrize(
    ("prompt", "typed"),
    [
        (f"<hook_context>[recall 1a2b3c4d] a &lt;b&gt;\n[/recall 1a2b3c4d]</hook_context>\n\n{ASKED}", ASKED),
        (f"<hook_context>one</hook_context>\n\n<hook_context>two</hook_context>\n\n{ASKED}", ASKED),
        ("<hook_context>one</hook_context>\n\n!norecall why?", "!norecall why?"),
        ("<hook_context>x</hook_context>" * 8 + ASKED, ASKED),
        ("<hook_context> is never closed", "<hook_context> is never closed"),
        ("what does <hook_context>x</hook_context> mean?", "what does <hook_context>x</hook_context> mean?"),
    ],
)
def test_what_gemini_put_in_front_of_a_prompt_is_not_searched_for(prompt, typed):
    assert took("gemini-cli", "UserPromptSubmit", prompt=prompt).prompt == typed


def test_a_prompt_of_nothing_but_geminis_context_is_no_prompt():
    assert recognise(
        "gemini-cli", raw("gemini-cli", "UserPromptSubmit", prompt="<hook_context>x</hook_context>\n\n")
    ) == Refused("")


def test_a_session_that_starts_from_nothing_or_goes_on_is_called_the_same_everywhere():
    assert took("copilot-cli", "SessionStart", source="new").source == "startup"
    assert took("grok-build", "SessionStart", source="load").source == "resume"
    assert took("codex", "SessionStart", source="clear").compacts


def test_a_sub_agents_prompt_is_not_answered():
    payload = taken(agent_id="a1")

    assert isinstance(payload, Payload)
    assert not payload.asks
    assert answer(payload, "block") == b""


@pytest.mark.parametrize("event", EVENTS)
def test_no_answer_ever_allows_denies_or_stops_anything(event):
    for harness, events in PAYLOADS.items():
        if event in events:
            found = answer(took(harness, event), "a block")
            assert not {"decision", "permission", "stopReason", "reason"} & set(json.loads(found or b"{}"))


def test_the_answer_is_one_ascii_line_whatever_the_block_holds():
    found = answer(taken(), 'é \x1b[31m "}\n\x00 \ud800 \u2028')

    assert found.isascii()
    assert not any(byte < 32 for byte in found)
    assert json.loads(found)["hookSpecificOutput"]["additionalContext"] == 'é \x1b[31m "}\n\x00 \ud800 \u2028'


def test_an_empty_block_prints_nothing():
    assert answer(taken(), "") == b""


@pytest.mark.parametrize("harness", [name for name, events in PAYLOADS.items() if "PreCompact" in events])
def test_an_announced_compaction_counts_only_where_a_real_one_is_not_told(harness):
    """Claude Code announces one and may then find that there is nothing to compact."""
    told = harness in ("claude-code", "codex", "qwen-code", "pi", "opencode")

    assert took(harness, "PreCompact").compacts is not told


@pytest.mark.parametrize(
    ("event", "source", "compacts", "captures"),
    [
        ("PreCompact", "", False, True),
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
