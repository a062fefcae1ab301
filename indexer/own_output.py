"""Knows the results of tool calls in which an agent read the record through recall itself.

Such a result quotes what the record already holds (`recall query`, a view). Taken as experience it would be found in
place of its source, and again at each reading. The call stays in the index: that somebody asked is news.
"""

import re
from itertools import islice

from transcript.event import Event, Position
from transcript.log import Log

_READS = re.compile(
    r"(?:^|[;&|(`])\s*(?:(?:[A-Z_]+=\S*|time|env|exec|command|nohup|timeout\s+\S+|(?:uv|pipx|poetry)\s+run)\s+)*"
    r"(?:\S*[/\\])?recall(?:\.exe)?\s+(?:--?[\w-]+(?:=\S+)?\s+)*"
    r"(?:query|show|context|handoff|last|explain|replay|replay-turn|log|export)\b"
    r"|\.recall[/\\]views\b",
    re.MULTILINE,
)
LOOK_BACK = 200  # calls before a run among which those of its first results are looked for


class OwnOutput:
    """The open calls that read the record, in the order of the record."""

    def __init__(self, log: Log, start: Position | None) -> None:
        self._open: set[tuple[str, str]] = set()
        if start is not None:
            for event in islice(log.read_back(start, only="tool_call"), LOOK_BACK):
                self.note(event)

    def note(self, event: Event) -> None:
        """Remember a tool call that reads the record."""
        text = "\n".join(_strings(event.body.get("input")))
        if "recall" in text and _READS.search(text):
            self._open.add(_call(event))

    def holds(self, event: Event) -> bool:
        """Return whether this tool result is what such a call printed."""
        return _call(event) in self._open


def _call(event: Event) -> tuple[str, str]:
    return event.session, str(event.body.get("call_id", ""))


def _strings(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for item in value.values() for text in _strings(item)]
    if isinstance(value, list):
        return [text for item in value for text in _strings(item)]
    return [value] if isinstance(value, str) else []
