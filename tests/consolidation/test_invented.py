"""Sixty invented candidates of the planted set's six kinds: what is true ends as a memory, nothing false does."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from support.remembered import Remembered, make_remembered

from consolidation.decide import decide
from consolidation.neighbours import touched
from consolidation.settings import Settings
from consolidation.verify import verify

# What was said; then a candidate that it supports, and candidates that say what it does not say, with another number,
# another name, or the contrary; last what a later memory says instead of the first candidate.
SAID = (
    (
        "The API listens on port 8080 behind the `haproxy` gateway, and health checks go to `/healthz`.",
        "The API listens on port 8080 behind the `haproxy` gateway.",
        "The API is restarted every night at two.",
        "The API listens on port 8081 behind the `haproxy` gateway.",
        "The API listens on port 8080 behind the `nginx` gateway.",
        "The API does not listen on port 8080 behind the `haproxy` gateway.",
        "The API listens on port 8443 behind the `haproxy` gateway.",
    ),
    (
        "The nightly import failed because `load_rows` held the lock on orders.db for 40 s.",
        "The nightly import failed because `load_rows` held the lock on orders.db for 40 s.",
        "The nightly import failed because the disk was full.",
        "The nightly import failed because `load_rows` held the lock on orders.db for 4 s.",
        "The nightly import failed because `loadRows` held the lock on orders.db for 40 s.",
        "The nightly import never failed because `load_rows` held the lock on orders.db for 40 s.",
        "The nightly import failed because `load_rows` held the lock on orders.db for 90 s.",
    ),
    (
        "Deploys run through `make release`; the tag must be signed, and Friday is excluded.",
        "Deploys run through `make release`.",
        "Deploys run through `make release` on Friday.",
        "Deploys run through `make release` 3 times.",
        "Deploys run through `make ship`.",
        "Deploys never run through `make release`.",
        "Deploys run through `just publish`.",
    ),
    (
        "Sessions are kept in Redis. We use Postgres for orders only, if the flag `pg_orders` is set.",
        "Sessions are kept in Redis.",
        "We use Postgres for orders.",
        "Sessions are kept in 2 Redis servers.",
        "Sessions are kept in Memcached.",
        "Sessions are not kept in Redis.",
        "Sessions are kept in Postgres.",
    ),
    (
        "Uploads above 25 MB are rejected with status 413 by the gateway.",
        "Uploads above 25 MB are rejected with status 413 by the gateway.",
        "Uploads above 25 MB are rejected.",
        "Uploads above 50 MB are rejected with status 413 by the gateway.",
        "Uploads above 25 MB are rejected with status 413 by Varnish.",
        "Uploads above 25 MB are accepted with status 413 by the gateway.",
        "Uploads above 80 MB are rejected with status 413 by the gateway.",
    ),
    (
        "**Please** never log the customer's email address; `mask_email` is called before every log line.",
        "`mask_email` is called before every log line.",
        "`mask_email` is called before every request.",
        "`mask_email` is called 2 times before every log line.",
        "`mask_mail` is called before every log line.",
        "`mask_email` is called after every log line.",
        "`redact_email` is called before every log line.",
    ),
    (
        "I think the queue is slow since each message is acknowledged alone. The worker pulls 50 messages at once.",
        "The worker pulls 50 messages at once.",
        "The queue is slow since each message is acknowledged alone.",
        "The worker pulls 500 messages at once.",
        "The scheduler pulls 50 messages at once.",
        "The worker can't pull 50 messages at once.",
        "The worker pulls 20 messages at once.",
    ),
    (
        "Branches are named after the ticket, such as SHOP-512-short-title.",
        "Branches are named after the ticket, such as SHOP-512-short-title.",
        "Tags are named after the release, such as SHOP-512-short-title.",
        "Branches are named after the ticket, such as SHOP-513-short-title.",
        "Branches are named after the ticket, such as DESK-512-short-title.",
        "Branches are not named after the ticket, such as SHOP-512-short-title.",
        "Branches are named after the ticket, such as SHOP-512.",
    ),
    (
        "The thumbnail cache lives in `var/thumbs` and is shared between workers, unless `THUMBS_LOCAL` is set.",
        "The thumbnail cache lives in `var/thumbs`.",
        "The thumbnail cache is shared between workers.",
        "The thumbnail cache lives in `var/thumbs2`.",
        "The thumbnail cache lives in `var/cache`.",
        "The thumbnail cache doesn't live in `var/thumbs`.",
        "The thumbnail cache lives in `var/images`.",
    ),
    (
        "- Reports are rendered in UTC\n- The browser converts them to local time\n- Exports keep 90 days of history",
        "Exports keep 90 days of history",
        "Reports are rendered in local time",
        "Exports keep 30 days of history",
        "Backups keep 90 days of history",
        "Exports drop 90 days of history",
        "Exports keep 365 days of history",
    ),
)  # fmt: skip
SUPPORTED_CUT_SHORT = "The thumbnail cache lives in `var/thumbs`."  # "and" begins no clause of its own: it waits


@pytest.fixture
def kept(tmp_path: Path) -> Remembered:
    return make_remembered(tmp_path)


def ends(kept: Remembered, said: str, text: str, *, newer: str = "") -> str:
    """How a candidate ends that rests on one message; with newer beside a memory of a later day."""
    candidate = kept.candidate(text, kept.say(said, day=2), day=2, why="it was said", subject=("x",))
    state = kept.state
    if newer:
        memory = kept.remember(kept.candidate(newer, day=9))
        state = replace(state, memories={memory.id: memory})
    near = touched(candidate, state)
    verdict = verify(candidate, kept.log, near, key=kept.key)
    return decide(candidate, [verdict], near, Settings(), sessions_of=lambda one: frozenset()).reason


def test_what_was_said_is_remembered(kept: Remembered) -> None:
    found = {text: ends(kept, said, text) for said, text, *_ in SAID}

    assert found == dict.fromkeys(found, "accepted") | {SUPPORTED_CUT_SHORT: "unverified"}


@pytest.mark.parametrize("place", [2, 3, 4, 5], ids=["unsupported", "wrong number", "wrong name", "negated"])
def test_what_was_not_said_is_not_remembered(kept: Remembered, place: int) -> None:
    found = Counter(ends(kept, one[0], one[place]) for one in SAID)

    assert set(found) <= {"unsupported", "unverified"}
    assert found.total() == len(SAID)


def test_what_was_replaced_since_waits(kept: Remembered) -> None:
    found = {one[1]: ends(kept, one[0], one[1], newer=one[6]) for one in SAID}

    assert set(found.values()) <= {"contradiction", "unverified"}
    assert list(found.values()).count("contradiction") >= 8
