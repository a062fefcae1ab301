"""Where a person's words stand in the result of a tool call that they rejected.

A person who is asked whether a tool may run can say what to do instead. Some harnesses hand that to the model as the
error of the call, between words of their own, and keep it nowhere else.
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class _Shape:
    """What stands before a person's words and behind them, and which tools are the harness's own."""

    before: str
    is_own: Callable[[str], bool]
    behind: str = ""
    not_said: tuple[str, ...] = ()  # begins what the harness says in a person's place


_OPENCODE = "apply_patch bash edit glob grep list lsp multiedit patch read skill task todoread todowrite webfetch write"
_COPILOT = "apply_patch bash create edit glob grep powershell str_replace_editor task view web_fetch write_bash"
_SHAPES = {
    "claude-code": _Shape(
        "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, "
        "the new_string was NOT written to the file). To tell you how to proceed, the user said:\n",
        lambda tool: not tool.startswith("mcp__"),
        "\n\nNote: The user's next message may contain a correction or preference.",
        ("The user wants to clarify these questions.",),
    ),
    "opencode": _Shape(
        "The user rejected permission to use this specific tool call with the following feedback: ",
        frozenset(_OPENCODE.split()).__contains__,
    ),
    "copilot-cli": _Shape(
        "The user rejected this tool call. User feedback: ", frozenset(_COPILOT.split()).__contains__
    ),
}


def said_in_rejection(harness: str, tool: str, text: str) -> tuple[int, int] | None:
    """Return the span of a person's words in the text of a failed call, None where nobody said anything.

    A tool of somebody else's (MCP) writes its errors itself: what it says that a person said, nobody did.
    """
    shape = _SHAPES.get(harness)
    if shape is None or not tool or not shape.is_own(tool) or not text.startswith(shape.before):
        return None
    start, end = len(shape.before), len(text)
    if shape.behind and shape.behind in text:
        end = text.rindex(shape.behind)
    said = text[start:end]
    if not said.strip() or said.startswith(shape.not_said):
        return None
    return end - len(said.lstrip()), start + len(said.rstrip())
