"""What the arms of a budget run say: what each finds and costs, the knee of the curve, the verdict."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from eval.budget import DEFAULT, NONE, Arms, Asked
from eval.machine import Machine
from eval.outcome import mean
from eval.stats import paired
from eval.tables import table
from health.stats import median, percentile
from recall.adaptive import ADAPTIVE

MEASURES = ("hit", "strict", "coverage")
LEAST_DIFFERENCE = -2.0  # points that the lower bound of the paired difference must stay above
LEAST_SAVED = 0.25  # of the tokens
DECIDING = ("locomo", "memorycode")  # the sets on which both must hold
SAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Line:
    """One arm over one set: measures as means in [0, 1], tokens a question, milliseconds a question."""

    arm: str
    n: int
    hit: float | None
    strict: float | None
    coverage: float | None
    tokens: float
    tokens_p95: float
    ms: float
    ms_p95: float
    silent: float  # share of questions for which nothing was injected


@dataclass(frozen=True, slots=True)
class Comparison:
    """The adaptive budget against a fixed arm, question by question: points, the 95 % interval, and tokens saved."""

    against: str
    measure: str
    points: float
    low: float
    high: float
    saved: float


@dataclass(frozen=True, slots=True)
class SetReport:
    """One set: every arm, where each curve bends, and the paired comparisons."""

    name: str
    sha256: str
    chunks: int
    vectors: int
    model: str
    lines: tuple[Line, ...]
    knees: dict[str, str]
    paired: tuple[Comparison, ...]

    @property
    def passes(self) -> bool:
        """Whether the adaptive budget keeps the result, and saves enough, against the default of today."""
        mine = [p for p in self.paired if p.against == DEFAULT]
        return bool(mine) and all(p.low > LEAST_DIFFERENCE and p.saved >= LEAST_SAVED for p in mine)


@dataclass(frozen=True, slots=True)
class BudgetReport:
    """All sets, on what they were run, and the verdict."""

    sets: tuple[SetReport, ...]
    settings_hash: str
    machine: Machine

    @property
    def verdict(self) -> str:
        """Say whether `adaptive` may become the default, by the rule, in words."""
        held = {name: next((s for s in self.sets if s.name.startswith(name)), None) for name in DECIDING}
        missing = [name for name, found in held.items() if found is None]
        if missing:
            return f"no verdict: not run on {' and '.join(missing)}"
        failed = [name for name, found in held.items() if found is not None and not found.passes]
        rule = f"lower bound above {LEAST_DIFFERENCE:g} points at {LEAST_SAVED:.0%} fewer tokens or more"
        if failed:
            return f"fixed stays the default: on {' and '.join(failed)} not met: {rule}"
        return f"adaptive may become the default: on {' and '.join(DECIDING)} met: {rule}"

    def to_json(self) -> str:
        """Return the report as one JSON object."""
        return json.dumps(
            {**asdict(self), "verdict": self.verdict, "passes": {s.name: s.passes for s in self.sets}}, sort_keys=True
        )

    def to_text(self) -> str:
        """Return a table a set, its comparisons, and the verdict."""
        parts = [_text(one) for one in self.sets]
        return "\n\n".join([*parts, self.verdict, f"settings {self.settings_hash}; {self.machine.to_text()}"])


def report_of(arms: Arms, *, samples: int = SAMPLES) -> SetReport:
    """Sum one set up."""
    lines = tuple(_line(name, asked) for name, asked in arms.asked.items())
    return SetReport(
        arms.name, arms.sha256, arms.chunks, arms.vectors, arms.model, lines,
        {kind: knee(_curve(lines, kind)) for kind in ("items", "tokens")},
        tuple(p for other in _rivals(lines) for m in MEASURES if (p := _compared(arms.asked, other, m, samples))),
    )  # fmt: skip


def knee(curve: Sequence[tuple[str, float, float]]) -> str:
    """Return the name of the point of a curve of (name, cost, result) that lies farthest above the line from its
    cheapest to its dearest point, both scaled to [0, 1]; "" where no point lies above it."""
    points = sorted(curve, key=lambda point: point[1])
    if len(points) < 3 or points[-1][1] == points[0][1] or points[-1][2] == points[0][2]:
        return ""
    (_, x0, y0), (_, x1, y1) = points[0], points[-1]
    above = [((y - y0) / (y1 - y0) - (x - x0) / (x1 - x0), name) for name, x, y in points]
    height, name = max(above, key=lambda pair: pair[0])
    return name if height > 1e-9 and y1 > y0 else ""


def _curve(lines: Sequence[Line], kind: str) -> list[tuple[str, float, float]]:
    chosen = [line for line in lines if line.arm == NONE or line.arm.startswith(kind)]
    return [(line.arm, line.tokens, line.coverage) for line in chosen if line.coverage is not None]


def _line(name: str, asked: Sequence[Asked]) -> Line:
    tokens, times = [one.tokens for one in asked], [one.ms for one in asked]
    return Line(
        name, len(asked), mean([a.hit for a in asked]), mean([a.strict for a in asked]),
        mean([a.coverage for a in asked]), sum(tokens) / len(tokens), percentile(tokens, 95), median(times),
        percentile(times, 95), sum(not t for t in tokens) / len(tokens),
    )  # fmt: skip


def _rivals(lines: Sequence[Line]) -> list[str]:
    """The default of today, and the fixed number of items that costs about as much as the adaptive budget does."""
    adaptive = next(line for line in lines if line.arm == ADAPTIVE)
    fixed = [line for line in lines if line.arm.startswith("items")]
    near = min(fixed, key=lambda line: abs(line.tokens - adaptive.tokens)).arm
    return list(dict.fromkeys((DEFAULT, near)))


def _compared(asked: dict[str, list[Asked]], other: str, measure: str, samples: int) -> Comparison | None:
    mine, theirs = asked[ADAPTIVE], asked[other]
    found = paired(_values(mine, measure), _values(theirs, measure), samples=samples)
    if found is None:
        return None
    tokens = sum(one.tokens for one in theirs)
    saved = 1 - sum(one.tokens for one in mine) / tokens if tokens else 0.0
    return Comparison(other, measure, 100 * found.mean, 100 * found.low, 100 * found.high, saved)


def _values(asked: Sequence[Asked], measure: str) -> dict[str, float | None]:
    return {one.question: getattr(one, measure) for one in asked}


def _text(one: SetReport) -> str:
    head = ("arm", "hit", "strict", "coverage", "tokens", "p95", "ms", "p95", "silent", "knee")
    knees = set(one.knees.values())
    rows = [
        [
            line.arm, *(None if v is None else f"{v:.3f}" for v in (line.hit, line.strict, line.coverage)),
            round(line.tokens), round(line.tokens_p95), round(line.ms, 1), round(line.ms_p95, 1),
            f"{line.silent:.0%}", "knee" if line.arm in knees else "",
        ]
        for line in one.lines
    ]  # fmt: skip
    compared = [
        f"adaptive against {p.against}: {p.measure} {p.points:+.1f} points [{p.low:+.1f}, {p.high:+.1f}], "
        f"{p.saved:.0%} fewer tokens"
        for p in one.paired
    ]
    title = f"{one.name}: {one.lines[0].n:,} questions, {one.chunks:,} passages, {one.vectors:,} vectors ({one.model})"
    return "\n".join([title, table(head, rows), *compared, f"data {one.sha256[:12]}"])
