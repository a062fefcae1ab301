r"""Text as a person must see it before they sign: nothing unseen, nothing that passes for something else.

What is written here stands for exactly one text: a backslash is doubled, a line end is `\n` and a break, what nobody
sees, what turns writing and what looks like another character is `\u{XXXX}`, spaces at a line's edge or in a long row
are `\s{N}`, and blank lines in a row are one line with their number.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from unicodedata import category, east_asian_width, name, normalize

from transcript.lookalike import UNSEEN, compared

KINDS = ("plain", "escape", "mixed", "blank")
MOST_SPACES = 8  # in a row inside a line, and before it
MOST_MARKS = 2  # on one letter
_SHORT = {"\t": "\\t", "\r": "\\r", "\\": "\\\\"}
_SIGNS = frozenset("→←↑↓↔⇒±÷≤≥≠≈°€£")  # symbols that pass for nothing else
_EAST = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC")
_DIGITS = frozenset("0123456789")
_OVERLAID = frozenset(map(chr, range(0x334, 0x339)))
_SPACES = re.compile(f"^ {{{MOST_SPACES + 1},}}| {{{MOST_SPACES + 1},}}| +$")
_UNIT = re.compile(r"\\u\{[0-9A-F]+\}|.")
_TURNED = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]")


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a line as it is printed, and its kind: one of KINDS."""

    text: str
    kind: str = "plain"


@dataclass(frozen=True, slots=True)
class Odd:
    """What is odd about a text: escaped characters by kind, scripts other than Latin, blank lines in a row.

    `words` are those of mixed scripts, escaped. `turned` says whether there are letters that are written right to left.
    """

    unseen: tuple[str, ...]
    words: tuple[str, ...]
    scripts: tuple[str, ...]
    blank_lines: int
    turned: bool


def escaped(text: str, *, ends: bool = True) -> list[tuple[Segment, ...]]:
    """Return the lines of a text, each as its pieces; with ends, every line but the last ends with the mark of that."""
    strange = _strange(text)
    lines: list[tuple[tuple[Segment, ...], str]] = []
    at = 0
    for line in text.split("\n"):
        lines.append((tuple(_merged(_pieces(line, at, strange))), line))
        at += len(line) + 1
    *ended, (last, _) = lines
    found: list[tuple[Segment, ...]] = []
    for (segments, line), several in groupby(ended, key=lambda pair: pair):
        count = len(list(several))
        if line.strip(" ") or count == 1:
            found += [(*segments, Segment("\\n", "blank")) if ends else segments] * count
        else:
            mark = f"\\n{{{count}}}({count:,} blank lines)"
            found.append((*segments, Segment(mark, "blank")))
    return [*found, last]


def shown(text: str) -> str:
    """Return a text on one line, as `escaped` prints it."""
    return "".join(segment.text for line in escaped(text) for segment in line)


def printed(text: str) -> list[str]:
    """Return the lines of a text as `escaped` prints them, without marks of their ends."""
    return ["".join(segment.text for segment in line) for line in escaped(text, ends=False)]


def odd(text: str) -> Odd:
    """Return what is odd about a text."""
    strange = _strange(text)
    hidden = dict.fromkeys(_code(char) for char in text if char not in "\n\t" and unseen(char))
    words = [
        "".join(_code(text[at]) if at in strange else text[at] for at in range(start, end))
        for start, end in _words(text)
        if not strange.isdisjoint(range(start, end))
    ]
    alone = [_code(text[at]) for at in sorted(strange) if not _in_word(text[at])]
    scripts = dict.fromkeys(_script(char) for char in text if ord(char) > 127 and _lettered(char) and not unseen(char))
    scripts.pop("LATIN", None)
    return Odd(
        tuple(hidden),
        tuple(dict.fromkeys([*words, *alone])),
        tuple(scripts),
        _most_blank(text),
        _TURNED.search(text) is not None,
    )


def cells(text: str) -> int:
    """Return how many columns of a terminal a printed text takes."""
    return sum(_width(char) for char in text)


def broken(segments: Sequence[Segment], width: int) -> list[tuple[Segment, ...]]:
    """Return a line's pieces in rows of at most `width` columns: behind a blank where there is one, else anywhere."""
    rows: list[tuple[Segment, ...]] = []
    row: list[Segment] = []
    used = 0
    for segment in _merged(segments):
        for word in re.findall(r"[^ ]* |[^ ]+", segment.text):
            if used and used + cells(word) > width:
                rows.append(tuple(_merged(row)))
                row, used = [], 0
            for part in _cut(word, width):
                if used + cells(part) > width:
                    rows.append(tuple(_merged(row)))
                    row, used = [], 0
                row.append(Segment(part, segment.kind))
                used += cells(part)
    return [*rows, tuple(_merged(row))]


def _cut(word: str, width: int) -> Iterator[str]:
    """Yield a word in parts that fit; no escape is cut in two."""
    part, used = "", 0
    for unit in _UNIT.findall(word):
        if part and used + cells(unit) > width:
            yield part
            part, used = "", 0
        part += unit
        used += cells(unit)
    yield part


