"""Memories, checkpoints, the night, the key that signs."""

from dataclasses import replace

from health.facts_memories import MemoryFacts
from support.health_cases import FAIL, HOUR, NOW, OK, WARN, WELL, Case

GOOD = MemoryFacts(states={"current": 3}, checkpoint_at=NOW - 60, checkpoint_state="complete", elected=1, fixed=2)
WARNS = (OK, WARN, WARN)
NEVER = (OK, OK, OK)


def held(**changes):
    return replace(WELL, memories=replace(GOOD, **changes))


def case(warn, fail, says, levels=WARNS, **healthy):
    return Case(held(**warn), held(**fail), says, levels, held(**healthy))


CASES = {
    "memories": case(
        {"conflicts": 1, "waiting": 2}, {"conflicts": 4_000},
        ("3 current", "3 current, 2 waiting, 1 in conflict", "4,000 in conflict"),
    ),
    "memory_files": case(
        {"edited": ("a.md: memory_edited",)}, {"edited": tuple(f"{n}.md: memory_missing" for n in range(30))},
        ("0 files differ", "1 file differs from the record", "30 files differ"),
    ),
    "verification": case(
        {"decided": {"accepted": 3, "rejected": 0}}, {"decided": {"rejected": 9}, "reasons": {"no_source": 9}},
        ("none yet", "3 accepted", "no_source: 9"), NEVER,
    ),
    "checkpoint_last": case(  # LCA-8.2-03
        {"checkpoint_state": "incomplete", "checkpoint_failed": "index"},
        {"checkpoint_state": "failed", "checkpoint_failed": "memories", "checkpoint_at": NOW - 3 * HOUR},
        ("complete 60 s ago", "incomplete 60 s ago, the step index failed", "failed 3.0 h ago, the step memories"),
    ),
    "checkpoint_triggers": case(
        {"triggers": {"elected": 1, "nightly": 2}}, {"elected": 0, "fixed": 900},
        ("1 elected, 2 by a trigger", "(elected 1, nightly 2)", "0 elected, 900 by a trigger"), NEVER,
    ),
    "checkpoint_due": case(
        {"due": {"bloat": "501 memories"}}, {"due": {"bloat": "501 memories", "decay": "9 expired"}},
        ("nothing", "bloat: 501 memories", "bloat: 501 memories; decay: 9 expired"),
    ),
    "compactions": case(
        {"compactions": {"protected": 1, "unprotected": 1}, "compactions_unprepared": 2},
        {"compactions": {"unprotected": 78}, "compactions_unprepared": 78},
        ("2 of 2 compacted sessions kept", "1 of 2 compacted sessions kept by a checkpoint, 1 by one",
         "0 of 78 compacted sessions kept by a checkpoint; before 78 there was none"), compactions={"ok": 2},
    ),
    "nightly_last": case(
        {"nightly_at": NOW - 60, "nightly_state": "failed", "nightly_failed": ("verify",)},
        {"nightly_at": NOW - HOUR * 48, "nightly_state": "failed", "nightly_failed": ("sync", "verify")},
        ("never ran", "failed 60 s ago: verify", "failed 2.0 days ago: sync, verify"),
    ),
    "approval_key": case(
        {"approvals": 2}, {"key_fault": "key_exposed", "approvals": 1},
        ("none", "none, 2 approvals", "key_exposed, 1 approval"),
    ),
    "expired_current": case(
        {"shown_though_gone": ()}, {"shown_though_gone": ("abcdefghij",)},
        ("0 memories that no longer hold", "0 memories", "1 memory that no longer holds is current in the index"),
        (OK, OK, FAIL),
    ),
}  # fmt: skip
