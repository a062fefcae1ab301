"""`recall verify`: signatures over the record, and what a person governs beside it."""

import json
from pathlib import Path

import pytest
from support.command import runner
from support.person import sit_down
from support.record import NOW, make_draft

from recall.cli.app import App
from transcript.log import Log


@pytest.fixture
def recall(capsys, tmp_path, monkeypatch):
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "time.md").write_text("UTC\n")
    monkeypatch.chdir(folder)
    call = runner(capsys)
    assert call("init").code == 0
    sit_down(monkeypatch)
    Log(App.here().workspace()).append([make_draft("one")], now=NOW)
    return call


def told(recall, *words: str, code: int = 0) -> dict:
    done = recall("verify", *words, "--json")
    assert done.code == code, (done.out, done.err)
    return dict(json.loads(done.out))


def test_a_record_is_signed_and_the_signature_checked(recall) -> None:
    assert [row["code"] for row in told(recall, "--signatures", code=1)["problems"]] == ["signature_none"]

    assert recall("coord", "verify", "--signatures").code == 1
    signed = told(recall, "--sign")["signed_through"]
    assert recall("coord", "verify", "--signatures").code == 0

    assert told(recall, "--signatures")["signed_through"] == signed >= 1
    assert f"signed through event {signed} of {signed + 1}" in recall("verify", "--signatures").out
    assert "signed_through" not in told(recall)


def test_a_wrong_key_fails_and_a_damaged_record_is_not_signed(recall) -> None:
    told(recall, "--sign")
    app = App.here()
    (app.data / "keys" / "head.key").write_text("00" * 32 + "\n")
    assert [row["code"] for row in told(recall, "--signatures", code=1)["problems"]] == ["signature_unknown_key"]
    activity = app.workspace().activity
    activity.write_bytes(activity.read_bytes().replace(b'"actor":"user"', b'"actor":"tool"'))

    done = recall("verify", "--sign")

    assert done.code == 1
    assert "the record is damaged, so it is not signed" in done.err


def test_a_checkpoint_signs_by_itself(recall) -> None:
    assert recall("checkpoint").code == 0

    assert told(recall, "--signatures")["signed_through"] > 1


def test_an_edited_memory_and_an_edited_proposal_are_named(recall) -> None:
    """ASM-38."""
    made = json.loads(recall("coord", "propose", "add", "--summary", "x", "--evidence", "time.md", "--json").out)
    assert recall("coord", "decide", made["id"], "approve", "--rationale", "so").code == 0
    event = json.loads(recall("coord", "apply", made["id"], "--json").out)["event_id"]
    assert told(recall)["problems"] == []
    memory = Path(".coord") / "memory.yml"
    memory.write_text(memory.read_text().replace('"summary":"x"', '"summary":"y"'))
    Path("time.md").write_text("CET\n")

    found = told(recall, code=1)

    assert [(row["code"], row["where"]) for row in found["problems"]] == [
        ("coord_edited", f"memory.yml:1 (event {event})")
    ]
    assert [row["code"] for row in found["warnings"]] == ["evidence_changed"]
    assert "to be looked at" in recall("verify").out
