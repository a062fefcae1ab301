"""Finds the values that rules name, and tells when two rules name another value of the same thing: 30s and 60s.

Pure functions, asked when a rule of a person's is indexed. Two such rules may both hold ("start with `x_`", "end with
`_y`"), and which of them does is for a person to say: what is found here is a proposal and touches no ranking.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from indexer.function_words import FUNCTION_WORDS

ALIKE = 0.4  # least weighted overlap (Jaccard) of two subjects
_NEAR = 8  # words over which a word's weight for the value falls to 1/e
_BEYOND = 0.35  # what is left of it beyond another value
_MOST_OF_A_TEXT = 12
_VALUE = re.compile(
    r"`[^`\n]{1,40}`|\"[^\"\n]{1,40}\"|(?<!\w)'[^'\n]{1,40}'(?!\w)|“[^”\n]{1,40}”|«[^»\n]{1,40}»"
    r"|(?<!\w)@\w[\w./-]*|(?<![\w-])--?[a-z][\w-]*"
    r"|(?<![\w/])[~.]{0,2}/?\w[\w.-]*(?:/[\w.*-]+)+/?"
    r"|\bv?\d+(?:\.\d+)+\b|\b\d[\d_]*[a-zA-Z%]{0,4}(?!\w)"
    r"|\b\w+(?:_\w+)+\b|\b[a-z]+[A-Z]\w*\b|\b[A-Z][a-z0-9]+[A-Z]\w*\b"
)
_SENTENCE = re.compile(r"(?<=[.!?。])\s+|\n+")
_NUMBERED = re.compile(r"^\s*(?:[-*•>]\s*)*(?:\d{1,2}[.)]\s+)?")
_WORD = re.compile(r"[^\W\d_]+")
_ADDS = re.compile(
    r"\b(?:also|too|another|additional\w*|include\w*|add(?:s|ed|ing)?|imports?|importing|besides|as well|plus|auch"
    r"|zusätzlich|außerdem|ergänz\w*|aussi|également|ajout\w*|en plus|también|además|añad\w*)\b",
    re.IGNORECASE,
)
# What rules say of any subject, beside the function words.
_OF_RULES = (
    "always avoid begin beginning call called case change changed choose code convention current default define "
    "doit end ending ensure every everything example follow following format forward future general gibt give "
    "given going good guideline immer instead jamais keep kind like look main make makes making may might mind "
    "must name named names naming need never new nie niemals nom nombre ok old one prefer prefix project put "
    "remember rule say set shall since sollen standard start starting statt stick still style suffix sure take "
    "thing top toujours try update usa usar use used using utilise utiliser value verwende verwenden want way "
    "well within without write writing"
)
_GENERIC = frozenset(_OF_RULES.split()).union(*(FUNCTION_WORDS[name] for name in ("en", "de", "fr", "es")))


@dataclass(frozen=True, slots=True)
class Stated:
    """A value that a sentence names, its shape, and the words around it by their weight."""

    value: str
    shape: str  # letters a, digits 9, each run once: `x_` and `_x` differ, so do a flag and a path
    about: Mapping[str, float]
    adds: bool  # the sentence says that something holds besides


def stated(text: str) -> list[Stated]:
    """Return the values of a text's sentences in their order; a sentence without a subject has that of the one before.

    Questions name no value.
    """
    found: list[Stated] = []
    words_before: list[str] = []
    for sentence in _SENTENCE.split(text):
        bare = _NUMBERED.sub("", sentence).strip()
        if not bare or bare.endswith("?"):
            continue
        marks = list(_VALUE.finditer(bare))
        words = [word for word in _words(_VALUE.sub(" ", bare)) if word]
        for mark in marks:
            value = mark[0].strip("`\"'“”«»") if mark[0][0] in "`\"'“«" else mark[0].rstrip(".-")
            about = _about(bare, mark, marks) or dict.fromkeys(words_before, math.exp(-1))
            if value and about:
                found.append(Stated(value, _shape(value), about, bool(_ADDS.search(bare))))
        words_before = words or words_before
    return found[:_MOST_OF_A_TEXT]


def differ(one: Stated, other: Stated) -> bool:
    """Tell whether two sentences name another value, of one shape, of what looks like one subject."""
    if one.value == other.value or one.shape != other.shape or (one.adds and other.adds):
        return False
    return overlap(one.about, other.about) >= ALIKE


def overlap(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Return the weighted Jaccard overlap of two subjects, in [0, 1]."""
    shared = sum(min(weight, other[word]) for word, weight in one.items() if word in other)
    whole = sum(one.values()) + sum(other.values()) - shared
    return shared / whole if whole else 0.0


def pairs(one: Iterable[Stated], other: Sequence[Stated]) -> list[tuple[str, str]]:
    """Return (value of one text, value of the other) where they differ about one thing, each pair once."""
    return list(dict.fromkeys((a.value, b.value) for a in one for b in other if differ(a, b)))


def _about(sentence: str, mark: re.Match[str], marks: list[re.Match[str]]) -> dict[str, float]:
    """The subject around a value: stems and pairs of adjacent stems, the nearer the heavier."""
    weights: dict[str, float] = {}
    for step in (-1, 1):
        last, distance, beyond = "", 0, 1.0
        for part, is_value in _outwards(sentence, mark, marks, step):
            if is_value:
                beyond, last = beyond * _BEYOND, ""
                continue
            for word in _words(part)[::step]:
                distance += 1
                if not word:
                    continue
                weight = math.exp(-distance / _NEAR) * beyond
                weights[word] = max(weight, weights.get(word, 0.0))
                if last:
                    pair = " ".join((word, last)[::-step])
                    weights[pair] = max(weight, weights.get(pair, 0.0))
                last = word
    return weights


def _outwards(sentence: str, mark: re.Match[str], marks: list[re.Match[str]], step: int) -> Iterable[tuple[str, bool]]:
    """The text before (-1) or behind (1) a value, in pieces between other values, the nearest first."""
    others = [m for m in marks if (m.end() <= mark.start() if step < 0 else m.start() >= mark.end())][::step]
    at = mark.start() if step < 0 else mark.end()
    for other in others:
        yield (sentence[other.end() : at] if step < 0 else sentence[at : other.start()]), False
        yield "", True
        at = other.start() if step < 0 else other.end()
    yield (sentence[:at] if step < 0 else sentence[at:]), False


def _words(text: str) -> list[str]:
    """The stems of a text in order, "" where a word says nothing of the subject."""
    return ["" if word in _GENERIC else _stem(word) for word in _WORD.findall(text.lower())]


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _shape(value: str) -> str:
    return re.sub(r"\d+", "9", re.sub(r"[^\W\d_]+", "a", value))
