"""What may leave a live window, in which order, and why the rest stays. Nothing is written here.

Order of leaving: what is of low risk and what recall finds again comes first. Within that large results of tools, each
replaced by a line that points to it, then conversation, calls with their results, what changed files; the oldest first.
A call never leaves without its results, nor they without it: no model takes one that stands alone.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from recall.governance_settings import WindowSettings
from recall.pressure import Pressure
from recall.window import ABSENT, ARTIFACT, CONVERSATION, HIGH, INDEXED, LOW, MEDIUM, TOOL_CALL, TOOL_RESULT, Piece
from transcript.telling import counted

SLIDING, AUTOCOMPACT, OFF = "sliding", "autocompact", "off"
POINTER_CHARS = 10
_ORDER = (TOOL_RESULT, CONVERSATION, TOOL_CALL, ARTIFACT)
_RISKS = (LOW, MEDIUM, HIGH)
_WHY = {
    TOOL_RESULT: "a large result of a tool; its pointer stays",
    CONVERSATION: "older conversation",
    TOOL_CALL: "older calls and their results",
    ARTIFACT: "an older change of a file that was changed again",
}


@dataclass(frozen=True, slots=True)
class Step:
    """A piece that leaves; `stub` is what stays in its place, "" for nothing."""

    piece: Piece
    why: str
    stub: str = ""
    freed: int = 0  # tokens


@dataclass(frozen=True, slots=True)
class Kept:
    """A piece that stays, and why."""

    piece: Piece
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What leaves a window and what stays. `skipped_because` is "" exactly when something leaves.

    `fired` are the thresholds that the pressure has passed, in rising order; `goal` the tokens to come down to.
    """

    policy: str
    pressure: Pressure
    thresholds: tuple[float, ...]
    fired: tuple[float, ...]
    goal: int
    remove: tuple[Step, ...]
    stub: tuple[Step, ...]
    keep: tuple[Kept, ...]
    skipped_because: str = ""

    @property
    def steps(self) -> tuple[Step, ...]:
        """Return all that leaves, in its order: first what is replaced by a line, then what goes whole."""
        return (*self.stub, *self.remove)

    @property
    def tokens_after(self) -> int:
        """Return how many tokens stand in the window once the plan is applied."""
        return max(0, self.pressure.tokens - sum(step.freed for step in self.steps))

    @property
    def is_enough(self) -> bool:
        """Whether the plan brings the window down to its goal."""
        return self.tokens_after <= self.goal


def protected(pieces: Sequence[Piece], settings: WindowSettings) -> dict[str, str]:
    """Return event -> why it never leaves: recent, in flight, an instruction, of high risk, in use, not preserved."""
    exchanges = list(dict.fromkeys(piece.exchange for piece in pieces))
    recent = set(exchanges[-settings.keep_exchanges :]) if settings.keep_exchanges else set()
    last_prompt = max((piece.exchange for piece in pieces if piece.asks), default=0)
    found: dict[str, str] = {}
    for piece in pieces:
        why = ""
        if piece.exchange in recent:
            why = "one of the last exchanges"
        elif piece.holds:
            why = "; ".join(piece.holds)
        elif piece.exchange == last_prompt and piece.kind != TOOL_RESULT:
            why = "what the person asked for last"
        elif piece.kind not in _ORDER:
            why = "what the harness put there" if piece.source == "host" else f"its kind is {piece.kind}"
        elif piece.risk == HIGH or piece.recoverability == ABSENT:
            why = "of high risk"
        if why:
            found |= dict.fromkeys(piece.events, why)
    for piece in pieces:
        if piece.events[0] not in found and any(one.events[0] in found for one in _results(piece, pieces)):
            found |= dict.fromkeys(piece.events, "a result of it stays")
    return found


def _results(piece: Piece, pieces: Iterable[Piece]) -> list[Piece]:
    """The pieces apart that answer a piece's calls."""
    own = set(piece.calls)
    return [one for one in pieces if one is not piece and not own.isdisjoint(one.answers)] if own else []


