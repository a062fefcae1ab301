"""The nightly job: every part told, nothing twice, whatever the clock does."""

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from support.record import NOW
from support.remembered import written
from support.running import CAUSE, Running, make_running, talk_of_causes

from consolidation.candidates import candidate_of
from consolidation.commands import Hand, accepted, declined
from consolidation.model import Candidate
from consolidation.night import FILE, RESERVE_S, VERIFIED, Night, could_wait, last, night
from consolidation.run import LOCK
from consolidation.triggers import LEAST
from transcript.curation import Author
from transcript.errors import CurationError, RecallError
from transcript.event import Event, stamp
from transcript.lock import FileLock
from transcript.log import Log
from transcript.memories import CandidateState
from transcript.memory_told import Told

LATER = "The issue is that `saveUser()` drops `created_at` for the rows of guests and of imported users."
LAST = "The root cause is that `parseDate()` reads `08/09` as the ninth of August wherever no locale is set."
PARTS = ["capture", "index", "consolidate", "verify", "project", "compact", "quality", "health", "self test"]


@pytest.fixture
def project(tmp_path: Path) -> Running:
    return make_running(tmp_path, talk_of_causes(CAUSE))


def run(project: Running, now: datetime = NOW, *, full: bool = False, dry_run: bool = False) -> Night:
    return night(project.deps(), project.settings, now=now, full=full, dry_run=dry_run)


def states(done: Night) -> dict[str, str]:
    return {part.name: part.state for part in done.parts}


def test_every_part_is_told_with_its_outcome(project: Running) -> None:
    done = run(project)

    assert list(states(done)) == PARTS
    assert (done.state, done.failed) == ("complete", ())
    assert done.report is not None
    assert done.report.counts["accepted"] == 1
    assert {part.name: part.note for part in done.parts}["self test"] == "1 of 1 recalled"
    held = last(project.workspace)
    assert held["state"] == "complete"
    assert [(one["name"], one["state"], one["note"]) for one in held["parts"]] == [
        (part.name, part.state, part.note) for part in done.parts
    ]


def test_the_second_run_of_the_same_night_changes_nothing(project: Running) -> None:
    """CARD-10."""
    run(project)
    before = project.workspace.activity.read_bytes()
    files = sorted((project.workspace.root or Path()).glob(".recall/**/*"))

    done = run(project, NOW + timedelta(hours=1))

    assert project.workspace.activity.read_bytes() == before
    assert sorted((project.workspace.root or Path()).glob(".recall/**/*")) == files
    assert states(done)["consolidate"] == "unchanged"
    assert next(part.note for part in done.parts if part.name == "consolidate").startswith("nothing new since ")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("2026-03-29T00:59:59", "2026-03-29T01:00:01"),
        ("2026-10-25T00:59:59", "2026-10-25T01:00:01"),
        ("2026-03-01T12:00:00", "2025-03-01T12:00:00"),
    ],
    ids=["clocks go forward", "clocks go back", "a clock a year back"],
)
def test_no_clock_decides_what_there_is_to_do(first: str, second: str, project: Running) -> None:
    times = [datetime.fromisoformat(text).replace(tzinfo=UTC) for text in (first, second)]

    run(project, times[0])
    before = len(project.events())
    done = run(project, times[1])

    assert len(project.events()) == before
    assert done.state == "complete"


def test_a_run_that_comes_while_another_works_ends_at_once(project: Running) -> None:
    """Case conc-nightly-overlap, 1."""
    lock = FileLock(project.workspace.run_dir / LOCK)
    assert lock.acquire()

    done = run(project)
    lock.release()

    assert done.state == "busy"
    assert "nothing done" in done.parts[0].note
    assert project.events("memory.candidate") == []
    assert last(project.workspace) == {}


def test_a_night_that_may_wait_begins_when_the_other_has_ended(project: Running) -> None:
    lock = FileLock(project.workspace.run_dir / LOCK)
    assert lock.acquire()
    ends = threading.Timer(0.2, lock.release)
    ends.start()

    done = night(project.deps(), project.settings, now=NOW, wait_s=60)
    ends.join()

    assert done.state == "complete"


def broken(*_: object) -> int:
    raise RecallError("no room left")


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"capture": broken}, "capture"),
        ({"index": broken}, "index"),
        ({"reclaim": broken}, "compact"),
        ({"quality": broken}, "quality"),
        ({"probe": broken}, "self test"),
    ],
    ids=["capture", "index", "compact", "quality", "self test"],
)
def test_a_part_that_fails_is_named_and_keeps_no_later_one_from_its_work(
    changes: dict[str, Callable[..., int]], part: str, project: Running
) -> None:
    """Case conc-nightly-overlap, 4: a failed run is not the last successful one."""
    project.changes = changes

    done = run(project)

    assert part in done.failed
    assert list(states(done)) == PARTS
    assert states(done)["verify"] == "done"
    held = json.loads((project.workspace.run_dir / FILE).read_text())
    assert (held["state"], held["failed"]) == ("failed", list(done.failed))


