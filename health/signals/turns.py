"""The last turns: how they were answered, how fast, and what they cost."""

from health.facts import TurnFacts
from health.known import Area, Known, one
from health.signal import Level, Limits, Signal, count
from health.stats import median, percentile
from recall.explain import silence
from transcript.telling import counted

ENOUGH = 10
WORDS_SHARE = Limits(warn=0.5)
P95_MS = Limits(warn=500, fail=1000)
WAYS = {  # how a turn is answered, for people
    "warm": "words and meaning",
    "warm_words": "words alone, with the service",
    "words": "words alone, without the service",
}


def modes(turns: TurnFacts) -> Signal:
    """Return the share of turns per mode; warns when most turns go by words only."""
    seen = turns.seen
    shares = {name: n / seen for name, n in sorted(turns.modes.items())} if seen else {}
    level = WORDS_SHARE.level(shares.get("words", 0.0) + shares.get("warm_words", 0.0)) if seen >= ENOUGH else Level.OK
    parts = ", ".join(f"{share:.0%} by {WAYS.get(name, name)}" for name, share in shares.items())
    return Signal(
        id="turn_modes",
        value={name: round(share, 4) for name, share in shares.items()},
        unit="share",
        level=level,
        text=f"{parts} of the last {counted(seen, 'turn')}" if seen else "no turns yet",
        meaning="By words alone a turn finds what was said in its own words, by meaning what was said in others, too.",
        action="run 'recall doctor embedder', and 'recall service status': without either, words are all there is"
        if level
        else "",
        limits=WORDS_SHARE,
    )


def latency(turns: TurnFacts) -> Signal:
    """Return median and 95th percentile of the time a turn took inside recall, in milliseconds."""
    if not turns.latencies_ms:
        return _nothing("recall_latency", "ms", "How long recall took within a turn.")
    middle, high = median(turns.latencies_ms), percentile(turns.latencies_ms, 95)
    level = P95_MS.level(high)
    return Signal(
        id="recall_latency",
        value={"median": round(middle, 1), "p95": round(high, 1)},
        unit="ms",
        level=level,
        text=f"median {middle:.0f} ms, p95 {high:.0f} ms over {counted(len(turns.latencies_ms), 'turn')}",
        meaning="How long recall took within a turn; 'recall eval latency' measures whole processes.",
        action="run 'recall eval latency' and look at the machine's load" if level else "",
        limits=P95_MS,
    )


def injected_tokens(turns: TurnFacts) -> Signal:
    """Return median and 95th percentile of tokens injected a turn; the budget bounds them."""
    if not turns.tokens:
        return _nothing("injected_tokens", "tokens", "What recall adds to a turn.")
    middle, high = median(turns.tokens), percentile(turns.tokens, 95)
    return Signal(
        id="injected_tokens",
        value={"median": middle, "p95": high},
        unit="tokens",
        level=Level.OK,
        text=f"median {middle:,.0f}, p95 {high:,.0f} over {counted(len(turns.tokens), 'turn')}",
        meaning="What recall adds to a turn; the budget bounds it.",
    )


def used_items(turns: TurnFacts) -> Signal:
    """Return the share of injected items that the answer after them used; no level, for silent use is not seen."""
    items = turns.items_judged
    used = turns.items_named + turns.items_overlapping
    share = used / items if items else None
    return Signal(
        id="used_items",
        value=None if share is None else round(share, 4),
        unit="share",
        level=Level.OK,
        text=f"{used:,} of {counted(items, 'injected item')} used" if items else "no injection judged yet",
        meaning="Items that the next answer named or repeated; what it only took to heart is not seen.",
        details=(f"named: {turns.items_named:,}", f"repeated: {turns.items_overlapping:,}") if items else (),
    )


