"""Live windows: a checkpoint before the harness compacts, and nothing that left unpreserved."""

from dataclasses import replace

from health.facts_memories import WindowFacts
from support.health_cases import FAIL, OK, WARN, WELL, Case

GOOD = WindowFacts(
    harness="claude-code", host_tokens=200_000, window_tokens=155_000, limit_tokens=155_000, limit_known=True,
    checkpoint_tokens=124_000, covered=2,
)  # fmt: skip
LATE = "the checkpoint comes after it; set consolidation.window_tokens to 0"


def held(**changes):
    return replace(WELL, window=replace(GOOD, **changes))


CASES = {
    "window_trigger": Case(
        held(limit_known=False), held(checkpoint_tokens=700_000, window_tokens=1_000_000, fault=LATE),
        ("checkpoint at 124,000 tokens, claude-code compacts at 155,000", "155,000 (a guess)",
         "window taken as 1,000,000 tokens, of claude-code 200,000"), (OK, OK, FAIL),
        healthy=held(),
    ),
    "window_refused": Case(
        held(), held(refused=("s1: 1 event not preserved",)),
        ("0 sessions", "0 sessions", "1 session whose last pruning was refused"), (OK, OK, FAIL),
        healthy=held(),
    ),
    "window_emergencies": Case(
        held(emergencies=1), held(emergencies=40),
        ("0 handoffs", "1 handoff written for a full window", "40 handoffs"), (OK, WARN, WARN), healthy=held(),
    ),
    "window_truncated": Case(
        held(truncated=1), held(truncated=300),
        ("0 files were cut", "1 file was cut by its harness", "300 files"), (OK, OK, OK), healthy=held(),
    ),
    "summary_absent": Case(
        held(absent=1), held(absent=2_000),
        ("0 turns behind 2 summaries missing", "1 turn behind", "2,000 turns behind"), (OK, WARN, WARN), healthy=held(),
    ),
}  # fmt: skip
