"""What recall costs: sizes, tokens of turns beside those they carry anyway, latency, with date and machine."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.record import make_draft, make_log

from health.cost import GROWTH, Archive, Spread, archive, cost, csv
from health.facts import CaptureFacts, Facts, IndexFacts, Point, RecordFacts, SeriesFacts
from health.facts_machine import MachineFacts
from recall.cli.scratch import scratch
from transcript.errors import EmbedderUnavailable
from transcript.log import Log

FACTS = Facts(
    "w",
    1_780_000_000.0,
    record=RecordFacts(log_bytes=600, native_bytes=300, blob_bytes=100, sessions=4),
    capture=CaptureFacts(read_bytes=2_000),
    index=IndexFacts(present=True, file_bytes=200, rows=10, session_hours=2.0, wanted_config_hash="abc"),
    machine=MachineFacts("Linux", "3.11", 2),
)
KEYS = {
    "at", "version", "machine", "index_settings", "transcript_bytes", "record_bytes", "index_bytes", "index_share",
    "bytes_per_chunk",
    "chunks", "sessions", "bytes_per_session", "bytes_per_session_hour", "turns", "recalled", "standing", "latency_ms",
    "nightly_seconds", "growth_per_day", "archive", "bytes_per_archived_session",
}  # fmt: skip


def row(name: str, session: str, mode: str, tokens: int, latency_ms: float = 1.0) -> Any:
    body = {"mode": mode, "tokens": tokens, "latency_ms": latency_ms}
    return replace(make_draft(name, "recall", body=body), session=session)


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """Session a began with 300 tokens, was told 500 anew after its first turn; b began before hooks were there."""
    return make_log(
        tmp_path,
        [
            row("1", "a", "handoff", 300),
            row("2", "a", "warm", 100, 20.0),
            row("3", "a", "handoff", 500),
            row("4", "b", "words", 10, 40.0),
            row("5", "a", "warm", 0, 30.0),
            row("6", "a", "tool", 9_000),
        ],
    )


def test_sizes_are_told_in_relation(log: Log) -> None:
    made = cost(FACTS, log)
    assert (made.transcript_bytes, made.record_bytes, made.index_bytes, made.index_share) == (2_000, 1_000, 200, 0.1)
    assert (made.bytes_per_chunk, made.bytes_per_session, made.bytes_per_session_hour) == (20.0, 500.0, 1_000.0)


def test_growth_a_day_is_told_of_two_reports_a_week_apart(log: Log) -> None:
    """LCA-5.4-09."""
    first, later = ({"index_bytes": 1e6 * n, "chunks": 500.0 * n} for n in (1, 8))
    points = (Point(0.0, "ok", figures=first), Point(7 * 86_400.0, "ok", figures=later))

    made = cost(replace(FACTS, series=SeriesFacts(points)), log)

    assert made.growth_per_day == {"index_bytes": 1e6, "chunks": 500.0}
    assert made.to_text().endswith("growth a day      index 1.0 MB, 500 passages")


def test_each_turn_is_told_with_what_its_session_carried_then(log: Log) -> None:
    """LCA-12.1-05. A person's own search is no turn; a session whose start nobody saw carries nothing."""
    made = cost(FACTS, log)
    assert made.turns == 3
    assert made.recalled == Spread(10.0, 100.0, 110.0)
    assert made.standing == Spread(300.0, 500.0, 800.0)
    assert made.latency_ms == Spread(30.0, 40.0, 90.0)


def test_the_newest_turns_alone_are_counted_and_their_start_is_still_found(log: Log) -> None:
    made = cost(FACTS, log, turns=1)
    assert (made.recalled.sum, made.standing.sum, made.turns) == (0.0, 500.0, 1)


def test_what_is_not_known_is_null_and_not_zero(tmp_path: Path) -> None:
    made = cost(Facts("w", 0.0), make_log(tmp_path, [make_draft("1")]))
    assert made.index_share is made.bytes_per_chunk is made.bytes_per_session_hour is made.nightly_seconds is None
    assert made.recalled == Spread()
    assert "none yet" in made.to_text()


def test_the_figures_carry_date_machine_and_settings(log: Log) -> None:
    made = cost(FACTS, log, 12.5)
    told = made.to_dict()
    assert set(told) == KEYS
    assert told["at"] == "2026-05-28T20:26:40+00:00"
    assert told["machine"] == {"system": "Linux", "python": "3.11", "cpus": 2}
    text = made.to_text()
    for part in (
        "2 cores",
        "settings abc",
        "10.0% of the transcript",
        "tokens recalled median 10",
        "tokens standing median",
    ):
        assert part in text


