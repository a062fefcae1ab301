"""Sessions as the finders read them: whole, in order, without what stays out; and what counts as news."""

import pytest
from support.dialogue import Dialogue
from support.memory_events import candidate
from support.record import NOW, make_draft

from consolidation import sessions
from consolidation.sessions import last_input, views
from transcript.memory_told import SESSION


def shown(log, since=None):
    return {
        view.session: [f"{step.kind}{'!' if step.final else ''}" for step in view.steps] for view in views(log, since)
    }


def test_session_is_given_whole_as_soon_as_anything_in_it_is_new(tmp_path):
    talk = Dialogue("one")
    talk.prompt("first")
    talk.begin("two").prompt("other")
    log = talk.log(tmp_path)
    end = log.head().position
    more = Dialogue("one")
    more.drafts = [*talk.drafts]  # so that the stamps and ids go on
    more.reply("answer")

    assert shown(log, end) == {}
    log.append(more.drafts, now=NOW)
    assert shown(log, end) == {"one": ["prompt", "reply!"]}
    assert shown(log) == {"one": ["prompt", "reply!"], "two": ["prompt"]}


@pytest.mark.parametrize("sieved", [0, 16])
def test_steps_say_what_was_said_done_failed_and_recorded(sieved, tmp_path, monkeypatch):
    monkeypatch.setattr(sessions, "MOST_SESSIONS_SIEVED", sieved)
    talk = Dialogue()
    talk.prompt("go", cwd="/srv/shop/web", role="backend")
    talk.reply("on it", message="m1")
    talk.edit("a.py")
    talk.bash("make", "boom", fails=True)
    talk.event("system", {"subtype": "compact_boundary"}, actor="system")
    talk.reply("done", message="m2")
    talk.reply("and checked", message="m2")
    talk.event("decision", {"kind": "decision", "statement": "x", "text": "x", "actor_kind": "human"})
    talk.prompt("look", kind="worker_prompt", worker="w")
    talk.reply("looked", worker="w")
    talk.event("reasoning", {"text": "hm"})
    talk.prompt("thanks", speaker="Ines")

    (view,) = views(talk.log(tmp_path))

    assert [f"{step.kind}{'!' if step.final else ''}" for step in view.steps] == [
        *("prompt", "reply", "call", "ok", "call", "error", "boundary", "reply!", "reply!", "curated", "reply"),
    ]
    assert (view.project, view.role, view.agent) == ("web", "backend", "claude-code")
    call, error = view.steps[4], view.steps[5]
    assert (call.tool, call.input, call.text) == ("Bash", {"command": "make"}, "Bash\ncommand: make")
    assert (error.text, error.body["call_id"]) == ("boom", call.body["call_id"])
    assert [step.worker for step in view.steps if step.worker] == ["w"]


def test_exchange_that_a_person_keeps_out_is_left_out_to_the_next_prompt(tmp_path):
    talk = Dialogue()
    talk.prompt("before")
    talk.prompt("  !norecall between us")
    talk.reply("quietly")
    talk.bash("cat secret", "words")
    talk.event("decision", {"kind": "decision", "statement": "x", "text": "x"})
    talk.prompt("after")

    (view,) = views(talk.log(tmp_path))

    assert [(step.kind, step.text) for step in view.steps] == [
        ("prompt", "before"),
        ("curated", "x"),
        ("prompt", "after"),
    ]


REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). To tell you how to proceed, the user said:\n"
)


def test_what_a_person_said_in_rejecting_a_call_stands_beside_its_error_in_its_place(tmp_path):
    talk = Dialogue()
    talk.prompt("go")
    talk.bash("make ci", f"{REJECTED}never run the slow suite", fails=True)
    talk.call("mcp__tracker__create", {}, f"{REJECTED}always push", fails=True)
    talk.bash("make", f"{REJECTED}!norecall between us", fails=True)
    talk.bash("make", f"{REJECTED}never mind", worker="w", fails=True)

    (view,) = views(talk.log(tmp_path))

    assert [step.kind for step in view.steps][:4] == ["prompt", "call", "error", "rejection"]
    assert [step.text.strip() for step in view.steps if step.is_typed] == ["go", "never run the slow suite"]
    failed, said = view.steps[2:4]
    assert failed.text[len(REJECTED) :] == said.text[len(REJECTED) :] == "never run the slow suite"
    assert said.event == failed.event


def test_what_was_rewound_is_gone_and_what_was_restored_is_back(tmp_path):
    talk = Dialogue()
    first, second = talk.prompt("one"), talk.prompt("two")
    talk.event("mark", {"mark": "rewound", "events": [first, second]})
    talk.event("mark", {"mark": "restored", "events": [second]})

    (view,) = views(talk.log(tmp_path))

    assert [step.text for step in view.steps] == ["two"]


def test_long_texts_of_calls_are_cut_and_long_prompts_are_whole(tmp_path):
    talk = Dialogue()
    talk.prompt("word " * 20_000)
    talk.call("Write", {"file_path": "a.py", "content": "x" * 90_000, "parts": ["y" * 5000]}, "done")

    (view,) = views(talk.log(tmp_path))

    assert len(view.steps[0].text) == 100_000
    assert len(view.steps[1].text) == sessions.INPUT_CHARS
    assert {name: len(str(value)) for name, value in view.steps[1].input.items()}["content"] == sessions.INPUT_CHARS
    assert len(view.steps[1].input["parts"][0]) == sessions.INPUT_CHARS


@pytest.mark.parametrize(
    ("draft", "is_news"),
    [
        (make_draft("p", text="hello"), True),
        (make_draft("r", "recall", body={"mode": "inject"}), True),
        (make_draft("s", "recall", body={"mode": "handoff"}), False),
        (make_draft("i", "index_run"), False),
        (make_draft("h", "health"), False),
        (make_draft("c", "checkpoint"), False),
        (candidate(), False),
        (make_draft("m", "memory.written", session="recall:by-hand"), True),
    ],
    ids=["prompt", "turn", "start", "index", "health", "checkpoint", "own", "a person's memory"],
)
def test_upkeep_and_what_a_run_wrote_itself_are_no_news(draft, is_news, tmp_path):
    talk = Dialogue()
    talk.prompt("before")
    log = talk.log(tmp_path)
    end = last_input(log)
    assert end == log.head().position

    log.append([draft], now=NOW)

    assert (draft.session == SESSION) == (draft.id == candidate().id)
    assert last_input(log, end) == (log.head().position if is_news else None)
