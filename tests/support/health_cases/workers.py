"""Sessions of workers that the index lacks, and corrections of theirs that nobody learned from."""

from support.health_cases import DAY, NOW, OK, WARN, Case, well

ONE = ("abcdefghij of a1, 2026-05-28",)
CASES = {
    "workers_unindexed": Case(
        well("workers", seen=5, indexed=3, missing=("a1 of session s, 2026-05-28", "a2 of session s, 2026-05-28")),
        well("workers", seen=900, indexed=0, missing=("a1 of session s, 2026-05-28",) * 900),
        ("5 of 5 sessions of workers indexed", "3 of 5 sessions of workers indexed, 2 missing", "900 missing"),
        (OK, WARN, WARN),
        healthy=well("workers", seen=5, indexed=5),
    ),
    "worker_corrections": Case(
        well("workers", corrections=ONE, corrections_oldest=NOW - DAY, corrections_passed=1),
        well("workers", corrections=ONE * 3, corrections_oldest=NOW - 31 * DAY),
        (
            "1 correction of workers not consolidated, since 24.0 h",
            "a checkpoint passed over 1 | abcdefghij of a1",
            "3 corrections of workers not consolidated, since 31.0 days",
        ),
        healthy=well("workers", corrections=ONE, corrections_oldest=NOW - DAY),
    ),
}
