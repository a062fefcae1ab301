"""Memories that say otherwise than a procedure: an instruction, a command, a skill, a harness's own rules file.

What agents are told to do each time wins over what was noted once, so such a memory is set back in the ranking, and no
checkpoint is complete until one of the two is changed.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from consolidation.claims import claims
from consolidation.contradiction import LEAST_WORDS, RULES, difference
from consolidation.standing_files import ProcedureText
from indexer.segment import query_terms
from recall.facts import stem
from transcript.errors import clip
from transcript.memories import Memory

ABOUT = 0.5  # of the content words of two sentences together must stand in both
MOST_CHARS = 600  # of one sentence of a procedure; longer ones are tables and pasted output
_PAST = "known_failure"  # says what was wrong once, not what is to be done
_FENCED = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1[^\n]*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class ProcedureConflict:
    """A memory and the sentence of a procedure beside which it cannot stand; `line` counts from 1."""

    memory: str
    procedure: str
    path: str
    line: int
    how: str
    detail: str
    said: str

    @property
    def told(self) -> str:
        """The conflict in one line."""
        return f"{self.memory[:10]} says otherwise than {self.procedure} line {self.line} ({self.how}: {self.detail})"


@dataclass(frozen=True, slots=True)
class _Sentence:
    of: ProcedureText
    text: str
    line: int
    words: frozenset[str]


def conflicts(memories: Iterable[Memory], procedures: Iterable[ProcedureText]) -> list[ProcedureConflict]:
    """Return each memory that a sentence of a procedure contradicts, once a procedure, in the order of the memories."""
    by_word: dict[str, list[_Sentence]] = defaultdict(list)
    for sentence in _sentences(procedures):
        for word in sentence.words:
            by_word[word].append(sentence)
    found: list[ProcedureConflict] = []
    for memory in memories:
        if memory.kind == "statement" and memory.memory_type != _PAST:
            found += _of(memory, by_word)
    return found


def _of(memory: Memory, by_word: dict[str, list[_Sentence]]) -> Iterator[ProcedureConflict]:
    told = set[str]()
    for claim in claims(memory.statement):
        said = _words(claim.text)
        near = {id(sentence): sentence for word in said for sentence in by_word.get(word, ())}
        for sentence in near.values():
            at = sentence.of
            if at.key in told or not _is_about(said, sentence.words):
                continue
            apart = difference(claim.text, sentence.text, rules=memory.memory_type in RULES)
            if apart is not None and apart.sure:
                told.add(at.key)
                detail, words = clip(apart.detail), clip(sentence.text)
                yield ProcedureConflict(memory.id, at.key, str(at.path), sentence.line, apart.how, detail, words)


def _is_about(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two sentences are about the same: a heading or a command holds few of a sentence's words."""
    shared = len(one & other)
    return shared >= LEAST_WORDS and shared >= ABOUT * len(one | other)


def _sentences(procedures: Iterable[ProcedureText]) -> Iterator[_Sentence]:
    for one in procedures:
        text = _FENCED.sub(lambda code: "\n" * code[0].count("\n"), one.text)
        for claim in claims(text):
            if claim.asks or len(claim.text) > MOST_CHARS:
                continue
            words = _words(claim.text)
            if len(words) >= LEAST_WORDS:
                yield _Sentence(one, claim.text, text.count("\n", 0, claim.start) + one.first_line, words)


def _words(text: str) -> frozenset[str]:
    return frozenset(map(stem, query_terms(text)))
