"""Settings of the recall engine: frozen, with defaults, and one hash over all of them."""

import hashlib
import json
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from scoring.weights import Scales, Weights

MOST_NEIGHBOURS = 4096  # sqlite-vec refuses to return more


MOST = 1e15  # of any setting: what is larger overflows somewhere, and infinity is larger too


def check_numbers(settings: Any, *, positive: tuple[str, ...] = ()) -> None:
    """ValueError for the first number that is negative or not finite, or is 0 and named in positive."""
    for item in fields(settings):
        value = getattr(settings, item.name)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            continue
        if not 0 <= value <= MOST:
            value = value if isinstance(value, float) or abs(value) <= MOST else "a number of many digits"
            raise ValueError(f"{item.name} is {value}, must be finite and not negative")
        if not value and item.name in positive:
            raise ValueError(f"{item.name} is {value}, must be above 0")


def check_one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    """ValueError that names the words a setting may hold, where it holds another."""
    if value not in allowed:
        raise ValueError(f"{name} is {value!r}, must be {', '.join(allowed[:-1])} or {allowed[-1]}")


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    """Which passages become candidates, and how their relevance is put together (fixed scales only)."""

    k: int = 50  # candidates that are scored
    arm: int = 100  # best passages taken from words and from vectors
    lexical_limit: int = 200  # passages the word search may return; those beyond the arm serve to score exchanges
    vector_limit: int = 300  # the same of the vector search
    frequent_share: float = 0.15  # in a large store words that more passages hold are not searched for
    rarest_terms: int = 10  # and at most this many are
    gloss: bool = True  # a prompt in another language is searched for by its English words too
    words_half_at: float = 20.0  # bm25 / (bm25 + this)
    dense_weight: float = 0.6  # times the cosine
    prompt_weight: float = 1.0  # class weights: what a person said
    final_weight: float = 1.0  # the answer that closes an exchange
    narration_weight: float = 0.7  # what the agent said on its way
    memory_weight: float = 1.0
    summary_weight: float = 0.5
    tool_weight: float = 0.5
    worker_weight: float = 0.5
    reasoning_weight: float = 0.5
    announcement: float = 0.7  # short text that announces the next step, by its form
    question: float = 0.7  # a person's question is not its answer
    pasted: float = 0.7  # a pasted plan or review ranks high for its topic and hides the sentence
    link: float = 0.4  # share of the prompt's relevance that its final answer inherits
    session: float = 0.1  # weight of how much of the prompt's words the whole session covers
    neighbour: float = 0.2  # share of the relevance of the turns beside it that a turn of a talk between people gets
    asked: float = 0.4  # and this share besides of the turn before, where that is a question
    speaker: float = 0.2  # weight of a prompt's naming the person who speaks
    talk_session: float = 0.5  # in the place of session, for a talk between people
    respell: bool = True  # a word that the index does not hold is searched for in its nearest spelling there
    parts: bool = True  # identifiers and paths of a prompt are searched for whole and in parts, unspaced text in pairs
    when: float = 0.5  # what was said in the time that the prompt names is lifted by this: it outweighs recency
    wish: float = 0.5  # a person's standing wishes are lifted by this for a prompt that is about to act; 0: not sought
    phrase: float = 0.2  # weight of how many of the prompt's neighbouring words stand side by side in a passage
    place: float = 0.2  # a session concludes at its end: weight of the exchange's place, 0 first to 1 last

    def __post_init__(self) -> None:
        check_numbers(self, positive=("k", "arm", "lexical_limit", "vector_limit", "rarest_terms", "words_half_at"))
        if self.vector_limit > MOST_NEIGHBOURS:
            raise ValueError(
                f"vector_limit is {self.vector_limit}, must be at most {MOST_NEIGHBOURS}: no vector search returns more"
            )

    def class_weights(self) -> dict[str, float]:
        """Return the weight of each source class of a passage."""
        return {
            "prompt": self.prompt_weight,
            "final": self.final_weight,
            "narration": self.narration_weight,
            "summary": self.summary_weight,
            "tool": self.tool_weight,
            "worker": self.worker_weight,
            "reasoning": self.reasoning_weight,
            "external": self.worker_weight,
            "curated": self.memory_weight,
            "memory": self.memory_weight,
            "project": self.memory_weight,
        }


@dataclass(frozen=True, slots=True)
class SelectionSettings:
    """How the ranked list is thinned out."""

    near_copy: float = 0.85  # token Jaccard from which two texts are one item with all pointers
    diversity: float = 0.02  # MMR: score minus this times the likeness to what stands above; 0 switches it off
    since: bool = True  # a corrected or replaced statement carries a note and stands after what replaced it
    newest_first: bool = True  # among statements that answer equally the newest comes first
    same_source: bool = True  # a memory and the passage whose words it quotes are one item
    memory_items: int = 4  # shares, not walls: what one kind leaves the other may take
    transcript_items: int = 2
    reserve_share: float = 0.67  # places are kept only for items with at least this share of the best relevance

    def __post_init__(self) -> None:
        check_numbers(self)
        if self.reserve_share > 1:
            raise ValueError(f"reserve_share is {self.reserve_share}, must be a share from 0 to 1")


@dataclass(frozen=True, slots=True)
class GateSettings:
    """When a turn stays silent. Each part can be switched off; the defaults are calibrated on real prompts."""

    item: bool = True  # an item needs cosine >= similarity_floor or a rare word of the prompt
    similarity_floor: float = 0.50
    rare: bool = True  # a lexical hit passes on a rare word or an identifier
    rare_share: float = 0.02  # a word is rare when at most this share of max(N, 2000) passages hold it
    evidence: bool = True  # the gate's score (recall.gate) must reach a threshold
    threshold: float = 0.31
    threshold_words: float = 0.21  # the same where no vectors were at hand
    bare_acts: bool = True  # "commit this", "run the tests": only decisions, corrections and notes are shown
    margin: bool = True  # an item far below the best one is left out
    margin_share: float = 0.35  # relevance of an item at least this share of the best

    def __post_init__(self) -> None:
        check_numbers(self)


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """Most that one injection may take; the harness's own cap (caps.py) binds besides. The smallest wins."""

    items: int = 6
    item_chars: int = 800
    chars: int = 4800
    tokens: int = 1200
    bytes: int = 9000
    head_chars: int = 160  # how much of the exchange's prompt is shown above a passage
    opening_chars: int = 300  # how much of an answer's opening is shown with a passage of it or its prompt; 0: none
    mode: str = "fixed"  # adaptive: fewer items, a pointer, or nothing where recall.adaptive estimates little use

    def __post_init__(self) -> None:
        check_numbers(self)
        if self.mode not in ("fixed", "adaptive"):
            raise ValueError(f"mode is {self.mode!r}, must be fixed or adaptive")


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that decides what a query returns."""

    retrieval: RetrievalSettings = field(default_factory=RetrievalSettings)
    selection: SelectionSettings = field(default_factory=SelectionSettings)
    gate: GateSettings = field(default_factory=GateSettings)
    budget: BudgetSettings = field(default_factory=BudgetSettings)
    weights: Weights = field(default_factory=Weights)
    scales: Scales = field(default_factory=Scales)


def settings_hash(settings: Settings) -> str:
    """Twelve hex digits that change with any setting."""
    text = json.dumps(asdict(settings), sort_keys=True, separators=(",", ":"), default=list)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
