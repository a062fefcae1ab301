"""Statements as tokens, and which tokens of two statements stand side by side.

A token's kind says what it does to a statement: `id` and `num` are its facts, `name` a capitalised word, `den` denies,
`cond` restricts, `hedge` leaves open, `turn` turns the meaning of what it governs, everything else is a `word`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from recall.facts import DENIES, stem
from transcript.lookalike import compared_places


def words_of(text: str) -> frozenset[str]:
    """Return the words of a list written as running text."""
    return frozenset(text.split())


FILLERS = words_of(
    "a an the this that these those also then just so very now well it its there here already really simply quite "
    "too however therefore thus"
)
CONDITIONS = words_of(
    "if unless only except until till whether when whenever while before after without once provided assuming wenn "
    "falls nur außer bis si sauf seulement"
)
HEDGES = words_of(
    "may might could would should think maybe perhaps likely probably suppose supposed seem seems appears appear "
    "yet almost some sometimes usually often possibly apparently supposedly presumably theory ideally eventually "
    "unsure unclear hypothetically least mostly nearly believe guess vielleicht wohl"
)
TURNS = words_of(
    "fail fails failed failing refuse refuses refused avoid avoids avoided prevent prevents prevented stop stops "
    "stopped lack lacks lacking unable impossible false untrue wrong wrongly incorrect incorrectly hardly barely "
    "rarely seldom instead rather formerly previously doubt"
)
_TOKEN = re.compile(r"[\w@./:\\#'$€£~+\-]+|[=!<>≤≥≠&|^%→←*]+")
_NUMBER = re.compile(r"[-+~$€£#]*\d[\d.,:\-]*(?:%|ms|s|kb|mb|gb|x|k|m)?", re.IGNORECASE)
_IDENTIFIER = re.compile(r"[\w)\]][_./:\\@#+][\w(]|[a-z][A-Z]|^[_./\\@#$~]|^--?\w|\d|_|/$")
_CODE = re.compile(r"`[^`\n]{1,200}`")
_EMPHASIS = re.compile(r"(?<!\w)\*{1,3}(?=\S)|(?<=\S)\*{1,3}(?!\w)")
_OPERATOR = re.compile(r"\W+")


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a statement. `text` is as it is compared, [start, end) where it stands as written."""

    text: str
    kind: str
    start: int
    end: int

    @property
    def stem(self) -> str:
        """The word without its ending, lower case; what is the same has it in common."""
        return stem(self.text.lower())

    @property
    def is_fact(self) -> bool:
        """Whether it is a number, an identifier or a name."""
        return self.kind in ("id", "num", "name")

    def same(self, other: "Token") -> bool:
        """Whether both are one word: identifiers to the letter, words by their stem."""
        if self.kind == other.kind == "id":
            return self.text == other.text
        mine, theirs = self.text.lower(), other.text.lower()
        return mine == theirs or (not (self.is_fact or other.is_fact) and stem(mine) == stem(theirs))


@lru_cache(maxsize=1 << 10)
def tokens(text: str) -> tuple[Token, ...]:
    """Return the tokens of a text as it is compared, in order, articles and fillers left out."""
    plain, places = compared_places(text)
    plain = plain.replace("’", "'")
    code = [match.span() for match in _CODE.finditer(plain)]
    plain = plain.replace("`", " ")
    plain = _EMPHASIS.sub(lambda m: m[0] if _within(m.start(), code) else " " * len(m[0]), plain)
    found: list[Token] = []
    for match in _TOKEN.finditer(plain):
        word = match[0].lstrip("':")
        start = match.end() - len(word)
        word = word.rstrip("@.:\\'$€£~-")
        word = word if word.strip("#") else ""
        if word.startswith("..") and not word.startswith("../"):
            start += len(word) - len(word.lstrip("."))
            word = word.lstrip(".")
        word = word.removesuffix("'s")
        kind = _kind(word, _within(start, code), bool(found) and plain[:start].rstrip()[-1:] not in ".!?:\n")
        if kind:
            found.append(Token(word, kind, start, start + len(word)))
    if places is not None:
        found = [replace(one, start=places[one.start], end=places[one.end - 1] + 1) for one in found]
    return tuple(found)


def _kind(word: str, in_code: bool, goes_on: bool) -> str:
    """What a word does; "" for one that is left out."""
    lower = word.lower()
    if not word:
        return ""
    if _NUMBER.fullmatch(word):
        return "num"
    if in_code or _OPERATOR.fullmatch(word):
        return "id"
    if DENIES.fullmatch(lower):
        return "den"
    for kind, known in (("cond", CONDITIONS), ("hedge", HEDGES), ("turn", TURNS), ("", FILLERS)):
        if lower in known:
            return kind
    if _IDENTIFIER.search(word) or (len(word) > 1 and word.isupper() and not goes_on):
        return "id"
    return "name" if goes_on and word[0].isupper() else "word"


def _within(at: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= at < end for start, end in spans)


def align(one: Sequence[Token], other: Sequence[Token]) -> list[tuple[int, int]]:
    """Return the places of a longest common subsequence, as pairs of positions in order."""
    height, width = len(one), len(other)
    table = [[0] * (width + 1) for _ in range(height + 1)]
    same = [[a.same(b) for b in other] for a in one]
    for i in range(height - 1, -1, -1):
        for j in range(width - 1, -1, -1):
            table[i][j] = table[i + 1][j + 1] + 1 if same[i][j] else max(table[i + 1][j], table[i][j + 1])
    pairs, i, j = [], 0, 0
    while i < height and j < width:
        if same[i][j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif table[i + 1][j] >= table[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs


def find_run(part: Sequence[Token], whole: Sequence[Token]) -> list[int]:
    """Return every place of whole at which part stands, word by word."""
    size = len(part)
    if not size:
        return []
    return [
        at
        for at in range(len(whole) - size + 1)
        if part[0].same(whole[at]) and all(a.same(b) for a, b in zip(part, whole[at : at + size], strict=True))
    ]
