"""Passes over the lines of the record that cannot hold what is wanted, by their bytes, before anything is parsed.

A line is canonical JSON: ASCII, no blanks, its texts escaped in one way only. So what a field must say is to be found
in the line's bytes as it would be written there. A sieve lets too much through, never too little; whoever uses it looks
at the parsed events as well. It looks at a block of many lines first: most blocks hold no line worth a look.
"""

import re
from dataclasses import dataclass
from functools import cache

from transcript.canonical import canonical

_TAIL = 64  # the envelope's last fields, from the type on
_BLOB = b'{"blob":"'  # a long text stands elsewhere: only opening it tells
# Characters outside ASCII whose folded form is ASCII, as a line writes them: "Straße" is found by "strasse".
FOLDED_TO_ASCII = (0xDF, 0x17F, 0x1E9E, 0x212A, *range(0xFB00, 0xFB07))
_FOLDED = re.compile(b"|".join(b"\\\\u%04x" % point for point in FOLDED_TO_ASCII))
_FOLDABLE = re.compile(b"[fks]")  # each of them folds to one of these letters at least
_STAMPS = re.compile(rb',"ts":"([^"]*)","ts_source":')
# Where characters stand that have a folded form of their own; what is folded to several is told by its length.
CASED = (range(0x80, 0xD800), range(0xFB00, 0xFB18), range(0xFF21, 0xFF3B), range(0x10400, 0x1E944))

Word = bytes | re.Pattern[bytes]


@dataclass(frozen=True, slots=True)
class Sieve:
    """What a line must hold: a type, of each group one of its byte strings, all words, a moment in [since, until)."""

    types: tuple[bytes, ...] = ()
    groups: tuple[tuple[bytes, ...], ...] = ()
    words: tuple[Word, ...] = ()
    since: str = ""
    until: str = ""

    def block(self, data: bytes) -> bool:
        """Say whether some of these lines may be wanted."""
        if not all(_any_in(data, group) for group in (self.types, *self.groups)):
            return False
        if (self.since or self.until) and not any(map(self._in_time, _STAMPS.findall(data))):
            return False
        return not self.words or _BLOB in data or _holds(data, self.words)

    def line(self, line: bytes) -> bool:
        """Say whether this line may be wanted."""
        if not _any_in(line[-_TAIL:], self.types):
            return False
        for group in self.groups:
            if not _any_in(line, group):
                return False
        if (self.since or self.until) and not self._in_time(_stamp(line)):
            return False
        return not self.words or _BLOB in line or _holds(_said(line), self.words)

    def _in_time(self, ts: bytes) -> bool:
        said = ts.decode("ascii").rstrip("Z")
        return self.since.rstrip("Z") <= said and (not self.until or said < self.until.rstrip("Z"))


def type_field(name: str) -> bytes:
    """Return how a line says that its event is of this type."""
    return b'"type":"%b",' % name.encode("ascii")


def _any_in(data: bytes, needles: tuple[bytes, ...]) -> bool:
    for needle in needles:  # a generator for each line would be most of its time
        if needle in data:
            return True
    return not needles


def _stamp(line: bytes) -> bytes:
    """Return the moment of a line's event."""
    at = line.rfind(b',"ts":"') + len(b',"ts":"')
    return line[at : line.find(b'"', at)]


def words_of(tokens: set[str]) -> tuple[Word, ...]:
    """Return what must stand in a line's lower-case bytes for its text to hold these folded tokens, longest first."""
    return tuple(_word(token) for token in sorted(tokens, key=lambda token: (-len(token), token)))


def _word(token: str) -> Word:
    """Return a folded token as a line may write it: a letter outside ASCII stands there in either case."""
    if token.isascii():
        return token.encode()
    sources, _ = _folding()
    ways = ([_written(way) for way in (letter, *sources.get(letter, ()))] for letter in token)
    return re.compile(b"".join(b"(?:%b)" % b"|".join(way) if len(way) > 1 else way[0] for way in ways))


def _written(character: str) -> bytes:
    return re.escape(canonical(character)[1:-1].lower())


@cache
def _folding() -> tuple[dict[str, list[str]], re.Pattern[bytes]]:
    """Return which characters are folded to each, and what finds one that is folded to several."""
    sources: dict[str, list[str]] = {}
    several = []
    for point in (point for span in CASED for point in span):
        folded = chr(point).casefold()
        if len(folded) > 1:
            several.append(_written(chr(point)))
        elif folded != chr(point):
            sources.setdefault(folded, []).append(chr(point))
    return sources, re.compile(b"|".join(several))


def _holds(data: bytes, words: tuple[Word, ...]) -> bool:
    """Say whether all words stand in data in any case, or characters do that may fold to what is missing."""
    lower = data.lower()
    for word in words:
        if isinstance(word, bytes):
            if word not in lower:
                return _FOLDABLE.search(word) is not None and _FOLDED.search(data) is not None
        elif word.search(lower) is None:
            return _folding()[1].search(lower) is not None
    return True


def _said(line: bytes) -> bytes:
    """Return the part of a line that holds the words of its event: of a tool call the whole, else from its text on."""
    if b'"type":"tool_call",' in line[-_TAIL:]:
        return line
    at = line.find(b'"text":')
    return line[max(at, 0) : line.rfind(b',"commit":"')]
