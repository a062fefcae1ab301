"""The shipped engine as an evaluation calls it, and what every engine under test returns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from eval.judge import At, Item, judge
from eval.labels import LabelledQuery
from eval.outcome import Outcome
from eval.record_map import RecordMap
from indexer.reader import Reader
from recall.engine import recall
from recall.query import Query
from recall.selection import POLICY
from recall.settings import Settings
from recall.turn import Candidate, CountTokens, Scorer, Turn, Vectors
from scoring.score import score_all

# Verdicts of items that a person's search does not list as places of their own either.
UNLISTED = POLICY | {"near_copy", "same_record"}


@dataclass(frozen=True, slots=True)
class Answer:
    """What an engine found, best first, and what of it would reach the model."""

    ranked: tuple[Item, ...]
    injected: tuple[Item, ...]
    tokens: int
    gate_score: float = 0.0


Engine = Callable[[LabelledQuery], Answer]


@dataclass(frozen=True, slots=True)
class EngineResult:
    """One engine over all queries, judged twice: the list it ranked, and what it injected."""

    name: str
    ranked: tuple[Outcome, ...]
    injected: tuple[Outcome, ...]
    seconds: float


def shipped(
    reader: Reader,
    vectors: Vectors | None,
    settings: Settings,
    count_tokens: CountTokens,
    scorer: Scorer = score_all,
) -> Engine:
    """Return the engine a hook uses, with the query's `now` as clock and as the end of what may be found."""

    def answer(query: LabelledQuery) -> Answer:
        asked = Query(prompt=query.query, session=query.session, as_of=query.now)
        turn = recall(asked, reader, vectors, settings, now=query.now, count_tokens=count_tokens, scorer=scorer)
        return from_turn(turn)

    return answer


def from_turn(turn: Turn) -> Answer:
    """Return the lists of a turn: ranked before the gate and the budget, injected after them."""
    ranked = tuple(item_of(r.candidate) for r in turn.ranked if r.verdict not in UNLISTED)
    injected = tuple(item_of(r.candidate) for r in turn.items)
    return Answer(ranked, injected, turn.tokens)


def item_of(candidate: Candidate) -> Item:
    """Return a candidate as the judge sees it: the places it names, the other half of its exchange included."""
    halves = [at for at in (candidate.asked, candidate.answered) if at is not None]
    places = (*candidate.pointers, *halves)
    return Item(tuple(At(p.event, p.start, p.end) for p in places), candidate.text)


def evaluate(
    name: str,
    engine: Engine,
    queries: Sequence[LabelledQuery],
    record: RecordMap,
    clock: Callable[[], float],
) -> EngineResult:
    """Ask every query once and judge both lists."""
    started = clock()
    answers = [engine(query) for query in queries]
    seconds = clock() - started
    pairs = list(zip(queries, answers, strict=True))
    return EngineResult(
        name,
        tuple(judge(q, a.ranked, record) for q, a in pairs),
        tuple(judge(q, a.injected, record, tokens=a.tokens) for q, a in pairs),
        seconds,
    )
