import hashlib
import json
import os
import random
import shutil
import stat
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from support.record import NOW, lines_of, make_draft, make_log, make_turns

from transcript import segments
from transcript.canonical import b32id, canonical
from transcript.errors import LockBusy, PointerError, RecordError
from transcript.event import Position, genesis
from transcript.idmap import sighting_id
from transcript.lock import FileLock
from transcript.log import Log
from transcript.verify import verify
from transcript.workspace import user_workspace


def texts(events):
    return [event.body.get("text") for event in events]


def test_events_come_back_in_order_and_chained(tmp_path):
    log = make_log(tmp_path)

    written = log.append(make_turns(5), now=NOW)

    assert list(log.read()) == written
    assert texts(written) == [f"turn {number}" for number in range(5)]
    assert [event.seq for event in written] == [1, 2, 3, 4, 5]
    assert written[0].prev == genesis(log.workspace.id)
    assert [event.prev for event in written[1:]] == [event.position.hash for event in written[:-1]]
    assert log.head().position == written[-1].position


def test_lines_end_at_newline_bytes_only(tmp_path):
    """Case log-line-separators (Arize-ai/coding-harness-tracing#148): U+2028, U+0085, VT and FS end no line."""
    text = "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\r\nh"
    log = make_log(tmp_path, [make_draft(0, text=text)])

    assert log.workspace.activity.read_bytes().count(b"\n") == 1
    assert texts(log.read()) == [text]


@pytest.mark.parametrize(
    "text",
    ["", "grüße 日本 🙂", "a\r\nb\r", "".join(map(chr, range(32))), "x\udce9\ud800", "é" * 1_000_000],
    ids=["empty", "scripts", "crlf", "controls", "lone surrogates", "long"],
)
def test_words_are_stored_verbatim(tmp_path, text):
    """LCA-4.2-02: the hash of what is read back is the hash of what came in; case log-lone-surrogate."""
    log = make_log(tmp_path, [make_draft(0, text=text)])

    (event,) = Log(log.workspace).read()

    before, after = (
        hashlib.sha256(item.encode("utf-8", "surrogatepass")).hexdigest() for item in (text, log.text(event))
    )
    assert after == before
    assert log.body(event) == {"kind": "prompt", "text": text}


def test_long_texts_leave_the_line_wherever_they_stand(tmp_path):
    long = "line\n" * 10_000
    body = {"input": {"edits": [{"new": long, "old": "x"}]}, "tool": "Edit", "call_id": "t"}
    log = make_log(tmp_path, [make_draft(0, "tool_call", body=body)])

    assert len(lines_of(log)[0]) < 2000
    (event,) = log.read()
    assert event.body["input"]["edits"][0]["new"]["size"] == len(long)
    assert log.body(event) == body


def test_tool_input_that_looks_like_a_blob_reference_stays_itself(tmp_path):
    body = {"input": {"blob": "a" * 64, "size": 3}, "tool": "x", "call_id": "t"}
    log = make_log(tmp_path, [make_draft(0, "tool_call", body=body)])

    (event,) = log.read()

    assert log.body(event) == body
    assert verify(log.workspace).ok


# -- ids -----------------------------------------------------------------------------------


def test_present_ids_are_skipped_within_a_batch_later_and_in_another_process(tmp_path):
    log = make_log(tmp_path, make_turns(3))

    again = log.append([*make_turns(3), make_draft("new"), make_draft("new")], now=NOW)
    other = Log(log.workspace).append([*make_turns(3), make_draft("new")], now=NOW)

    assert [event.seq for event in again] == [4]
    assert other == []
    assert len(lines_of(log)) == 4


def test_place_an_event_stands_in_is_no_new_sighting(tmp_path):
    """A sighting is unique by record, session and source file; the first place counts as one."""
    native = {"harness": "claude-code", "source": "a" * 16}
    draft = make_draft(0, native=native)
    log = make_log(tmp_path, [draft])

    def sighting(session, source):
        body = {"of": draft.id, "record": "r", "file": "f"}
        name = sighting_id(draft.id, session, source)
        return make_draft(0, "sighting", id=name, session=session, native={"source": source}, body=body)

    other = make_draft(1, native=native)
    own = sighting_id(other.id, "session-1", "a" * 16)
    both = log.append([other, make_draft(0, "sighting", id=own, body={"of": other.id})], now=NOW)
    same = log.append([sighting("session-1", "a" * 16)], now=NOW)
    others = [sighting("session-2", "a" * 16), sighting("session-1", "b" * 16)]
    new = log.append(others, now=NOW)
    again = Log(log.workspace).append(others, now=NOW)

    assert (len(both), len(same), len(new), len(again)) == (1, 0, 2, 0)


