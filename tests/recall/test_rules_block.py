"""Our block in a rules file: refreshed by captures, and every byte around it the user's."""

import json
import os
from dataclasses import asdict
from pathlib import Path

import pytest
from support.record import NOW, make_log, make_workspace
from support.story import ANA, at, story

from recall import background, forgetting
from recall.cli.group import run
from recall.hook_counters import read as counted
from recall.hook_registry import REGISTRY, Installed, registered
from recall.rules_block import HOW, KIND, content, has_block, keep_up, refresh, with_block, without_block
from transcript.curation import decision, observation
from transcript.errors import HookInstallError
from transcript.injected import block_spans
from transcript.log import Log
from transcript.projections import views
from transcript.redaction_plan import plan_events
from transcript.workspace import Workspace

TEXTS = {
    "empty": "",
    "one line": "# Rules\n",
    "no final line end": "# Rules\nBe brief.",
    "CRLF": "# Rules\r\nBe brief.\r\n",
    "CRLF without the last": "# Rules\r\nBe brief.",
    "byte order mark": "\ufeff# Rules\n",
    "only a byte order mark": "\ufeff",
    "blank lines at the end": "# Rules\n\n\n",
    "half a marker": "<!-- recall: begin\n# Rules\n<!-- recall: end -->\n",
    "comments": "<!-- mine -->\n# Rules <!-- recall -->\n",
    "carriage returns": "a\rb\r",
    "CJK": "規則：短く。",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_taking_the_block_out_gives_the_bytes_from_before(text):
    once = with_block(text, "one\ntwo")
    again = with_block(once, "three")

    assert has_block(once)
    assert not has_block(text)
    assert without_block(once) == without_block(again) == without_block(text) == text
    assert "three" in again
    assert "two" not in again
    assert with_block(again, "three") == again
    assert once.startswith(text)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_what_the_user_writes_around_the_block_stays(text):
    edited = "above\n" + with_block(text, "one") + "below, no line end"

    renewed = with_block(edited, "two")

    assert without_block(renewed) == without_block(edited) == f"above\n{text}below, no line end"


def test_the_block_takes_the_files_own_line_ends():
    assert "\n" not in with_block("# Rules\r\n", "one\ntwo").replace("\r\n", "")
    assert "\r" not in with_block("# Rules\n", "one\ntwo")


def test_a_begin_without_an_end_takes_nothing_of_the_users_with_it():
    torn = with_block("# Rules\n", "one").partition("<!-- recall: end")[0] + "my own words\n"

    whole = with_block(torn, "two")

    assert whole.startswith(torn)
    assert without_block(whole) == torn


def test_a_block_that_was_pasted_twice_goes_wholly():
    twice = with_block("a\n", "one") + "b\n" + with_block("", "one")

    assert without_block(twice) == "a\nb\n"


# -- refreshed by captures ---------------------------------------------------------------------


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    log = make_log(tmp_path, story())
    views.project(log.workspace)
    return log.workspace


def installed(workspace: Workspace, name: str = "AGENTS.md", *, before: str | None = "# Rules\n") -> Path:
    """A rules file with our block, as the installer leaves it; before None: the file is ours as a whole."""
    file = workspace.root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(with_block(before or "", "nothing yet"))
    entry = Installed(
        "grok-build", "project", str(file), "", "0", "", "kept" if before is not None else "", "", kind=KIND
    )
    entries = [*registered(workspace.data), entry]
    (workspace.data / REGISTRY).write_text(json.dumps([asdict(one) for one in entries]))
    return file


def renew(workspace: Workspace) -> list[Path]:
    return refresh(workspace.data, workspace)


def test_the_block_says_what_holds_and_how_to_ask_and_is_written_once(workspace):
    file = installed(workspace)

    assert renew(workspace) == [file]
    assert renew(workspace) == []

    text = file.read_text()
    assert "recall query" in text
    assert "- next: T2 Document the old schema" in text
    assert len(block_spans(text)) == 1
    assert without_block(text) == "# Rules\n"


def test_a_new_decision_stands_in_it_after_the_next_capture(workspace, monkeypatch):
    monkeypatch.setenv("RECALL_INDEX_MODEL", "none:at-all")
    file = installed(workspace)
    Log(workspace).append([decision(ANA, at(30), "Ship on Friday")], now=NOW)

    background.capture(workspace.data, workspace.root, os.environ)

    assert "- decided: Ship on Friday" in file.read_text()


def test_a_new_decision_stands_in_it_when_the_command_returns(workspace, monkeypatch):
    """The next session of such a harness may start before any capture."""
    file = installed(workspace)
    monkeypatch.setenv("RECALL_HOME", str(workspace.data))
    monkeypatch.chdir(workspace.root)

    assert run(["decide", "Ship on Friday", "--actor", "ana", "--as", "human"]) == 0

    assert "- decided: Ship on Friday" in file.read_text()


def test_it_is_renewed_by_a_sync_by_hand_too(workspace, tmp_path, monkeypatch):
    """Without hooks that capture, the command is all there is."""
    file = installed(workspace)
    monkeypatch.setenv("RECALL_HOME", str(workspace.data))
    monkeypatch.chdir(workspace.root)
    Log(workspace).append([decision(ANA, at(30), "Ship on Friday")], now=NOW)

    assert run(["sync", "--from", str(tmp_path)]) == 0

    assert "- decided: Ship on Friday" in file.read_text()


def test_where_telling_is_switched_off_the_block_says_only_how_to_ask(workspace, tmp_path, monkeypatch):
    file = installed(workspace)
    monkeypatch.setenv("RECALL_HOME", str(workspace.data))
    monkeypatch.setenv("RECALL_HANDOFF_SESSION_START", "false")
    monkeypatch.chdir(workspace.root)

    assert run(["sync", "--from", str(tmp_path)]) == 0
    synced = file.read_text()
    forgetting.erase(workspace, lambda: plan_events(workspace, {story()[0].id}), now=NOW)

    assert synced == file.read_text() == with_block("# Rules\n", HOW)


def test_nothing_recorded_leaves_only_how_to_ask(tmp_path):
    workspace = make_workspace(tmp_path)
    views.project(workspace)

    assert content(workspace, harness="aider") == HOW


def test_private_words_stay_out_and_redacted_ones_leave(workspace):
    file = installed(workspace)
    made = decision(ANA, at(30), "Meet at the harbour gate")
    secret = observation(ANA, at(31), "between us only", channel="dm", category="review", private=True)
    Log(workspace).append([made, secret], now=NOW)
    views.refresh(workspace)
    renew(workspace)
    assert "harbour" in file.read_text()

    forgetting.erase(workspace, lambda: plan_events(workspace, {made.id}), now=NOW)

    assert "harbour" not in file.read_text()
    assert "between us" not in file.read_text()


def test_a_file_that_is_gone_comes_back_only_when_it_was_ours(workspace):
    theirs, ours = installed(workspace), installed(workspace, "CONVENTIONS.md", before=None)
    theirs.unlink()
    ours.unlink()

    assert renew(workspace) == [ours]
    assert not theirs.exists()
    assert without_block(ours.read_text()) == ""
    assert os.name != "posix" or ours.stat().st_mode & 0o777 == 0o600


def test_a_folder_that_was_taken_away_stays_away(workspace):
    ours = installed(workspace, "rules/recall.md", before=None)
    ours.unlink()
    ours.parent.rmdir()

    assert renew(workspace) == []
    assert not ours.parent.exists()


def test_a_file_that_nobody_may_write_keeps_its_block_and_is_named(workspace):
    file = installed(workspace)
    before = file.read_bytes()
    file.chmod(0o444)

    with pytest.raises(HookInstallError, match=f"{file.name} keeps its old block: .*read-only"):
        renew(workspace)

    assert file.read_bytes() == before


def test_a_block_taken_out_by_hand_stays_out(workspace):
    file = installed(workspace)
    file.write_text("# Rules\n")

    assert renew(workspace) == []
    assert file.read_text() == "# Rules\n"


@pytest.mark.skipif(os.name != "posix", reason="links and modes as on Unix")
def test_a_link_stays_a_link_and_the_mode_stays(workspace):
    file = installed(workspace, "CLAUDE.md")
    file.chmod(0o640)
    link = workspace.root / "AGENTS.md"
    link.symlink_to("CLAUDE.md")
    entries = json.loads((workspace.data / REGISTRY).read_text())
    entries[0]["file"] = str(link)
    (workspace.data / REGISTRY).write_text(json.dumps(entries))

    assert renew(workspace) == [link]
    assert link.is_symlink()
    assert file.stat().st_mode & 0o777 == 0o640
    assert "T2" in file.read_text()


def test_another_projects_file_and_the_users_own_are_never_told_of_this_one(workspace, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "AGENTS.md").write_text(with_block("", "nothing yet"))
    home = installed(workspace)
    entries = json.loads((workspace.data / REGISTRY).read_text())
    entries = [entries[0] | {"file": str(other / "AGENTS.md")}, entries[0] | {"scope": "user"}]
    (workspace.data / REGISTRY).write_text(json.dumps(entries))

    assert renew(workspace) == []
    assert "T2" not in home.read_text() + (other / "AGENTS.md").read_text()


def test_a_file_that_is_not_utf_8_is_named_and_the_others_are_done(workspace):
    bad, good = installed(workspace), installed(workspace, "CONVENTIONS.md")
    bad.write_bytes(b"caf\xe9\n" + bad.read_bytes())
    before = bad.read_bytes()

    with pytest.raises(HookInstallError, match=r"AGENTS\.md keeps its old block"):
        renew(workspace)

    assert keep_up(workspace.data, workspace) == 0
    assert bad.read_bytes() == before
    assert [count.kind for count in counted(workspace.data)] == ["not_written:HookInstallError"]
    assert "T2" in good.read_text()
