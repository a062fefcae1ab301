"""The commands that curate, project and hand off, each run as a user runs it."""

import json

import click
import pytest
from support.command import runner
from support.embedder import StubEmbedder
from support.record import NOW, make_draft

from recall.cli.app import App
from recall.cli.curate import author
from transcript.curation import Author, Setting, task
from transcript.injected import strip_blocks
from transcript.log import Log


@pytest.fixture
def recall(capsys, tmp_path, monkeypatch):
    """Run one command line in a fresh project whose record holds three turns."""
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("RECALL_ACTOR", "human:ana")
    call = runner(capsys)
    assert call("init").code == 0
    log = Log(App.here().workspace())
    log.append([make_draft(n, text=f"the wagtail port is {8000 + n}") for n in range(3)], now=NOW)
    call.log = log  # type: ignore[attr-defined]
    call.views = folder / ".recall" / "views"  # type: ignore[attr-defined]
    return call


def test_decide_appends_one_event_and_its_view_shows_it_at_once(recall):
    """ESAA-21, ESAA-33."""
    before = recall.log.head().seq
    pointer = make_draft(0).id[:10]

    done = recall("decide", "Use Python", "--why", "the team knows it", "--evidence", pointer)

    assert done.code == 0, done.err
    assert recall.log.head().seq == before + 1
    text = (recall.views / "decisions.md").read_text()
    assert "### Use Python" in text
    assert f"- evidence: `{pointer}`" in text
    assert "- by: ana (human)" in text
    assert recall("verify").code == 0


def test_decision_that_is_superseded_once_is_not_superseded_again(recall):
    """ESAA-56."""
    first = recall("decide", "Use Python", "--json").rows()[0]["id"]
    assert recall("decide", "Use Rust", "--supersedes", first).code == 0

    lost = recall("decide", "Use Zig", "--supersedes", "")
    assert (lost.code, "source pointer" in lost.err) == (1, True)
    again = recall("decide", "Use Go", "--supersedes", first)

    assert again.code == 1
    assert "superseded already by" in again.err


def test_a_decision_supersedes_words_of_a_session_or_a_span_of_them(recall):
    turn = make_draft(0).id[:10]

    whole = recall("decide", "The wagtail port is 9000", "--supersedes", turn, "--json")
    part = recall("decide", "The wagtail port is 9001", "--supersedes", f"{turn}#12-16", "--json")
    beyond = recall("decide", "The wagtail port is 9002", "--supersedes", f"{turn}#12-999")
    recall("task", "add", "Move the port", "--json")
    of_a_task = recall("decide", "The wagtail port is 9003", "--supersedes", last_id(recall))

    written = {event.id: event.body["supersedes"] for event in recall.log.read() if event.type == "decision"}
    assert list(written.values()) == [make_draft(0).id, f"{make_draft(0).id}#12-16"]
    assert [row["id"] for row in (*whole.rows(), *part.rows())] == list(written)
    assert f"- replaces: `{turn}#12-16`" in (recall.views / "decisions.md").read_text()
    assert (beyond.code, of_a_task.code) == (1, 1)
    assert "is no decision of ours but a task" in of_a_task.err


def test_a_search_shows_words_that_were_replaced_with_what_replaced_them(recall):
    recall("decide", "The wagtail port is 9000", "--supersedes", make_draft(0).id[:10])
    assert recall("index", "--words-only").code == 0

    shown = recall("query", "which wagtail port").out

    at = shown.index("the wagtail port is 8000")
    assert shown.index("The wagtail port is 9000") < at
    assert "replaced by a decision on" in shown[at:].splitlines()[1]


def test_proposed_replacements_are_listed_for_a_person_to_judge(recall):
    rules = ["Always use a timeout of 30s for the importer.", "From now on use a timeout of 60s for the importer."]
    recall.log.append([make_draft(name, text=text) for name, text in zip("ab", rules, strict=True)], now=NOW)
    assert recall("index", "--words-only").code == 0

    (row,) = recall("replacements", "--proposed", "--json").rows()
    text = recall("replacements", "--proposed", "30s").out
    none = recall("replacements", "--proposed", "5s")

    assert (row["old"], row["new"], row["state"]) == ("30s", "60s", "proposed")
    assert [row[side]["text"] for side in ("older", "newer")] == rules
    assert recall("show", row["older"]["pointer"]).code == 0
    assert text.splitlines()[0] == "30s -> 60s  proposed"
    assert all(part in text for part in (*rules, row["older"]["pointer"], row["newer"]["pointer"]))
    assert recall("replacements").out == ""
    assert (none.out, "no replacement proposed of 5s" in none.err) == ("", True)


