"""Runs that were declared cleared, and what they began with."""

from health.facts import Inherited
from support.health_cases import FAIL, OK, Case, well

CASES = {
    "runs_not_independent": Case(
        well("runs", declared=2, inherited=(Inherited("run-2", compacted=True),)),
        well("runs", declared=9, inherited=(Inherited("run-2", compacted=True, share=0.412, of="run-1"),) * 9),
        (
            "2 runs declared cleared in 30 days",
            "1 of 2 runs declared cleared is not independent | session run-2: begins with a compaction",
            "9 of 9 runs declared cleared are not independent | session run-2: begins with a compaction, 41% of its"
            " 8-grams stand in the summary of session run-1",
        ),
        (OK, FAIL, FAIL),
        healthy=well("runs", declared=2),
    ),
}
