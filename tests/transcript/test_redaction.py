"""Erasing: the words go from everywhere, the envelopes and the chain stay, and nothing brings the words back."""

import importlib
import json
import zlib
from datetime import timedelta

import pytest
import zstandard
from support.capture import NOW, Project
from support.claude import made_uuid
from support.record import make_draft, make_log, make_turns

from transcript.canonical import b32id
from transcript.capture_state import CaptureState
from transcript.errors import RecordError
from transcript.event import Position
from transcript.export import export
from transcript.lock import FileLock
from transcript.log import Log
from transcript.native import NativeStore
from transcript.readapt import readapt
from transcript.redaction import JOURNAL, Rewriter, erase, resume, unfinished
from transcript.redaction_plan import plan_events, plan_retention, plan_text
from transcript.segments import sealed_path
from transcript.tombstones import Tombstones
from transcript.verify import verify

SECRET = "phoenix-3333"


def everything(home):
    """Yield (file, plain bytes) of a workspace: compressed files opened, bodies and JSON decoded once more."""
    for path in sorted(home.rglob("*")):
        if not path.is_file():
            continue
        data = path.read_bytes()
        yield path, data
        if path.suffix == ".zst" and path.parent.parent.name == "native":
            yield path, b"".join(part for _, _, part in native_parts(path))
        elif path.suffix == ".zst":
            yield path, zstandard.ZstdDecompressor().decompress(data, max_output_size=1 << 28)
        elif path.parent.name == "capture":
            yield path, zlib.decompress(data)


def native_parts(path):
    from transcript.native import _frames

    with path.open("rb") as handle:
        for frame in _frames(handle, path.stat().st_size):
            handle.seek(frame.at)
            yield (
                frame.generation,
                frame.offset,
                zstandard.ZstdDecompressor().decompress(handle.read(frame.packed), frame.length),
            )


def holding(home, text):
    """Return the files of a workspace in which a text stands, plain or escaped."""
    forms = {text.encode(), json.dumps(text)[1:-1].encode()}
    return sorted(
        {str(path.relative_to(home)) for path, data in everything(home) if any(form in data for form in forms)}
    )


def planted(base):
    """A project whose sessions hold the secret in a prompt, an answer, a long tool result and a copied session."""
    project = Project(base)
    one = project.session("one")
    one.user("Which port does the pilot use?")
    one.assistant("Port 8080, marker finch-3434.")
    one.user(f"The contact is Robin, phone 555-0100, marker {SECRET}.")
    one.assistant(f"Saved: Robin, 555-0100, {SECRET}.")
    one.tool("t1", "Bash", {"command": "cat notes"}, ("notes " * 9000) + SECRET)
    one.user("The pilot runs until July.")
    one.write(project.config)
    copied = project.session("two")
    for line in one.lines:
        copied.raw(line.replace(one.session.encode(), copied.session.encode()))
    copied.user("Going on in the copy.", uuid=made_uuid("copy"))
    copied.write(project.config)
    project.sync()
    return project


def ids_holding(project, text):
    log = Log(project.workspace)
    return [event.id for event in log.read() if text in json.dumps(log.body(event))]


def forget(project, text=SECRET, rewriters=(), **options):
    workspace = project.workspace
    return erase(workspace, lambda: plan_text(workspace, text, **options), rewriters, now=NOW)


def test_forgetting_takes_the_text_out_of_every_file_and_keeps_the_chain(tmp_path):
    project = planted(tmp_path)
    before = [(event.id, event.seq, event.position.hash) for event in project.events()]
    gone = ids_holding(project, SECRET)
    assert holding(project.workspace.home, SECRET)

    report = forget(project)

    assert holding(project.workspace.home, SECRET) == []
    assert holding(project.workspace.home, "finch-3434") != []
    after = [(event.id, event.seq, event.position.hash) for event in project.events()]
    assert after[: len(before)] == before
    assert {event.id for event in project.events() if not event.body} == set(gone)
    assert all(not event.salt for event in project.events() if not event.body)
    assert verify(project.workspace).problems == []
    assert report.counts["events"] == len(gone) == 3
    assert (report.counts["blobs"], report.types) == (1, {"conversation_turn": 2, "tool_result": 1})
    assert any("claude-code's own file" in line for line in report.unreachable)


