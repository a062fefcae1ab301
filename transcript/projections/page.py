"""How a view is written: a head with its watermark, lines with pointers, and a hash over it all that shows an edit."""

import re
from typing import Any

from transcript.canonical import sha256_hex
from transcript.secrets import veil
from transcript.telling import counted

POINTER = 10
NONE = "none recorded"
MOST_CHARS = 4000  # of one statement; whoever needs more follows its pointer
_ZERO = "0" * 64
_UNREADABLE = re.compile("[\ud800-\udfff\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SHA = re.compile(rb'sha256"?[:=] ?"?([0-9a-f]{64})')
_SEQ = re.compile(rb'(?:"seq": |through event )([0-9]+)')


def markdown(title: str, mark: dict[str, Any], lines: list[str]) -> bytes:
    """Return a view in Markdown: title, watermark, lines, and the hash of it all."""
    through = f"through event {mark['seq']}, id {mark['id'] or '-'}, hash {mark['hash'] or '-'}"
    head = [f"# {title}", "", f"<!-- recall view, not to be edited: {through}; sha256={_ZERO} -->", ""]
    return sealed("\n".join([*head, *lines]).rstrip("\n") + "\n")


def sealed(text: str) -> bytes:
    """Return the bytes of a text whose first sha256 place, all zeros, is filled with the hash of the rest."""
    raw = plain(text).encode("utf-8")
    return raw.replace(_ZERO.encode("ascii"), sha256_hex(raw).encode("ascii"), 1)


def plain(text: str) -> str:
    """Return text with U+FFFD for what no reader of UTF-8 takes or a terminal would obey: surrogates, controls."""
    return _UNREADABLE.sub("\ufffd", text)


def is_sealed(data: bytes) -> bool:
    """Say whether no byte of a view was changed since it was written."""
    found = _SHA.search(data)
    if found is None:
        return False
    raw = data[: found.start(1)] + _ZERO.encode("ascii") + data[found.end(1) :]
    return sha256_hex(raw).encode("ascii") == found[1]


def through(data: bytes) -> int:
    """Return the seq of the watermark that stands in a view, 0 when there is none."""
    found = _SEQ.search(data)
    return int(found[1]) if found else 0


def pointer(event_id: str) -> str:
    """Return a source pointer as text: the beginning of the id, the span behind it."""
    name, mark, span = event_id.partition("#")
    return f"`{name[:POINTER]}{mark}{span}`"


def pointers(ids: list[str]) -> str:
    """Return pointers beside each other."""
    return " ".join(pointer(item) for item in ids)


def line(text: str) -> str:
    """Return text on one line without its credentials, so that no word of it becomes a heading, a list or a comment.

    Of more than MOST_CHARS characters the first ones and how many are left out.
    """
    words = " ".join(veil(text).split()).replace("<!--", "<! --")
    left = len(words) - MOST_CHARS
    return words if left <= 0 else f"{words[:MOST_CHARS]} … ({counted(left, 'character')} more)"


def day(ts: str) -> str:
    """Return a moment of the record to the minute, in UTC."""
    return ts[:16].replace("T", " ")


def who(entry: dict[str, Any]) -> str:
    """Return who said something and of what kind."""
    return f"{line(entry['actor'])} ({entry['actor_kind'] or 'kind unknown'})"
