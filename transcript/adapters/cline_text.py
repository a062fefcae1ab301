"""Takes Cline's texts apart: what a person typed, what the client put around it, tools called in plain text."""

import re
from dataclasses import dataclass

# What stands in these was typed.
_SAID = frozenset({"user_input", "task", "feedback", "user_message", "answer"})
# What stands in these is the client's.
_CLIENT = frozenset(
    {
        "environment_details",
        "hook_context",
        "file_content",
        "folder_content",
        "url_content",
        "explicit_instructions",
        "system-reminder",
        "workspace_diagnostics",
        "terminal_output",
        "git_working_state",
    }
)
TOOLS = (
    "access_mcp_resource",
    "apply_diff",
    "ask_followup_question",
    "attempt_completion",
    "browser_action",
    "codebase_search",
    "condense",
    "execute_command",
    "fetch_instructions",
    "insert_content",
    "list_code_definition_names",
    "list_files",
    "load_mcp_documentation",
    "new_task",
    "plan_mode_respond",
    "read_file",
    "replace_in_file",
    "report_bug",
    "search_and_replace",
    "search_files",
    "switch_mode",
    "update_todo_list",
    "use_mcp_tool",
    "web_fetch",
    "write_to_file",
)
# Tools whose argument is what the person reads.
SPOKEN = {
    "attempt_completion": "result",
    "ask_followup_question": "question",
    "plan_mode_respond": "response",
}
_OPEN = re.compile(r"\s*<([a-z_-]+)(?:\s[^<>]*)?>")
_CALL = re.compile(rf"<({'|'.join(TOOLS)})>")
_ARGUMENT = re.compile(r"<([a-z_]+)>(.*?)</\1>", re.DOTALL)
_THINKING = re.compile(r"\s*<thinking>(.*?)</thinking>\s*", re.DOTALL)
RESULT = re.compile(r"\[([a-z_]+)(?: for '.*?')?\] Result:[ \t]*\n?", re.DOTALL)
NOTICE = re.compile(r"\[(?:ERROR|TASK RESUMPTION|TASK|WARNING|NOTE)\b")


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a text. kind: said, client, plain; of an answer: reasoning, reply, call."""

    kind: str
    text: str
    name: str = ""


def user_pieces(text: str) -> list[Piece]:
    """Return a user text in pieces. Only a known tag at the head, and closed, is one; the rest is plain."""
    found: list[Piece] = []
    at = 0
    while (tag := _OPEN.match(text, at)) is not None:
        name = tag.group(1)
        closing = f"</{name}>"
        end = text.find(closing, tag.end())
        if end < 0 or name not in _SAID | _CLIENT:
            break
        at = end + len(closing)
        if name in _SAID:
            found.append(Piece("said", text[tag.end() : end].strip("\n"), name))
        else:
            found.append(Piece("client", text[tag.start() : at].strip(), name))
    rest = text[at:] if not at else text[at:].strip("\n")
    if rest.strip():
        found.append(Piece("plain", rest))
    return found


def answer_pieces(text: str) -> list[Piece]:
    """Return an answer in pieces; a call that is not closed runs to the end."""
    found: list[Piece] = []
    thought = _THINKING.match(text)
    if thought is not None:
        found.append(Piece("reasoning", thought.group(1).strip()))
        text = text[thought.end() :]
    at = 0
    for call in _CALL.finditer(text):
        if call.start() < at:
            continue
        name = call.group(1)
        end = text.find(f"</{name}>", call.end())
        inner = text[call.end() : end if end >= 0 else len(text)]
        if end < 0 and not _ARGUMENT.search(inner):
            continue
        _add_reply(found, text[at : call.start()])
        found.append(Piece("call", inner, name))
        at = end + len(name) + 3 if end >= 0 else len(text)
    _add_reply(found, text[at:])
    return found


def arguments(inner: str) -> dict[str, str]:
    """Return the arguments of a call written as tags."""
    return {name: value.strip("\n") for name, value in _ARGUMENT.findall(inner)}


def _add_reply(found: list[Piece], text: str) -> None:
    if text.strip():
        found.append(Piece("reply", text.strip("\n")))
