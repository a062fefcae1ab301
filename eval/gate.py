"""Measures the gate on a user's own store: what unrelated prompts score there, and which threshold keeps them out.

The scale of a relevance moves with the store, so the threshold is checked against prompts that are known to have no
answer in it, beside the store's own prompts, which often have one.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

from eval.machine import Machine, machine
from eval.tables import table
from health.stats import median, percentile
from indexer.reader import Reader
from indexer.sample import AskedPrompt
from recall.engine import recall
from recall.query import Query
from recall.settings import Settings, settings_hash
from recall.turn import CountTokens, Turn, Vectors
from transcript.telling import counted

UNRELATED = (
    "what did Caroline say about the pottery class last summer?",
    "which restaurant did we book for my mother's birthday?",
    "how long does it take to roast a goose of five kilos?",
    "remind me what the vet said about the cat's kidneys",
    "when does the ferry to Bornholm leave on Sundays?",
    "what was the name of the hotel in Lisbon with the roof garden?",
    "how many laps did I swim on Tuesday?",
    "does the guitar teacher have a free hour on Friday?",
    "which vaccine do we need before the trip to Kenya?",
    "what colour did we choose for the nursery walls?",
    "how do I remove red wine from a wool carpet?",
    "who won the chess tournament at the library?",
    "what is the best month to prune an apple tree?",
    "did my sister like the violin concerto?",
    "how much did the new bicycle tyres cost?",
    "quel vin va bien avec une raclette ?",
    "à quelle heure ferme la piscine municipale le samedi ?",
    "wie lange muss der Sauerteig im Kühlschrank bleiben?",
    "welche Größe hat der Teppich im Wohnzimmer?",
    "wann fährt der letzte Bus nach Hallstatt?",
    "thanks, that looks great, have a good evening",
    "hm, give me a minute to think about it",
    "let me get a coffee first",
    "nice work, I am impressed",
    "can you hear me?",
    "good morning, how are you today?",
    "I will be back after lunch",
    "sorry, wrong window",
    "never mind, forget it",
    "wow that was quick",
)
KEEP_OUT = 90  # share of unrelated prompts the suggested threshold silences
OWN_PROMPTS = 200


@dataclass(frozen=True, slots=True)
class Scores:
    """Gate scores of one kind of prompt; `silent` counts those turned away before any search."""

    name: str
    scores: tuple[float, ...]
    silent: int
    open: int

    def row(self) -> list[object]:
        """Return name, n, quartile figures and the share for which the gate opens now."""
        if not self.scores:
            return [self.name, 0, None, None, None, None, None]
        p = [percentile(self.scores, share) for share in (10, 90)]
        asked = len(self.scores) + self.silent
        return [self.name, asked, p[0], median(self.scores), p[1], max(self.scores), self.open / asked]


@dataclass(frozen=True, slots=True)
class GateReport:
    """The distributions, the threshold in use and the one these prompts suggest."""

    unrelated: Scores
    own: Scores
    threshold: float
    suggested: float | None
    words_only: bool
    chunks: int
    vectors: int
    settings_hash: str
    machine: Machine

    def to_text(self) -> str:
        """Return the distributions and the suggestion."""
        name = "gate.threshold_words" if self.words_only else "gate.threshold"
        head = ["prompts", "n", "p10", "median", "p90", "max", "open now"]
        lines = [
            f"gate: {counted(self.chunks, 'chunk')}, {counted(self.vectors, 'vector')}, settings {self.settings_hash}",
            self.machine.to_text(),
            "",
            table(head, [self.unrelated.row(), self.own.row()]),
            "",
            f"{name} is {self.threshold:.2f}",
        ]
        if self.suggested is None:
            return "\n".join([*lines, "no suggestion: no unrelated prompt found anything here"])
        kept = sum(score >= self.suggested for score in self.own.scores) / max(1, len(self.own.scores))
        lines.append(
            f"{self.suggested:.2f} would silence {KEEP_OUT} % of the unrelated prompts "
            f"and stay open for {kept:.0%} of this store's own"
        )
        return "\n".join(lines)

    def to_json(self) -> str:
        """Return the report as one JSON object."""
        return json.dumps(asdict(self), ensure_ascii=False)


def run(
    reader: Reader,
    vectors: Vectors | None,
    settings: Settings,
    *,
    count_tokens: CountTokens,
    now: datetime,
    own: Iterable[AskedPrompt] = (),
    prompts: Sequence[str] = UNRELATED,
    progress: Callable[[str], None] | None = None,
) -> GateReport:
    """Score unrelated prompts, and prompts of the store's own asked at their own time in their own session.

    Nothing is written.
    """
    shut = replace(settings, gate=replace(settings.gate, evidence=True))

    def ask(prompt: str, session: str, at: datetime, as_of: datetime | None) -> Turn:
        query = Query(prompt=prompt, session=session, as_of=as_of)
        return recall(query, reader, vectors, shut, now=at, count_tokens=count_tokens)

    tell = progress or (lambda _: None)
    tell(f"asking {len(prompts)} unrelated prompts")
    unrelated = [ask(prompt, "", now, None) for prompt in prompts]
    asked = list(own)
    tell(f"asking {counted(len(asked), 'prompt')} of this store, each at its own time")
    mine = [ask(prompt.text, prompt.session, _at(prompt.said), _at(prompt.said)) for prompt in asked]
    words_only = any(turn.words_only for turn in unrelated)
    meta = reader.meta()
    first = _scores("unrelated", unrelated)
    return GateReport(
        unrelated=first,
        own=_scores("this store's own", mine),
        threshold=settings.gate.threshold_words if words_only else settings.gate.threshold,
        suggested=suggested(first.scores),
        words_only=words_only,
        chunks=meta.n_chunks,
        vectors=meta.n_vectors,
        settings_hash=settings_hash(settings),
        machine=machine(),
    )


def suggested(scores: Sequence[float]) -> float | None:
    """Return the threshold just above the score that 90 % of unrelated prompts do not exceed."""
    found = [score for score in scores if score > 0]
    return round(percentile(list(scores), KEEP_OUT) + 0.005, 2) if found else None


def _scores(name: str, turns: Sequence[Turn]) -> Scores:
    searched = [turn for turn in turns if turn.terms or turn.ranked]
    return Scores(
        name,
        tuple(round(turn.gate_score, 4) for turn in searched),
        len(turns) - len(searched),
        sum(bool(turn.block) for turn in turns),
    )


def _at(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
