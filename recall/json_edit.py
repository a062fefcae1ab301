"""Adds and cuts members of a JSON text and leaves every other byte as it stands.

A settings file belongs to its user: parsing and writing it anew would change order of spaces, escapes and numbers.
Offsets are those of the decoded text. Strict JSON is edited, and JSON with comments, which stay where they are.
"""

import json
import re
from dataclasses import dataclass
from json.decoder import scanstring  # type: ignore[attr-defined]

_SPACE = " \t\r\n\ufeff"  # a byte order mark stands in front of some files
_DECODER = json.JSONDecoder()
_STRING_OR_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\r\n]*|/\*.*?\*/', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Member:
    """One member of an object (with its key) or one element of an array (key is empty)."""

    key: str
    start: int  # of the key, or of the element
    value: int
    end: int


def plain(text: str) -> str:
    """Return text of the same length with blanks in the place of its comments."""
    return _STRING_OR_COMMENT.sub(lambda found: found[0] if found[0][0] == '"' else " " * len(found[0]), text)


def members(text: str, at: int) -> tuple[list[Member], int]:
    """Return the members of the object or array that opens at offset `at`, and the offset of its closing bracket."""
    text = plain(text)
    close = {"{": "}", "[": "]"}[text[at]]
    found: list[Member] = []
    at = _skip(text, at + 1)
    while text[at] != close:
        start, key = at, ""
        if close == "}":
            key, at = scanstring(text, at + 1)
            at = _skip(text, _skip(text, at) + 1)
        _, end = _DECODER.raw_decode(text, at)
        found.append(Member(key, start, at, end))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found, at


def find(text: str, path: tuple[str, ...]) -> int | None:
    """Return the offset of the value under these keys of nested objects, None without one. The last key wins."""
    text = plain(text)
    at = _skip(text, 0)
    for key in path:
        if text[at] != "{":
            return None
        values = [member.value for member in members(text, at)[0] if member.key == key]
        if not values:
            return None
        at = values[-1]
    return at


def add(text: str, at: int, value: object, *, key: str | None = None) -> str:
    """Return text with one more member at the end of the object (key given) or array that opens at `at`.

    The new text follows the container's own layout: one line stays one line, else the indentation is continued.
    """
    inside, close = members(text, at)
    newline = "\r\n" if "\r\n" in text else "\n"
    outer = _indent(text, at)
    if inside and newline not in text[at : inside[0].start]:
        addition = _member(key, json.dumps(value, ensure_ascii=False))
        return f"{text[: inside[-1].end]}, {addition}{text[inside[-1].end :]}"
    inner = text[text.rfind(newline, 0, inside[0].start) + len(newline) : inside[0].start] if inside else ""
    if not inside or inner.strip():
        inner = outer + _step(text)
    rendered = json.dumps(value, ensure_ascii=False, indent=_step(text)).replace("\n", newline + inner)
    addition = newline + inner + _member(key, rendered)
    if inside:
        return f"{text[: inside[-1].end]},{addition}{text[inside[-1].end :]}"
    comments = text[at + 1 : close].rstrip() if plain(text)[at + 1 : close] != text[at + 1 : close] else ""
    return f"{text[: at + 1]}{comments}{addition}{newline}{outer}{text[close:]}"


def cut(text: str, at: int, member: Member) -> str:
    """Return text without one member of the object or array that opens at `at`, its comma included."""
    inside, close = members(text, at)
    index = inside.index(member)
    if index > 0:
        before = inside[index - 1].end
        return text[:before] + _comments(text, before, member.start) + text[member.end :]
    if len(inside) > 1:
        after = inside[1].start
        return text[: member.start] + _comments(text, member.end, after) + text[after:]
    return text[: at + 1] + _comments(text, at + 1, member.start) + _comments(text, member.end, close) + text[close:]


def _comments(text: str, start: int, end: int) -> str:
    """Return what stays of the space between two members: all but the comma where a comment stands in it."""
    bare = plain(text)[start:end]
    if bare == text[start:end]:
        return ""
    comma = start + bare.find(",") if "," in bare else end
    return text[start:comma] + text[comma + 1 : end]


def _member(key: str | None, rendered: str) -> str:
    return rendered if key is None else f"{json.dumps(key)}: {rendered}"


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _indent(text: str, at: int) -> str:
    """The white space at the start of the line that holds this offset."""
    start = text.rfind("\n", 0, at) + 1
    end = start
    while end < len(text) and text[end] in " \t":
        end += 1
    return text[start:end]


def _step(text: str) -> str:
    """One level of indentation as this file uses it; two spaces where it shows none."""
    top = _skip(plain(text), 0)
    if top < len(text) and text[top] == "{":
        inside, _ = members(text, top)
        if inside and "\n" in text[top : inside[0].start]:
            return _indent(text, inside[0].start) or "  "
    return "  "
