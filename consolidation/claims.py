"""The claims of a text: its sentences, and whatever else stands in it, so that nothing goes unchecked."""

import re
from dataclasses import dataclass

from recall.cite import ABBREVIATED, sentences

_LEAD = re.compile(r"\s*(?:[-*+>#|]+\s+|\d{1,3}[.)]\s+|`{3,}\S*|~{3,}\S*)*\s*")
# Where a sentence ends besides: behind a line in bold, before the reason that curated events and memories carry, and
# before a small letter, with which people begin sentences.
_STOP = re.compile(r"(?<=[^:\s]\*\*)[ \t]*\n|[ \t]*\n(?=Why: )|(?<=[.!?…])\s+(?=[a-z])")
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of a text and where it stands there."""

    text: str
    start: int
    end: int

    @property
    def asks(self) -> bool:
        """Whether it is a question: it claims nothing."""
        return self.text.rstrip("\"'”’)*_ `").endswith(("?", "？"))


def claims(text: str) -> list[Claim]:
    """Return the claims of a text in order; a list item is one, and so is a line of a heading, a table or of code."""
    found: list[Claim] = []
    at = 0
    for sentence in sentences(text):
        found += _lines(text, at, sentence.start)
        begin = sentence.start
        for stop in _STOP.finditer(text, sentence.start, sentence.end):
            if not ABBREVIATED.search(text[begin : stop.start()]):
                found.append(Claim(text[begin : stop.start()], begin, stop.start()))
                begin = stop.end()
        found.append(Claim(text[begin : sentence.end], begin, sentence.end))
        at = sentence.end
    return found + _lines(text, at, len(text))


def _lines(text: str, start: int, end: int) -> list[Claim]:
    """The lines between two sentences that hold any word."""
    found, at = [], start
    for line in text[start:end].splitlines(keepends=True):
        lead = _LEAD.match(line)
        begin = at + (lead.end() if lead else 0)
        said = text[begin : at + len(line)].rstrip()
        if _WORD.search(said):
            found.append(Claim(said, begin, begin + len(said)))
        at += len(line)
    return found