def test_events_are_found_by_id_and_by_pointer(tmp_path):
    log = make_log(tmp_path, make_turns(50), segment_bytes=4000)
    target = make_draft(17)

    assert log.get(target.id).body["text"] == "turn 17"
    assert log.find(target.id[:10]).id == target.id
    assert log.find(f"{target.id[:10]}#3-9").id == target.id
    assert log.find(target.id).id == target.id


def test_pointers_that_name_none_or_several_say_so(tmp_path):
    log = make_log(tmp_path)
    twins = [make_draft(0, id="abcdefghij" + "a" * 16), make_draft(1, id="abcdefghij" + "b" * 15 + "a")]
    log.append(twins, now=NOW)

    with pytest.raises(PointerError, match="more than one event starts with abcdefghij"):
        log.find("abcdefghij")
    assert log.find("abcdefghijb").id == twins[1].id
    with pytest.raises(PointerError, match="no event zzzzzzzzzz"):
        log.find("zzzzzzzzzz")
    for wrong in ("", "abc", "abcd!", "a" * 27, "../../../etc"):
        with pytest.raises(PointerError, match="not a source pointer"):
            log.find(wrong)
    with pytest.raises(PointerError):
        log.get("short")


# -- reading -------------------------------------------------------------------------------


def test_reading_goes_on_from_any_position_across_segments(tmp_path):
    log = make_log(tmp_path, segment_bytes=3000)
    for draft in make_turns(40):
        log.append([draft], now=NOW)
    events = list(log.read())

    assert log.head().segment > 3
    assert [path.name for path in sorted(log.directory.glob("activity.0*"))][:2] == [
        "activity.000001.jsonl",
        "activity.000002.jsonl",
    ]
    for event in events:
        assert [later.seq for later in log.read(event.position)] == list(range(event.seq + 1, 41))
    assert [event.seq for event in log.read_back()] == list(range(40, 0, -1))
    assert [event.seq for event in log.read_back(events[20].position)] == list(range(21, 0, -1))
    assert verify(log.workspace).ok


def test_reading_backwards_meets_lines_longer_than_a_block(tmp_path, monkeypatch):
    log = make_log(tmp_path, [make_draft(number, text="x" * (number * 37)) for number in range(60)])
    monkeypatch.setattr(segments, "BLOCK", 256)

    assert list(log.read_back()) == list(log.read())[::-1]


def test_position_of_another_history_is_refused(tmp_path):
    log = make_log(tmp_path, make_turns(3))
    second = list(log.read())[1].position

    for wrong in (
        Position(1, second.offset, 9, second.hash),
        Position(1, second.offset, 2, "0" * 64),
        Position(1, log.head().length, 3, "0" * 64),
    ):
        with pytest.raises(RecordError, match="was read before"):
            list(log.read(wrong))


def test_position_whose_offset_moved_is_found_by_its_event(tmp_path):
    """A redaction shortens lines; watermarks of readers stay good."""
    log = make_log(tmp_path, make_turns(3))
    second = list(log.read())[1].position

    assert [event.seq for event in log.read(Position(1, 5, 2, second.hash))] == [3]


def test_reader_sees_nothing_behind_the_head(tmp_path):
    log = make_log(tmp_path, make_turns(2))
    with log.workspace.activity.open("ab") as handle:
        handle.write(lines_of(log)[0] + b'{"half')

    assert len(list(log.read())) == 2
    assert len(list(log.read_back())) == 2


def test_record_is_read_from_a_read_only_copy(tmp_path):
    """ESAA-25: reading writes nothing; every byte and every name stays."""
    log = make_log(tmp_path, [*make_turns(20), make_draft("long", text="y" * 50_000)], segment_bytes=4000)
    (log.workspace.run_dir / "ids.bin").unlink()
    home = tmp_path / "copy"
    shutil.copytree(log.workspace.home, home)
    for path in [*home.rglob("*"), home]:
        path.chmod(0o500 if path.is_dir() else 0o400)
    before = {path: path.stat().st_mtime_ns for path in home.rglob("*")}
    copy = Log(type(log.workspace)(log.workspace.id, home))

    assert len(list(copy.read())) == 21
    assert copy.text(copy.get(b32id("test", "long"))) == "y" * 50_000
    assert copy.find(make_draft(3).id[:10]).seq == 4
    assert verify(copy.workspace).ok
    assert {path: path.stat().st_mtime_ns for path in home.rglob("*")} == before
    for path in [home, *home.rglob("*")]:
        path.chmod(0o700)


