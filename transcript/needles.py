"""Finds a text in whatever the record keeps: in bodies, in lines of JSON, in long texts, in bytes of no known form."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from transcript.canonical import utf8

_RUN = re.compile("[A-Za-z0-9]{3,}")


class Needles:
    """Texts to look for, word for word; also found as JSON writes them inside a string, up to two levels deep."""

    def __init__(self, texts: Iterable[str]) -> None:
        wanted = [text for text in dict.fromkeys(texts) if text]
        self._forms = tuple(dict.fromkeys(form for text in wanted for form in _forms(text)))
        self._bytes = tuple(dict.fromkeys(utf8(form) for form in self._forms))
        cores = [max(_RUN.findall(text), key=len, default="") for text in wanted]
        self._cores = tuple(core.encode("ascii") for core in cores) if all(cores) else ()

    def __bool__(self) -> bool:
        return bool(self._forms)

    def in_text(self, text: str) -> bool:
        """Say whether one of the texts stands in text."""
        return any(form in text for form in self._forms)

    def in_value(self, value: Any) -> bool:
        """Say whether one of the texts stands in a string of a JSON value, names of fields included."""
        return bool(self._forms) and any(self.in_text(leaf) for leaf in leaves(value))

    def maybe_in(self, data: bytes) -> bool:
        """Say whether the texts can stand in data at all: a quick look before data is parsed."""
        return bool(self._forms) and (not self._cores or any(core in data for core in self._cores))

    def in_bytes(self, data: bytes) -> bool:
        """Say whether one of the texts stands in data: text, one JSON value, lines of JSON, or none of it."""
        if not self.maybe_in(data):
            return False
        if any(form in data for form in self._bytes):
            return True
        try:
            return self.in_value(json.loads(data))
        except (ValueError, RecursionError):
            parts = data.split(b"\n")
            return len(parts) > 1 and any(self.in_bytes(part) for part in parts)


def leaves(value: Any) -> Iterator[str]:
    """Yield every string of a JSON value, names of fields included."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            stack.extend(item.values())
            stack.extend(item.keys())
        elif isinstance(item, list):
            stack.extend(item)


def _forms(text: str) -> list[str]:
    """Return text as it is, and as JSON writes it once and twice."""
    once = [json.dumps(text, ensure_ascii=ascii)[1:-1] for ascii in (True, False)]
    twice = [json.dumps(form, ensure_ascii=False)[1:-1] for form in once]
    return [text, *once, *twice]
