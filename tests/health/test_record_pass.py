"""One pass over the record gives every group of facts what a pass of its own would give it."""

from pathlib import Path
from typing import Any

import pytest
from support.record import BODIES, NOW, make_draft, make_log

from consolidation import stats
from health import gather_runs, gather_window, gather_workers, record_pass
from health.record_pass import BULK, SUMMARIES, WORKERS, OnePass
from transcript import memories, proposals
from transcript.log import Log
from transcript.sieve import Sieve, type_field

SUMMARY = {"kind": "summary", "text": "both", "covers": ["a" * 26]}
SIEVES = [
    SUMMARIES,
    WORKERS,
    stats._TOLD,
    memories._SIEVE,
    proposals._SIEVE,
    gather_window._EVENTS,
    gather_workers._CORRECTED,
    gather_runs._MARKS,
    *(Sieve((type_field(name),)) for name in ("health", "standing", "checkpoint", "signature", "system")),
    Sieve(types=(type_field("system"),), groups=((b'"preTokens":',),)),
]
OTHERS = [
    None,
    gather_runs._SAID,
    Sieve(),
    Sieve((b'"type":"',)),
    Sieve((type_field("recall"),)),
    Sieve((type_field("tool_call"),)),
]


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """One event of each type whose body tests have, words that look like types among them, and a summary."""
    trap = ' "type":"mark", "covers":[ "type":"memory.written","v":1}'
    drafts = [make_draft(name, name) for name in BODIES]
    drafts += [
        make_draft("trap", text=trap),
        make_draft("sum", body=SUMMARY),
        make_draft("worker", body={"kind": "worker_prompt", "worker": "w1"}),
        make_draft("mark", "mark", body={"mark": "x"}),
    ]
    boundary: dict[str, Any] = {"subtype": "compact_boundary", "compact": {"preTokens": 9, "trigger": "auto"}}
    drafts.append(make_draft("cut", "system", body=boundary))
    return make_log(tmp_path, drafts)


@pytest.mark.parametrize("sieve", [*SIEVES, *OTHERS])
def test_it_reads_what_a_log_reads(log: Log, sieve: Sieve | None) -> None:
    once, plain = OnePass(log.workspace), Log(log.workspace)
    list(once.read(sieve=SUMMARIES))

    def ids(read: Log) -> list[str]:
        wanted = {name for name in BODIES if sieve is None or any(type_field(name).startswith(t) for t in sieve.types)}
        return [event.id for event in read.read(sieve=sieve) if event.type in wanted or sieve in (None, Sieve())]

    assert ids(once) == ids(plain)
    assert sieve is not None or len(ids(once)) == log.head().seq


def test_the_groups_need_one_pass_and_not_one_each(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    passes = []
    real = record_pass.lines
    monkeypatch.setattr(record_pass, "lines", lambda *a, **k: passes.append(1) or real(*a, **k))
    monkeypatch.setattr("transcript.log.lines", lambda *a, **k: pytest.fail("read by itself"))
    once = OnePass(log.workspace)

    found = [len(list(once.read(sieve=sieve))) for sieve in SIEVES]

    assert len(passes) == 1
    assert found[0] >= 1


def test_what_is_behind_a_position_is_read_as_ever(log: Log) -> None:
    once, at = OnePass(log.workspace), log.head().position
    list(once.read(sieve=SUMMARIES))
    log.append([make_draft("new", "mark", body={"mark": "y"})], now=NOW)

    assert [event.body["mark"] for event in once.read(at, sieve=Sieve((type_field("mark"),)))] == ["y"]


def test_an_empty_record_has_nothing(tmp_path: Path) -> None:
    assert list(OnePass(make_log(tmp_path).workspace).read(sieve=SUMMARIES)) == []
    assert all(name.endswith(b'",') for name in BULK)
