"""Words of a prompt that the index does not hold, by the nearest spelling that it does.

On the hook path: standard library only. First other ways to write the same letters (Straße and Strasse, Müller and
Mueller, full-width forms), then a typing error: one for words of 5 to 7 letters, two from 8 on, after the first letter.
A word that the index holds is never changed; nor is one of another language than English, or a name, by a typing error.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from unicodedata import normalize

from indexer.reader import Reader
from recall.cues import Cues

MOST_WORDS = 2  # words of one prompt that are looked for by their letters
_SHORT, _LONG, _LONGEST = 5, 8, 24
_LOOKED_AT = 5  # stems whose words are read
_PLAIN = re.compile(r"[^\W\d_]+")
_LETTERS = str.maketrans({"ß": "ss", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"})
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"})
_SPECIAL = (("l", "ł"), ("o", "ø"), ("d", "đ"), ("i", "ı"))
_WRITTEN_OUT = (("ae", "a"), ("oe", "o"), ("ue", "u"), ("ss", "ß"), ("ae", "æ"), ("oe", "ø"), ("aa", "å"))
_ENDING = 5  # letters that a stem may lack of its word


def respelled(cues: Cues, reader: Reader) -> Cues:
    """Return the cues with words that the index does not hold in the spelling that it does; others stay."""
    translated = frozenset(term for own, english in cues.glossed if english for term in own)
    unheld = [term for term in reader.unheld(cues.terms) if term not in translated]
    if not unheld:
        return cues
    change: dict[str, str] = {}
    typed = _typed(cues.text) if cues.language in ("", "en") else frozenset()
    looked_for = 0
    for term in unheld:
        ways = other_ways(term)
        held = frozenset(ways) - frozenset(reader.unheld(ways))
        near = next((way for way in ways if way in held), "")
        if not near and term in typed and _SHORT <= len(term) <= _LONGEST and looked_for < MOST_WORDS:
            looked_for += 1
            near = nearest(term, reader)
        if near:
            change[term] = near
    if not change:
        return cues
    return replace(cues, terms=tuple(dict.fromkeys(change.get(term, term) for term in cues.terms)))


def other_ways(word: str) -> list[str]:
    """Return other ways to write the letters of a word, without the word itself; most are no word at all."""
    flat = normalize("NFKC", word).casefold()
    ways = [flat, flat.translate(_LETTERS), flat.translate(_UMLAUTS)]
    ways += [flat.replace(pair, letter) for pair, letter in _WRITTEN_OUT if pair in flat]
    ways += [flat.replace(plain, letter, most) for plain, letter in _SPECIAL if plain in flat for most in (1, -1)]
    return [way for way in dict.fromkeys(ways) if way != word]


def nearest(word: str, reader: Reader) -> str:
    """Return the word of the index that is typed most like this one, of two the more frequent; "" for none."""
    most = errors_allowed(word)
    starts = dict.fromkeys((word[:2], word[0] + word[2], word[1] + word[0]))
    letters = frozenset(word)
    found = []
    for start in starts:
        for stem, count in reader.stems(start, max(3, len(word) - _ENDING), len(word) + most):
            size, made_of = len(stem), frozenset(stem)
            if len(made_of - letters) > most or len(frozenset(word[:size]) - made_of) > most or not stem.isalpha():
                continue
            errors = min(distance(word[:end], stem, most) for end in (size - 1, size, size + 1))
            if errors <= most:
                found.append((errors, -size, -count, stem))
    best: list[tuple[int, int, str]] = []
    for _, _, count, stem in sorted(found)[:_LOOKED_AT]:
        near = [(distance(word, one, most), count, one) for one in _alike(word, reader.words_with(stem), most)]
        best += [one for one in near if one[0] <= most]
    return min(best)[2] if best else ""


def errors_allowed(word: str) -> int:
    """Return how many typing errors a word of this length may have."""
    return 0 if len(word) < _SHORT else 1 if len(word) < _LONG else 2


def distance(one: str, other: str, most: int) -> int:
    """Count the letters added, left out, changed or swapped between two words; most + 1 for more than most."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
        before, last = last, row
    return last[-1]


def _alike(word: str, words: Iterable[str], most: int) -> list[str]:
    return [one for one in words if abs(len(one) - len(word)) <= most and one.isalpha()]


def _typed(text: str) -> frozenset[str]:
    """The words of a text as they may be mistyped: in small letters, or at its beginning."""
    words = _PLAIN.findall(text)
    return frozenset(word.lower() for n, word in enumerate(words) if n == 0 or word.islower())
