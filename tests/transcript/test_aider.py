"""What the Aider adapter makes of a chat history, and what capture makes of the file in the project."""

from pathlib import Path

import pytest
from support.aider import NAME, AiderHistory
from support.capture import Project, said
from support.harness import ids, nothing_new, read, same_everywhere

from transcript.adapters.aider import Aider

AIDER = Aider()


@pytest.fixture
def history():
    return AiderHistory().chat()


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path / "base")


def test_user_assistant_call_and_result_become_events(history, tmp_path):
    history.says("Aider v0.86.2", "Model: openai/stub with whole edit format")
    history.user("Which port?").assistant("I look.\n\n8080.").says(
        "Applied edit to a.toml", "Commit 1234567 feat: port"
    )
    path = history.write(tmp_path / "shop")

    drafts = read(AIDER, path)

    assert said(drafts) == [
        ("system:output", "Aider v0.86.2"),
        ("system:output", "Model: openai/stub with whole edit format"),
        ("prompt", "Which port?"),
        ("reply", "I look.\n\n8080."),
        ("tool_call", "edit"),
        ("tool_result", "Applied edit to a.toml"),
        ("tool_call", "commit"),
        ("tool_result", "Commit 1234567 feat: port"),
    ]
    reply, call, result = drafts[3:6]
    assert (reply.agent, reply.actor, reply.session) == ("aider", "assistant", "aider-20260615T100000-shop")
    assert (reply.ts, reply.ts_source) == ("2026-06-15T10:00:00.000Z", "file")
    assert (reply.body["cwd"], reply.body["model"]) == (str(tmp_path / "shop"), "openai/stub")
    assert (reply.native["version"], reply.native["id"]) == ("0.86.2", "")
    assert call.body["input"] == {"file": "a.toml"}
    assert call.body["call_id"] == result.body["call_id"] == result.id


def test_a_prompt_of_several_lines_is_one(history, tmp_path):
    history.user("Which port?\n\nAnd why?").assistant("8080.")

    assert said(read(AIDER, history.write(tmp_path))) == [("prompt", "Which port?\n\nAnd why?"), ("reply", "8080.")]


def test_headings_and_quotations_of_an_answer_stay_in_it(history, tmp_path):
    answer = "Here is the plan:\n\n#### Step 1\nWrap it.\n\n> As the manual says.\n\n```\n#### not a prompt\n```"
    history.user("plan").assistant(answer).says("Tokens: 1 sent")

    assert said(read(AIDER, history.write(tmp_path))) == [
        ("prompt", "plan"), ("reply", answer), ("system:output", "Tokens: 1 sent"),
    ]  # fmt: skip