def test_the_redaction_is_in_the_record_with_reason_and_person_and_without_the_words(tmp_path):
    project = planted(tmp_path)
    workspace = project.workspace

    erase(workspace, lambda: plan_text(workspace, SECRET, reason="asked by Robin"), now=NOW, by="dana")

    noted, done = project.events("redaction")
    assert (noted.body["how"], noted.body["reason"], noted.body["by"]) == ("forget", "asked by Robin", "dana")
    assert len(noted.body["events"]) == 3
    assert (done.body["done"], done.body["redaction"]) == (True, noted.body["redaction"])
    assert done.body["erased"]["events"] == 3
    with pytest.raises(RecordError, match="another reason"):
        plan_text(workspace, "Robin", reason="asked by Robin")
    with pytest.raises(RecordError, match="another reason or name"):
        plan_text(workspace, "Robin", by="Robin Hood")


@pytest.mark.parametrize("reason", ["it says: {}", "leaked {:.30}"], ids=["whole", "a long piece"])
def test_the_reason_of_one_event_may_not_hold_its_words_either(tmp_path, reason):
    project = planted(tmp_path)
    prompt = project.events("conversation_turn")[0]

    with pytest.raises(RecordError, match="another reason"):
        plan_events(project.workspace, {prompt.id}, reason=reason.format(prompt.body["text"]))
    with pytest.raises(RecordError, match="another reason"):
        plan_events(project.workspace, {prompt.id}, by=reason.format(prompt.body["text"]))
    assert plan_events(project.workspace, {prompt.id}, reason="a customer asked for it").ids() == [prompt.id]


def test_derived_files_that_name_the_words_again_do_not_keep_an_erasure_going(tmp_path):
    """A session's id is in envelopes, which stay: what is made of them anew would be taken over and over."""
    project = planted(tmp_path)
    made_anew = project.workspace.run_dir / "projections.json"
    made_anew.write_text(SECRET)

    def write_again(erased):
        made_anew.write_text(SECRET)
        return 1

    erase(project.workspace, lambda: plan_text(project.workspace, SECRET), [Rewriter("views", write_again)], now=NOW)

    assert [event.body.get("done", False) for event in project.events("redaction")] == [False, True]


def test_nothing_to_forget_writes_nothing(tmp_path):
    project = planted(tmp_path)
    head = Log(project.workspace).head()

    assert forget(project, "no such words anywhere") is None
    assert Log(project.workspace).head() == head


def test_a_sync_of_the_unchanged_files_brings_nothing_back(tmp_path):
    project = planted(tmp_path)
    forget(project)
    events = len(project.events())

    reports = [project.sync(), project.sync(full=True)]
    (project.workspace.run_dir / "capture.json").unlink()
    reports.append(project.sync())

    assert [(report.added, report.sightings, report.marks) for report in reports] == [(0, 0, 0)] * 3
    assert len(project.events()) == events
    assert holding(project.workspace.home, SECRET) == []
    assert readapt(project.workspace, now=NOW).added == 0
    assert verify(project.workspace).problems == []


def test_a_record_that_gets_another_id_later_does_not_come_back(tmp_path, monkeypatch):
    project = planted(tmp_path)
    forget(project)
    (project.workspace.run_dir / "capture.json").unlink()
    for name in ("claude_record", "claude_message", "claude_reader"):
        module = importlib.import_module(f"transcript.adapters.{name}")
        if hasattr(module, "b32id"):
            monkeypatch.setattr(module, "b32id", lambda *parts: b32id("another version", *parts))

    report = project.sync()

    assert report.added > 0
    assert holding(project.workspace.home, SECRET) == []


def test_what_is_said_after_an_erasure_is_taken_in(tmp_path):
    project = planted(tmp_path)
    forget(project)
    session = project.session("one")
    path = session.path(project.config)
    session.user("A new question.", uuid=made_uuid("new"))
    path.write_bytes(path.read_bytes() + session.to_bytes())

    report = project.sync()

    assert report.by_type["conversation_turn"] == 1
    assert "A new question." in project.texts()
    assert holding(project.workspace.home, SECRET) == []


