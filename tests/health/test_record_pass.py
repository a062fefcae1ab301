"""One pass over the record gives each group of facts what its own would give it, and is kept for the next."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.record import BODIES, NOW, make_draft, make_log

from consolidation import stats
from health import gather_runs, gather_window, gather_workers, line_places, record_pass
from health.record_pass import BULK, SUMMARIES, WORKERS, OnePass
from transcript import memories, proposals
from transcript.event import from_line
from transcript.log import Log
from transcript.redaction import erase
from transcript.redaction_plan import plan_events
from transcript.sieve import Sieve, type_field

OF_NO_USE = ("tool_call", "tool_result", "reasoning", "recall")
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


def whole(log: Log) -> list[str]:
    """Return the ids of the kept lines as a pass over the whole record gives them."""
    return [event.id for event in Log(log.workspace).read() if event.type not in ("conversation_turn", *OF_NO_USE)]


def asked(log: Log, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], int]:
    """Return the ids that a new object keeps, turns left out, and how many lines of the record it went through."""
    looked = []
    real = record_pass.lines

    def counting(*args: Any, **more: Any) -> Any:
        for line in real(*args, **more):
            looked.append(line)
            yield line

    with monkeypatch.context() as patch:
        patch.setattr(record_pass, "lines", counting)
        once = OnePass(log.workspace)
        found = [from_line(line, segment=segment, end=end) for segment, end, line in once._lines()]
    return [event.id for event in found if event.type != "conversation_turn"], len(looked)


def test_the_next_report_goes_through_what_is_new_alone(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    events = log.head().seq
    assert asked(log, monkeypatch) == (whole(log), events)
    assert asked(log, monkeypatch) == (whole(log), 0)

    log.append([make_draft("new", "mark", body={"mark": "y"}), make_draft("said")], now=NOW)

    found, looked = asked(log, monkeypatch)
    assert found == whole(log)
    assert looked == 3  # the first of them is looked at twice: does it follow what was kept?


@pytest.mark.parametrize("type_", ["mark", "system", "checkpoint"])
def test_backwards_it_reads_what_a_log_reads(log: Log, type_: str) -> None:
    once, plain = OnePass(log.workspace), Log(log.workspace)

    for sieve in (None, Sieve(types=(type_field(type_),))):
        assert [e.id for e in once.read_back(only=type_, sieve=sieve)] == [
            e.id for e in plain.read_back(only=type_, sieve=sieve)
        ]
    assert [e.id for e in once.read_back()] == [e.id for e in plain.read_back()]


@pytest.mark.parametrize("sealed", [True, False], ids=["several segments", "one segment"])
def test_a_redaction_voids_what_was_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sealed: bool) -> None:
    drafts = [make_draft(f"d{n}", "mark" if n % 3 else "system", body={"mark": "x" * n}) for n in range(12)]
    log = make_log(tmp_path, drafts[:6], **({"segment_bytes": 1500} if sealed else {}))
    asked(log, monkeypatch)
    log.append(drafts[6:], now=NOW)
    asked(log, monkeypatch)

    erase(log.workspace, lambda: plan_events(log.workspace, {drafts[4].id}), now=NOW)

    assert asked(log, monkeypatch)[0] == whole(log)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text[: len(text) // 2],
        lambda text: "[]",
        lambda text: text.replace('"seq":', '"seg":'),
        lambda text: json.dumps({**json.loads(text), "places": [[1, 3, 40]]}),
        lambda text: json.dumps({**json.loads(text), "places": [[9, 0, 40]]}),
        lambda text: json.dumps({**json.loads(text), "places": [["a", None, -1]]}),
        lambda text: json.dumps({**json.loads(text), "places": [[1, 0, 0]]}),
        lambda text: json.dumps({**json.loads(text), "places": [[1, -5, 5]]}),
        lambda text: json.dumps({**json.loads(text), "places": [[1, 10**30, 40]]}),
        lambda text: json.dumps({**json.loads(text), "places": [[1, 0, 10**30]]}),
        lambda text: json.dumps({**json.loads(text), "places": 7}),
        lambda text: json.dumps({**json.loads(text), "chosen_by": "another rule"}),
        lambda text: json.dumps({**json.loads(text), "through": {"segment": 1, "offset": 5, "seq": 1, "hash": "0"}}),
        lambda text: json.dumps({**json.loads(text), "through": {"segment": 1, "offset": 9**9, "seq": 1, "hash": "0"}}),
        lambda text: json.dumps({**json.loads(text), "through": {"segment": 1, "offset": -1, "seq": 1, "hash": "0"}}),
        lambda text: json.dumps({**json.loads(text), "through": {"segment": 1, "offset": "5", "seq": 1, "hash": "0"}}),
        lambda text: json.dumps({**json.loads(text), "through": {"segment": 0, "offset": 5, "seq": 1, "hash": "0"}}),
        lambda text: json.dumps(
            {**json.loads(text), "through": {"segment": 1, "offset": 10**30, "seq": 1, "hash": "0"}}
        ),
        lambda text: json.dumps({**json.loads(text), "through": {"segment": 5, "offset": 0, "seq": 9**9, "hash": "0"}}),
    ],
)
def test_places_that_hold_nothing_of_ours_are_left_aside(
    log: Log, monkeypatch: pytest.MonkeyPatch, spoil: Callable[[str], str]
) -> None:
    asked(log, monkeypatch)
    path = log.workspace.run_dir / line_places.FILE
    path.write_text(spoil(path.read_text()))

    assert asked(log, monkeypatch) == (whole(log), log.head().seq)
    assert asked(log, monkeypatch) == (whole(log), 0)


def test_what_is_kept_holds_no_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = make_log(tmp_path, [make_draft("sum", body={**SUMMARY, "text": "the heron"})])
    asked(log, monkeypatch)

    assert "heron" not in (log.workspace.run_dir / line_places.FILE).read_text()


def test_where_nothing_can_be_kept_the_record_is_read_whole(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: Any, **more: Any) -> None:
        raise OSError(28, "no space")

    monkeypatch.setattr(line_places, "write_atomic", full)

    assert asked(log, monkeypatch) == asked(log, monkeypatch) == (whole(log), log.head().seq)
