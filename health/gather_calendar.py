"""Reads on which days which harness wrote turns that the record holds."""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta

from transcript.errors import RecordError
from transcript.event import moment, stamp
from transcript.log import Log
from transcript.sieve import Sieve, type_field

DAYS = 371  # 53 weeks
TYPE = "conversation_turn"


def captures(log: Log, now: datetime) -> dict[str, Mapping[date, int]]:
    """Return for each harness how many turns of the last 53 weeks the record holds, by day (UTC) that has any.

    Nothing where the record cannot be read: what is wrong with it has signals of its own.
    """
    since = stamp((now - timedelta(days=DAYS)).astimezone(UTC))
    found: dict[str, Counter[date]] = {}
    try:
        for event in log.read(sieve=Sieve((type_field(TYPE),), since=since)):
            if event.type == TYPE:
                day = moment(event.ts).astimezone(UTC).date()
                found.setdefault(event.agent, Counter())[day] += 1
    except RecordError:
        return {}
    return dict(sorted(found.items()))
