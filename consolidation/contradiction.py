"""Whether two statements cannot both hold, as far as their words show it.

Two sentences are laid side by side. They conflict where everything but one value is the same, where one denies what the
other says, or where an opposite stands at the same place; rules ("start names with `x_`") also where they name another
value of the same form for the same subject. A pair that only adds ("also", "another") does not conflict, and a
contradiction in other words is not found: nothing here understands a sentence.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, product, takewhile

from consolidation.align import Token, align, tokens, words_of
from consolidation.claims import Claim, claims
from consolidation.model import Candidate, Conflict, Touched
from indexer.segment import STOP
from recall.facts import OPPOSITES, stem
from recall.supersession import values
from transcript.lookalike import compared

VALUE, NUMBER, NEGATION, OPPOSITE, CYCLE, PROCEDURE = "value", "number", "negation", "opposite", "cycle", "procedure"
GOVERNED = frozenset({"runbook", "role_standard"})
RULES = GOVERNED | {"user_preference", "design_decision"}
ALIGNED = 0.8  # of the shorter sentence, its value left out
DENIED = 0.6  # of the shorter sentence, where one of the two denies
SIGNATURE = 0.4  # likeness of what two rules say around their values
LEAST_WORDS = 2  # content words that both must share
MOST_PAIRS = 100  # of two texts, up to which every claim is held against every other
MOST_ALIKE = 3  # of a longer text: the claims that each is held against
MOST_TEXTS = 256  # kept in parts for the length of a process: a memory is held against every candidate
EVERYWHERE = 50  # claims of a text in which a word stands that tells none of them from the others
_ADDITIVE = re.compile(r"\b(?:also|another|additional(?:ly)?|as well|too|includ\w+|besides|plus|auch|aussi)\b", re.I)
_ADDS = re.compile(r"\b(?:add(?:s|ed)?|import(?:s|ed)?|include[sd]?|append(?:s|ed)?|install(?:s|ed)?)\b", re.I)
_RULE = re.compile(
    r"\b(?:always|never|must|should|from now on|going forward|use|prefer|start|end|begin|name|prefix|suffix|call|keep|"
    r"write|put|add|include|append|avoid|don't|do not)\b",
    re.IGNORECASE,
)
_OPPOSITE = frozenset((stem(a), stem(b)) for one in OPPOSITES for a, b in (one, one[::-1]))
_GENERIC = frozenset(
    map(
        stem,
        STOP
        | words_of(
            "name names prefix suffix append string word character letter start end begin use convention ensure always "
            "never must should please add include keep put write set call make"
        ),
    )
)


@dataclass(frozen=True, slots=True)
class Difference:
    """How two sentences differ. `sure` says that both cannot hold; else they are near twins that nobody can tell."""

    how: str
    detail: str
    sure: bool


def conflicts(candidate: Candidate, touched: Sequence[Touched], procedures: Sequence[Touched] = ()) -> list[Conflict]:
    """Return the memories among touched and procedures that the candidate cannot stand beside, each once."""
    found: dict[str, Conflict] = {}
    for item in [*touched, *procedures]:
        memory = item.memory
        if memory.candidate == candidate.id and memory.superseded_by:
            found[memory.id] = Conflict(memory.id, CYCLE, f"what took its place is {memory.superseded_by[:10]}")
            continue
        rules = candidate.memory_type in RULES and memory.memory_type in RULES
        apart = difference(candidate.text, memory.statement, rules=rules) or _banned(candidate, item)
        if apart is None or not apart.sure:
            continue
        governed = memory.memory_type in GOVERNED and candidate.memory_type not in GOVERNED
        found[memory.id] = Conflict(memory.id, PROCEDURE if governed else apart.how, apart.detail)
    return list(found.values())


def near_twin(candidate: Candidate, item: Touched) -> Difference | None:
    """Return how a memory differs from a candidate in one place without a clear conflict; None where it does not."""
    apart = difference(candidate.text, item.memory.statement)
    return apart if apart is not None and not apart.sure else None


def difference(one: str, other: str, *, rules: bool = False) -> Difference | None:
    """Return the first difference between a sentence of one text and a sentence of the other; sure ones first."""
    found = None
    for a, b in _pairs(one, other):
        if a.asks or b.asks:
            continue
        for apart in (_differ(a.text, b.text), _values_differ(a.text, b.text) if rules else None):
            if apart is not None and apart.sure:
                return apart
            found = found or apart
    return found


def _pairs(one: str, other: str) -> Iterator[tuple[Claim, Claim]]:
    """Every pair of claims; of long texts those that share most words, so that the work grows with their length."""
    ours, theirs = _claims(one), _claims(other)
    if len(ours) * len(theirs) <= MOST_PAIRS:
        yield from product(ours, theirs)
        return
    said_in = _said_in(other)
    for claim in ours:
        told = [said_in.get(word, []) for word in _stems(claim.text)]
        shared = Counter(at for found in told if len(found) <= EVERYWHERE for at in found)
        yield from ((claim, theirs[at]) for at, _ in shared.most_common(MOST_ALIKE))


@lru_cache(maxsize=MOST_TEXTS)
def _claims(text: str) -> tuple[Claim, ...]:
    return tuple(claims(compared(text)))


@lru_cache(maxsize=MOST_TEXTS)
def _said_in(text: str) -> dict[str, list[int]]:
    """The numbers of the claims in which each word of a text stands."""
    found: dict[str, list[int]] = {}
    for at, claim in enumerate(_claims(text)):
        for word in _stems(claim.text):
            found.setdefault(word, []).append(at)
    return found


def _stems(text: str) -> list[str]:
    return sorted({token.stem for token in tokens(text)})


def _differ(one: str, other: str) -> Difference | None:
    a, b = tokens(one), tokens(other)
    if len(a) > len(b):
        a, b = b, a
        flipped = True
    else:
        flipped = False
    if len({t.stem for t in a} & {t.stem for t in b}) < LEAST_WORDS:
        return None
    if _too_far(a, b):
        return None
    pairs = align(a, b)
    shared = [a[i] for i, _ in pairs]
    if len({t.text.lower() for t in shared if t.text.lower() not in STOP and t.kind != "den"}) < LEAST_WORDS:
        return None
    gaps = _gaps(a, b, pairs)
    denials = (sum(t.kind == "den" for t in a) - sum(t.kind == "den" for t in b)) % 2 == 1
    slots = [(x, y) for x, y in gaps if x and y]
    extra = [t for x, y in gaps if not (x and y) for t in (*x, *y) if t.kind != "den"]
    kept = len(a) - sum(t.kind == "den" for t in a)
    opposite = next((p for x, y in slots for p in _opposites(x, y)), None)
    if denials or opposite:
        if denials and opposite:
            return None  # twice turned
        facts = [t for x, _ in gaps for t in x if t.is_fact]
        if facts or sum(t.kind != "den" for t in shared) < DENIED * kept:
            return None
        detail = "one of the two denies what the other says" if denials else _told(opposite, flipped)
        return Difference(NEGATION if denials else OPPOSITE, detail, not any(t.kind == "cond" for t in extra))
    if len(slots) != 1:
        return None
    left, right = slots[0]
    if slots[0] == gaps[-1]:  # the longer one may go on behind the value
        left, right = _facts_first(left), _facts_first(right)
        extra += [*slots[0][0][len(left) :], *slots[0][1][len(right) :]]
    if (
        not left
        or not right
        or not all(t.is_fact for t in (*left, *right))
        or len(shared) < ALIGNED * (len(a) - len(left))
    ):
        return None
    inside = [t for x, y in gaps[1:-1] if not (x and y) for t in (*x, *y) if t.text.lower() not in STOP]
    if inside or any(t.kind in ("cond", "turn") for t in extra):
        return None  # "function argument names" are other names than "function names"
    number = all(t.kind == "num" for t in (*left, *right))
    before = [t for t in a if t.start < left[0].start]
    sure = not _only_adds(one, other) and (number or _is_said(before))
    values_of = " ".join(t.text for t in left), " ".join(t.text for t in right)
    return Difference(NUMBER if number else VALUE, _told(values_of, flipped), sure)


def _too_far(a: Sequence[Token], b: Sequence[Token]) -> bool:
    """Whether too few words of `a` stand in `b` at all, whatever their order, for the two to be laid side by side."""
    texts, stems = {t.text.lower() for t in b}, {t.stem for t in b if not t.is_fact}
    both = sum(t.text.lower() in texts or (not t.is_fact and t.stem in stems) for t in a)
    denied = DENIED * sum(t.kind != "den" for t in a)
    return both < min(denied, ALIGNED * sum(not t.is_fact for t in a))


def _gaps(
    a: Sequence[Token], b: Sequence[Token], pairs: Sequence[tuple[int, int]]
) -> list[tuple[list[Token], list[Token]]]:
    """The tokens of both between neighbouring pairs."""
    ends = [*pairs, (len(a), len(b))]
    starts = [(0, 0), *((i + 1, j + 1) for i, j in pairs)]
    return [(list(a[i:k]), list(b[j:m])) for (i, j), (k, m) in zip(starts, ends, strict=True)]


def _only_adds(one: str, other: str) -> bool:
    """Whether two statements may each add to what there is: `@log` was added, and so was `@trace`."""
    more = _ADDITIVE.search(one) or _ADDITIVE.search(other)
    return bool(more or (_ADDS.search(one) and _ADDS.search(other)))


def _facts_first(found: Sequence[Token]) -> list[Token]:
    return list(takewhile(lambda token: token.is_fact, found))


def _opposites(left: Sequence[Token], right: Sequence[Token]) -> list[tuple[str, str]]:
    return [
        (x.text, y.text)
        for x in left
        for y in right
        if "den" not in (x.kind, y.kind) and (stem(x.text.lower()), stem(y.text.lower())) in _OPPOSITE
    ]


def _told(pair: tuple[str, str] | None, flipped: bool) -> str:
    one, other = pair or ("", "")
    return f"{other} | {one}" if flipped else f"{one} | {other}"


def _is_said(before: Sequence[Token]) -> bool:
    """Whether a value is what the sentence says, not what it is about: a verb stands before it."""
    return any(t.kind == "word" and t.text.lower() in _VERBS | _ORDERS for t in before)


_VERBS = words_of(
    "is are was be been runs run uses use used lives live stands needs need requires require listens returns return "
    "gives takes goes equals means defaults default points sits sends writes reads stores keeps holds has have sets "
    "set called named must will can does do default prefer deploy deploys ships ship kept"
)
_ORDERS = words_of(
    "use set put keep run call name write install prefer start end deploy store send begin prefix suffix make"
)


def _values_differ(one: str, other: str) -> Difference | None:
    """Of two rules: another value of the same form for the same subject."""
    if not (_RULE.search(one) and _RULE.search(other)) or _only_adds(one, other):
        return None
    mine, theirs = values(one), values(other)
    if _signature_likeness(one, mine, other, theirs) < SIGNATURE:
        return None
    for a in mine:
        for b in theirs:
            if a != b and a not in theirs and b not in mine and _shape(a) == _shape(b):
                return Difference(VALUE, f"{a} | {b}", True)
    return None


def _signature_likeness(one: str, mine: Sequence[str], other: str, theirs: Sequence[str]) -> float:
    """Jaccard of what two rules say around their values: words, and words side by side."""
    a, b = _signature(one, mine), _signature(other, theirs)
    return len(a & b) / len(a | b) if a and b else 0.0


def _signature(text: str, found: Sequence[str]) -> frozenset[str]:
    for value in found:
        text = text.replace(value, " ")
    words = [stem(t.text.lower()) for t in tokens(text) if t.kind in ("word", "name", "id")]
    words = [word for word in words if word not in _GENERIC and len(word) > 2]
    return frozenset(words) | {f"{a} {b}" for a, b in pairwise(words)}


def _shape(value: str) -> str:
    """A value's form: letters as one `a`, digits as one `9`, so that `x_` and `_x` differ."""
    return re.sub(r"\d+", "9", re.sub(r"[^\W\d_]+", "a", value))


def _banned(candidate: Candidate, item: Touched) -> Difference | None:
    """A memory that says to do what the candidate says to avoid, or the other way round."""
    memory = item.memory
    for mistake, text in ((candidate.mistake, memory.statement), (memory.mistake, candidate.text)):
        if mistake is None or not mistake[0]:
            continue
        avoid = compared(mistake[0]).lower()
        for claim in claims(text):
            words = tokens(claim.text)
            said = [t.text.lower() for t in words]
            orders = bool(words) and (said[0] in _ORDERS or _RULE.search(claim.text) is not None)
            if orders and avoid in said and not any(t.kind in ("den", "turn") for t in words):
                return Difference(VALUE, f"{mistake[1] or 'not ' + avoid} | {mistake[0]}", True)
    return None
