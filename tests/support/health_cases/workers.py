"""Sessions of workers that the index lacks."""

from support.health_cases import OK, WARN, Case, well

CASES = {
    "workers_unindexed": Case(
        well("workers", seen=5, indexed=3, missing=("a1 of session s, 2026-05-28", "a2 of session s, 2026-05-28")),
        well("workers", seen=900, indexed=0, missing=("a1 of session s, 2026-05-28",) * 900),
        ("5 of 5 sessions of workers indexed", "3 of 5 sessions of workers indexed, 2 missing", "900 missing"),
        (OK, WARN, WARN),
        healthy=well("workers", seen=5, indexed=5),
    ),
}
