"""A plan that comes true: verified event by event, recorded, and what left comes back through recall."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from support.command import Result, runner
from support.dialogue import Dialogue
from support.embedder import StubEmbedder
from support.hooks import hold_lock
from support.record import NOW, make_draft
from support.window import SLIDING, full, words

from indexer import writer
from indexer.settings import IndexSettings
from indexer.store import Store
from recall import forgetting, window_state
from recall.engine import recall
from recall.live_window import LiveWindow, look
from recall.query import Query
from recall.settings import Settings
from recall.turn import bytes_third
from recall.window_apply import apply, emergency, verify, window_for_host
from recall.window_policy import Plan, plan
from recall.window_pruned import prunings, restate
from recall.window_state import Left
from transcript.context import context
from transcript.errors import LockBusy
from transcript.log import Log
from transcript.redaction_plan import plan_text
from transcript.verify import verify as verify_record

FACT = "The kestrel gateway listens on port 8713 because the heron exporter took 8080 first."
TURNS = 300
EVERYTHING = replace(SLIDING, keep_exchanges=1)


def index(log: Log) -> None:
    with Store.open(log.workspace.index_path, "w") as store:
        writer.index(log.workspace, store, IndexSettings(), now=NOW, embedder=StubEmbedder())


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Log]:
    """A session of three exchanges, a push that must stay and a running one, indexed; commands run in its project."""
    held = hold_lock(tmp_path / "data")
    talk = Dialogue()
    talk.prompt("Which port does the kestrel gateway use?")
    talk.reply(FACT)
    talk.call("Read", {"file_path": "gateway.toml"}, "port line " * 600)
    talk.bash("git push origin main", "remote line " * 250)
    talk.prompt("Is there a reason for it?")
    talk.reply("Only history.")
    talk.prompt("Then let us go on with the pelican ledger.")
    made = talk.log(tmp_path)
    index(made)
    monkeypatch.setenv("RECALL_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("RECALL_WINDOW_KEEP_EXCHANGES", "1")
    monkeypatch.chdir(tmp_path / "project")
    yield made
    os.close(held)


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    return runner(capsys)


def seen(log: Log, session: str = "s1") -> LiveWindow:
    return look(log, session=session, host=full(0, 10).host, settings=EVERYTHING, env={}, count=words)


def planned(view: LiveWindow) -> Plan:
    return plan(view.pieces, view.pressure, EVERYTHING)


def of_type(log: Log, kind: str) -> list[dict[str, Any]]:
    return [log.body(event) for event in log.read() if event.type == kind]


def leaving(made: Plan) -> list[str]:
    return [event for step in made.steps for event in step.piece.events]


def invalid_lines(log: Log) -> list[str]:
    """What the published schema says against the record's lines."""
    schema = json.loads((files("transcript") / "schema" / "event.schema.json").read_text("utf-8"))
    lines = log.workspace.activity.read_bytes().splitlines()
    return [
        found.message
        for line in lines
        for found in jsonschema.Draft202012Validator(schema).iter_errors(json.loads(line))
    ]