# -- writing -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_written_bytes_are_never_changed(tmp_path, seed):
    """ESAA-02, LCA-4-01: after every write the earlier bytes are an unchanged prefix."""
    rng = random.Random(seed)
    log = make_log(tmp_path)
    whole = b""
    for step in range(50):
        action = rng.choice(["append", "again", "spool", "drain", "torn", "read", "reopen"])
        if action == "append":
            log.append(
                [make_draft(f"{step}-{n}", text="z" * rng.choice([3, 70_000])) for n in range(rng.randint(1, 4))],
                now=NOW,
            )
        elif action == "again":
            log.append(make_turns(2), now=NOW)
        elif action == "spool":
            log.spool(make_draft(f"spool {step}"))
        elif action == "drain":
            log.drain_spool(now=NOW)
        elif action == "torn":
            with log.workspace.activity.open("ab") as handle:
                handle.write(b'{"actor":"us')
            log.recover(now=NOW)
        elif action == "read":
            list(log.read())
        else:
            log = Log(log.workspace)
        after = log.workspace.activity.read_bytes()
        assert after.startswith(whole)
        whole = after
    assert verify(log.workspace).ok


def test_capture_time_is_filled_in_from_the_clock(tmp_path):
    log = make_log(tmp_path)

    (event,) = log.append([make_draft(0, ts="", ts_source="capture")], now=NOW + timedelta(hours=1))

    assert event.ts == "2026-03-01T13:00:00.000Z"


def test_invalid_draft_writes_nothing_of_its_batch(tmp_path):
    log = make_log(tmp_path)

    with pytest.raises(ValueError, match="`actor`"):
        log.append([make_draft(0), make_draft(1, actor="robot")], now=NOW)

    assert log.workspace.activity.read_bytes() == b""


def test_busy_lock_is_named_and_the_draft_can_be_spooled(tmp_path):
    log = make_log(tmp_path)
    with FileLock(log.workspace.run_dir / "log.lock"):
        with pytest.raises(LockBusy, match=f"written by process {os.getpid()}"):
            log.append([make_draft(0)], now=NOW, lock_timeout=0.01)
        assert log.append_or_spool(make_draft(1), now=NOW) is False
    assert log.append_or_spool(make_draft(2), now=NOW) is True

    assert [event.id for event in log.read()] == [make_draft(1).id, make_draft(2).id]
    assert list((log.workspace.run_dir / "spool").iterdir()) == []


def test_next_append_takes_in_the_spool_but_returns_only_its_own(tmp_path):
    log = make_log(tmp_path)
    log.spool(make_draft("left", text="left behind"))

    written = log.append([make_draft(0)], now=NOW)

    assert [event.id for event in written] == [make_draft(0).id]
    assert texts(log.read())[0] == "left behind"


def test_spool_file_that_is_no_draft_goes_to_quarantine(tmp_path):
    log = make_log(tmp_path)
    folder = log.workspace.run_dir / "spool"
    folder.mkdir()
    (folder / "a.json").write_text("{")
    (folder / "b.json").write_bytes(canonical({"type": "system"}))
    log.spool(make_draft("good"))

    log.append([make_draft(0)], now=NOW)

    assert len(list(log.read())) == 2
    assert sorted(path.name for path in (log.directory / "quarantine").iterdir()) == ["spool-a.json", "spool-b.json"]


def test_full_disk_is_one_line_and_the_record_stays_whole(tmp_path, monkeypatch):
    log = make_log(tmp_path, make_turns(2))
    before = log.workspace.activity.read_bytes()

    def full(descriptor, data):
        os.write(descriptor, bytes(data)[:7])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(segments, "write_all", full)
        with pytest.raises(RecordError, match=r"cannot write the record \(No space left on device\)"):
            log.append([make_draft("x")], now=NOW)

    assert log.workspace.activity.read_bytes() == before
    assert len(log.append([make_draft("x")], now=NOW)) == 1
    assert verify(log.workspace).ok


def test_record_shorter_than_its_head_is_left_alone(tmp_path):
    log = make_log(tmp_path, make_turns(3))
    cut = b"".join(lines_of(log)[:2])
    log.workspace.activity.write_bytes(cut)

    with pytest.raises(RecordError, match=r"its head witnesses .*; nothing was written, run 'recall verify'"):
        Log(log.workspace).append([make_draft("x")], now=NOW)
    assert log.workspace.activity.read_bytes() == cut


@pytest.mark.parametrize("head", [None, b"", b"{", b'{"segment":"1"}'], ids=["gone", "empty", "torn", "wrong"])
def test_lost_head_is_rebuilt_from_the_chain_and_recorded(tmp_path, head):
    log = make_log(tmp_path, segment_bytes=2500)
    for draft in make_turns(8):
        log.append([draft], now=NOW)
    with log.workspace.activity.open("ab") as handle:
        handle.write(b'{"half a line')
    log.workspace.head_file.unlink() if head is None else log.workspace.head_file.write_bytes(head)

    with pytest.raises(RecordError, match="log/head is"):
        list(Log(log.workspace).read())
    Log(log.workspace).append([make_draft("x")], now=NOW)

    events = list(log.read())
    assert [event.body.get("subtype") for event in events[8:]] == ["head_rebuilt", "torn_tail", None]
    assert verify(log.workspace).ok


