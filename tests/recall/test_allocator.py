"""The service's memory: what turns freed goes back to the system."""

import os
import platform
from pathlib import Path

import pytest
from support.hooks import payload, run_client, serving

from recall.allocator import give_back
from recall.service import TIDY_EVERY, Reply

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc keeps what was freed")
PIECE = 100_000  # bytes; from 128 KiB on glibc asks the system for each piece by itself


def resident_mb() -> float:
    return int(Path("/proc/self/statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def test_what_was_freed_below_something_that_is_still_held_goes_back():
    pieces = [bytearray(PIECE) for _ in range(2000)]
    held = pieces.pop()
    full = resident_mb()
    del pieces
    give_back()

    assert resident_mb() < full - 150
    assert len(held) == PIECE


def test_a_service_gives_back_after_every_so_many_answers(data, monkeypatch):
    given = []
    monkeypatch.setattr("recall.service.give_back", lambda: given.append(1))
    with serving(data, lambda harness, raw, left: Reply()) as service:
        for _ in range(TIDY_EVERY - 1):
            service._answered += 1
        run_client(data, payload("why"))
        run_client(data, payload("why"))

    assert given == [1]
