"""How far two raters of the same items agree beyond chance, and which way their disagreements run.

A measure that somebody judges says something only where two people, or a person and a model, who do not see each
other's ratings give the same ones. Raw agreement alone misleads: where almost everything is "yes", two raters who toss
their coins agree as well.
"""

import csv
import io
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from math import sqrt
from pathlib import Path

from health.gather_judged import FILE, judged_facts
from health.signals.judged import LEAST_KAPPA
from transcript.errors import RecallError
from transcript.event import stamp
from transcript.lock import FileLock
from transcript.paths import append_line, secure_dir
from transcript.telling import counted
from transcript.workspace import Workspace

PREVENTED = "prevented mistakes"  # the share of them that a reader confirms (`recall eval imprint`)
MOST_BYTES, MOST_CHARS = 4 << 20, 40
SCALES = (("no", "yes"), ("n", "y"), ("false", "true"), ("fail", "pass"), ("wrong", "right"), ("incorrect", "correct"))
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Ratings:
    """What two raters said of the same items, in the order of the file; `unrated` items lack one of the ratings."""

    first: str
    second: str
    pairs: tuple[Pair, ...]
    unrated: int = 0


@dataclass(frozen=True, slots=True)
class Agreement:
    """How two raters agree over n items.

    `raw` is the share of equal ratings, `chance` the share that their habits alone would give, both in 0..1. `kappa` is
    Cohen's, with its 95 % interval, `alpha` Krippendorff's for names: 1 is full agreement, 0 chance, below 0 less.
    `favours` is the rater who gives the better rating in `one_way` of the `disagreements`; "" where ratings have no
    order or the disagreements run both ways.
    """

    measure: str
    at: str
    n: int
    unrated: int
    raters: Pair
    raw: float
    chance: float
    kappa: float
    low: float
    high: float
    alpha: float
    disagreements: int
    one_way: int
    favours: str
    direction: str

    def to_text(self) -> str:
        """Return the figures in three lines or four."""
        lines = [
            f"{self.measure}: {self.raters[0]} and {self.raters[1]} over {counted(self.n, 'item')}",
            f"kappa {self.kappa:.2f} [{self.low:.2f}, {self.high:.2f}], alpha {self.alpha:.2f}; "
            f"raw agreement {self.raw:.1%}, by chance {self.chance:.1%}",
            self.direction,
        ]
        if self.unrated:
            lines.append(f"left out: {counted(self.unrated, 'item lacks', 'items lack')} a rating")
        return "\n".join(lines)


def read(file: Path) -> Ratings:
    """Return the ratings of a CSV file (comma, semicolon or tab): a column that names the item, and one a rater.

    RecallError says on which line something is wrong.
    """
    if file.stat().st_size > MOST_BYTES:
        raise RecallError(f"{file.name} has more than {MOST_BYTES >> 20} MB; a pilot is some dozens of rated items")
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise RecallError(f"{file.name} is not UTF-8 text; save it as CSV in UTF-8") from None
    head = text.partition("\n")[0]
    mark = next((sign for sign in (",", ";", "\t") if sign in head), ",")
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
    try:
        return _ratings([(rows.line_num, [cell.strip() for cell in row]) for row in rows if any(map(str.strip, row))])
    except csv.Error as error:
        raise RecallError(f"line {rows.line_num}: {error}") from None


def _ratings(rows: Sequence[tuple[int, list[str]]]) -> Ratings:
    for line, row in rows or [(1, [])]:
        if len(row) != 3:
            raise RecallError(
                f"line {line} has {counted(len(row), 'column')}, must have 3: the item and one a rater, whose names"
                " stand on the first line"
            )
        long = next((len(cell) for cell in row[1:] if len(cell) > MOST_CHARS), 0)
        if long:
            raise RecallError(f"line {line}: {long:,} characters are no rating; one is a label of at most {MOST_CHARS}")
    _, (_, first, second) = rows[0]
    if not first or not second or first == second:
        raise RecallError("line 1: the second and third column are headed by the names of two raters")
    seen: dict[str, int] = {}
    pairs, unrated = [], 0
    for line, (item, one, other) in rows[1:]:
        if not item or item in seen:
            raise RecallError(f"line {line}: " + (f"rates the item of line {seen[item]} again" if item else "no item"))
        seen[item] = line
        if one and other:
            pairs.append((one.casefold(), other.casefold()))
        else:
            unrated += 1
    return Ratings(first, second, tuple(pairs), unrated)