def empty_turns(turns: TurnFacts) -> Signal:
    """Return turns in which nothing was injected, by reason, and how many candidates were too far off.

    Silence is often right. The rates are shares of the turns and of their candidates, 0 where there were none.
    """
    seen = turns.seen
    share = turns.empty / seen if seen else 0.0
    level = Level.WARN if seen >= ENOUGH and turns.empty == seen else Level.OK
    return Signal(
        id="empty_turns",
        value={
            "turns": seen,
            "empty": turns.empty,
            "empty_rate": round(share, 4),
            "candidates": turns.candidates,
            "below_floor": turns.below_floor,
            "below_floor_rate": round(turns.below_floor / turns.candidates, 4) if turns.candidates else 0.0,
        },
        unit="share",
        level=level,
        text=f"{turns.empty:,} of {counted(seen, 'turn')} injected nothing; "
        f"{turns.below_floor:,} of {counted(turns.candidates, 'candidate')} below the floor",
        meaning="Nothing relevant is a good answer; always nothing is not.",
        action="run 'recall query' with one of the prompts, and 'recall calibrate --dry-run'" if level else "",
        details=tuple(
            f"{reason} ({silence(reason)}): {n:,}, {n / seen:.0%} of the turns"
            for reason, n in sorted(turns.empty_reasons.items(), key=lambda pair: (-pair[1], pair[0]))
        )
        if seen
        else (),
    )


def deadline_misses(turns: TurnFacts) -> Signal:
    """Return turns that ran out of time, by the stage they were in."""
    return count(
        "deadline_misses",
        sum(turns.deadline_misses.values()),
        ("turn missed the deadline", "turns missed the deadline"),
        limits=Limits(warn=0, fail=0.1 * max(turns.seen, ENOUGH)),
        meaning="A turn that is late answers nothing.",
        action="run 'recall eval latency'; look at the stage named",
        details=tuple(f"{stage}: {n:,}" for stage, n in sorted(turns.deadline_misses.items())),
    )


def bad_query_vectors(turns: TurnFacts) -> Signal:
    """Return turns whose own vector was zero or not finite and that went by words instead."""
    return count(
        "bad_query_vectors",
        turns.bad_query_vectors,
        ("prompt had no usable vector", "prompts had no usable vector"),
        limits=Limits(warn=0),
        meaning="Such a prompt is searched by words only.",
        action="run 'recall doctor embedder'; where the model is damaged, 'recall model add FILE' puts it back",
    )


def _nothing(id: str, unit: str, meaning: str) -> Signal:
    return Signal(id=id, value=None, unit=unit, level=Level.OK, text="no turns yet", meaning=meaning)


KNOWN = (
    Known(
        "turn_modes",
        one(lambda f: modes(f.turns)),
        Area.RECALL,
        "ledger",
        warn="> 50 % by words, from 10 turns on",
        why_never="words find, too",
    ),
    Known(
        "recall_latency",
        one(lambda f: latency(f.turns)),
        Area.RECALL,
        "ledger",
        warn="p95 > 500 ms",
        fail="p95 > 1,000 ms",
        remedy="eval latency",
    ),
    Known(
        "injected_tokens",
        one(lambda f: injected_tokens(f.turns)),
        Area.RECALL,
        "ledger",
        why_never="the budget bounds them",
        rows="LCA-12.1-05",
    ),
    Known(
        "used_items",
        one(lambda f: used_items(f.turns)),
        Area.RECALL,
        "ledger, record",
        why_never="silent use is not seen",
    ),
    Known(
        "empty_turns",
        one(lambda f: empty_turns(f.turns)),
        Area.RECALL,
        "ledger",
        warn="all, from 10 turns on",
        why_never="silence is often right",
        remedy="calibrate --dry-run",
        rows="LCA-5.4-14",
    ),
    Known(
        "deadline_misses",
        one(lambda f: deadline_misses(f.turns)),
        Area.RECALL,
        "ledger",
        warn="> 0",
        fail="> 10 % of the turns",
        remedy="eval latency",
    ),
    Known(
        "bad_query_vectors",
        one(lambda f: bad_query_vectors(f.turns)),
        Area.RECALL,
        "ledger",
        warn="> 0",
        why_never="such a prompt goes by words",
        remedy="model add",
    ),
)