def test_lost_head_of_a_damaged_record_is_not_guessed(tmp_path):
    log = make_log(tmp_path, make_turns(5))
    lines = lines_of(log)
    log.workspace.activity.write_bytes(b"".join([*lines[:2], *lines[3:]]))
    log.workspace.head_file.unlink()

    with pytest.raises(RecordError, match="damaged behind event 2 and has no head"):
        Log(log.workspace).append([make_draft("x")], now=NOW)


def test_events_are_on_the_disk_before_the_head_witnesses_them(tmp_path, monkeypatch):
    log = make_log(tmp_path, make_turns(1))
    steps = []
    sync, write = segments.sync, segments.write_all

    def size(descriptor):
        return "head" if os.fstat(descriptor).st_size == segments.HEAD_BYTES else "events"

    monkeypatch.setattr(segments, "write_all", lambda fd, data: (write(fd, data), steps.append(f"write {size(fd)}")))
    monkeypatch.setattr(segments, "sync", lambda fd: (sync(fd), steps.append(f"sync {size(fd)}")))

    log.append(make_turns(5), now=NOW)

    assert steps == ["write events", "sync events", "write head", "sync head"]


def test_record_of_the_user_workspace_begins_with_its_first_event(tmp_path):
    log = Log(user_workspace(tmp_path / "data"))
    assert list(log.read()) == []

    log.append(make_turns(2), now=NOW)

    assert len(list(Log(log.workspace).read())) == 2
    assert verify(log.workspace).ok


def test_files_of_the_record_are_private(tmp_path):
    log = make_log(tmp_path, [make_draft(0, text="z" * 50_000)])

    assert {stat.S_IMODE(path.stat().st_mode) for path in log.directory.rglob("*") if path.is_file()} == {0o600}


def test_lock_is_held_briefly_in_a_long_append(tmp_path, monkeypatch):
    """Each batch is one hold, so that another writer gets its turn in between."""
    log = make_log(tmp_path)
    holds = []
    release = FileLock.release
    monkeypatch.setattr(FileLock, "release", lambda self: (holds.append(self.path.name), release(self))[1])

    log.append(make_turns(2000), now=NOW)

    assert holds.count("log.lock") == 8


APPEND = """
import sys
from pathlib import Path
from support.record import NOW, make_draft
from transcript.log import Log
from transcript.workspace import Workspace
name, home, worker = sys.argv[1:]
log = Log(Workspace(name, Path(home)))
drafts = [make_draft(f"{worker}-{number}", text=f"{worker}-{number} " + "w" * (number * 7)) for number in range(200)]
while drafts:
    size = 1 + len(drafts) % 7
    log.append(drafts[:size], now=NOW)
    del drafts[:size]
"""


def test_eight_processes_append_without_interleaving(tmp_path):
    """ESAA-35: 8 processes of 200 events each leave 1,600 whole lines."""
    log = make_log(tmp_path)
    tests = Path(__file__).resolve().parents[1]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tests), str(tests.parent)])}
    command = [sys.executable, "-c", APPEND, log.workspace.id, str(log.workspace.home)]
    workers = [subprocess.Popen([*command, str(number)], env=env) for number in range(8)]
    codes = [worker.wait(timeout=120) for worker in workers]

    lines = log.workspace.activity.read_bytes().split(b"\n")
    assert codes == [0] * 8
    assert (len(lines), lines[-1]) == (1601, b"")
    assert {json.loads(line)["id"] for line in lines[:-1]} == {
        make_draft(f"{worker}-{number}").id for worker in range(8) for number in range(200)
    }
    by_worker = [event.body["text"].split()[0].split("-") for event in log.read()]
    for worker in map(str, range(8)):
        assert [int(number) for name, number in by_worker if name == worker] == list(range(200))
    report = verify(log.workspace)
    assert report.ok
    assert report.counts["events"] == 1600


def test_reading_back_can_pass_over_other_types(tmp_path):
    """The type is looked for in the envelope alone: a text that quotes one is no event of it."""
    log = make_log(tmp_path, [make_draft(0, text='"type":"sighting","v":1}'), make_draft(1, text="x")])

    assert list(log.read_back(only="conversation_turn")) == list(log.read_back())
    assert list(log.read_back(only="sighting")) == []
