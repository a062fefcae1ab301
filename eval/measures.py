"""The measures of each question set: what a figure is called, what it means, and how a reply gives its value.

`kind` is "computed" for every one of them: none asks a language model (a judged one would have to say why no computed
measure exists).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from eval.dataset_run import Hit, Reply
from eval.metrics.all_at import all_at
from eval.metrics.any_at import any_at
from eval.metrics.first_at import first_reciprocal
from eval.metrics.frac_at import frac_at
from eval.metrics.ndcg_at import ndcg_at
from eval.metrics.newest_first import newest_first
from eval.metrics.token_budget import budget_recall

COMPUTED, JUDGED = "computed", "judged"


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure: `of` gives a reply's value in [0, 1], None where the question does not count for it."""

    name: str
    meaning: str
    of: Callable[[Reply], float | None]
    kind: str = COMPUTED
    why_judged: str = ""

    def __post_init__(self) -> None:
        if (self.kind == JUDGED) != bool(self.why_judged):
            raise ValueError(f"measure {self.name}: a judged one, and only that, says why none can be computed")


def turns(hits: Sequence[Hit]) -> list[frozenset[str]]:
    """The turns of each item."""
    return [hit.turns for hit in hits]


def sessions(reply: Reply) -> list[frozenset[str]]:
    """The distinct sessions of the ranked list: k is expanded until k of them are seen."""
    return [frozenset({session}) for session in reply.sessions]


def _answerable(measure: Callable[[Reply], float | None]) -> Callable[[Reply], float | None]:
    return lambda reply: measure(reply) if reply.question.answerable else None


def _turn(name: str, meaning: str, of: Callable[[list[frozenset[str]], frozenset[str]], float | None]) -> Measure:
    return Measure(f"turn {name}", meaning, _answerable(lambda r: of(turns(r.ranked), r.question.turns)))


def _session(name: str, meaning: str, of: Callable[[list[frozenset[str]], frozenset[str]], float | None]) -> Measure:
    return Measure(f"session {name}", meaning, _answerable(lambda r: of(sessions(r), r.question.sessions)))


def _budget(tokens: int) -> Measure:
    def of(reply: Reply) -> float | None:
        costs = [hit.tokens for hit in reply.ranked]
        return budget_recall(turns(reply.ranked), costs, reply.question.turns, tokens)

    return Measure(f"gold in {tokens:,} tokens", f"share of gold turns in the first {tokens:,} tokens", _answerable(of))


TURN = (
    _turn("any@1", "a gold turn comes first", lambda f, g: any_at(f, g, 1)),
    _turn("frac@5", "share of gold turns in the first 5", lambda f, g: frac_at(f, g, 5)),
    _turn("frac@10", "share of gold turns in the first 10", lambda f, g: frac_at(f, g, 10)),
    _turn("any@10", "a gold turn in the first 10", lambda f, g: any_at(f, g, 10)),
    _turn("all@10", "every gold turn in the first 10", lambda f, g: all_at(f, g, 10)),
    _turn("nDCG@10", "nDCG with the true ideal", lambda f, g: ndcg_at(f, g, 10)),
    _turn("MRR", "reciprocal rank of the first gold turn", first_reciprocal),
)
SESSION = (
    _session("any@1", "a gold session comes first", lambda f, g: any_at(f, g, 1)),
    _session("any@5", "a gold session among the first 5 distinct", lambda f, g: any_at(f, g, 5)),
    _session("all@5", "every gold session among the first 5 distinct", lambda f, g: all_at(f, g, 5)),
    _session("any@10", "a gold session among the first 10 distinct", lambda f, g: any_at(f, g, 10)),
    _session("frac@10", "share of gold sessions among the first 10 distinct", lambda f, g: frac_at(f, g, 10)),
    _session("all@10", "every gold session among the first 10 distinct", lambda f, g: all_at(f, g, 10)),
    _session("nDCG@10", "nDCG of distinct sessions with the true ideal", lambda f, g: ndcg_at(f, g, 10)),
)
BUDGETS = tuple(_budget(tokens) for tokens in (500, 1_000, 2_000))
INJECTED = (
    Measure(
        "injected turn frac",
        "share of gold turns in what a turn injects",
        _answerable(lambda r: frac_at(turns(r.injected), r.question.turns, 100)),
    ),
)
SILENCE = (
    Measure(
        "silent, unanswerable",
        "nothing is injected for a question without an answer",
        lambda r: None if r.question.answerable else float(not r.injected),
    ),
    Measure(
        "answered, answerable",
        "something is injected for a question with an answer",
        _answerable(lambda r: float(bool(r.injected))),
    ),
)
VERSIONS = (
    Measure(
        "newest above stale",
        "of rules that changed: a session of the current version above every outdated one",
        lambda r: newest_first(r.sessions, r.question.sessions, r.question.stale),
    ),
    Measure(
        "changed R@1",
        "of rules that changed: a session of the current version comes first",
        lambda r: any_at(sessions(r), r.question.sessions, 1) if r.question.stale else None,
    ),
    Measure(
        "stable R@1",
        "of rules that never changed: a session that states it comes first",
        lambda r: None if r.question.stale else any_at(sessions(r), r.question.sessions, 1),
    ),
    Measure(
        "superseded injected",
        "of rules that changed: something outdated is injected and nothing current (lower is better)",
        lambda r: _superseded(r),
    ),
)


def _superseded(reply: Reply) -> float | None:
    if not reply.question.stale:
        return None
    shown = {hit.session for hit in reply.injected}
    return float(bool(shown & reply.question.stale) and not shown & reply.question.sessions)


SELF = (
    _turn("any@1", "a source comes first", lambda f, g: any_at(f, g, 1)),
    _turn("any@6", "a source among the first 6", lambda f, g: any_at(f, g, 6)),
    _turn("MRR", "reciprocal rank of the first source", first_reciprocal),
    Measure("injected", "a source is injected", lambda r: any_at(turns(r.injected), r.question.turns, 100)),
)
RETRIEVAL = (
    Measure("recall@6", "a source among the first 6", lambda r: any_at(turns(r.ranked), r.question.turns, 6)),
    Measure(
        "MRR", "reciprocal rank of the first source", lambda r: first_reciprocal(turns(r.ranked), r.question.turns)
    ),
    Measure("nDCG@6", "nDCG with the true ideal", lambda r: ndcg_at(turns(r.ranked), r.question.turns, 6)),
)

SETS: dict[str, tuple[Measure, ...]] = {
    "self": SELF,
    "locomo": (*TURN, *SESSION, *BUDGETS, *INJECTED),
    "memorycode": VERSIONS,
    "longmemeval": (*SESSION, *TURN, *BUDGETS, *SILENCE),
    "beam": (*TURN, *BUDGETS, *VERSIONS[:1], *SILENCE),
}
# Measures whose paired differences are shown besides those of the headline: what may not be paid for it.
BESIDE = {"memorycode": ("stable R@1",), "month": ("used a turn", "used MRR")}
HEADLINE = {
    "self": "turn MRR",
    "devrecall": "recall@6",
    "locomo": "turn frac@10",
    "memorycode": "newest above stale",
    "longmemeval": "session all@5",
    "beam": "turn frac@10",
    "month": "share used",
}
