"""What a recall is made of: candidates, their verdicts, and the block that comes out."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol
from zlib import crc32

from indexer.rows import RowFilter
from recall.forms import is_pasted
from scoring.score import Features, Score
from scoring.weights import Scales, Weights

Vectors = Callable[[str, RowFilter | None], Sequence[tuple[int, float]] | None]
"""(prompt, chunks that may be found) -> (chunk id, cosine), best first; None where no vectors can be had now.

The first hundred become candidates; more of them let the engine score the prompts and answers around a hit.
"""

CountTokens = Callable[[str], int]


def bytes_third(text: str) -> int:
    """Count tokens on the high side without an encoder: one for every three bytes."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // 3)


class Scorer(Protocol):
    """`score_all` or its NumPy twin `score_pool`."""

    def __call__(
        self, features: Sequence[Features], weights: Weights, scales: Scales | None = None, /
    ) -> list[Score]: ...


@dataclass(frozen=True, slots=True)
class Pointer:
    """Where words stand in the record: an event and the span of its text."""

    event: str
    start: int
    end: int
    session: str
    said: int  # seconds since 1970
    source: str  # key of scoring.authority.AUTHORITY
    exchange: int = 0
    place: float = 0.0  # 0 first, 1 last exchange of its session
    flags: int = 0
    worker: str = ""  # the sub-agent that said it; of a curated event who recorded it


@dataclass(frozen=True, slots=True)
class Standing:
    """What governed memory says of an item; a piece of transcript has none of it."""

    private: bool = False
    cleared: bool = False  # the audience was held against every place where it was said
    superseded: bool = False
    valid_from: int | None = None
    valid_to: int | None = None
    raw_experience: float = 0.0
    risks: tuple[str, ...] = ()
    matches: tuple[tuple[str, bool], ...] = ()
    hits: int = 0  # sessions in which it was cited
    applied: int = 0  # when it was last cited, in seconds since 1970; 0: never
    approved: bool = False  # by a person
    label: str = ""  # of a memory: claim or inference
    recorded: int = 0  # when it became a memory: not when its words were said
    quotes: tuple[str, int, int] | None = None  # event and span that hold a memory's words


@dataclass(frozen=True, slots=True)
class Candidate:
    """One passage that may answer, with the evidence for it."""

    chunk: int
    text: str
    pointers: tuple[Pointer, ...]  # the first one is shown
    head: str = ""  # head of the exchange's prompt; empty where the passage is that prompt
    asked: Pointer | None = None  # where that prompt was said, for an item under its head line
    opening: str = ""  # how the answer begins: in which a passage stands further down, or which answers a prompt
    answered: Pointer | None = None  # where the opening stands, for a prompt; for a passage it is the last pointer
    bm25: float = 0.0
    cosine: float | None = None
    matched: frozenset[str] = frozenset()  # words of the prompt that the passage holds
    evidence: float = 0.0  # b: words and cosine on fixed scales, before class and context
    relevance: float = 0.0  # x: what S is computed from
    demoted: tuple[str, ...] = ()  # why x is below b
    standing: Standing = Standing()
    moved: bool = False  # its place was given by time among statements that answer equally
    notes: tuple[str, ...] = ()  # what the record says of it since: shown with it
    behind: frozenset[str] = frozenset()  # events that correct or replace it: they stand before it

    @property
    def pointer(self) -> Pointer:
        """The pointer that is shown."""
        return self.pointers[0]

    @property
    def source(self) -> str:
        """The source class, a key of `scoring.authority.AUTHORITY`."""
        return self.pointers[0].source

    @property
    def voice(self) -> str:
        """The source class whose authority it has.

        What a person pasted is not what the person says; a memory that a person approved is as good as a decision.
        """
        if self.source == "memory" and self.standing.approved:
            return "curated"
        if self.source == "memory" and self.standing.label == "inference":
            return "inference"
        return "pasted" if self.source == "prompt" and is_pasted(self.text) else self.source

    @property
    def held(self) -> int:
        """When it was said or last cited, whichever is later, in seconds since 1970."""
        return max(self.pointers[0].said, self.standing.applied)


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its score and what became of it: "shown", or a reason code of `recall.selection.REASONS`."""

    candidate: Candidate
    score: Score
    verdict: str

    @property
    def shown(self) -> bool:
        """Whether a turn shows it."""
        return self.verdict == "shown"


@dataclass(frozen=True, slots=True)
class Before:
    """What the session says of its last injection: whether it was used (None: not known), and how far this goes on."""

    used: bool | None = None
    continues: float = 0.0  # share of the prompt's content words that stand in what was injected last
    words: frozenset[int] = frozenset()  # the checksums of those words, where that share is still to be computed

    def goes_on(self, terms: Iterable[str]) -> float:
        """Return the share of a prompt's content words that stand in what was injected last."""
        asked = {checksum(term) for term in terms} if self.words else set()
        return len(asked & self.words) / len(asked) if asked else self.continues


def checksum(word: str) -> int:
    """Stand for a word where no words of anybody are to be kept."""
    return crc32(word.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True, slots=True)
class Signals:
    """What the worth of a recall is estimated from."""

    best: float = 0.0  # the gate's score
    threshold: float = 0.0  # what the gate compared it with
    continues: float = 0.0
    memories: int = 0  # governed items among those that passed the gate
    used: bool | None = None


@dataclass(frozen=True, slots=True)
class BudgetDecision:
    """How much a turn injects, by `recall.adaptive`: the branch (full, shrink, defer, skip) and why."""

    mode: str = "fixed"
    branch: str = "skip"
    reason: str = ""
    signals: Signals = Signals()


@dataclass(frozen=True, slots=True)
class Turn:
    """One recall: the block ("" for nothing), every item considered, and why."""

    block: str
    ranked: tuple[Ranked, ...]  # best first; what is shown has the verdict "shown"
    empty_reason: str = ""  # why the block is empty
    words_only: str = ""  # why no vectors were used; empty when they were
    terms: tuple[str, ...] = ()  # content words of the prompt
    tokens: int = 0
    candidates: int = 0
    gate_score: float = 0.0  # what the gate compared with its threshold
    stages: dict[str, float] = field(default_factory=dict, compare=False)  # milliseconds
    budget: BudgetDecision = BudgetDecision()

    @property
    def items(self) -> tuple[Ranked, ...]:
        """What the block shows, in its order."""
        return tuple(r for r in self.ranked if r.shown)

    @property
    def left_out(self) -> tuple[Ranked, ...]:
        """What it does not show."""
        return tuple(r for r in self.ranked if not r.shown)

    @property
    def block_hash(self) -> str:
        """The eight hex digits of the frame, or ""."""
        return self.block[8:16] if self.block else ""
