"""One item of the canonical memory a line: how it is written, chained and read back.

A line is `- ` with the item as JSON behind it, so that any YAML library reads the file as a list.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from transcript.canonical import canonical, sha256_hex
from transcript.errors import CoordError
from transcript.proposals import Applied
from transcript.strict_json import strict_json

MOST_LINE = 1 << 20
NO_LINE = "0" * 64
_ERASED = frozenset({"erased", "event_id", "seq", "prev", "line_hash"})
_PAIR = re.compile(r"(?<!\\)((?:\\\\)*)\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})")


@dataclass(frozen=True, slots=True)
class Items:
    """What a memory.yml holds: its items in order, and the first fault (line, code)."""

    items: list[Mapping[str, Any]]
    fault: tuple[int, str] | None = None


def yaml_text(value: object) -> str:
    """Return a JSON value as canonical text that every YAML library reads as the same value.

    A pair of surrogate escapes is no character to YAML, and DEL is none that it takes: the one is written itself, the
    other as an escape.
    """
    text = canonical(value).decode("ascii").replace("\x7f", "\\u007f")
    return _PAIR.sub(_character, text) if "\\ud" in text else text


def _character(found: re.Match[str]) -> str:
    high, low = (int(found.group(part), 16) for part in (2, 3))
    return found.group(1) + chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))


def line(item: Mapping[str, Any]) -> bytes:
    """Return the line of an item, newline included."""
    return b"- " + yaml_text(item).encode() + b"\n"


def line_hash(data: bytes) -> str:
    """Return the hash of a line that the next one names as `prev`."""
    return sha256_hex(data.rstrip(b"\n"))


def erased_item(applied: Applied, prev: str) -> dict[str, Any]:
    """Return what stands for an item whose words were erased: the chain goes on over the hash of the line it had."""
    held = {"event_id": applied.event_id, "seq": applied.place, "prev": prev, "line_hash": applied.line_hash}
    return {"erased": True, **held}


def read_items(data: bytes) -> Items:
    """Return the items of a memory.yml up to its first fault: a line that is not ours, altered, or torn."""
    items: list[Mapping[str, Any]] = []
    prev = NO_LINE
    *ended, rest = data.split(b"\n")
    for number, raw in enumerate(ended, 1):
        item = _item(raw)
        if item is None or item.get("seq") != number or item.get("prev") != prev:
            return Items(items, (number, "memory_edited"))
        items.append(item)
        prev = str(item["line_hash"]) if item.get("erased") is True else line_hash(raw)
    return Items(items, (len(items) + 1, "memory_edited") if rest else None)


def _item(raw: bytes) -> dict[str, Any] | None:
    """Return the item of a line, None unless it is written exactly as we write it."""
    if not raw.startswith(b"- "):
        return None
    try:
        value = strict_json(raw[2:], most_bytes=MOST_LINE)
    except CoordError:
        return None
    if not isinstance(value, dict) or yaml_text(value).encode() != raw[2:]:
        return None
    if "erased" in value:
        return value if value.keys() == _ERASED and value["erased"] is True else None
    return value if isinstance(value.get("event_id"), str) else None
