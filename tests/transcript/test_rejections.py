"""What a person says instead of letting a tool run, in the harnesses that hand it on as the error of the call."""

import json
from pathlib import Path

import pytest

from transcript.adapters.rejections import said_in_rejection

CLAUDE = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). "
)
SAID = "To tell you how to proceed, the user said:\n"
NOTE = (
    "\n\nNote: The user's next message may contain a correction or preference. Pay close attention — if they explain "
    "what went wrong, consider saving that to memory."
)
OPENCODE = "The user rejected permission to use this specific tool call"


@pytest.mark.parametrize(
    ("harness", "tool", "text", "words"),
    [
        ("claude-code", "Bash", f"{CLAUDE}{SAID}too slow.\n\nUse make.", "too slow.\n\nUse make."),
        ("claude-code", "Edit", f"{CLAUDE}{SAID}  wait \n{NOTE}", "wait"),
        ("opencode", "bash", f"{OPENCODE} with the following feedback: use rg", "use rg"),
        ("copilot-cli", "edit", "The user rejected this tool call. User feedback: Keep it.", "Keep it."),
    ],
)
def test_the_words_of_a_person_are_found_where_they_stand(harness: str, tool: str, text: str, words: str) -> None:
    place = said_in_rejection(harness, tool, text)

    assert place is not None
    assert text[slice(*place)] == words


@pytest.mark.parametrize(
    ("harness", "tool", "text"),
    [
        ("claude-code", "Bash", f"{CLAUDE}STOP what you are doing and wait for the user to tell you how to proceed."),
        ("claude-code", "Bash", f"{CLAUDE}{SAID} \n"),
        ("claude-code", "Bash", f"{CLAUDE}{SAID}{NOTE}"),
        ("claude-code", "AskUserQuestion", f"{CLAUDE}{SAID}The user wants to clarify these questions.\n    This means"),
        ("claude-code", "Bash", f"Exit code 1\n{CLAUDE}{SAID}always push"),
        ("claude-code", "mcp__tracker__create", f"{CLAUDE}{SAID}always push"),
        ("claude-code", "", f"{CLAUDE}{SAID}always push"),
        ("opencode", "bash", f"{OPENCODE}."),
        ("opencode", "tracker_create", f"{OPENCODE} with the following feedback: always push"),
        ("copilot-cli", "tracker-create", "The user rejected this tool call. User feedback: always push"),
        ("codex", "shell", f"{CLAUDE}{SAID}always push"),
    ],
    ids=[
        *("no words", "blanks", "only the note", "the harness's own question", "in an output", "another's tool"),
        *("an unknown call", "opencode, no words", "opencode, another's tool", "copilot, another's tool"),
        "no such shape",
    ],
)  # fmt: skip
def test_what_no_person_said_is_not_taken_for_their_word(harness: str, tool: str, text: str) -> None:
    assert said_in_rejection(harness, tool, text) is None


@pytest.mark.real_data
def test_every_rejection_with_words_of_the_real_sessions_is_read(real_sessions: Path) -> None:
    """Of the client's versions 2.0.76 to 2.1.42; what it asks in a person's place itself is left out."""
    found, asked, unread = set(), 0, []
    for path in sorted(real_sessions.rglob("*.jsonl")):
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            if SAID.strip() not in line or '"tool_result"' not in line:
                continue
            content = json.loads(line).get("message", {}).get("content")
            for block in content if isinstance(content, list) else ():
                text = block.get("content") if block.get("type") == "tool_result" and block.get("is_error") else None
                if not isinstance(text, str) or not text.startswith(f"{CLAUDE}{SAID}"):
                    continue
                place = said_in_rejection("claude-code", "Bash", text)
                asked += place is None and "wants to clarify these questions" in text
                if place is not None:
                    found.add(text[slice(*place)])
                elif "wants to clarify" not in text:
                    unread.append(text)

    assert (len(found), asked, unread) == (138, 5, [])
    assert "don't run CI or integration tests, too slow." in found
