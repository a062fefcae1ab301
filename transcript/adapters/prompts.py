"""Takes apart what stands in a user record: what was typed, and what a client put around it.

Only text that starts with a client's tag, and closes it, is the client's; a tag that somebody quotes in a sentence is
content.
"""

import re
from collections.abc import Mapping

from transcript.injected import has_block, strip_blocks

Piece = tuple[str, str]
_TAG = re.compile(r"\s*<([A-Za-z_][\w:-]*)(?:\s[^<>]*)?>")
_OPEN, _CLOSE = "<user_query>", "</user_query>"


def pieces(text: str, tags: Mapping[str, str]) -> list[Piece]:
    """Return (kind, text) of each of a client's envelopes at the head of text, then ("", what was typed)."""
    found: list[Piece] = []
    end = 0
    while (tag := _TAG.match(text, end)) is not None and tag.group(1) in tags:
        closing = f"</{tag.group(1)}>"
        closed = text.find(closing, tag.end())
        if closed < 0:
            break
        found.append((tags[tag.group(1)], text[end : closed + len(closing)].strip()))
        end = closed + len(closing)
    rest = text[end:].strip("\r\n") if found else text
    return [*found, *typed(rest)] if rest.strip() or not found else found


def asked(text: str, tags: Mapping[str, str]) -> list[Piece]:
    """Return the pieces of a text in which the prompt stands in `<user_query>`; without one, those of its head."""
    start = text.find(_OPEN)
    end = text.rfind(_CLOSE)
    if start < 0 or end < start or text[end + len(_CLOSE) :].lstrip(" \t")[:1] not in ("", "\n", "\r", "<"):
        return pieces(text, tags)
    before, prompt, behind = text[:start], text[start + len(_OPEN) : end], text[end + len(_CLOSE) :]
    if before.strip() and not before.rstrip(" \t").endswith(("\n", ">")):
        return pieces(text, tags)
    found = [("context", before.strip())] if before.strip() else []
    found += typed(prompt.strip("\r\n"))
    return [*found, ("context", behind.strip())] if behind.strip() else found


def typed(text: str) -> list[Piece]:
    """Return text as typed, or as injected when nothing stands in it but what recall put there."""
    if has_block(text) and not strip_blocks(text).strip():
        return [("injected", text)]
    return [("", text)]
