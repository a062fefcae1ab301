"""Verification that goes on where an earlier one ended, and what it finds wrong with memories."""

import pytest
from support.memory_events import AT, LATER, PLACE, candidate, place_of, written
from support.record import NOW, lines_of, make_draft, make_log, make_turns

from transcript import memory_drafts
from transcript.event import Position
from transcript.log import Log
from transcript.memories import Span
from transcript.redaction import erase
from transcript.redaction_plan import plan_events
from transcript.verify import verify


def rewrite(log, change):
    """Write the open segment anew with its lines changed; the head keeps its length when the lines keep theirs."""
    lines = lines_of(log)
    change(lines)
    log.workspace.activity.write_bytes(b"".join(lines))


def test_goes_on_behind_the_place_where_the_last_one_ended(tmp_path):
    log = make_log(tmp_path, make_turns(5))
    first = verify(log.workspace)
    log.append(make_turns(8)[5:], now=NOW)

    second = verify(log.workspace, since=first.through)

    assert (first.ok, first.start, first.counts["lines"], first.through.seq) == (True, 0, 5, 5)
    assert (second.ok, second.start, second.counts["lines"], second.through.seq) == (True, 5, 3, 8)
    assert second.through == log.head().position


def test_says_nothing_wrong_of_a_record_without_anything_new(tmp_path):
    log = make_log(tmp_path, make_turns(5))
    end = verify(log.workspace).through

    again = verify(log.workspace, since=end)

    assert (again.ok, again.start, again.counts["lines"], again.through) == (True, 5, 0, end)


def test_goes_on_across_a_segment_that_was_sealed_meanwhile(tmp_path):
    log = make_log(tmp_path, make_turns(5), segment_bytes=4000)
    end = verify(log.workspace).through
    for draft in make_turns(20)[5:]:
        log.append([draft], now=NOW)

    report = verify(log.workspace, since=end)

    assert log.head().segment > end.segment
    assert (report.codes, report.start, report.counts["lines"]) == ([], 5, 15)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda lines: lines.__setitem__(6, lines[6].replace(b"turn 6", b"turn 9")), "commit_mismatch"),
        (lambda lines: lines.__setitem__(6, lines[6].replace(b'"user"', b'"usor"', 1)), "schema"),
        (lambda lines: lines.insert(6, lines.pop(7)), "chain_reorder"),
        (lambda lines: lines.pop(), "truncated"),
        (lambda lines: lines.append(b"{}\n"), "torn_tail"),
    ],
    ids=["body", "envelope", "order", "end", "tail"],
)  # fmt: skip
def test_finds_what_was_changed_behind_that_place(change, code, tmp_path):
    log = make_log(tmp_path, make_turns(5))
    end = verify(log.workspace).through
    log.append(make_turns(9)[5:], now=NOW)
    rewrite(log, change)

    assert code in verify(log.workspace, since=end).codes


@pytest.mark.parametrize("at", [3, 5])
def test_place_that_the_record_no_longer_has_means_reading_all(at, tmp_path):
    log = make_log(tmp_path, make_turns(5))
    end = log.head().position
    log.append(make_turns(8)[5:], now=NOW)
    wrong = Position(end.segment, end.offset, at, "0" * 64)

    report = verify(log.workspace, since=wrong)

    assert (report.ok, report.start, report.counts["lines"]) == (True, 0, 8)


def test_place_that_an_erasure_moved_means_reading_all(tmp_path):
    drafts = make_turns(5)
    log = make_log(tmp_path, drafts)
    end = verify(log.workspace).through
    erase(log.workspace, lambda: plan_events(log.workspace, {drafts[1].id}), now=NOW)

    report = verify(log.workspace, since=end)

    assert (report.ok, report.start) == (True, 0)


def test_circle_and_pointers_to_nothing_are_named(tmp_path):
    """LCA-4.3-04."""
    said = make_draft("said", text="Ports come from config.toml.")
    place = Span(said.id, 0, 10)
    a, b, c = (written(text, sources=[place]) for text in "abc")
    lost = written("lost", sources=[PLACE])
    links = [
        memory_drafts.superseded(AT, place_of(one), place_of(two), reason="update", since=LATER)
        for one, two in ((a, b), (b, a))
    ]
    gone = memory_drafts.superseded(AT, place_of(c), Span("z" * 26, 0, 3), reason="update", since=LATER)
    log = make_log(tmp_path, [said, candidate(), a, b, c, lost, *links, gone])

    found = sorted((problem.code, problem.where) for problem in verify(log.workspace).problems)

    assert found == sorted(
        [("memory_cycle", f"memory {one.id[:10]}") for one in (a, b)]
        + [("memory_pointer", f"memory {one.id[:10]}") for one in (c, lost)]
    )


def test_chain_of_memories_whose_source_was_erased_is_no_fault(tmp_path):
    said = make_draft("said", text="Ports come from config.toml.")
    a, b = (written(text, sources=[Span(said.id, 0, 10)]) for text in "ab")
    link = memory_drafts.superseded(AT, place_of(a), place_of(b), reason="update", since=LATER)
    log = make_log(tmp_path, [said, a, b, link])
    assert verify(log.workspace).ok

    erase(log.workspace, lambda: plan_events(log.workspace, {b.id}), now=NOW)

    assert verify(Log(log.workspace).workspace).ok
