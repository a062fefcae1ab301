"""Time breaks the tie among statements that answer a prompt equally: the newest of them comes first.

On the hook path: standard library only. A rule that was given anew shares its words with the rule that it replaces, so
that words and meaning cannot tell them apart; its date can. No age is subtracted from any score: what stands alone
keeps its rank however old it is, and a group of equals only hands its own places out again.
"""

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from indexer.segment import STOP, segment
from recall.phrases import adjacent, stem_of, word_weights
from recall.turn import Candidate
from transcript.lookalike import compared

FULL = 0.99  # share of the prompt's words, weighed by rarity, that one statement has to hold
LEAST_KNOWN = 0.5  # share of the prompt's words that some passage holds
MOST_LOOKED_AT = 50
# Who states something. A tool's output, a remark on the way or a summary only mentions it, however new it is.
STATES = frozenset({"prompt", "final", "curated", "memory", "project"})
_QUOTED = re.compile(r"\"([^\"\n]{1,80})\"|(?<!\w)'([^'\n]{1,80})'(?!\w)|`([^`\n]{1,80})`|“([^”\n]{1,80})”")
_CODE = re.compile(
    r"(?<![\w@-])(?:@\w[\w.]*|--\w[\w-]*|v?\d+(?:\.\d+)+|[\w.-]*/[\w./-]+|_\w+|\w+_\w*|[a-z]+[A-Z]\w*"
    r"|[A-Z]\w*[a-z][A-Z]\w*)"
)
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])[\"'”’)\]]*\s+|\n+|(?<=[。！？])")


class Placed(Protocol):
    """An item of the ranked list."""

    @property
    def candidate(self) -> Candidate: ...


Item = TypeVar("Item", bound=Placed)


def newest_first(
    ordered: Sequence[Item],
    prompt: str,
    frequency: Mapping[str, int],
    passages: int,
    risk: Callable[[Item], float] = lambda item: 0.0,
) -> list[Item]:
    """Return the list with each group of equal statements newest first, in the places that the group holds.

    `frequency` tells how many of the index's passages hold each word of the prompt. A statement that lacks a value
    which the prompt names is none of the group. What has more `risk` comes behind what has less, however new.
    """
    # A word that the record never uses tells no two statements apart; but of a prompt it mostly does not know, little.
    known = {term: holding for term, holding in frequency.items() if holding}
    weight = word_weights(known, passages) if len(known) >= len(frequency) * LEAST_KNOWN else {}
    if not weight:
        return list(ordered)
    named = values(compared(prompt))
    pairs = frozenset(adjacent(prompt, weight))
    stated: dict[int, _Statement] = {}
    for place, item in enumerate(ordered[:MOST_LOOKED_AT]):
        if item.candidate.source not in STATES:
            continue
        text = compared(item.candidate.text)
        if all(value in text for value in named):
            found = _statement(text, weight, pairs)
            if found is not None:
                stated[place] = found
    whole = frozenset().union(*(one.whole for one in stated.values()))
    left = [place for place, one in stated.items() if not (one.broken - one.whole) & whole]
    out = list(ordered)
    while left:
        first = stated[left[0]]
        group = [place for place in left if first.shapes_meet(stated[place])]
        left = [place for place in left if place not in group]
        newest = sorted(
            (ordered[place] for place in group), key=lambda item: (risk(item), -item.candidate.pointer.said)
        )
        for place, item in zip(group, newest, strict=True):
            out[place] = item
    return out


def values(text: str) -> list[str]:
    """Return what a text names literally: quoted strings, decorators, flags, versions, paths, identifiers."""
    quoted = [next(part for part in match.groups() if part) for match in _QUOTED.finditer(text)]
    return list(dict.fromkeys([*quoted, *_CODE.findall(text)]))


@dataclass(frozen=True, slots=True)
class _Statement:
    """A sentence that holds all of a prompt's words."""

    shapes: frozenset[str]  # of the values that it names
    whole: frozenset[tuple[str, str]]  # words that stand side by side in the prompt, and here
    broken: frozenset[tuple[str, str]]  # and those with another word between them here: "function argument names"

    def shapes_meet(self, other: "_Statement") -> bool:
        """Whether one may state another value of the same kind as the other: a prefix is no suffix."""
        return not self.shapes or not other.shapes or not self.shapes.isdisjoint(other.shapes)


def _statement(text: str, weight: Mapping[str, float], pairs: frozenset[tuple[str, str]]) -> _Statement | None:
    """The first sentence that holds all of the words, None without one."""
    needed = FULL * sum(weight.values())
    for sentence in _SENTENCE_END.split(text):
        words = [stem_of(word) for word in segment(sentence)]
        if sum(w for stem, w in weight.items() if stem in words) >= needed:
            side = frozenset(itertools.pairwise(words))
            apart = frozenset((a, c) for a, b, c in zip(words, words[1:], words[2:], strict=False) if b not in STOP)
            shapes = frozenset(map(_shape, values(sentence)))
            return _Statement(shapes, pairs & side, pairs & apart)
    return None


def _shape(value: str) -> str:
    """A value's form: each run of letters as one `a`, of digits as one `9`, so that `x_` and `_x` differ."""
    return re.sub(r"\d+", "9", re.sub(r"[^\W\d_]+", "a", value))