def test_evidence_that_opens_nothing_is_refused_and_nothing_is_written(recall):
    before = recall.log.head()

    refused = recall("decide", "Use Python", "--evidence", "zzzzzzzzzz")

    assert refused.code == 1
    assert "zzzzzzzzzz" in refused.err
    assert recall.log.head() == before


def test_tasks_go_through_their_states(recall):
    """ESAA-22."""
    assert recall("task", "add", "Close the file").code == 0
    assert recall("task", "add", "Write the page").code == 0
    assert recall("task", "start", "t1", "--role", "implementer").code == 0
    assert recall("task", "block", "T2", "--note", "waits for the key").code == 0
    assert recall("task", "done", "T1", "--evidence", make_draft(1).id).code == 0

    rows = recall("task", "list", "--json").rows()

    assert [(row["id"], row["state"]) for row in rows] == [("T1", "done"), ("T2", "blocked")]
    assert rows == json.loads((recall.views / "tasks.json").read_text())["tasks"]
    again = recall("task", "done", "T1")
    assert (again.code, "is done already" in again.err) == (1, True)
    assert recall("task", "start", "T7").code == 1
    assert recall("task", "reopen", "T1").code == 0
    assert recall("task", "list", "--json").rows()[0]["state"] == "open"


def test_a_task_of_another_tools_name_does_not_hinder_the_next_number(recall):
    """An imported record may hold any name."""
    by, when = Author("kite", "agent"), Setting("2026-03-01T08:00:00Z", "one", "k", scope="w")
    recall.log.append([task(by, when, "build", "add", title="Build it")], now=NOW)

    added = recall("task", "add", "Ship it")

    assert (added.code, added.err) == (0, "")
    assert [row["id"] for row in recall("task", "list", "--json").rows()] == ["build", "T1"]


def last_id(recall) -> str:
    return list(recall.log.read())[-1].id


def test_an_outcome_that_turned_out_otherwise_is_superseded(recall):
    recall("outcome", "pytest: 212 passed", "--status", "verified")
    first = last_id(recall)

    assert recall("outcome", "pytest: 3 failed on 3.13", "--status", "failed", "--supersedes", first).code == 0

    state, handoff = ((recall.views / name).read_text() for name in ("state.md", "handoff.md"))
    assert "3 failed on 3.13" in state
    assert "3 failed on 3.13" in handoff
    assert "212 passed" not in state + handoff
    assert "212 passed" in recall("show", first).out


def test_a_correction_is_superseded_by_a_later_one_of_ours_alone(recall):
    of = next(iter(recall.log.read())).id
    recall("correct", of, "the port is 8443")
    first = last_id(recall)

    assert recall("correct", of, "the port is 8444", "--supersedes", first).code == 0
    assert "is 8443" not in (recall.views / "handoff.md").read_text()
    second = last_id(recall)
    by_a_peer = recall("correct", of, "the port is 1", "--supersedes", second, "--channel", "review")
    of_another_kind = recall("outcome", "x", "--status", "failed", "--supersedes", second)

    assert (by_a_peer.code, of_another_kind.code) == (1, 1)
    assert "replaces nothing of ours" in by_a_peer.err
    assert "is no outcome of ours but a correction" in of_another_kind.err
    assert "8444" in (recall.views / "handoff.md").read_text()


def test_questions_are_listed_with_their_answers(recall):
    recall("question", "ask", "Is a lock needed?")
    recall("question", "ask", "Which port?")
    recall("question", "resolve", "Q1", "yes, two processes write")

    assert recall("question", "list").out.splitlines() == [
        "Q1   resolved Is a lock needed?",
        "     yes, two processes write",
        "Q2   open     Which port?",
    ]
    first, second = recall("question", "list", "--json").rows()
    assert (first["answer"], first["answered_by"]) == ("yes, two processes write", "ana")
    assert (second["state"], second["answer"]) == ("open", None)