def agreement(ratings: Ratings, measure: str, *, at: datetime) -> Agreement:
    """Return how the raters agree; RecallError where nothing can be said: no two ratings, or one rating throughout.

    Formulas: kappa = (raw - chance) / (1 - chance), chance = sum of p1(label) p2(label);
    standard error = sqrt(raw (1 - raw) / n) / (1 - chance);
    alpha = 1 - (1 - raw) / (1 - sum of m (m - 1) / (2n (2n - 1))), m how often both together give a label.
    """
    pairs, n = ratings.pairs, len(ratings.pairs)
    if n < 2:
        raise RecallError(f"{counted(n, 'item is', 'items are')} rated by both; agreement needs two at least")
    firsts, seconds = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    if len(firsts | seconds) == 1:
        raise RecallError(f"both raters say {next(iter(firsts))!r} of every item: rate items that differ, too")
    raw = sum(one == other for one, other in pairs) / n
    chance = sum(times * seconds[label] for label, times in firsts.items()) / n**2
    both = firsts + seconds
    expected = 1 - sum(times * (times - 1) for times in both.values()) / (2 * n * (2 * n - 1))
    kappa, reach = (raw - chance) / (1 - chance), 1.959964 * sqrt(raw * (1 - raw) / n) / (1 - chance)
    one_way, favours, direction = _direction(ratings)
    return Agreement(
        measure=measure,
        at=stamp(at),
        n=n,
        unrated=ratings.unrated,
        raters=(ratings.first, ratings.second),
        raw=raw,
        chance=chance,
        kappa=kappa,
        low=max(-1.0, kappa - reach),
        high=min(1.0, kappa + reach),
        alpha=1 - (1 - raw) / expected,
        disagreements=round((1 - raw) * n),
        one_way=one_way,
        favours=favours,
        direction=direction,
    )


def _direction(ratings: Ratings) -> tuple[int, str, str]:
    """Return how many disagreements run the commoner way, in whose favour, and that in words."""
    apart = Counter(pair for pair in ratings.pairs if pair[0] != pair[1])
    of = f"of {counted(apart.total(), 'disagreement')}"
    if not apart:
        return 0, "", "no disagreement"
    order = _order({label for pair in apart for label in pair})
    if order is None:
        (one, other), times = max(apart.items(), key=lambda told: (told[1], told[0]))
        back = apart[other, one]
        said = f"{ratings.first} says {one!r} where {ratings.second} says {other!r} in {times} {of}"
        return times, "", said + (f", in {back} the other way" if back else "")
    ahead = Counter({pair: times for pair, times in apart.items() if order[pair[0]] > order[pair[1]]})
    behind = apart - ahead
    if ahead.total() == behind.total():
        return ahead.total(), "", f"{ratings.first} is the more favourable in {ahead.total()} {of}, as is the other"
    wins = ahead.total() > behind.total()
    name, other_name = (ratings.first, ratings.second) if wins else (ratings.second, ratings.first)
    one_way = ahead if wins else behind
    pair = max(one_way, key=lambda pair: (one_way[pair], pair))
    high, low = pair if wins else pair[::-1]
    most = f", mostly {high!r} where {other_name} says {low!r}"
    return one_way.total(), name, f"{name} is the more favourable in {one_way.total()} {of}{most}"


def _order(labels: set[str]) -> Mapping[str, float] | None:
    """Return how good each label is, None where that is not known: numbers, or the two words of a scale."""
    for scale in SCALES:
        if labels <= set(scale):
            return {label: float(scale.index(label)) for label in labels}
    try:
        return {label: float(label) for label in labels}
    except ValueError:
        return None


def keep(workspace: Workspace, found: Agreement) -> None:
    """Keep an agreement for `recall health`."""
    _append(workspace.run_dir / FILE, asdict(found))


def used(workspace: Workspace, measure: str, *, at: datetime) -> None:
    """Keep that a judged measure was taken."""
    _append(workspace.run_dir / FILE, {"measure": measure, "at": stamp(at), "used": True})


def calibrated(workspace: Workspace, measure: str) -> bool:
    """Say whether two raters of a judged measure are known to agree; RecallError where they are known not to."""
    known = next((one for one in judged_facts(workspace).measures if one.name == measure), None)
    if known is None or known.kappa is None:
        return False
    if known.kappa < LEAST_KAPPA:
        raise RecallError(
            f"two raters of {measure} agree too little (kappa {known.kappa:.2f}, at least {LEAST_KAPPA} is wanted):"
            " mend what they are told to judge by, and run 'recall eval agreement' over a new pilot"
        )
    return True


def _append(file: Path, line: Mapping[str, object]) -> None:
    """Add a line; one that an interrupted run left open is closed first."""
    secure_dir(file.parent)
    with FileLock(file.with_suffix(".lock")):
        append_line(file, json.dumps(line))