def test_what_can_wait_is_told_and_knows_whether_anything_was_new(project: Running) -> None:
    asked: list[bool] = []

    def quality(idle: bool, seconds: float) -> tuple[str, int, str]:
        asked.append(idle)
        return "done", 40, "61% of the best rank, 40 questions"

    project.changes = {"reclaim": lambda seconds: ("done", 5_000_000, "81.0 MB -> 76.0 MB"), "quality": quality}

    done = run(project)
    run(project, NOW + timedelta(hours=1))

    told = {part.name: (part.state, part.count, part.note) for part in done.parts}
    assert told["compact"] == ("done", 5_000_000, "81.0 MB -> 76.0 MB")
    assert told["quality"] == ("done", 40, "61% of the best rank, 40 questions")
    assert asked == [False, True]
    assert could_wait(last(project.workspace)) == [
        "compact done: 81.0 MB -> 76.0 MB",
        "quality done: 61% of the best rank, 40 questions",
    ]


@pytest.mark.parametrize(("within", "left"), [(RESERVE_S, None), (RESERVE_S + 1000, 1000)], ids=["short", "long"])
def test_what_can_wait_leaves_the_time_of_a_short_night_to_what_must_be_done(
    within: float, left: float | None, project: Running
) -> None:
    given: list[float] = []

    def work(*arguments: Any) -> tuple[str, int, str]:
        given.append(arguments[-1])
        return "done", 1, ""

    project.changes = {"reclaim": work, "quality": work}

    done = night(project.deps(), project.settings, now=NOW, within_s=within)

    assert done.state == "complete"
    assert states(done)["self test"] == "done"
    if left is None:
        assert (states(done)["compact"], states(done)["quality"], given) == ("skipped", "skipped", [])
        assert {part.note for part in done.parts if part.state == "skipped"} == {"no time left in this night"}
    else:
        assert len(given) == 2
        assert all(0 < seconds < left for seconds in given)


def test_a_dead_process_blocks_nobody(project: Running) -> None:
    """Case conc-nightly-overlap, 3: the lock file of a process that is gone stays behind, unlocked."""
    (project.workspace.run_dir / LOCK).write_text("999999999")

    assert run(project).state == "complete"


def test_the_record_is_verified_from_where_the_last_night_ended_and_whole_every_week(project: Running) -> None:
    def checked(done: Night) -> int:
        return next(part.count for part in done.parts if part.name == "verify")

    whole = checked(run(project))
    project.goes_on(talk_of_causes(LATER, session="s2"))

    later = checked(run(project, NOW + timedelta(days=1)))
    full = checked(run(project, NOW + timedelta(days=1), full=True))
    (project.workspace.run_dir / VERIFIED).write_text(
        json.dumps(json.loads((project.workspace.run_dir / VERIFIED).read_text()) | {"whole": "2026-02-20T00:00:00Z"})
    )
    weekly = checked(run(project, NOW + timedelta(days=2)))

    assert 0 < later < full
    assert whole < full
    assert weekly == full


def test_damage_in_the_record_fails_the_night_and_is_found_again(project: Running) -> None:
    run(project)
    record = project.workspace.activity.read_bytes()
    project.workspace.activity.write_bytes(record.replace(b"IsGitHookInstalled", b"IsSvnHookInstalled", 1))

    done = run(project, NOW + timedelta(days=1), full=True)
    again = run(project, NOW + timedelta(days=2), full=True)

    assert "verify" in done.failed
    assert "verify" in again.failed


def test_a_dry_run_writes_nothing(project: Running) -> None:
    def everything() -> dict[str, bytes]:
        home = project.workspace.home
        return {str(p): p.read_bytes() for p in sorted(home.rglob("*")) if p.is_file() and "sqlite" not in p.name}

    before = everything()

    done = run(project, dry_run=True)

    assert [part.name for part in done.parts] == ["consolidate"]
    assert done.report is not None
    assert any(one["type"] == "memory.written" for one in done.report.would_write)
    assert everything() == before


def test_memories_that_no_longer_hold_or_are_too_many_are_due_and_the_night_says_so(project: Running) -> None:
    """LCA-4.6-06: health lists what is due, the night's checkpoint carries it as its trigger."""
    run(project)
    project.goes_on(talk_of_causes(LATER, session="s2"))
    small = replace(project.settings.consolidation, bloat_memories=1)
    project.settings = replace(project.settings, consolidation=small)

    run(project, NOW + timedelta(days=1))
    project.goes_on(talk_of_causes(LAST, session="s3"))
    run(project, NOW + timedelta(days=2))

    assert [event.body["trigger"] for event in project.events("checkpoint")] == ["nightly", "nightly", "bloat"]


def crowded(project: Running, most: int) -> None:
    """Have two memories where one is the most there should be."""
    project.run()
    small = replace(project.settings.consolidation, bloat_memories=most)
    project.settings = replace(project.settings, consolidation=small)


