"""The report's own state: what of its sources could not be read."""

from health.facts import Facts
from health.known import Area, Known, one
from health.signal import NONE_ALLOWED_FAIL, Signal, count


def unreadable(facts: Facts) -> Signal:
    """Return how many groups of facts could not be read; the signals over them show nothing."""
    return count(
        "unreadable",
        len(facts.broken),
        ("source of this report cannot be read", "sources of this report cannot be read"),
        limits=NONE_ALLOWED_FAIL,
        meaning="What cannot be read cannot be well: the signals over it show what is assumed without it.",
        action="run 'recall verify'",
        details=facts.broken,
    )


KNOWN = (
    Known(
        "unreadable",
        one(unreadable),
        Area.RECORD,
        "every source of the report",
        fail="> 0",
        why_never="what cannot be read is broken at once",
        remedy="verify",
    ),
)