def test_question_is_open_until_it_is_resolved(recall):
    assert recall("question", "ask", "Is a lock needed?").code == 0
    assert "Q1 Is a lock needed?" in (recall.views / "state.md").read_text()

    assert recall("question", "resolve", "q1", "yes").code == 0

    assert "Q1" not in (recall.views / "state.md").read_text()
    assert recall("question", "resolve", "Q9", "yes").code == 1
    head = recall.log.head()
    again = recall("question", "resolve", "Q1", "no")
    assert "recall: Q1 is resolved already by" in again.err
    assert (again.code, recall.log.head()) == (1, head)


def test_correction_names_its_target(recall):
    target = make_draft(0).id
    assert recall("correct", target[:10], "it is 8443", "--channel", "review").code == 0

    event = next(recall.log.read_back(only="correction"))

    assert (event.body["of"], event.body["actor"], event.body["channel"]) == (target, "ana", "review")


@pytest.mark.parametrize(
    "args",
    [
        ("decide", "Use Python"),
        ("task", "add", "Close the file"),
        ("question", "ask", "why?"),
        ("correct", make_draft(0).id, "no"),
        ("outcome", "it works", "--status", "verified"),
        ("observe", "look", "--channel", "synapse", "--category", "review"),
    ],
)
def test_dry_run_writes_nothing(recall, args):
    before = recall.log.head()

    done = recall(*args, "--dry-run", "--json")

    assert done.code == 0, done.err
    assert done.rows()[0]["dry_run"] is True
    assert done.rows()[0]["body"]["actor_kind"] == "human"
    assert recall.log.head() == before
    assert not recall.views.exists()


def test_nobody_at_hand_is_refused(recall, monkeypatch):
    """ESAA-24."""
    monkeypatch.delenv("RECALL_ACTOR")

    refused = recall("decide", "Use Python")

    assert refused.code == 2
    assert "who says it?" in refused.err


@pytest.mark.parametrize(
    ("env", "given", "terminal", "expected"),
    [
        ({}, ("ana", "human"), False, ("ana", "human", "recall")),
        ({"CLAUDECODE": "1"}, (None, None), False, ("claude-code", "agent", "claude-code")),
        ({"CLAUDECODE": "1"}, (None, None), True, ("claude-code", "agent", "claude-code")),
        ({"CLAUDECODE": "1"}, ("ana", "human"), False, ("ana", "human", "claude-code")),
        ({"RECALL_ACTOR": "agent:kite"}, (None, None), False, ("kite", "agent", "kite")),
        ({"RECALL_ACTOR": "human:ana"}, (None, None), False, ("ana", "human", "recall")),
        ({"RECALL_ACTOR": "human:bo", "CLAUDECODE": "1"}, (None, None), False, ("claude-code", "agent", "claude-code")),
        ({"RECALL_ACTOR": "agent:kite", "CLAUDECODE": "1"}, (None, None), False, ("kite", "agent", "claude-code")),
        ({"PI_CODING_AGENT": "true"}, (None, None), False, ("pi", "agent", "pi")),
        ({"COPILOT_CLI": "1"}, (None, None), False, ("copilot-cli", "agent", "copilot-cli")),
        ({}, ("ana", None), True, ("ana", "human", "recall")),
    ],
)
def test_author_is_who_was_named_else_the_harness_else_the_person(env, given, terminal, expected):
    by = author(env, *given, terminal=terminal)

    assert (by.name, by.kind, by.agent) == expected


@pytest.mark.parametrize("given", [("ana", None), (None, "human"), (None, "agent"), (None, None)])
def test_author_is_never_guessed_without_a_terminal(given):
    with pytest.raises(click.UsageError, match="who says it"):
        author({}, *given, terminal=False)


def test_project_restores_and_replay_says_equal(recall):
    """ESAA-14, ESAA-31, ESAA-48."""
    recall("decide", "Use Python")
    before = {path.name: path.read_bytes() for path in recall.views.iterdir()}
    (recall.views / "state.md").unlink()
    (recall.views / "decisions.md").write_text("mine")

    found = recall("verify", "--json").rows()[0]
    assert {problem["code"] for problem in found["problems"]} == {"view_missing", "view_edited"}
    assert recall("replay", "--cold").code == 1
    assert recall("project", "--dry-run", "--json").rows()[0]["would_write"] == ["state.md", "decisions.md"]

    assert recall("project").code == 0

    assert {path.name: path.read_bytes() for path in recall.views.iterdir()} == before
    assert recall("replay", "--cold", "--json").rows()[0]["equal"] is True
    assert recall("verify").code == 0