def test_a_history_whose_trailing_blanks_were_cut_off_is_read(tmp_path):
    text = (
        "# aider chat started at 2026-06-15 10:00:00\n\n#### go\nDone.\n\n#### Step 1\nmore\n\n> Applied edit to a.py\n"
    )
    path = tmp_path / NAME
    path.write_text(text)

    assert said(read(AIDER, path)) == [
        ("prompt", "go"), ("reply", "Done.\n\n#### Step 1\nmore"), ("tool_call", "edit"),
        ("tool_result", "Applied edit to a.py"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("typed", "kind"),
    [
        ("/add a.py", "system:command"),
        ("/run pytest -q", "system:command"),
        ("/ask why is it 8080?", "prompt"),
        ("/ask", "system:command"),
        ("/home/dev is full", "prompt"),
        ("what does /add do?", "prompt"),
    ],
)
def test_a_bare_command_is_no_prompt(history, tmp_path, typed, kind):
    history.user(typed)

    assert said(read(AIDER, history.write(tmp_path))) == [(kind, typed)]


def test_every_chat_is_a_session_of_its_own(history, tmp_path):
    history.user("one").chat("2026-06-15 11:00:00").user("two").chat("2026-06-15 11:00:00").user("three")
    path = history.write(tmp_path / "shop")

    found, refused = AIDER.discover([tmp_path])

    assert [source.session for source in found] == [
        "aider-20260615T100000-shop", "aider-20260615T110000-shop", "aider-20260615T110000-shop.2",
    ]  # fmt: skip
    assert {source.path for source in found} == {path}
    assert len({source.identity for source in found}) == 3
    assert refused == {}


def test_output_is_the_same_everywhere(history, tmp_path):
    history.user("Which port?").assistant("8080.")

    assert same_everywhere("transcript.adapters.aider:Aider", history.write(tmp_path))


def test_bytes_that_are_no_text_and_what_stands_before_the_first_chat_lose_nothing_else(tmp_path):
    path = tmp_path / NAME
    path.write_bytes(b"stray\n\n# aider chat started at 2026-06-15 10:00:00\r\n\r\n#### caf\xe9  \r\n\r\nyes\r\n")

    assert said(read(AIDER, path)) == [("prompt", "caf\ufffd"), ("reply", "yes")]


def test_only_histories_are_claimed_and_none_in_folders_of_packages(history, tmp_path):
    history.user("x")
    for place in ("shop", "node_modules/dep", ".git"):
        history.write(tmp_path / place)
    (tmp_path / "README.md").write_text(history.text)

    found, _ = AIDER.discover([tmp_path])

    assert [source.path.parent.name for source in found] == ["shop"]


# -- capture --------------------------------------------------------------------------------------


def test_the_projects_own_history_is_found_without_being_named(project):
    AiderHistory().chat().user("mine").write(project.root)
    AiderHistory().chat().user("another's").write(project.base / "elsewhere")
    AiderHistory().chat().user("of a nested folder").write(project.root / "sub")

    report = project.sync()

    assert project.texts() == ["mine"]
    assert report.harnesses["aider"].files == 1
    assert nothing_new(project.sync())


def test_a_history_that_the_environment_names_is_found(project, tmp_path):
    assert AIDER.roots({"AIDER_CHAT_HISTORY_FILE": "/x/chat.md"}) == [Path("/x/chat.md")]
    assert AIDER.roots({"AIDER_CHAT_HISTORY_FILE": "chat.md"}) == []
    assert AIDER.roots({}) == []


def test_incremental_capture_is_whole_capture(tmp_path):
    one, two = Project(tmp_path / "a"), Project(tmp_path / "b")
    two.workspace.key_path.write_bytes(one.workspace.key_path.read_bytes())
    history = AiderHistory()
    for number in range(3):
        history.chat(f"2026-06-15 1{number}:00:00").user("go on")
        history.write(one.root)
        one.sync()
        history.assistant("the same").says("Tokens: 1 sent")
        history.write(one.root)
        one.sync()
    history.write(two.root)
    two.sync()

    assert ids(one) == ids(two)
    assert len(one.texts("prompt")) == 3
    assert {event.body["mark"] for event in one.events("mark")} == {"reasoning_withheld"}
    assert nothing_new(one.sync())


def test_an_answer_still_being_written_is_taken_in_when_its_line_ends(project):
    history = AiderHistory().chat().user("go")
    history.text += "\nHalf a li"
    history.write(project.root)
    project.sync()
    history.text += "ne.\n\n"
    history.write(project.root)
    project.sync()

    assert project.texts() == ["go", "Half a line."]
    assert not [event for event in project.events("mark") if event.body["mark"] == "rewound"]


def test_a_history_cut_by_its_owner_marks_what_is_gone(project):
    AiderHistory().chat().user("keep").user("secret").write(project.root)
    project.sync()
    AiderHistory().chat().user("keep").write(project.root)
    project.sync()

    [mark] = [event for event in project.events("mark") if event.body["mark"] == "rewound"]
    assert [event.body["text"] for event in project.events() if event.id in mark.body["events"]] == ["secret"]


@pytest.mark.real_data
def test_the_real_history_is_read(shared, project):
    report = project.sync(sources=shared / "clients" / "fresh" / "aider", all_roots=True)

    assert report.unknown == {}
    assert project.texts() == ["please explain a.py", "Understood."]
    assert {event.native["version"] for event in project.events("conversation_turn")} == {"0.86.2"}
