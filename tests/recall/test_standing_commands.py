"""The commands about what a session always carries: print it, write templates, accept hand edits, begin cleared."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from support.command import runner
from support.memory_folder import make_memory_folder
from support.person import sit_down
from support.record import NOW, make_draft

from consolidation import standing_files
from recall.standing_context import held
from recall.turnstate import TurnState
from transcript.event import Draft
from transcript.log import Log
from transcript.workspace import Workspace, locate

TEMPLATES = {
    "project:IDENTITY.md",
    "project:instructions/project.md",
    "project:roles/reviewer.md",
    "user:USER.md",
}


@pytest.fixture
def call(tmp_path: Path, monkeypatch: Any, capsys: Any) -> Any:
    (tmp_path / "shop").mkdir()
    monkeypatch.chdir(tmp_path / "shop")
    for name in ("CLAUDECODE", "RECALL_ACTOR"):
        monkeypatch.delenv(name, raising=False)
    run = runner(capsys)
    assert run("init").code == 0
    return run


def workspace() -> Workspace:
    found = locate(Path.cwd(), Path(os.environ["RECALL_HOME"]))
    assert found is not None
    return found


def identity(name: str = "IDENTITY.md", text: str = "You keep the shop running.\n") -> Path:
    path = Path.cwd() / ".recall" / "identity" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def standing(call: Any, *options: str) -> dict[str, Any]:
    (row,) = call("session-start", "--json", *options).rows()
    return row


def states(row: dict[str, Any]) -> dict[str, str]:
    return {one["key"]: one["state"] for one in row["entries"]}


def test_the_set_is_printed_with_sizes_kinds_and_what_is_missing(call):
    """LCA-4.1-01."""
    identity()
    identity("instructions/ship.md", "Ship on Tuesdays.\n")

    shown = call("session-start")

    assert shown.code == 0
    assert shown.err == ""
    lines = shown.out.splitlines()
    assert lines[0] == "2 entries of 2 loaded, 43 of 50,000 characters"
    assert lines[1].split() == ["loaded", "26", "semantic", "identity", "project:IDENTITY.md"]
    assert lines[2].split() == ["loaded", "17", "procedural", "instructions", "project:instructions/ship.md"]
    assert lines[3].split() == ["missing", "USER.md"]
    assert "You keep the shop running." in shown.out


def test_an_empty_identity_is_a_warning_and_no_failure(call):
    """LCA-4.1-04."""
    shown = call("session-start")

    assert shown.code == 0
    assert "no session is told who it is" in shown.err
    assert "recall init --scaffold" in shown.err
    assert [line.split() for line in shown.out.splitlines()[1:]] == [["missing", "IDENTITY.md"], ["missing", "USER.md"]]


def test_292_files_are_counted_and_named_and_the_three_critical_ones_printed(call, tmp_path, monkeypatch):
    folder = make_memory_folder(tmp_path / "theirs")
    (folder / "memory-007.md").write_text("---\ntype: nonsense\n---\nModule 7.\n", "utf-8")
    monkeypatch.setenv("RECALL_MEMORY_FOLDERS", str(folder))

    row = standing(call)

    assert row["files"] == {"files": 292, "loaded": 291, "critical": 3}
    assert [Path(path).name for path, _ in row["failed"]] == ["memory-007.md"]
    assert [one["text"] for one in row["entries"] if one["state"] == "loaded"] == [
        f"Module {number} listens on port {8000 + number}." for number in _by_date(289, 290, 291)
    ]


def _by_date(*numbers: int) -> list[int]:
    return sorted(numbers, key=lambda number: 1 + number % 28, reverse=True)


def test_a_smaller_budget_names_what_is_left_out(call):
    """LCA-4.1-02."""
    identity()
    identity("instructions/ship.md", "Ship on Tuesdays.\n")

    assert states(standing(call, "--budget", "30")) == {
        "project:IDENTITY.md": "loaded",
        "project:instructions/ship.md": "over_budget",
    }


def test_a_harness_is_shown_what_its_start_is_told(call):
    identity()

    shown = call("session-start", "--harness", "codex")

    assert shown.out.startswith("[recall ")
    assert "You keep the shop running." in shown.out
    assert call("session-start", "--harness", "emacs").code == 2


def test_an_agent_is_shown_what_the_project_may_read(call, monkeypatch):
    identity()
    user = Path(os.environ["RECALL_HOME"]) / "identity" / "USER.md"
    user.parent.mkdir()
    user.write_text("Ana has a bad knee.\n", "utf-8")
    mine = call("session-start").out
    monkeypatch.setenv("CLAUDECODE", "1")

    theirs, row = call("session-start").out, call("session-start", "--json").out

    assert "bad knee" in mine
    assert "bad knee" not in theirs + row
    assert call("session-start", "--audience", "private").code == 2


def test_templates_are_written_once_and_never_over_what_is_there(call):
    """LCA-9.2-04."""
    path = identity(text="Mine.\n")

    first = call("init", "--scaffold", "--json").rows()[0]
    again = call("init", "--scaffold", "--json").rows()[0]

    assert path.read_text() == "Mine.\n"
    assert {Path(one).name for one in first["written"]} == {"USER.md", "reviewer.md", "project.md"}
    assert (again["written"], again["changed"]) == ([], False)
    row = standing(call)
    assert states(row) == {"project:IDENTITY.md": "loaded"}
    assert {key for key, _ in row["failed"]} == TEMPLATES - {"project:IDENTITY.md"}
    assert row["changes"] == []


def test_a_template_is_called_empty_and_neither_failed_nor_missing(call):
    call("init", "--scaffold")

    shown = call("session-start")

    lines = [line.split()[:2] for line in shown.out.splitlines()[1:]]
    assert sorted(lines) == [["empty", f"{key}:"] for key in sorted(TEMPLATES)]
    assert "fill in the templates" in shown.err
    assert "scaffold" not in shown.err


def test_the_printed_block_counts_what_had_no_room(call):
    identity()
    identity("instructions/long.md", "Ship on Tuesdays. " * 100)

    shown = call("session-start", "--budget", "100").out

    assert "1 of 2 loaded; recall session-start shows all" in shown
    assert "no room for: project:instructions/long.md (1,799 characters)" in shown
    assert "no room for" not in call("session-start").out


def test_init_says_which_files_it_takes_as_known_and_only_once(call):
    identity()

    first, again = call("init"), call("init")

    assert "known      project:IDENTITY.md, as it stands\n" in first.out
    assert "nothing changed" not in first.out
    assert "known " not in again.out
    assert "nothing changed" in again.out


def test_what_is_withheld_from_others_is_not_called_missing(call):
    identity()

    shown = call("session-start", "--audience", "shared")

    assert "withheld" in shown.out
    assert "missing     IDENTITY.md" not in shown.out
    assert shown.err == ""


def test_a_template_that_was_filled_in_is_told_and_new_and_a_later_edit_is_ungoverned(call, monkeypatch):
    call("init", "--scaffold")
    path = identity(text="# Identity\n\nYou keep the shop running.\n")
    filled = standing(call)
    sit_down(monkeypatch)
    accepted = call("standing", "accept", str(path))
    known = standing(call)
    path.write_text("You keep the books.\n", "utf-8")
    edited = standing(call)
    path.unlink()
    gone = standing(call)

    assert states(filled)["project:IDENTITY.md"] == "loaded"
    assert [one["code"] for one in filled["changes"]] == ["standing_new"]
    assert (accepted.code, accepted.out) == (0, "accepted project:IDENTITY.md\n")
    assert known["changes"] == []
    assert [one["code"] for one in edited["changes"]] == ["standing_ungoverned"]
    assert states(edited)["project:IDENTITY.md"] == "loaded"
    assert [one["code"] for one in gone["changes"]] == ["standing_missing"]


def test_verify_names_a_hand_edit_and_fails_and_a_new_file_and_does_not(call, monkeypatch):
    """LCA-4.1-02."""
    path = identity()
    new = call("verify")
    sit_down(monkeypatch)
    call("standing", "accept", str(path))
    known = call("verify")
    path.write_text("You keep the books.\n", "utf-8")
    edited, row = call("verify"), call("verify", "--json").rows()[0]

    assert (new.code, known.code, edited.code) == (0, 0, 1)
    assert new.out.splitlines()[0].split()[:2] == ["standing_new", "project:IDENTITY.md:"]
    assert "standing" not in known.out.splitlines()[0].split("(")[0]
    assert edited.out.splitlines()[0].split()[:2] == ["standing_ungoverned", "project:IDENTITY.md:"]
    assert edited.out.splitlines()[-1].startswith("to be looked at: ")
    assert (row["ok"], [one["code"] for one in row["problems"]]) == (False, ["standing_ungoverned"])


def test_a_person_sees_the_file_and_types_its_hash_and_anything_else_changes_nothing(call, monkeypatch):
    path = identity(text="You keep the shop running.\nIt is p\u0430id.\u200b\n")
    typist = sit_down(monkeypatch, "no")

    refused = call("standing", "accept", str(path))

    assert refused.code == 1
    assert typist.shown[0] == "You keep the shop running."
    assert typist.shown[1] == r"It is p\u{0430}id.\u{200B}"
    assert standing_files.governed(Log(workspace())) == {}


@pytest.mark.parametrize("variable", ["CLAUDECODE", "CODEX_SANDBOX", "RECALL_CHILD"])
def test_an_agent_cannot_accept(call, variable, monkeypatch):
    path = identity()
    sit_down(monkeypatch)
    monkeypatch.setenv(variable, "1")

    refused = call("standing", "accept", str(path))

    assert refused.code == 1
    assert "is no person" in refused.err
    assert standing_files.governed(Log(workspace())) == {}


def test_an_agent_that_runs_init_makes_no_file_known(call, monkeypatch):
    identity()
    monkeypatch.setenv("CLAUDECODE", "1")
    call("init")
    unknown = standing(call)["changes"]
    monkeypatch.delenv("CLAUDECODE")
    call("init")

    assert [one["code"] for one in unknown] == ["standing_new"]
    assert standing(call)["changes"] == []


def test_what_is_no_file_of_ours_cannot_be_accepted_and_nothing_is_accepted_twice(call, monkeypatch):
    path = identity()
    sit_down(monkeypatch)

    assert call("standing", "accept", "README.md").code == 1
    assert call("standing", "accept", str(path), "--dry-run").out == "would accept project:IDENTITY.md\n"
    assert call("standing", "accept", "project:IDENTITY.md").code == 0
    assert "nothing to do" in call("standing", "accept", "project:IDENTITY.md").out


def test_a_critical_memory_is_told_as_soon_as_it_is_recorded(call, monkeypatch):
    monkeypatch.setenv("RECALL_ACTOR", "human:ana")
    call("memory", "add", "Deploys go out on Tuesdays.", "--for", "any", "--critical")

    (entry,) = held(workspace().run_dir).entries

    assert (entry.text, entry.for_roles) == ("Deploys go out on Tuesdays.", ())


def turn(session: str, name: str, **body: Any) -> Draft:
    return make_draft(name, text=name, session=session, body={"kind": "prompt"} | body)


def test_a_cleared_session_forgets_what_the_last_was_shown_and_begins_with_nothing(call):
    log = Log(workspace())
    log.append([turn("one", "hello")], now=NOW)
    state = TurnState(workspace().run_dir, "one")
    state.settle(["a" * 26])

    made = call("session", "new", "--cleared", "--harness", "codex", "--json").rows()[0]
    log.append([turn("two", "hello again")], now=NOW)

    assert (made["command"], made["before"]) == ("codex", "one")
    (mark,) = [event for event in Log(workspace()).read() if event.type == "mark"]
    assert mark.body == {"mark": "cleared", "session": "", "before": "one"}
    assert state.shown() == frozenset()
    shown = call("session", "show", "--json")
    assert (shown.code, json.loads(shown.out)) == (0, {"session": "two", "state": "cleared", "why": ""})


def test_a_session_that_holds_a_summary_is_not_cleared(call):
    Log(workspace()).append([turn("one", "hello"), turn("one", "so far", kind="summary")], now=NOW)

    shown = call("session", "show", "one", "--json")

    assert (shown.code, json.loads(shown.out)["state"]) == (1, "compacted")
    assert call("session", "show", "three").code == 1


def test_the_beginning_of_a_sessions_name_is_enough_to_show_it(call):
    Log(workspace()).append([turn("0cf3db51-0000", "hello")], now=NOW)

    shown = call("session", "show", "0cf3db51")

    assert (shown.code, shown.out) == (0, "0cf3db51-0000: cleared\n")
