"""Checkpoints that indexed nothing, and turns that wait for one."""

from support.health_cases import DAY, NOW, Case, well

CASES = {
    "checkpoint_embedded": Case(
        well("checkpoints", expected=24, embedded=1),
        well("checkpoints", expected=1, embedded=0),
        ("24 of 24 turns of the last checkpoint in the index", "1 of 24 turns", "0 of 1 turn "),
        healthy=well("checkpoints", expected=24, embedded=24),
    ),
    "checkpoint_age": Case(
        well("checkpoints", waiting_since=NOW - 3.1 * DAY),
        well("checkpoints", waiting_since=NOW - 14.1 * DAY),
        ("wait for a checkpoint since 3.0 days", "since 3.1 days", "since 14.1 days"),
        healthy=well("checkpoints", waiting_since=NOW - 3 * DAY),
    ),
}
