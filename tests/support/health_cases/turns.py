"""The last turns, as the ledger holds them; how many of them were told nothing (LCA-5.4-14)."""

from dataclasses import replace

from health.facts import TurnFacts
from support.health_cases import OK, WARN, WELL, Case

NEVER = (OK, OK, OK)
WARNS = (OK, WARN, WARN)


def turns(**changes):
    return replace(WELL, turns=TurnFacts(**{"modes": {"warm": 10}, **changes}))


def slow(ms):
    return turns(latencies_ms=(20.0, float(ms)))


CASES = {
    "turn_modes": Case(
        turns(modes={"warm": 4, "words": 6}), turns(modes={"words": 10}),
        ("50% by words alone, without", "60% by words alone, without", "100% by words alone, without"), WARNS,
        healthy=turns(modes={"warm": 5, "words": 5}),
    ),
    "recall_latency": Case(slow(501), slow(1001), ("p95 500 ms", "p95 501 ms", "p95 1001 ms"), healthy=slow(500)),
    "injected_tokens": Case(
        turns(tokens=(1, 900)), turns(tokens=(9_000,)), ("no turns yet", "p95 900", "median 9,000"), NEVER,
        healthy=turns(),
    ),
    "used_items": Case(
        turns(items_judged=4, items_named=1), turns(items_judged=4),
        ("no injection judged", "1 of 4 injected items used", "0 of 4"), NEVER,
    ),
    "empty_turns": Case(
        turns(empty=10, empty_reasons={"low_evidence": 7, "continuation": 3}, candidates=50, below_floor=3),
        turns(modes={"words": 50}, empty=50),
        ("9 of 10 turns", "nothing; 3 of 50 candidates below the floor", "50 of 50"), WARNS,
        healthy=turns(empty=9),
    ),
    "deadline_misses": Case(
        turns(deadline_misses={"encode": 1}), turns(deadline_misses={"encode": 2}),
        ("0 turns", "encode: 1", "2 turns missed"),
    ),
    "bad_query_vectors": Case(
        turns(bad_query_vectors=1), turns(bad_query_vectors=50), ("0 prompts", "1 prompt had", "50 prompts"), WARNS
    ),
}  # fmt: skip
