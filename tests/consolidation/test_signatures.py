"""Signatures over the head of the record: the right key, a wrong one, a rotated one, a record that was rewritten."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from support.record import NOW, make_draft

from consolidation import signatures
from consolidation.keys import key_id
from consolidation.signatures import Checked
from recall.governance_settings import SigningSettings
from transcript.canonical import canonical
from transcript.errors import KeyFault
from transcript.event import commitment, envelope_hash, genesis
from transcript.log import Log
from transcript.segments import Head, write_head
from transcript.verify import verify
from transcript.workspace import Workspace, init

PLAIN = SigningSettings()


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    folder = tmp_path / "project"
    folder.mkdir()
    workspace = init(folder, tmp_path / "data")
    Log(workspace).append([make_draft("one", text="hello"), make_draft("two")], now=NOW)
    return workspace


def keys(workspace: Workspace) -> Path:
    return workspace.data / "keys"


def checked(workspace: Workspace, settings: SigningSettings = PLAIN) -> Checked:
    return signatures.check(Log(workspace), settings)


def codes(workspace: Workspace, settings: SigningSettings = PLAIN) -> list[str]:
    return [problem.code for problem in checked(workspace, settings).problems]


def rewritten(workspace: Workspace, old: str, new: str) -> None:
    """Change words of the record and make its chain whole again, as somebody without the key can."""
    lines, prev = [], genesis(workspace.id)
    for raw in workspace.activity.read_bytes().splitlines():
        fields = json.loads(raw.replace(old.encode(), new.encode()))
        fields["prev"] = prev
        fields["commit"] = commitment(fields["body"]["salt"], canonical(fields["body"]))
        lines.append(canonical(fields) + b"\n")
        prev = envelope_hash(lines[-1])
    workspace.activity.write_bytes(b"".join(lines))
    write_head(workspace.log_dir, Head(1, len(lines), prev, len(b"".join(lines))))


def test_a_signature_says_through_which_event_the_record_is_ours(workspace: Workspace) -> None:
    """ESAA-46."""
    assert codes(workspace) == ["signature_none"]

    event = signatures.add(workspace, PLAIN, NOW)
    Log(workspace).append([make_draft("three")], now=NOW)

    assert event is not None
    assert checked(workspace) == Checked(1, 2, ())
    assert (event.body["algorithm"], event.body["of"]) == ("hmac-sha256", "head")
    assert verify(workspace).codes == []
    assert signatures.add(workspace, PLAIN, NOW) is not None
    assert checked(workspace) == Checked(2, 4, ())


def test_the_key_is_made_by_itself_for_its_owner_alone_and_is_in_no_event(workspace: Workspace) -> None:
    signatures.add(workspace, PLAIN, NOW)

    path = keys(workspace) / "head.key"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_bytes().strip() not in workspace.activity.read_bytes()
    assert not (keys(workspace) / "approval.key").exists()


def test_a_record_that_was_rewritten_with_its_chain_is_told(workspace: Workspace) -> None:
    signatures.add(workspace, PLAIN, NOW)
    assert "hello" in workspace.activity.read_text()

    rewritten(workspace, "hello", "hullo")

    assert verify(workspace).codes == [], "the chain alone does not see it"
    assert codes(workspace) == ["signature_bad"]


def test_a_signature_of_another_key_holds_not(workspace: Workspace) -> None:
    signatures.add(workspace, PLAIN, NOW)
    (keys(workspace) / "head.key").write_text("00" * 32 + "\n")

    assert codes(workspace) == ["signature_unknown_key"]

    name = str(json.loads(workspace.activity.read_bytes().splitlines()[-1])["body"]["key_id"])
    rewritten(workspace, name, key_id(bytes(32)))
    assert codes(workspace) == ["signature_bad"]


def test_a_rotated_key_still_verifies(workspace: Workspace) -> None:
    signatures.add(workspace, PLAIN, NOW)
    (keys(workspace) / "head.key").rename(keys(workspace) / "head-old.key")
    signatures.add(workspace, PLAIN, NOW)

    assert checked(workspace) == Checked(2, 3, ())
    (keys(workspace) / "head-old.key").unlink()
    assert checked(workspace).problems[0].code == "signature_unknown_key"
    assert checked(workspace).through == 3


def test_a_signature_that_was_moved_to_another_place_is_none(workspace: Workspace) -> None:
    signatures.add(workspace, PLAIN, NOW)
    value = json.loads(workspace.activity.read_bytes().splitlines()[-1])["body"]["value"]
    Log(workspace).append([make_draft("three")], now=NOW)
    moved = signatures.sign_head(workspace, PLAIN, NOW)
    assert moved is not None
    moved.body["value"] = value
    Log(workspace).append([moved], now=NOW)

    assert codes(workspace) == ["signature_bad"]


def test_a_key_that_others_can_read_signs_nothing(workspace: Workspace) -> None:
    signatures.add(workspace, PLAIN, NOW)
    (keys(workspace) / "head.key").chmod(0o644)

    with pytest.raises(KeyFault, match="key_exposed"):
        signatures.add(workspace, PLAIN, NOW)
    assert codes(workspace) == ["signature_unknown_key"]


def test_an_empty_record_is_not_signed(tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()

    assert signatures.sign_head(init(folder, tmp_path / "data"), PLAIN, NOW) is None


# -- ssh -----------------------------------------------------------------------------------

ssh = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not here")


@pytest.fixture
def ssh_settings(tmp_path: Path) -> SigningSettings:
    path = tmp_path / "id_ed25519"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)
    return SigningSettings(kind="ssh", key=str(path))


@ssh
def test_an_ssh_key_signs_and_its_public_half_verifies(workspace: Workspace, ssh_settings: SigningSettings) -> None:
    event = signatures.add(workspace, ssh_settings, NOW)

    assert event is not None
    assert event.body["value"].startswith("-----BEGIN SSH SIGNATURE-----")
    assert checked(workspace, ssh_settings) == Checked(1, 2, ())
    Path(ssh_settings.key).unlink()
    Path(f"{ssh_settings.key}.pub").unlink()
    assert checked(workspace, ssh_settings) == Checked(1, 2, ()), "the public half was kept"
    rewritten(workspace, "hello", "hullo")
    assert codes(workspace, ssh_settings) == ["signature_bad"]


@ssh
def test_with_ssh_a_signature_of_our_own_key_does_not_count(
    workspace: Workspace, ssh_settings: SigningSettings
) -> None:
    """Whoever can write the data folder can make that one."""
    signatures.add(workspace, PLAIN, NOW)

    assert checked(workspace, ssh_settings).through == 0
    assert codes(workspace, ssh_settings) == ["signature_none"]


@ssh
def test_an_ssh_signature_of_another_key_or_other_bytes_holds_not(
    workspace: Workspace, ssh_settings: SigningSettings, tmp_path: Path
) -> None:
    signatures.add(workspace, ssh_settings, NOW)
    body = json.loads(workspace.activity.read_bytes().splitlines()[-1])["body"]
    (keys(workspace) / "head-signers").unlink()
    other = tmp_path / "other"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(other)], check=True)

    assert codes(workspace, SigningSettings(kind="ssh", key=str(other))) == ["signature_unknown_key"]
    name = signatures.fingerprint(other.with_suffix(".pub").read_text())
    rewritten(workspace, body["key_id"], name)
    assert codes(workspace, SigningSettings(kind="ssh", key=str(other))) == ["signature_bad"]


@pytest.mark.parametrize("name", ["missing", "broken"])
def test_an_ssh_key_that_cannot_sign_says_what_to_look_at(workspace: Workspace, tmp_path: Path, name: str) -> None:
    (tmp_path / "broken").write_text("no key")
    (tmp_path / "broken.pub").write_text("ssh-ed25519 AAAA")

    with pytest.raises(KeyFault, match=r"sign_failed: signing\.key") as caught:
        signatures.add(workspace, SigningSettings(kind="ssh", key=str(tmp_path / name)), NOW)

    assert ".pub" in str(caught.value) or "ssh-keygen" in str(caught.value)