def plan(pieces: Sequence[Piece], pressure: Pressure, settings: WindowSettings) -> Plan:
    """Return what leaves under the policy: nothing below the first threshold, and never what is protected."""
    thresholds = settings.shares()
    fired = tuple(share for share in thresholds if pressure.share >= share)
    goal = max(0, int(thresholds[0] * pressure.host.limit) - settings.margin_tokens)
    stays = protected(pieces, settings)
    free = [piece for piece in pieces if not any(event in stays for event in piece.events)]
    why_not = _skipped(settings, pressure, thresholds, free)
    chosen = [] if why_not else _chosen(free, max(1, pressure.tokens - goal), settings)
    if not chosen:
        why_not = why_not or "nothing that may leave is larger than its pointer"
    leaving = {step.piece.events for step in chosen}
    keep = tuple(
        Kept(piece, stays.get(piece.events[0], "nothing is planned" if why_not else "not needed to reach the goal"))
        for piece in pieces
        if piece.events not in leaving
    )
    return Plan(
        settings.policy,
        pressure,
        thresholds,
        fired,
        goal,
        tuple(step for step in chosen if not step.stub),
        tuple(step for step in chosen if step.stub),
        keep,
        why_not,
    )


def ranked(pieces: Iterable[Piece]) -> list[Piece]:
    """Return pieces in the order in which they leave: low risk, found by recall, by kind, old; ties by their place."""
    return sorted(
        pieces, key=lambda p: (_RISKS.index(p.risk), p.recoverability != INDEXED, _ORDER.index(p.kind), p.seq, p.place)
    )


def _chosen(free: Sequence[Piece], needed: int, settings: WindowSettings) -> list[Step]:
    chosen: dict[tuple[str, ...], Step] = {}
    for piece in ranked(free):
        if needed <= 0:
            break
        step = None if piece.events in chosen else _step(piece, settings.stub_tokens)
        if step is None:
            continue
        whole = [step, *(Step(one, step.why, freed=one.tokens) for one in _results(piece, free))]
        for one in whole:  # a result that had been replaced by a line goes with its call
            before = chosen.get(one.piece.events)
            needed -= one.freed - (before.freed if before is not None else 0)
            chosen[one.piece.events] = one
    return list(chosen.values())


def _step(piece: Piece, stub_tokens: int) -> Step | None:
    """What becomes of a piece; None where its stub would be no shorter."""
    if piece.kind != TOOL_RESULT:
        return Step(piece, _WHY[piece.kind], freed=piece.tokens)
    stub = stub_of(piece)
    size = -(-len(stub) // 3)
    return Step(piece, _WHY[TOOL_RESULT], stub, piece.tokens - size) if piece.tokens > max(size, stub_tokens) else None


def stub_of(piece: Piece) -> str:
    """Return the line that stays where a tool's result stood."""
    return f"[tool result, {counted(piece.tokens, 'token')}: recall show {piece.events[0][:POINTER_CHARS]}]"


def _skipped(settings: WindowSettings, pressure: Pressure, thresholds: Sequence[float], free: Collection[Piece]) -> str:
    if settings.policy == OFF:
        return "window.policy is off: this is a report"
    if settings.policy == AUTOCOMPACT:
        return "window.policy is autocompact: the harness compacts; recall makes a checkpoint first and says what left"
    if pressure.share < thresholds[0]:
        return f"the window is {pressure.share:.1%} full, below the first threshold of {thresholds[0]:.0%}"
    if not free:
        return "everything in the window is protected"
    return ""


def as_dict(made: Plan) -> dict[str, Any]:
    """Return a plan as plain JSON values; every exchange's pieces with their four fields."""
    host = made.pressure.host
    return {
        "policy": made.policy,
        "pressure": {
            "tokens": made.pressure.tokens,
            "counted_by": made.pressure.counted_by,
            "share": round(made.pressure.share, 4),
            "window_tokens": host.tokens,
            "trigger_tokens": host.trigger_tokens,
            "window_from": host.source,
            "window_known": host.known,
        },
        "thresholds": list(made.thresholds),
        "fired": list(made.fired),
        "goal_tokens": made.goal,
        "tokens_after": made.tokens_after,
        "enough": made.is_enough,
        "skipped_because": made.skipped_because,
        "stub": [{**_told(step.piece), "why": step.why, "text": step.stub, "freed": step.freed} for step in made.stub],
        "remove": [{**_told(step.piece), "why": step.why, "freed": step.freed} for step in made.remove],
        "keep": [{**_told(kept.piece), "why": kept.why} for kept in made.keep],
    }


def _told(piece: Piece) -> dict[str, Any]:
    return {
        "exchange": piece.exchange,
        "events": list(piece.events),
        "type": piece.kind,
        "source": piece.source,
        "recoverability": piece.recoverability,
        "risk": piece.risk,
        "tokens": piece.tokens,
        "said_at": piece.said_at,
    }
