"""The window of a handoff, and the case study: a cold agent goes on from the handoff alone."""

import pytest
from support.record import NOW, make_draft, make_log
from support.story import CLAUDE, at, story

from transcript.curation import correction, task
from transcript.errors import CurationError
from transcript.handoff import session_of, window
from transcript.projections.handoff import Focus, sections
from transcript.projections.views import folded


def held(log, focus=None) -> dict[str, list[str]]:
    return dict(sections(folded(log)[0], focus or Focus()))


def test_window_of_a_task_holds_at_most_twenty_turns_each_tied_to_it(tmp_path):
    """ESAA-30."""
    noise = [make_draft(f"noise {n}", text=f"lunch number {n}") for n in range(50)]
    about = [make_draft(f"about {n}", text=f"old events reach the filter {n}") for n in range(30)]
    tagged = make_draft("tagged", text="going on with T1 now")
    log = make_log(tmp_path, [*story(), *noise, *about, tagged])

    found = window(log, folded(log)[0], Focus(task="T1"))

    assert len(found) == 20
    assert {message.why for message in found} == {"topic", "tag"}
    assert not [message for message in found if "lunch" in message.text]
    assert found[-1].text == "going on with T1 now"


def test_turns_that_a_task_points_to_are_linked(tmp_path):
    log = make_log(tmp_path, story())

    found = window(log, folded(log)[0], Focus(task="T1"))

    assert [(message.text[:10], message.why) for message in found] == [
        ("context --", "topic"),
        ("the filter", "link"),
    ]


def test_a_window_of_no_message_still_knows_its_task(tmp_path):
    log = make_log(tmp_path, story())
    state = folded(log)[0]

    assert window(log, state, Focus(), last=0) == []
    with pytest.raises(CurationError, match="no task T9"):
        window(log, state, Focus(task="T9"), last=0)


def test_windows_differ_by_purpose(tmp_path):
    """LCA-6.5-03."""
    log = make_log(tmp_path, [*story(), make_draft("x", text="elsewhere", session="s-2", ts="2026-03-02T00:00:00Z")])
    state = folded(log)[0]

    def said(**focus) -> list[str]:
        return [message.text.split()[0] for message in window(log, state, Focus(**focus))]

    assert said(purpose="session") == ["context", "the", "elsewhere"]
    assert said(purpose="role") == ["context", "elsewhere"]
    assert said(purpose="compaction") == ["elsewhere"]
    assert said(purpose="compaction", session="s-codex") == ["context", "the"]


def test_what_a_peer_corrected_is_marked_as_external(tmp_path):
    """LCA-4.7-03: a word of a channel stands in the handoff with where it came from."""
    ours = correction(CLAUDE, at(58), "a" * 26, "the port is 8443")
    peers = correction(CLAUDE, at(59), "b" * 26, "it leaks", kind="critique", channel="synapse")
    log = make_log(tmp_path, [*story(), ours, peers])

    kept = held(log)["Not to be lost"]

    assert [line.split(": ")[0] for line in kept[:2]] == [
        "- critique (synapse, external) of `bbbbbbbbbb`",
        "- correction of `aaaaaaaaaa`",
    ]


def test_a_window_is_in_the_order_of_time_whatever_was_taken_in_first(tmp_path):
    """Sessions that ran side by side are one talk; a moment may be written with or without its fraction."""
    said = [
        ("one", "s-1", "2026-03-02T09:00:00Z"),
        ("three", "s-1", "2026-03-02T09:00:00.5Z"),
        ("two", "s-2", "2026-03-02T09:00:00.100Z"),
        ("four", "s-2", "2026-03-02T09:00:01Z"),
    ]
    log = make_log(tmp_path, [make_draft(text, text=text, session=session, ts=ts) for text, session, ts in said])

    found = window(log, folded(log)[0], Focus())

    assert [message.text for message in found] == ["one", "two", "three", "four"]


def test_a_session_is_found_by_the_beginning_of_its_id_or_refused(tmp_path):
    one, two = "01a22a4d-5fb5-7545", "01a22a4d-71fc-7060"
    log = make_log(tmp_path, [make_draft("a", session=one), make_draft("b", session=two)])
    state = folded(log)[0]

    assert [session_of(state, given) for given in ("", two, "01a22a4d-5")] == ["", two, one]
    with pytest.raises(CurationError, match=f"2 sessions begin with '01a22a4d' .{one}, {two}."):
        session_of(state, "01a22a4d")
    with pytest.raises(CurationError, match="no session begins with 'c4652'"):
        session_of(state, "c4652")


def test_unknown_task_is_refused(tmp_path):
    log = make_log(tmp_path, story())

    with pytest.raises(CurationError, match="no task T9"):
        window(log, folded(log)[0], Focus(task="T9"))


def test_cold_agent_finds_decision_next_action_and_untested_in_the_handoff_alone(tmp_path):
    """ESAA-38, LCA-6.5-04: what Codex decided is in front of Claude Code, with pointers that open."""
    log = make_log(tmp_path, story())

    found = held(log)

    decided = [line for line in found["Decisions made"] if "Use Python 3.11" in line]
    assert len(decided) == 1
    opened = log.find(decided[0].rsplit("`", 2)[1])
    assert (opened.type, opened.agent) == ("decision", "codex")
    assert [line.split(" (")[0] for line in found["Immediate next actions"]] == [
        "- start T2 open — Document the old schema"
    ]
    assert [line.split(" (")[0] for line in found["Not claimed and not tested"]] == [
        "- untested: the filter on Windows"
    ]
    assert "Use Python for the tooling" not in str(found)

    log.append([task(CLAUDE, at(30, "s-claude"), "T2", "start")], now=NOW)

    assert held(log)["Current objective"][0].startswith("- T2 started — Document the old schema (claude-code (agent)")


def test_defect_is_told_as_linked_events(tmp_path):
    """ESAA-40: diagnosis -> task -> verification, each pointing to the one before or to its evidence."""
    log = make_log(tmp_path, story())
    state = folded(log)[0]
    steps = state["tasks"]["T1"]["steps"]
    diagnosis = state["decisions"][steps[0]["decisions"][0]]
    verified = next(one for one in state["outcomes"] if one.get("task") == "T1")

    assert diagnosis["kind"] == "diagnosis"
    assert diagnosis["task"] == "T1"
    assert [step["action"] for step in steps] == ["add", "start", "done"]
    assert log.get(diagnosis["evidence"][0]).type == "conversation_turn"
    assert log.get(verified["evidence"][0]).type == "tool_result"
    assert set(verified["evidence"]) <= set(steps[-1]["evidence"])


def test_task_alone_leaves_other_tasks_out(tmp_path):
    found = held(make_log(tmp_path, story()), Focus(task="T1"))

    assert found["Immediate next actions"] == []
    assert all("T2" not in line for lines in found.values() for line in lines)
    assert [line.split(" (")[0] for line in found["Decisions made"]] == [
        "- Old events lack agent — the filter drops them"
    ]


def test_a_long_text_that_is_gone_leaves_the_other_messages_readable(tmp_path):
    log = make_log(tmp_path, [make_draft("long", text="pelican " * 9000), make_draft("short", text="the pelican gate")])
    for blob in log.workspace.blobs_dir.rglob("*.zst"):
        blob.unlink()

    lost, kept = window(log, folded(log)[0], Focus())

    assert "is missing from the record" in lost.text
    assert kept.text == "the pelican gate"