def test_one_event_is_redacted_and_the_others_keep_the_same_words(tmp_path):
    project = planted(tmp_path)
    workspace = project.workspace
    prompt, answer = [event for event in project.events("conversation_turn") if SECRET in event.body["text"]]

    report = erase(workspace, lambda: plan_events(workspace, {prompt.id}), now=NOW)

    assert report.counts["events"] == 1
    assert holding(workspace.home, "The contact is Robin") == []
    assert Log(workspace).get(prompt.id).body == {}
    assert SECRET in Log(workspace).get(answer.id).body["text"]
    assert verify(workspace).problems == []


def test_short_words_take_no_other_line_of_the_source_with_them(tmp_path):
    project = Project(tmp_path)
    session = project.session()
    for _ in range(4):
        session.user("yes")
        session.assistant("ok then")
    session.write(project.config)
    project.sync()
    second = project.events("conversation_turn")[2]

    erase(project.workspace, lambda: plan_events(project.workspace, {second.id}), now=NOW)

    [(_, kept)] = [(path, data) for path, data in everything(project.workspace.home) if path.suffix == ".zst"][1:]
    assert (kept.count(b'"yes"'), kept.count(b"ok then")) == (3, 4)
    assert project.sync(full=True).added == 0


def test_ledger_rows_that_show_an_erased_event_go_with_it(tmp_path):
    shown = make_draft("shown", text="the words in question")
    row = {"prompt": "which words", "mode": "tool", "block": "… in question", "items": [{"event": shown.id}]}
    asked = {"prompt": "the words in question", "mode": "warm", "items": []}
    other = {"prompt": "another", "mode": "tool", "items": [{"event": "x"}]}
    rows = [make_draft(name, "recall", body=body) for name, body in (("r1", row), ("r2", asked), ("r3", other))]
    log = make_log(tmp_path, [shown, *rows])

    report = erase(log.workspace, lambda: plan_events(log.workspace, {shown.id}), now=NOW)

    assert report.counts["ledger"] == 2
    assert [bool(event.body) for event in Log(log.workspace).read()][:4] == [False, False, False, True]


@pytest.mark.parametrize(
    "planner",
    [
        lambda workspace, event: plan_text(workspace, SECRET),
        lambda workspace, event: plan_events(workspace, {event}),
        lambda workspace, event: plan_retention(workspace, NOW),
    ],
    ids=["forget", "redact", "retention"],
)
def test_reasoning_obeys_the_same_commands(tmp_path, planner):
    """LCA-12.2-05; what is left goes out with the next export and the words do not."""
    drafts = [make_draft("why", "reasoning", text=f"the key is {SECRET}"), make_draft("other", text="kept")]
    log = make_log(tmp_path, drafts)
    [event] = [event.id for event in log.read() if event.type == "reasoning"]
    assert SECRET.encode() in b"".join(export(log.workspace))

    erase(log.workspace, lambda: planner(log.workspace, event), now=NOW)

    assert holding(log.workspace.home, SECRET) == []
    assert SECRET.encode() not in b"".join(export(log.workspace))
    assert Log(log.workspace).get(event).body == {}
    assert verify(log.workspace).problems == []


def test_spool_quarantine_and_forgotten_files_are_searched_too(tmp_path):
    log = make_log(tmp_path, make_turns(3))
    log.spool(make_draft("late", "recall", body={"prompt": SECRET, "items": []}))
    run = log.workspace.run_dir
    (run / "notes.txt").write_text(f"left by a crash: {SECRET}")
    quarantine = log.directory / "quarantine"
    quarantine.mkdir()
    (quarantine / "torn-4-00.bin").write_bytes(b'{"kept":1}\n{"text":"' + SECRET.encode() + b'"')
    (log.workspace.home / "index.sqlite.unreadable").write_bytes(b"\0" * 10)

    report = erase(log.workspace, lambda: plan_text(log.workspace, SECRET), now=NOW)

    assert holding(log.workspace.home, SECRET) == []
    assert (quarantine / "torn-4-00.bin").read_bytes().startswith(b'{"kept":1}\n   ')
    assert [report.counts[name] for name in ("files", "quarantined", "ledger")] == [2, 1, 1]
    assert not (log.workspace.home / "index.sqlite.unreadable").exists()


