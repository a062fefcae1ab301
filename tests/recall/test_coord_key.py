"""`recall coord key`: ids are printed, keys never; agents touch none."""

import json
import os
from pathlib import Path

import pytest
from support.command import runner
from support.person import Typist, sit_down

from transcript.log import Log
from transcript.paths import data_home
from transcript.proposals import fold_proposals
from transcript.workspace import locate


@pytest.fixture
def recall(capsys, tmp_path, monkeypatch):
    """Run one command line in a project; a person without answers sits at the terminal."""
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "time.md").write_text("UTC\n")
    monkeypatch.chdir(folder)
    sit_down(monkeypatch, key=False)
    call = runner(capsys)
    assert call("init").code == 0
    return call


def data() -> Path:
    return data_home(os.environ)


def told(recall, *words: str, code: int = 0) -> dict:
    done = recall("coord", "key", *words, "--json")
    assert done.code == code, (done.out, done.err)
    return dict(json.loads(done.out))


def changes() -> list[str]:
    workspace = locate(Path.cwd(), data())
    assert workspace is not None
    return [one.change for one in fold_proposals(Log(workspace)).keys.values()]


def test_a_key_is_made_replaced_and_revoked_and_the_record_knows(recall, monkeypatch) -> None:
    first = told(recall, "new")["key_id"]
    second = told(recall, "rotate")
    monkeypatch.setattr("recall.cli.person.open_terminal", lambda: Typist(first[:6]))
    told(recall, "revoke", first[:8], "--reason", "lost")

    listed = told(recall, "list")

    assert second["rotated"] == first
    assert [(row["key_id"], row["state"], row["reason"]) for row in listed["keys"]] == [
        (second["key_id"], "current", None),
        (first, "revoked", "lost"),
    ]
    assert (listed["canonical_changed"], listed["human_decision_required"], listed["code"]) == (False, False, None)
    assert sorted(changes()) == ["created", "revoked"]


def test_no_command_prints_a_key(recall, monkeypatch) -> None:
    """ASM-24."""
    outputs = [recall("coord", "key", "new"), recall("coord", "key", "rotate"), recall("coord", "key", "list")]
    (data() / "keys" / "approval.key").chmod(0o644)
    outputs += [recall("coord", "key", "list"), recall("coord", "key", "new")]
    secrets = [path.read_text().strip() for path in (data() / "keys").glob("*.key")]

    assert len(secrets) == 2
    assert not any(secret in done.out + done.err for done in outputs for secret in secrets)


def test_there_is_one_key_and_a_command_for_each_state(recall) -> None:
    assert told(recall, "list", code=1)["code"] == "key_missing"
    assert told(recall, "rotate", code=1)["code"] == "key_missing"
    told(recall, "new")
    assert told(recall, "new", code=1)["code"] == "key_exists"
    assert told(recall, "revoke", "ffffffffffffffff", "--reason", "x", code=1)["code"] == "key_unknown"
    (data() / "keys" / "approval.key").chmod(0o644)
    assert told(recall, "list", code=1)["code"] == "key_exposed"
    told(recall, "rotate")
    assert told(recall, "list")["code"] is None


def test_revoking_needs_the_digits(recall, monkeypatch) -> None:
    name = told(recall, "new")["key_id"]
    monkeypatch.setattr("recall.cli.person.open_terminal", lambda: Typist("ffffff"))

    assert told(recall, "revoke", name, "--reason", "lost", code=1)["code"] == "NotConfirmed"
    assert told(recall, "list")["keys"][0]["state"] == "current"


@pytest.mark.parametrize("words", [("new",), ("rotate",), ("revoke", "0123456789abcdef", "--reason", "x")])
def test_an_agent_touches_no_key(recall, monkeypatch, words) -> None:
    """ASM-17."""
    monkeypatch.setenv("CLAUDECODE", "1")

    assert told(recall, *words, code=1)["code"] == "agent"
    assert not (data() / "keys").exists()


def test_a_key_can_be_made_outside_a_project(recall, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)

    told(recall, "new")

    assert told(recall, "list")["keys"][0]["state"] == "current"


def test_a_new_key_is_asked_for_only_where_none_signs_any_more(recall, monkeypatch) -> None:
    old = told(recall, "new")["key_id"]
    new = told(recall, "rotate")["key_id"]
    monkeypatch.setattr("recall.cli.person.open_terminal", lambda: Typist(old[:6]))
    replaced = recall("coord", "key", "revoke", old, "--reason", "lost").out
    monkeypatch.setattr("recall.cli.person.open_terminal", lambda: Typist(new[:6]))
    current = recall("coord", "key", "revoke", new, "--reason", "lost").out

    assert replaced.startswith(f"{old} is revoked\n")
    assert current.startswith(f"{new} is revoked; recall coord key rotate makes a new one\n")


def test_what_a_revoked_key_signed_and_is_not_applied_never_is(recall, monkeypatch) -> None:
    name = told(recall, "new")["key_id"]
    made = json.loads(recall("coord", "propose", "add", "--summary", "x", "--evidence", "time.md", "--json").out)
    monkeypatch.setattr("recall.cli.person.open_terminal", Typist)
    assert recall("coord", "decide", made["id"], "approve", "--rationale", "so").code == 0
    monkeypatch.setattr("recall.cli.person.open_terminal", lambda: Typist(name[:6]))
    told(recall, "revoke", name, "--reason", "lost")
    (data() / "keys" / "revoked").unlink()

    done = recall("coord", "apply", made["id"], "--json")

    assert (done.code, json.loads(done.out)["code"]) == (1, "key_revoked")
    assert not (Path(".coord") / "memory.yml").exists()
    monkeypatch.setattr("recall.cli.person.open_terminal", Typist)
    again = recall("coord", "decide", made["id"], "approve", "--rationale", "so", "--json")
    assert (again.code, json.loads(again.out)["code"]) == (1, "key_revoked")