def everything_below(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_what_left_is_recorded_with_its_reason_and_written_for_the_host(log: Log) -> None:
    """LCA-4.5-06."""
    view = seen(log)
    made = planned(view)

    done = apply(log, view, made, now=NOW, out=log.workspace.home / "window.json")

    assert done.state == "applied"
    (row,) = of_type(log, "prune")
    assert [item["event"] for item in row["items"]] == leaving(made)
    assert all(item["why"] for item in row["items"])
    assert (row["state"], row["policy"], row["threshold"]) == ("applied", "sliding", 0.9)
    assert row["tokens_before"] - row["tokens_after"] == sum(step.freed for step in made.steps)
    assert window_state.pruned(log.workspace.run_dir, "s1") == set(leaving(made))
    told = json.loads((log.workspace.home / "window.json").read_bytes())
    (stub,) = made.stub
    texts = [entry["text"] for entry in told["entries"]]
    assert stub.stub in texts
    assert texts[-1] == "Then let us go on with the pelican ledger."
    assert FACT not in texts
    assert [entry["type"] for entry in told["entries"]].count("tool_call") == 1  # with its result, a line now
    assert [entry["type"] for entry in told["entries"]].count("tool_result") == 1
    assert invalid_lines(log) == []
    assert verify_record(log.workspace).problems == []


def test_a_skipped_plan_is_recorded_with_why(log: Log) -> None:
    view = seen(log)
    made = plan(view.pieces, full(1, 1_000_000), EVERYTHING)

    done = apply(log, view, made, now=NOW)

    (row,) = of_type(log, "prune")
    assert (done.state, row["state"], row["items"]) == ("skipped", "skipped", [])
    assert "below the first threshold" in row["reason"]
    assert not (log.workspace.run_dir / "window").exists()


def test_every_pruned_turn_of_a_long_session_is_byte_equal_in_the_record_and_indexed(tmp_path: Path) -> None:
    """LCA-4.2-03, LCA-6.2-06."""
    talk = Dialogue()
    said = {}
    for number in range(TURNS // 2):
        for add, what in ((talk.prompt, "asked"), (talk.reply, "said")):
            text = f"{what} \u00e9\U0001f600 {number}: " + "crane heron\r\n" * 3
            said[add(text)] = text
    log = talk.log(tmp_path)
    index(log)
    view = seen(log)
    made = planned(view)

    apply(log, view, made, now=NOW)

    left = leaving(made)
    assert len(left) == TURNS - 2
    for event in left:
        (turn,) = (one for one in context(log, around=event, radius=0).turns if one.target)
        assert turn.text == said[event]
    with Store.open(log.workspace.index_path) as store:
        assert store.indexed(left) == set(left)


def test_of_two_plans_for_one_window_the_second_is_told_to_look_again(log: Log) -> None:
    one, other = seen(log), seen(log)
    apply(log, one, planned(one), now=NOW)

    with pytest.raises(LockBusy, match="plan again"):
        apply(log, other, planned(other), now=NOW)
    log.append([make_draft("end", "system", session="s1")], now=NOW)
    with pytest.raises(LockBusy, match="plan again"):
        apply(log, one, planned(one), now=NOW)

    assert len(of_type(log, "prune")) == 1


def test_a_file_that_an_earlier_plan_did_not_come_to_write_is_written_by_the_next(log: Log) -> None:
    view = seen(log)
    apply(log, view, planned(view), now=NOW)
    path = window_state.pruned_file(log.workspace.run_dir, "s1")
    kept = path.read_bytes()
    path.unlink()  # a kill between the record and the file
    again = seen(log)

    done = apply(log, again, planned(again), now=NOW)

    assert (done.state, path.read_bytes()) == ("skipped", kept)


def test_an_event_that_the_record_lacks_refuses_the_plan_and_nothing_leaves(log: Log) -> None:
    """LCA-4.5-04, LCA-6.2-04."""
    view = seen(log)
    made = planned(view)
    first = made.steps[0]
    lost = replace(first, piece=replace(first.piece, events=("a" * 26, *first.piece.events)))
    broken = replace(made, stub=(lost,) if first.stub else made.stub, remove=made.remove if first.stub else (lost,))
    before = everything_below(log.workspace.run_dir / "window")

    done = apply(log, view, broken, now=NOW)

    assert done.state == "refused"
    assert [one.event for one in done.missing] == ["a" * 26]
    (row,) = of_type(log, "prune")
    assert (row["state"], row["items"]) == ("refused", [])
    assert row["tokens_after"] == row["tokens_before"]
    assert everything_below(log.workspace.run_dir / "window") == before
    assert window_state.pruned(log.workspace.run_dir, "s1") == frozenset()


def test_other_words_a_lost_blob_and_a_changed_line_are_each_found(tmp_path: Path) -> None:
    talk = Dialogue()
    for number in range(3):
        talk.prompt(f"question {number}")
        talk.reply(f"long answer {number} " * 4000)
    log = talk.log(tmp_path)
    index(log)
    view = seen(log)
    made = planned(view)
    answers = [draft.id for draft in talk.drafts if draft.body["kind"] == "reply"][:2]
    items = [replace(i, text="other words") if i.id == answers[0] else i for i in view.items.items]
    blobs = [path for path in log.workspace.blobs_dir.rglob("*") if path.is_file()]
    line = next(raw for raw in log.workspace.activity.read_bytes().splitlines(keepends=True) if b"question 0" in raw)

    assert [one.event for one in verify(made.steps, items, log, view.index)] == answers[:1]
    for path in blobs:
        path.unlink()
    assert [one.event for one in verify(made.steps, view.items.items, log, view.index)] == answers
    whole = log.workspace.activity.read_bytes()
    log.workspace.activity.write_bytes(whole.replace(line, line.replace(b"question 0", b"question 9")))
    found = {one.event: one.why for one in verify(made.steps, view.items.items, Log(log.workspace), view.index)}
    assert "does not hash" in found[talk.drafts[0].id]


def test_an_index_that_is_behind_refuses_unless_the_record_is_said_to_be_enough(log: Log) -> None:
    log.append(
        [make_draft("late", "conversation_turn", session="s1", text="a late question", ts="2026-03-01T13:00:00.000Z")],
        now=NOW,
    )
    log.append(
        [make_draft("later", "conversation_turn", session="s1", text="the last one", ts="2026-03-01T13:00:01.000Z")],
        now=NOW,
    )
    view = seen(log)
    made = planned(view)

    refused = apply(log, view, made, now=NOW)
    done = apply(log, view, made, now=NOW, logged_is_enough=True)

    assert refused.state == "refused"
    assert {one.why.partition(";")[0] for one in refused.missing} == {"is not indexed yet"}
    assert done.state == "applied"
    assert "the record alone" in of_type(log, "prune")[-1]["reason"]


def asked(log: Log, session: str, pruned: frozenset[str] = frozenset()) -> str:
    query = Query("On which port does the kestrel gateway listen, and why?", session, "claude-code")
    with Store.open(log.workspace.index_path) as store:
        return recall(query, store, None, Settings(), now=NOW, count_tokens=bytes_third, pruned=pruned).block


def test_what_left_comes_back_when_it_is_asked_for_with_its_pointer(log: Log) -> None:
    """LCA-6.2-05."""
    before = asked(log, "s1", window_state.pruned(log.workspace.run_dir, "s1"))
    view = seen(log)
    made = planned(view)
    apply(log, view, made, now=NOW)

    after = asked(log, "s1", window_state.pruned(log.workspace.run_dir, "s1"))

    fact = next(item.id for item in view.items.items if item.text == FACT)
    assert fact in leaving(made)
    assert before == ""  # it stands in the window
    assert FACT in after
    assert f"{fact[:10]}#0-" in after


def test_the_next_look_counts_what_has_left_as_gone_and_plans_it_no_more(log: Log) -> None:
    view = seen(log)
    made = planned(view)
    apply(log, view, made, now=NOW)

    again = seen(log)

    (stub,) = made.stub
    assert stub.stub in {item.text for item in again.items.items}
    assert not {item.id for item in again.items.items} & {e for step in made.remove for e in step.piece.events}
    assert apply(log, again, planned(again), now=NOW).state == "skipped"


def test_a_lost_file_of_what_left_is_made_again_from_the_record_and_a_compaction_ends_it(log: Log) -> None:
    view = seen(log)
    apply(log, view, planned(view), now=NOW)
    path = window_state.pruned_file(log.workspace.run_dir, "s1")
    kept = path.read_bytes()
    path.unlink()

    assert restate(log, "s1") == path
    assert path.read_bytes() == kept
    log.append([make_draft("end", "system", session="s1")], now=NOW)
    restate(log, "s1")
    assert window_state.pruned(log.workspace.run_dir, "s1") == frozenset()
    assert prunings(log, "s1")[1] == []


def test_the_host_gets_every_event_that_stays_and_nothing_else(log: Log) -> None:
    view = seen(log)
    made = planned(view)

    told = window_for_host(view, made)

    gone = {event for step in made.remove for event in step.piece.events}
    assert [entry["event"] for entry in told["entries"]] == [i.id for i in view.items.items if i.id not in gone]


def test_an_emergency_writes_the_handoff_from_the_record_alone(log: Log) -> None:
    log.workspace.index_path.unlink()

    path = emergency(log, "s1", "no index", now=NOW)

    text = path.read_text()
    assert "Then let us go on with the pelican ledger." in text
    assert "## Current objective" in text
    (mark,) = of_type(log, "mark")
    assert (mark["mark"], mark["session"], mark["why"]) == ("compaction_emergency", "s1", "no index")
    assert mark["handoff"] == path.name
    assert invalid_lines(log) == []


def test_forgetting_takes_the_handoff_and_leaves_what_left_and_what_was_told(log: Log) -> None:
    view = seen(log)
    apply(log, view, planned(view), now=NOW)
    gone = Left("after s1", 2, 1, 1, view.items.items[0].id, view.items.items[1].id, boundary=9)
    window_state.keep_left(log.workspace.run_dir, "s1", gone)
    window_state.note_told(log.workspace.run_dir, "s1", gone)
    handoff = emergency(log, "s1", "no index", now=NOW)
    assert FACT in handoff.read_text()

    assert forgetting.erase(log.workspace, lambda: plan_text(log.workspace, FACT), now=NOW) is not None

    held = everything_below(log.workspace.home)
    assert [path for path, data in held.items() if FACT.encode() in data] == []
    assert window_state.pruned(log.workspace.run_dir, "s1") == set(leaving(planned(view)))
    assert window_state.noted(log.workspace.run_dir, "s1") == gone
    assert window_state.left(log.workspace.run_dir, "s1") is None


# -- the commands ----------------------------------------------------------------------------


SIZE = ("--window", "100", "--policy", "sliding")


def test_the_command_plans_applies_and_reports(log: Log, call: Callable[..., Result], tmp_path: Path) -> None:
    out = tmp_path / "host.json"

    (told,) = call("window", "plan", *SIZE, "--json").rows()
    dry = call("window", "apply", *SIZE, "--dry-run")
    assert of_type(log, "prune") == []
    done = call("window", "apply", *SIZE, "--out", str(out), "--json")
    (row,) = call("window", "report", "--json").rows()
    shown = call("window", "report")

    assert dry.code == 0
    assert told["session"] == "s1"
    assert told["pressure"]["window_tokens"] == 100
    (result,) = done.rows()
    assert (done.code, result["state"]) == (0, "applied")
    left = [e for one in (*told["stub"], *told["remove"]) for e in one["events"]]
    assert [item["event"] for item in row["items"]] == left
    assert json.loads(out.read_bytes())["session"] == "s1"
    assert "prune applied" in shown.out


def test_the_report_says_whether_a_checkpoint_had_read_what_a_compaction_took(
    log: Log, call: Callable[..., Result]
) -> None:
    said = {"trigger": "auto", "preTokens": 155_031}
    log.append([make_draft("end", "system", session="s1", body={"compact": said})], now=NOW)

    (row,) = call("window", "report", "--session", "s1", "--json").rows()

    assert (row["what"], row["kept"]) == ("compaction", "unprotected")
    assert row["said"] == "auto compaction at 155,031 tokens; no checkpoint had read it"


def test_a_host_gets_the_window_as_it_stands_where_nothing_leaves_it(
    log: Log, call: Callable[..., Result], tmp_path: Path
) -> None:
    out = tmp_path / "host.json"
    out.write_text("an older window")

    done = call("window", "apply", "--window", "1000000", "--policy", "sliding", "--out", str(out), "--json")

    assert done.rows()[0]["out"] == str(out)
    entries = json.loads(out.read_bytes())["entries"]
    assert [one["event"] for one in entries] == [item.id for item in seen(log).items.items]


def test_a_window_is_written_for_nobody_who_may_not_read_the_sessions(
    log: Log, call: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECALL_CHILD", "1")

    refused = call("window", "apply", *SIZE, "--out", str(tmp_path / "host.json"))

    assert refused.code == 1
    assert "is not for the audience 'peer'" in refused.err
    assert not (tmp_path / "host.json").exists()
    assert of_type(log, "prune") == []


def test_the_report_is_in_the_order_of_what_happened(log: Log, call: Callable[..., Result]) -> None:
    for name, day in (("late", 3), ("early", 1)):  # the early one was taken in last
        log.append([make_draft(name, "system", session=name, ts=f"2026-03-0{day}T10:00:00.000Z")], now=NOW)

    assert [row["session"] for row in call("window", "report", "--json").rows()] == ["late", "early"]
    assert [row["session"] for row in call("window", "report", "--last", "1", "--json").rows()] == ["late"]


def test_a_plan_says_in_words_what_it_does_and_why(log: Log, call: Callable[..., Result]) -> None:
    shown = call("window", "plan", *SIZE).out

    assert "thresholds 60% 75% 90%; passed: 60%, 75%, 90%" in shown
    assert "sliding: 1 result replaced by its pointer, 3 pieces removed" in shown
    assert "stub    " in shown
    assert "keep    1 piece: one of the last exchanges" in shown


def test_a_missing_event_is_exit_1_and_a_full_window_with_no_index_exit_3(
    log: Log, call: Callable[..., Result]
) -> None:
    """LCA-4.5-05, LCA-6.2-04."""
    log.append([make_draft("late", "conversation_turn", session="s1", text="late " * 90)], now=NOW)
    for number in range(6):
        log.append([make_draft(f"n{number}", "conversation_turn", session="s1", text=f"next {number}")], now=NOW)
    behind = call("window", "apply", "--window", "5000", "--trigger", "2500", "--policy", "sliding", "--json")
    log.workspace.index_path.unlink()
    gone = call("window", "apply", *SIZE, "--json")

    (one,), (other,) = behind.rows(), gone.rows()
    assert (behind.code, one["state"], one["handoff"]) == (1, "refused", None)
    assert (gone.code, other["state"]) == (3, "refused")
    assert FACT in Path(other["handoff"]).read_text()
    assert [body["mark"] for body in of_type(log, "mark")] == ["compaction_emergency"]


def test_a_full_window_in_which_everything_is_protected_gets_its_handoff_too(
    log: Log, call: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECALL_WINDOW_KEEP_EXCHANGES", "9")

    stuck = call("window", "apply", *SIZE, "--json")
    by_itself = call("window", "apply", "--window", "100", "--json")

    (one,), (other,) = stuck.rows(), by_itself.rows()
    assert (stuck.code, one["state"], bool(one["handoff"])) == (3, "skipped", True)
    assert (by_itself.code, other["state"], other["handoff"]) == (0, "skipped", None)


def test_a_window_that_cannot_be_written_for_the_host_leaves_everything_as_it_was(
    log: Log, call: Callable[..., Result], tmp_path: Path
) -> None:
    result = call("window", "apply", *SIZE, "--out", str(tmp_path / "no folder" / "window.json"))

    assert result.code == 1
    assert "no folder" in result.err
    assert of_type(log, "prune") == []
    assert window_state.pruned(log.workspace.run_dir, "s1") == frozenset()


@pytest.mark.parametrize(
    ("words_given", "says"),
    [
        (("--harness", "codex"), "--file"),
        (("--session", "s1", "--file", "x"), "not both"),
        (("--percent", "50"), "--window"),
        (("--window", "9", "--trigger", "8", "--percent", "5"), "not both"),
    ],
)
def test_options_that_contradict_each_other_are_refused(
    call: Callable[..., Result], log: Log, words_given: tuple[str, ...], says: str
) -> None:
    result = call("window", "plan", *words_given)

    assert result.code == 2
    assert says in result.err


def test_an_unknown_session_or_file_is_named(call: Callable[..., Result], log: Log, tmp_path: Path) -> None:
    (tmp_path / "notes.jsonl").write_text("{}\n")

    session, missing = call("window", "plan", "--session", "nope"), call("window", "plan", "--file", "none.jsonl")
    other = call("window", "plan", "--file", str(tmp_path / "notes.jsonl"))

    assert (session.code, missing.code, other.code) == (1, 1, 1)
    assert "no session 'nope'" in session.err
    assert "no file none.jsonl" in missing.err
    assert "holds no session of claude-code" in other.err
