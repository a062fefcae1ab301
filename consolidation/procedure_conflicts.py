"""Memories that say otherwise than a procedure: an instruction, a command, a skill, a harness's own rules file.

What agents are told to do each time wins over what was noted once, so such a memory is set back in the ranking, and no
checkpoint is complete until one of the two is changed.
"""

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

MOST_CHARS = 600  # of one sentence of a procedure; longer ones are tables and pasted output


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
        if memory.kind == "statement":
            found += _of(memory, by_word)
    return found


def _of(memory: Memory, by_word: dict[str, list[_Sentence]]) -> Iterator[ProcedureConflict]:
    shared: dict[int, int] = defaultdict(int)
    near: dict[int, _Sentence] = {}
    for word in _words(memory.statement):
        for sentence in by_word.get(word, ()):
            near[id(sentence)] = sentence
            shared[id(sentence)] += 1
    told = set[str]()
    for name, sentence in near.items():
        if shared[name] < LEAST_WORDS or sentence.of.key in told:
            continue
        apart = difference(memory.statement, sentence.text, rules=memory.memory_type in RULES)
        if apart is not None and apart.sure:
            told.add(sentence.of.key)
            at = sentence.of
            yield ProcedureConflict(
                memory.id, at.key, str(at.path), sentence.line, apart.how, clip(apart.detail), clip(sentence.text)
            )


def _sentences(procedures: Iterable[ProcedureText]) -> Iterator[_Sentence]:
    for one in procedures:
        for claim in claims(one.text):
            if claim.asks or len(claim.text) > MOST_CHARS:
                continue
            words = _words(claim.text)
            if len(words) >= LEAST_WORDS:
                yield _Sentence(one, claim.text, one.text.count("\n", 0, claim.start) + one.first_line, words)


def _words(text: str) -> frozenset[str]:
    return frozenset(map(stem, query_terms(text)))
