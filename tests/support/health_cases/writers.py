"""Who writes the index."""

from support.health_cases import FAIL, OK, Case, well

OURS = {"recall-index": {"version": "7", "host": "desk", "last_write": "2026-05-28T10:00:00+00:00"}}
OTHERS = {**OURS, "other-memory": {"version": "1", "host": "", "last_write": "2026-05-28T11:00:00+00:00"}}

CASES = {
    "index_writers": Case(
        well("index", writers=OTHERS),
        well("index", writers=OURS, unaccounted=1_554),
        ("recall-index alone", "unknown: other-memory", "no run accounts for 1,554 rows"),
        (OK, FAIL, FAIL),
        healthy=well("index", writers=OURS),
    ),
}
