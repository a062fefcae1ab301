"""Knows the results of tool calls in which an agent read the record through recall itself.

Such a result quotes what the record already holds (`recall query`, a view). Taken as experience it would be found in
place of its source, and again at each reading. The call stays in the index: that somebody asked is news.
"""

import re
from collections.abc import Iterator
from itertools import islice

from transcript.event import Event, Position
from transcript.log import Log

LOOK_BACK = 200  # calls before a run among which those of its first results are looked for
_READING = frozenset(
    {"query", "show", "context", "handoff", "last", "explain", "replay", "replay-turn", "log", "export"}
)
_LISTING = frozenset({"task", "question"})  # only their `list` prints what was said
_KEYWORDS = frozenset(
    {"!", "&", "do", "then", "else", "if", "elif", "while", "until", "time", "eval", "exec", "command"}
)
# Programs that run another one, named among their arguments or in a line of shell within quotation marks.
_RUNNERS = frozenset(
    {"env", "time", "sudo", "doas", "su", "nice", "nohup", "timeout", "stdbuf", "setsid", "xargs", "watch", "script"}
    | {"ssh", "docker", "podman", "uv", "uvx", "pipx", "poetry", "hatch", "pdm"}
    | {"bash", "sh", "zsh", "dash", "fish", "ksh", "cmd", "pwsh", "powershell"}
)
# The views of a project, and the folder of the record and its index.
_FILES = re.compile(
    r"\.recall[/\\]+(?:views|memory)\b|\bcd\s+\S*\.recall\b|\brecall[/\\]+workspaces\b"
    r"|\bworkspaces[/\\]+[0-9a-f]{8}-[0-9a-f-]{27}\b"
)
# One line of a search through the whole project: the view it was found in, the line's number, the line.
_FOUND_IN_VIEW = re.compile(
    r"^[^\S\n]*(?:[^\s:]{0,400}[/\\])?\.recall[/\\]{1,2}(?:views|memory)[/\\]{1,2}[^\s:]{1,200}[:-]\d{1,9}[:-][^\n]*\n?",
    re.MULTILINE,
)
# The tools of `recall mcp`, as harnesses name them: mcp__recall__search, mcp_recall_search, recall-search.
_TOOL = re.compile(r"(?:^|[^a-z])recall[_.:/ -]+(?:search|show|context|handoff)$", re.IGNORECASE)
# Where a harness names the tool alone: what such a result begins with.
_TOOL_RESULT = re.compile(r'\s*\{\s*"recall"\s*:\s*"(?:search|show|context|handoff)"\s*,')
_NO_COMMAND = frozenset({"prompt", "description", "content", "instructions", "old_string", "new_string", "message"})
_TOKEN = re.compile(r"""(?:[^\s;&|(){}`"'\\]|\\.|"(?:[^"\\]|\\.)*+"|'[^']*+')++|[;&|(){}`\n]|["'\\]""", re.DOTALL)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_DEPTH = 3  # shells within shells


class OwnOutput:
    """The open calls that read the record, in the order of the record."""

    def __init__(self, log: Log, start: Position | None) -> None:
        self._open: set[tuple[str, str]] = set()
        if start is not None:
            for event in islice(log.read_back(start, only="tool_call"), LOOK_BACK):
                self.note(event)

    def note(self, event: Event) -> None:
        """Remember a tool call that reads the record."""
        given = list(_strings(event.body.get("input")))
        if _TOOL.search(str(event.body.get("tool", ""))) or any(
            _FILES.search(text) or reads_record(text) for text in (*given, " ".join(given))
        ):
            self._open.add(_call(event))

    def holds(self, event: Event, text: str = "") -> bool:
        """Return whether this tool result, or its text, is what such a call printed."""
        return _call(event) in self._open or _TOOL_RESULT.match(text) is not None


def lines_of_views(text: str) -> list[tuple[int, int]]:
    """Return the spans of the lines that a search found in recall's own views, in order."""
    return [found.span() for found in _FOUND_IN_VIEW.finditer(text)] if ".recall" in text else []


def reads_record(line: str, depth: int = _DEPTH) -> bool:
    """Return whether a line of shell runs a command of recall that prints what the record holds."""
    if "recall" not in line:
        return False
    command: list[str] = []
    for token in _TOKEN.findall(line.replace("\\\n", " ") + "\n"):
        if len(token) > 1 or token not in ";&|(){}`\n":
            command.append(token)
        elif _is_reading(command, depth):
            return True
        else:
            command = []
    return False


def _is_reading(words: list[str], depth: int) -> bool:
    start = next((at for at, word in enumerate(words) if not _leads(word)), len(words))
    words = words[start:]
    if not words:
        return False
    if _name(words[0]) == "recall":
        return _prints(words[1:])
    if _name(words[0]) not in _RUNNERS:
        return False
    return any(
        (_name(word) == "recall" and _prints(words[at + 1 :]))
        or (depth > 0 and word[0] in "\"'" and reads_record(word[1:-1], depth - 1))
        for at, word in enumerate(words)
    )


def _leads(word: str) -> bool:
    return word in _KEYWORDS or word.startswith("-") or _ASSIGNMENT.match(word) is not None


def _prints(arguments: list[str]) -> bool:
    words = [word.strip("\"'") for word in arguments if not word.startswith("-")][:2]
    return bool(words) and (words[0] in _READING or (words[0] in _LISTING and words[1:] == ["list"]))


def _name(word: str) -> str:
    """Return the name of the program that a word of shell starts."""
    return re.split(r"[/\\]", word.strip("\"'"))[-1].removesuffix(".exe")


def _call(event: Event) -> tuple[str, str]:
    return event.session, str(event.body.get("call_id", ""))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key not in _NO_COMMAND:
                yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, str):
        yield value