def test_handoff_of_a_task_prints_sections_and_window(recall):
    """ESAA-30, LCA-6.5-02: and leaves the record as it is."""
    recall("task", "add", "Document the wagtail port")
    before = recall.log.head()

    shown = recall("handoff", "--task", "T1", "--json").rows()[0]

    assert len(shown["sections"]) == 10
    assert [(message["text"], message["why"]) for message in shown["window"]] == [
        (f"the wagtail port is {8000 + n}", "topic") for n in range(3)
    ]
    printed = recall("handoff", "--task", "T1", "--for", "codex")
    assert "\n# Handoff of T1 for codex, a new session\n" in printed.out
    assert printed.out.count("\n## ") == 11
    assert "## The last 3 messages\n" in printed.out
    assert recall("handoff", "--task", "T9").code == 1
    assert recall.log.head() == before


def test_handoff_without_messages_ends_with_its_sections(recall):
    with_them, without = recall("handoff").out, recall("handoff", "--last", "0").out

    assert "## The last 3 messages" in with_them
    assert without.splitlines()[1:-1] == with_them.partition("## The last")[0].splitlines()[1:]


def test_a_handoff_that_is_pasted_into_a_prompt_is_known_as_recalls(recall):
    assert strip_blocks(f"Go on from this: {recall('handoff').out.strip()} mink-1414") == "Go on from this:  mink-1414"


def test_a_handoff_holds_no_handoff_that_was_handed_over(recall):
    first = recall("handoff").out
    recall.log.append([make_draft(8, text=first), make_draft(9, text=f"{first}\nGo on with mink-1414.")], now=NOW)

    second = recall("handoff").out

    assert "mink-1414" in second
    assert second.count("# Handoff for") == 1
    assert "## The last 4 messages" in second


def test_handoff_shows_no_credential_that_a_message_holds(recall):
    token = "ghp_" + "Ab3dEf6hIj9l" * 3
    recall.log.append([make_draft(9, text=f"push it with {token}")], now=NOW)

    printed, shown = recall("handoff"), recall("handoff", "--json")

    assert token not in printed.out + shown.out
    assert "push it with [secret:github-token]" in printed.out
    assert shown.rows()[0]["window"][-1]["text"] == "push it with [secret:github-token]"


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_what_an_agent_reads_of_the_record_holds_no_credential_and_show_has_the_words(recall, form):
    token = "ghp_" + "Ab3dEf6hIj9l" * 3
    recall.log.append([make_draft(9, text=f"push it with {token}")], now=NOW)
    recall("decide", f"deploy with {token}")
    decided = recall("context", "--type", "decision", "--json").rows()[0]["id"]

    printed = recall("context", *form).out + recall("log", "trail", decided, *form).out

    assert token not in printed
    assert "push it with [secret:github-token]" in printed
    assert "deploy with [secret:github-token]" in printed
    assert token in recall("show", decided).out


def test_handoff_is_refused_for_whom_nobody_knows(recall):
    """A word mistyped would give the handoff of another purpose; an agent that only the record knows is one."""
    recall.log.append([make_draft("l", agent="loom", session="s-loom")], now=NOW)

    mistyped = recall("handoff", "--for", "compction")

    assert (mistyped.code, mistyped.out) == (2, "")
    assert "'compction' is none of compaction, role, session, aider" in mistyped.err
    assert recall("handoff", "--for", "loom").out.split("\n")[1] == "# Handoff for loom, a new session"
    assert recall("handoff", "--for", "grok").out.split("\n")[1] == "# Handoff for grok-build, a new session"
    assert recall("handoff", "--for", "compaction", "--session", "s-lo").out.count("s-loom") == 2
    assert "no session begins with 'zz'" in recall("handoff", "--session", "zz").err


@pytest.mark.parametrize(
    ("given", "heading"),
    [
        ((), "# Handoff for a new session"),
        (("--for", "role"), "# Handoff for another role"),
        (("--for", "role", "--role", "tester"), "# Handoff for the role tester"),
        (("--for", "compaction"), "# Handoff for the same agent, after a compaction"),
    ],
)
def test_a_handoff_says_for_whom_it_is(recall, given, heading):
    assert recall("handoff", *given).out.splitlines()[1] == heading


