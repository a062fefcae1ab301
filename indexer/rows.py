"""The rows a reader of the index hands out, and the numbers that stand for kinds, classes, roles and flags."""

from dataclasses import dataclass
from typing import NamedTuple

# Kinds of pointer: what a passage is in its place.
PROMPT, FINAL, NARRATION, SUMMARY, TOOL_CALL, TOOL_RESULT, REASONING, WORKER, CURATED, MEMORY = range(10)
KIND_NAMES = (
    "prompt",
    "final",
    "narration",
    "summary",
    "tool_call",
    "tool_result",
    "reasoning",
    "worker",
    "curated",
    "memory",
)

ENDS = f"kind <= {FINAL}"  # SQL: the prompt and the answer of an exchange, which its index holds

KEY_BYTES = 12  # of a chunk's key: among ten million chunks two distinct ones share it once in 10^15 stores

# Source classes: the closed list of what a chunk can be.
SOURCE_CLASSES = ("conversation", "tool", "summary", "reasoning", "curated", "memory", "project")
ROLES = ("user", "assistant", "tool", "system", "human")

# Chunks of tools take their ids from here on, all others below it: one range condition searches what was said without
# reading through what tools printed, which is most of the words of a store.
TOOL_IDS = 1 << 30

# Flags of a pointer. From STATEMENT on four bits are a number: what kind of statement a curated event is.
ABANDONED, REWOUND, FROM_WORKER, EXTERNAL, IMPLAUSIBLE_TIME, SUPERSEDED, PRIVATE, BY_PERSON = (
    1,
    2,
    4,
    8,
    16,
    32,
    64,
    128,
)
STATEMENT = 256
TALK = 4096  # a turn of a talk between people; the pointer's worker names who speaks
WISH = 8192  # a person's passage that lays down how work is to be done (indexer.wishes)
PROJECT_FILE = 16384  # a file of the project: its newest state is current
STATEMENTS = (
    "",
    "decision",
    "diagnosis",
    "constraint",
    "risk",
    "task",
    "question",
    "correction",
    "critique",
    "confirmation",
    "outcome",
    "observation",
)


def statement(flags: int) -> str:
    """Return which of STATEMENTS a pointer's flags name, "" for none."""
    return STATEMENTS[flags // STATEMENT % 16 % len(STATEMENTS)]


@dataclass(frozen=True, slots=True)
class IndexMeta:
    """What the index says about itself and its serving generation."""

    schema: int
    generation: int
    model: str
    revision: str
    dimension: int
    max_tokens: int
    config_hash: str
    segmentation: int
    watermark: str  # JSON of the record's position up to which this generation has read; "" before the first run
    n_chunks: int
    n_vectors: int
    data_version: int  # rises with every committed change of chunks or vectors


class PointerRow(NamedTuple):
    """One place where a chunk was said. A turn reads a thousand: a tuple is made in a tenth of a dataclass's time."""

    event_id: str
    start: int
    end: int
    session: str
    exchange_id: int  # 0: none
    ts: int  # seconds since 1970, UTC
    kind: int
    place: float  # 0 first, 1 last exchange of its session
    seq: int
    flags: int
    worker: str  # id of the sub-agent, "" for the main agent; of a curated event or a talk who said it


@dataclass(frozen=True, slots=True)
class PassageRow:
    """A chunk with every place where it was said, newest first."""

    chunk_id: int
    key: str
    text: str
    source_class: str
    role: str
    tokens: int
    pointers: tuple[PointerRow, ...]


@dataclass(frozen=True, slots=True)
class ExchangeRow:
    """A person's message and the answer that closes it."""

    id: int
    session: str
    ordinal: int
    prompt_head: str  # credentials masked
    prompt_chunks: tuple[int, ...]
    final_chunks: tuple[int, ...]
    ts: int


@dataclass(frozen=True, slots=True)
class Correction:
    """The event that corrects or replaces another, and the span of that one it speaks of; end 0: all of it."""

    by: str
    start: int = 0
    end: int = 0

    def covers(self, start: int, end: int) -> bool:
        """Tell whether a passage of that span holds some of the words it speaks of."""
        return not self.end or (start < self.end and self.start < end)


class StandingRow(NamedTuple):
    """What is known of an event besides its words: of a memory how it holds, of anything cited what it has earned."""

    event: str
    valid_from: int | None  # seconds since 1970; None: open
    valid_to: int | None
    label: str  # claim, inference; "" for what is no memory
    recorded: int  # when it became a memory; 0 for what is none
    quotes: str  # the place whose words it holds, `id#start-end`
    approved: int
    raw: float
    hits: int
    applied: int  # when it was last used, 0 for never
    roles: str  # JSON: role -> what counts besides for it; "" for none
    risks: str  # JSON list; "" for none


@dataclass(frozen=True, slots=True)
class LexicalResult:
    """Chunks that share a word with the query, best first, ties by id."""

    hits: tuple[tuple[int, float], ...]
    df: dict[str, int]  # chunks that hold the term; for a dropped term at least this many
    matched: dict[int, set[int]]  # hit -> positions of its terms in the terms asked for
    dropped: tuple[str, ...]  # terms left out because too many chunks hold them

    @property
    def cut(self) -> bool:
        return bool(self.dropped)


@dataclass(frozen=True, slots=True)
class RowFilter:
    """The chunks that may be found: all of `only` (None: every one) without `excluded`."""

    only: frozenset[int] | None = None
    excluded: frozenset[int] = frozenset()

    def __contains__(self, chunk_id: object) -> bool:
        return chunk_id not in self.excluded and (self.only is None or chunk_id in self.only)

    @property
    def is_all(self) -> bool:
        return self.only is None and not self.excluded