def _pieces(line: str, at: int, strange: set[int]) -> Iterator[Segment]:
    """Yield the pieces of one line, whose first character stands at `at` of the text."""
    done = 0
    for run in [*_SPACES.finditer(line), None]:
        end = run.start() if run else len(line)
        marks = 0
        for place in range(done, end):
            char = line[place]
            marks = marks + 1 if category(char)[0] == "M" else 0
            before = line[place - marks] if place >= marks else " "
            if at + place in strange:
                yield Segment(_code(char), "mixed")
            elif unseen(char) or marks > MOST_MARKS or (marks and not _lettered(before)):
                yield Segment(_code(char), "escape")
            else:
                yield Segment(_SHORT.get(char, char))
        if run:
            count = run.end() - run.start()
            yield Segment(f"\\s{{{count}}}" + (f"({count:,} spaces)" if count > MOST_SPACES else ""), "blank")
            done = run.end()


def _merged(pieces: Iterator[Segment] | Sequence[Segment]) -> Iterator[Segment]:
    for kind, several in groupby(pieces, key=lambda piece: piece.kind):
        yield Segment("".join(piece.text for piece in several), kind)


def _code(char: str) -> str:
    return _SHORT.get(char) or f"\\u{{{ord(char):04X}}}"


@cache
def unseen(char: str) -> bool:
    """Say whether a character is printed as an escape wherever it stands."""
    if " " <= char <= "~":
        return False
    kind = category(char)
    if kind[0] == "S":
        return char not in _SIGNS
    shapeless = kind[0] in "CZ" or UNSEEN.fullmatch(char) is not None or 0xFE00 <= ord(char) <= 0xFE0F
    return shapeless or kind == "Me" or char in _OVERLAID


@cache
def _folds(char: str) -> bool:
    """Say whether a character could be taken for one of ASCII."""
    if char.isascii() or category(char) == "No":
        return False
    looks = {compared(char), normalize("NFKC", char)}
    return any(look.isascii() and (len(look) == 1 or char.isalpha()) for look in looks)


@cache
def _script(char: str) -> str:
    """Return the script of a letter or digit, by its name; those of East Asia are written together."""
    if char.isascii():
        return "LATIN"
    first = name(char, "UNNAMED").split(" ")[0]
    return "EAST ASIAN" if first.startswith(_EAST) else first


def _lettered(char: str) -> bool:
    return category(char)[0] == "L" or category(char) == "Nd"


def _in_word(char: str) -> bool:
    return category(char)[0] in "LM" or category(char) == "Nd"


def _words(text: str) -> Iterator[tuple[int, int]]:
    """Yield where words begin and end: letters, digits and the marks on them."""
    start = -1
    for at, char in enumerate(text):
        inside = _in_word(char) and not unseen(char)
        if inside and start < 0:
            start = at
        elif not inside and start >= 0:
            yield start, at
            start = -1
    if start >= 0:
        yield start, len(text)


def _strange(text: str) -> set[int]:
    """Return the places of characters that could be taken for others.

    Letters of a second script in one word, words that could be Latin throughout (unless the word before or behind is
    of their script beyond doubt), and what folds to ASCII otherwise.
    """
    if text.isascii():
        return set()
    found = {at for at, char in enumerate(text) if not _in_word(char) and not unseen(char) and _folds(char)}
    words = list(_words(text))
    sure = [_sure(text[start:end]) for start, end in words]
    for number, (start, end) in enumerate(words):
        letters = [at for at in range(start, end) if _lettered(text[at]) and text[at] not in _DIGITS]
        scripts = dict.fromkeys(_script(text[at]) for at in letters)
        found |= {at for at in letters if _script(text[at]) == "LATIN" and _folds(text[at])}
        if any(text[at] in _DIGITS for at in range(start, end)):
            found |= {at for at in letters if text[at].isdigit()}
        foreign = [one for one in scripts if one not in ("LATIN", "EAST ASIAN")]
        if not foreign:
            continue
        main = "LATIN" if "LATIN" in scripts else next(iter(scripts))
        if len(scripts) > 1:
            found |= {at for at in letters if _script(text[at]) not in (main, "EAST ASIAN")}
        elif not sure[number]:
            beside = (*sure[max(0, number - 1) : number], *sure[number + 1 : number + 2])
            if main not in beside:
                found.update(letters)
    return found


def _sure(word: str) -> str:
    """Return the script of a word that is of one other than Latin beyond doubt, "" for another word."""
    scripts = {_script(char) for char in word if _lettered(char) and char not in _DIGITS}
    if len(scripts) != 1 or "LATIN" in scripts or all(_folds(char) for char in word if _lettered(char)):
        return ""
    return scripts.pop()


def _most_blank(text: str) -> int:
    most = run = 0
    for line in text.split("\n"):
        run = run + 1 if not line.strip() else 0
        most = max(most, run)
    return most


@cache
def _width(char: str) -> int:
    if category(char) in ("Mn", "Me"):
        return 0
    return 2 if east_asian_width(char) in "WF" or "\U0001d360" <= char <= "\U0001d378" else 1  # counting rods
