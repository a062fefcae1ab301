"""Reads single values out of the records of any harness: texts, types, times, media. What is none gives "" or None."""

import base64
import binascii
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from transcript.canonical import sha256_hex
from transcript.event import is_stamp, stamp

Medium = tuple[bytes, str]
Media = list[Medium]
UNTYPED = "application/octet-stream"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECONDS_FROM, _MS_FROM = 10**8, 10**11  # a smaller count is no time: no agent ran before 1973


def text_of(value: object) -> str:
    """Return a text, "" of anything else."""
    return value if isinstance(value, str) else ""


def items_of(value: object) -> list[Any]:
    """Return a list, an empty one of anything else."""
    return value if isinstance(value, list) else []


def blocks(content: Any) -> list[dict[str, Any]]:
    """Return content as a list of blocks, of which each is an object: bare text is a block, too."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if content is None:
        return []
    found = content if isinstance(content, list) else [content]
    return [block if isinstance(block, dict) else {"type": type(block).__name__, "value": block} for block in found]


def type_of(value: Any) -> str:
    """Return the `type` of an object, or the name of what stands where one was expected."""
    if not isinstance(value, dict):
        return type(value).__name__
    kind = value.get("type")
    return kind if isinstance(kind, str) else type(kind).__name__


def moment(given: object) -> str:
    """Return a time (ISO text with a zone, or a count of seconds or milliseconds) as the record writes it, else ""."""
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        return ""
    try:
        if isinstance(given, str):
            if is_stamp(given):
                return given
            found = datetime.fromisoformat(given)
            return stamp(found.astimezone(UTC)) if found.tzinfo else ""
        if abs(given) < _SECONDS_FROM:
            return ""
        milliseconds = given if abs(given) >= _MS_FROM else given * 1000
        return stamp(_EPOCH + timedelta(milliseconds=round(milliseconds)))
    except (ValueError, OverflowError):
        return ""


def media_entries(media: Iterable[Medium]) -> list[dict[str, Any]]:
    """Return what an event's body says about media: their hash, type and size."""
    return [{"blob": sha256_hex(data), "mime": mime, "size": len(data)} for data, mime in media]


def inline(data: object, mime: object) -> Medium | None:
    """Return (bytes, type) of base64 data, None when it is none."""
    if not isinstance(data, str) or not data:
        return None
    try:
        return base64.b64decode(data, validate=True), text_of(mime) or UNTYPED
    except (binascii.Error, ValueError):
        return None


def data_url(url: object) -> Medium | None:
    """Return (bytes, type) of a `data:` address, None of any other."""
    if not isinstance(url, str) or not url.startswith("data:"):
        return None
    head, _, data = url[len("data:") :].partition(",")
    mime, _, encoding = head.partition(";")
    return inline(data, mime) if encoding.endswith("base64") else None