def test_blobs_that_others_refer_to_stay(tmp_path):
    long = "shared words " * 4000
    log = make_log(tmp_path, [make_draft("one", text=long), make_draft("two", text=long), make_draft("x")])
    first, second, _ = log.read()

    erase(log.workspace, lambda: plan_events(log.workspace, {first.id}), now=NOW)
    assert Log(log.workspace).text(Log(log.workspace).get(second.id)) == long
    erase(log.workspace, lambda: plan_events(log.workspace, {second.id}), now=NOW)

    assert Log(log.workspace).blobs.names() == []
    assert verify(log.workspace).problems == []


@pytest.mark.parametrize("text", ['say "never\\mind"', "Grüße aus Köln", "two\nlines", "日本語の秘密", "a😀b😀c"])
def test_text_is_found_however_json_writes_it(tmp_path, text):
    project = Project(tmp_path)
    session = project.session()
    session.user(f"first {text} last")
    session.tool("t1", "Write", {"content": json.dumps({"inner": text})}, f"wrote {text}")
    session.user("kept")
    session.write(project.config)
    project.sync()

    forget(project, text)

    assert ids_holding(project, text) == []
    words = text.split("\n")[0].replace('"', "").encode()
    assert not any(words in data for _, data in everything(project.workspace.home))
    assert project.texts() == ["kept"] or project.texts()[-1] == "kept"


def test_places_from_before_an_erasure_are_found_again(tmp_path):
    log = make_log(tmp_path, make_turns(40))
    events = list(log.read())
    watching, marks = Log(log.workspace), [event.position for event in events]
    assert watching.get(events[30].id).seq == 31

    erase(log.workspace, lambda: plan_events(log.workspace, {event.id for event in events[3:20]}), now=NOW)

    for at in marks:
        assert [event.seq for event in log.read(at)] == list(range(at.seq + 1, 43))
    for event in events:
        assert watching.get(event.id).seq == event.seq
        assert watching.find(event.id[:10]).seq == event.seq
    watching.append(make_turns(1, session="after"), now=NOW)
    watching.append([make_draft("after")], now=NOW)
    assert Log(log.workspace).get(events[39].id).body == {"kind": "prompt", "text": "turn 39"}
    assert verify(log.workspace).problems == []


def test_a_reader_with_the_old_segment_open_reads_on(tmp_path):
    log = make_log(tmp_path, make_turns(2000))
    reading = log.read()
    first = next(reading)

    erase(log.workspace, lambda: plan_events(log.workspace, {first.id}), now=NOW)

    assert sum(1 for _ in reading) == 1999


def test_only_the_segment_that_held_the_words_is_written_anew(tmp_path):
    log = make_log(tmp_path, make_turns(3), segment_bytes=400)
    for number in range(3, 9):
        log.append([make_draft(number, text=f"turn {number}")], now=NOW)
    inode = sealed_path(log.directory, 2).stat().st_ino
    target = next(log.read())

    erase(log.workspace, lambda: plan_events(log.workspace, {target.id}), now=NOW)

    assert sealed_path(log.directory, 2).stat().st_ino == inode
    assert verify(log.workspace).problems == []


def test_retention_takes_what_is_older_and_a_dry_run_says_the_same(tmp_path):
    old = [make_draft(f"old {n}", text=f"old words {n}", ts="2025-01-01T00:00:00.000Z") for n in range(5)]
    curated = make_draft("d", "decision", body={"text": "sqlite it is"}, ts="2025-01-01T00:00:00.000Z", session="s")
    log = make_log(tmp_path, [*old, curated, *make_turns(4)])
    before = NOW - timedelta(days=365)

    planned = plan_retention(log.workspace, before)
    report = erase(log.workspace, lambda: plan_retention(log.workspace, before), now=NOW)

    assert planned.counts() == {name: report.counts[name] for name in planned.counts()}
    assert report.counts["events"] == 5
    assert holding(log.workspace.home, "old words") == []
    assert holding(log.workspace.home, "sqlite it is") != []
    assert plan_retention(log.workspace, before).empty
    assert verify(log.workspace).problems == []


def test_retention_reaches_source_bytes_of_old_sessions(tmp_path):
    project = planted(tmp_path)
    workspace = project.workspace

    erase(workspace, lambda: plan_retention(workspace, NOW), now=NOW)

    native = NativeStore(workspace)
    kept = b"".join(data for source in native.sources() for _, _, data in native.read(*source))
    assert kept.strip(b" \n") == b""
    assert project.sync(full=True).added == 0