def test_a_turn_names_its_agent_and_what_a_command_wrote_its_author(recall):
    """Several agents share one record: a session's id alone does not say whose it is."""
    recall.log.append([make_draft("l", text="woven", agent="loom", session="01a22a4d-5fb5-7545")], now=NOW)
    recall("decide", "Use Python", "--why", "the team knows it")

    [turn, *_] = recall("context", "--last", "1").out.splitlines()
    [decision, *_] = recall("context", "--type", "decision").out.splitlines()
    told = json.loads(recall("context", "--type", "decision", "--json").out.splitlines()[0])

    assert turn.endswith("user (prompt), loom session 01a22a4d-5fb5")
    assert decision.endswith("human (decision by ana)")
    assert (told["author"], told["actor_kind"]) == ("ana", "human")


def test_health_counts_the_sessions_of_agents_as_log_stats_does(recall):
    """What a command records outside a session has a run of its own, and is no session."""
    recall("decide", "Use Python")
    recall("task", "add", "Write it down")
    recall("index", "--words-only")

    stored = next(line for line in recall("health", "--all").out.splitlines() if " stored " in line)

    assert stored.endswith(" events of 1 session")
    assert " in 1 session, " in recall("log", "stats").out


def test_a_session_that_is_named_too_shortly_is_said_to_be(recall):
    assert "at least 8 characters" in recall("context", "--session", "s-").err


def test_context_takes_the_beginning_of_a_harness_name(recall):
    """ESAA-17: grok stands for grok-build; what may be several harnesses is refused."""
    recall.log.append([make_draft("g", text="from grok", agent="grok-build")], now=NOW)

    rows = recall("context", "--agent", "grok", "--last", "20", "--json").rows()

    assert [row["text"] for row in rows[:-1]] == ["from grok"]
    assert rows[-1]["note"] == "1 turn: all there are of what was asked for"
    refused = recall("context", "--agent", "c")
    assert (refused.code, "claude-code" in refused.err) == (2, True)
    assert recall("context", "--type", "nonsense").code == 2


@pytest.mark.parametrize("spelt", ["codex", "codex-cli", "Codex"])
def test_context_knows_a_harness_by_the_spellings_that_sync_knows(recall, spelt):
    recall.log.append([make_draft("c", text="from codex", agent="codex")], now=NOW)

    rows = recall("context", "--agent", spelt, "--json").rows()

    assert [row["text"] for row in rows[:-1]] == ["from codex"]


def test_context_by_meaning_gives_only_turns_that_are_near(recall, monkeypatch):
    """ESAA-18, the semantic form; what it finds goes through the other filters as well."""
    monkeypatch.setattr("indexer.embedder.load", lambda *args, **kwargs: StubEmbedder())
    recall.log.append([make_draft("noon", text="lunch is at noon"), make_draft("w", text="a port of call")], now=NOW)

    early = recall("context", "--near", "wagtail port")
    recall("index")
    found = recall("context", "--near", "the wagtail port is what", "--json").rows()[:-1]
    fewer = recall("context", "--near", "the wagtail port is what", "--topic", "8001", "--json").rows()[:-1]

    assert (early.code, "recall index" in early.err) == (1, True)
    assert [turn["text"] for turn in found] == [f"the wagtail port is {8000 + n}" for n in range(3)]
    assert [turn["text"] for turn in fewer] == ["the wagtail port is 8001"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--around", make_draft(1).id, "--cursor", "1.2.3.00000000"), "--cursor"),
        (("--around", make_draft(1).id, "--all"), "--all"),
        (("--near", " "), "--near is empty"),
    ],
)
def test_context_refuses_what_does_not_go_together(recall, args, said):
    done = recall("context", *args)

    assert (done.code, said in done.err) == (2, True)


def test_context_combines_its_filters(recall):
    rows = recall(
        "context", "--topic", "8001", "--role", "user", "--since", "2026-01-01", "--until", "2027-01-01", "--json"
    ).rows()

    assert [row["text"] for row in rows[:-1]] == ["the wagtail port is 8001"]


def test_what_a_sub_agent_says_is_recorded_as_its_word(recall):
    """LCA-4.7-06: it is told apart, so that it weighs nothing before consolidation has adopted it."""
    pointer = make_draft(0).id[:10]

    done = recall("correct", pointer, "the port is 8443", "--worker", "a1", "--as", "agent", "--actor", "helper")
    person = recall("correct", pointer, "the port is 8443", "--worker", "a1")

    assert done.code == 0, done.err
    (event,) = [event for event in recall.log.read() if event.type == "correction"]
    assert event.body["worker"] == "a1"
    assert (person.code, "--as agent" in person.err) == (2, True)