def test_the_command_prints_it_in_both_forms() -> None:
    """LCA-12.1-01."""
    with scratch() as project:
        project("sync")
        project("index", "--words-only")
        taken = sum(file.stat().st_size for file in (project.data / "claude").rglob("*.jsonl"))
        printed = json.loads(project("health", "--cost", "--json").out)
        plain = project("health", "--cost")
    assert set(printed) == KEYS
    assert printed["record_bytes"] > 0 < printed["index_bytes"]
    assert printed["transcript_bytes"] == taken
    assert plain.code == 0
    assert "a passage" in plain.out


def checkpoint(name: str, *kept: tuple[str, int]) -> Any:
    held = [{"harness": "claude-code", "source": source, "bytes": size, "sha256": "0"} for source, size in kept]
    return make_draft(name, "checkpoint", body={"state": "complete", "artifacts": {"archive": held}})


def test_what_is_archived_is_counted_once_by_its_newest_manifest(tmp_path: Path) -> None:
    """LCA-12.1-02: bytes a session come from the manifests of checkpoints."""
    log = make_log(tmp_path, [checkpoint("1", ("a.jsonl", 100), ("b.jsonl", 50)), checkpoint("2", ("a.jsonl", 400))])
    assert archive(log) == Archive(2, 450)
    assert cost(FACTS, log).bytes_per_archived_session == 225.0
    assert "450 B of 2 sessions, 225 B a session" in cost(FACTS, log).to_text()


def test_a_checkpoint_archives_what_it_read_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(*args: Any, **more: Any) -> None:
        raise EmbedderUnavailable("there is none here")

    monkeypatch.setattr("indexer.embedder.load", load)
    with scratch() as project:
        project("sync")
        before = json.loads(project("health", "--cost", "--json").out)
        project("checkpoint")
        after = json.loads(project("health", "--cost", "--json").out)
    assert before["archive"] == {"sessions": 0, "bytes": 0}
    assert after["archive"] == {"sessions": after["sessions"], "bytes": after["transcript_bytes"]}
    assert after["bytes_per_archived_session"] == after["bytes_per_session"]


def test_growth_is_told_a_day_and_a_session_hour() -> None:
    """LCA-12.1-03, LCA-5.4-09."""
    day = 86_400.0
    first = {"transcript_bytes": 1_000.0, "log_bytes": 600.0, "index_bytes": 200.0, "sessions": 2.0}
    first |= {"chunks": 10.0, "index_pages": 5.0, "index_free_pages": 0.0}
    later = {"transcript_bytes": 7_000.0, "log_bytes": 900.0, "index_bytes": 700.0, "sessions": 4.0}
    later |= {"chunks": 35.0, "index_pages": 17.0, "index_free_pages": 3.0}
    points = (
        Point(day, "ok", figures={**first, "session_hours": 1.0}),
        Point(3 * day, "ok", figures={**later, "session_hours": 4.0}),
        Point(4 * day, "ok", figures={}),
    )
    names, one, two, three = (line.split(",") for line in csv(points).splitlines())
    assert names == ["at", *GROWTH]
    one_more, two_more = ["10", "5", "0", "20", ""], ["35", "17", "3", "20", "12.5"]
    assert one[0] == "1970-01-02T00:00:00+00:00"
    assert one[1:] == ["1000", "800", "200", "2", "1", "0.2", "500", "1000", "", "", "", "", *one_more]
    assert two[1:] == [
        "7000",
        "1600",
        "700",
        "4",
        "4",
        "0.1",
        "1750",
        "1750",
        "3000",
        "2000",
        "400",
        "266.666667",
        *two_more,
    ]
    assert set(three[1:]) == {""}


def test_the_command_prints_the_growth_as_a_table() -> None:
    with scratch() as project:
        project("sync")
        told = project("health", "--cost", "--csv")
        refused = project("health", "--cost", "--series", "--json")
        both = project("health", "--cost", "--csv", "--json")
    assert (told.code, told.out.splitlines()) == (0, [",".join(("at", *GROWTH))])
    assert refused.code == both.code == 64
    assert "--json and --csv alone" in refused.err