def test_more_events_than_one_redaction_lists_are_listed_in_several(tmp_path, monkeypatch):
    monkeypatch.setattr("transcript.redaction.MOST_IDS", 7)
    log = make_log(tmp_path, make_turns(20))

    erase(log.workspace, lambda: plan_text(log.workspace, "turn"), now=NOW)

    assert [len(e.body["events"]) for e in log.read() if e.type == "redaction"] == [7, 7, 6, 0]
    assert verify(log.workspace).problems == []


def test_rewriters_are_called_with_the_events_and_counted(tmp_path):
    log = make_log(tmp_path, make_turns(3))
    first = next(log.read())
    seen = []
    rewriter = Rewriter("views", lambda erased: seen.append(list(erased.events)) or 4)

    report = erase(log.workspace, lambda: plan_events(log.workspace, {first.id}), [rewriter], now=NOW)

    assert (seen, report.counts["views"]) == ([[first.id]], 4)


def test_a_capture_waits_and_a_note_of_a_redaction_stays(tmp_path):
    log = make_log(tmp_path, make_turns(3))
    first = next(log.read())
    erase(log.workspace, lambda: plan_events(log.workspace, {first.id}), now=NOW)
    noted = next(event for event in log.read() if event.type == "redaction")

    with pytest.raises(RecordError, match="stays"):
        plan_events(log.workspace, {noted.id})
    with FileLock(log.workspace.run_dir / "capture.lock"), pytest.raises(Exception, match="held"):
        erase(log.workspace, lambda: plan_text(log.workspace, "turn"), now=NOW, lock_timeout=0.0)


def test_the_journal_and_the_tombstones_hold_no_words(tmp_path):
    project = planted(tmp_path)
    seen = []

    def look(erased):
        seen.append((project.workspace.run_dir / JOURNAL).read_text())
        return 0

    forget(project, rewriters=[Rewriter("look", look)])

    assert SECRET not in seen[0]
    assert "555-0100" not in seen[0]
    assert len(Tombstones(project.workspace)) >= 3
    assert not unfinished(project.workspace)
    assert resume(project.workspace, now=NOW) is None
    assert isinstance(Log(project.workspace).start, Position)
    assert CaptureState(project.workspace).sources


@pytest.mark.parametrize(
    "change",
    [
        {"drop": ["../../elsewhere"]},
        {"drop": ["/etc/hostname"]},
        {"blank": [["/etc/hostname", 0, 9]]},
        {"more": 1},
        {"native": [1]},
    ],
    ids=["above", "elsewhere", "bytes elsewhere", "unknown field", "no place"],
)
def test_a_journal_that_is_none_of_ours_is_refused_before_anything_is_touched(tmp_path, change):
    log = make_log(tmp_path, make_turns(3))
    plan = plan_text(log.workspace, "turn 1").to_dict()
    journal = {"version": 1, "id": "0a", "by": "", "plan": {**plan, **change}}
    (log.workspace.run_dir / JOURNAL).write_text(json.dumps(journal))

    with pytest.raises(RecordError, match="is damaged; move it away and run the redaction again"):
        resume(log.workspace, now=NOW)

    assert [event.type for event in log.read()] == ["conversation_turn"] * 3
    assert [log.text(event) for event in log.read()] == ["turn 0", "turn 1", "turn 2"]


@pytest.mark.real_data
def test_words_of_every_harness_go_and_stay_away(shared, tmp_path):
    project = Project(tmp_path)
    options = {"sources": shared / "clients" / "fresh", "all_roots": True}
    project.sync(**options)
    log = Log(project.workspace)
    words = {}
    for event in log.read():
        if event.type == "conversation_turn" and len(log.text(event)) > 10:
            words.setdefault(event.agent, log.text(event))

    for text in words.values():
        forget(project, text)
    report = project.sync(**options, full=True)
    (project.workspace.run_dir / "capture.json").unlink()
    again = project.sync(**options)

    assert len(words) >= 5
    assert [(done.added, done.sightings, done.marks) for done in (report, again)] == [(0, 0, 0)] * 2
    assert {agent: holding(project.workspace.home, text) for agent, text in words.items()} == {
        agent: [] for agent in words
    }
    assert verify(project.workspace).problems == []