def proposals(project: Running) -> list[CandidateState]:
    return [one for one in project.state().candidates.values() if one.body["found_by"] == "archive"]


def test_the_night_proposes_to_put_away_what_there_is_too_much_of_and_puts_nothing_away(tmp_path: Path) -> None:
    project = make_running(tmp_path, talk_of_causes(CAUSE, LATER))
    crowded(project, 1)

    planned = run(project, NOW + timedelta(days=1), dry_run=True)
    run(project, NOW + timedelta(days=1))
    again = run(project, NOW + timedelta(days=2))

    [one] = proposals(project)
    assert (one.pending, one.decided and one.decided["tier"]) == (True, "governed")
    assert one.body["why"] == "no answer has used it, and there are 2 memories"
    assert len(project.state().current(NOW + timedelta(days=2))) == 2
    assert states(again)["consolidate"] == "unchanged"
    assert planned.report is not None
    assert one.id in [event["id"] for event in planned.report.would_write]


@pytest.mark.parametrize("most", [1, 2], ids=["too many memories", "as many as there may be"])
def test_a_night_with_nothing_new_reads_nothing_of_the_sessions_whatever_is_due(
    most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is due stays due for as long as a person has not answered: every night until then would read it all."""
    project = make_running(tmp_path, talk_of_causes(CAUSE, LATER))
    crowded(project, most)
    first = run(project, NOW + timedelta(days=1))
    opened: list[str] = []
    body = Log.body

    def counting(log: Log, event: Event) -> dict[str, Any]:
        opened.append(event.type)
        return body(log, event)

    monkeypatch.setattr(Log, "body", counting)

    again = run(project, NOW + timedelta(days=2))

    assert first.report is not None
    assert {step.name: step.note for step in first.report.steps}["find"].endswith(" in 0 sessions")
    assert len(proposals(project)) == 2 - most
    assert states(again)["consolidate"] == "unchanged"
    assert opened.count("conversation_turn") == 0


def test_what_is_proposed_to_be_put_away_a_person_archives_or_keeps_for_good(tmp_path: Path) -> None:
    project = make_running(tmp_path, talk_of_causes(CAUSE, LATER, LAST))
    crowded(project, 1)
    run(project, NOW + timedelta(days=1))
    first, second = proposals(project)
    at = Told("2026-12-03T12:00:00.000Z")

    def hand(kind: str) -> Hand:
        author = Author("ana", kind)
        return Hand(project.log, project.state(), author, at, project.workspace.id_key(), project.settings)

    with pytest.raises(CurationError, match="is an agent"):
        accepted(hand("agent"), candidate_of(first.body), first)
    project.log.append(accepted(hand("human"), candidate_of(first.body), first), now=NOW)
    project.log.append(declined(hand("human"), candidate_of(second.body), second), now=NOW)
    run(project, NOW + timedelta(days=4))

    archived = [memory for memory in project.state().memories.values() if memory.archived]
    assert [memory.statement for memory in archived] == [first.body["text"]]
    assert [one.id for one in proposals(project) if one.pending] == []


def test_a_memory_that_expired_is_proposed_once_enough_have(tmp_path: Path) -> None:
    project = make_running(tmp_path, talk_of_causes(CAUSE))
    project.run()
    [memory] = project.state().memories.values()
    for number in range(LEAST):
        ends = {"valid_to": "2026-03-10T00:00:00.000Z"} if number > 3 else {}
        place = memory.sources[0]
        told = written(Candidate("cause", "lesson", f"Fact {number} of the pilot.", (place,), memory.said_at), **ends)
        project.log.append([told], now=NOW)

    run(project, NOW + timedelta(days=30))

    assert {one.body["text"] for one in proposals(project)} == {f"Fact {n} of the pilot." for n in range(4, LEAST)}
    assert {one.body["why"] for one in proposals(project)} == {"it held until 2026-03-10T00:00Z"}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (datetime(2026, 3, 29, 1, 59, 59), datetime(2026, 3, 29, 3, 0, 1)),
        (datetime(2026, 10, 25, 2, 17), datetime(2026, 10, 25, 2, 17, fold=1)),
    ],
    ids=["an hour that is not", "an hour that comes twice"],
)
def test_a_job_of_local_time_does_the_work_once_where_the_clock_is_changed(
    first: datetime, second: datetime, project: Running
) -> None:
    berlin = ZoneInfo("Europe/Berlin")

    done = run(project, first.replace(tzinfo=berlin))
    before = project.workspace.activity.read_bytes()
    again = run(project, second.replace(tzinfo=berlin))

    assert (done.state, again.state) == ("complete", "complete")
    assert project.workspace.activity.read_bytes() == before
    assert states(again)["consolidate"] == "unchanged"
    assert last(project.workspace)["at"] == stamp(second.replace(tzinfo=berlin))
