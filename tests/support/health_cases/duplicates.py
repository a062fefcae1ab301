"""Copies in the index, at both sides of each threshold."""

from support.health_cases import OK, WARN, Case, well

NEVER = (OK, OK, OK)
FEW = well("index", rows=1000, distinct=999)
SOME = well("index", rows=1000, distinct=990, duplicates_by_class={"tool": 10})
MANY = well("index", rows=1663, distinct=109, duplicates_by_class={"conversation": 845, "tool": 709})

CASES = {
    "duplicate_ratio": Case(SOME, MANY, ("0.1% of 1,000 rows", "1.0%", "93.4% of 1,663 rows (109"), healthy=FEW),
    "duplicate_rows": Case(SOME, MANY, ("1 duplicate row", "tool: 10", "1,554 duplicate rows"), healthy=FEW),
    "distinct_texts": Case(SOME, MANY, ("999 distinct", "990 distinct", "109 distinct"), NEVER, healthy=FEW),
    "most_repeated_text": Case(
        well("index", most_repeated=2),
        well("index", most_repeated=96),
        ("stored 1 time", "stored 2 times", "stored 96 times"),
        (OK, WARN, WARN),
    ),
    "duplicate_bytes": Case(
        well("index", bytes=1_010_000, bytes_needed=1_000_000),
        well("index", bytes=33_000_000, bytes_needed=530_000),
        ("1.0 MB of texts", "1.0 MB", "33.0 MB of texts and vectors stored, 530.0 KB needed"),
        healthy=well("index", bytes=1_001_000, bytes_needed=1_000_000),
    ),
    "near_copies": Case(
        well("index", near_copies=1), well("index", near_copies=900), ("not counted", "1 row equals", "900 rows"), NEVER
    ),
    "near_pairs": Case(
        well("index", near_pairs=1, near_compared=64),
        well("index", near_pairs=900, near_compared=64),
        ("0 pairs", "1 pair of texts is nearly one", "900 pairs"),
        NEVER,
    ),
}
