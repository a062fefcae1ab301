"""gov-path-traversal: ids and paths of hook payloads and commands name no file of ours, and lead nowhere outside."""

import json
import os
from pathlib import Path

import pytest
from support.claude import ClaudeSession
from support.command import runner
from support.hooks import counted, event, hold_lock, run_client, wait_for

from recall import window_state
from recall.turnstate import TurnState
from transcript.lock import FileLock
from transcript.log import Log
from transcript.workspace import Workspace, init

KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nsecret-of-the-key\n"


@pytest.fixture
def hostile(shared: Path) -> list[str]:
    found: list[str] = json.loads((shared / "cases" / "gov-path-traversal" / "input" / "ids.json").read_text("utf-8"))
    return found


@pytest.fixture(autouse=True)
def _no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECALL_INDEX_MODEL", "none:at-all")


def test_two_session_ids_never_share_a_file_and_none_leads_out(hostile: list[str], tmp_path: Path) -> None:
    """2: an empty id has no session's state at all."""
    ids = [text for text in hostile if text]

    for place in (lambda text: TurnState(tmp_path, text).path, lambda text: window_state.pruned_file(tmp_path, text)):
        paths = {place(text) for text in ids}
        assert len(paths) == len(ids)
        assert {path.parent.parent for path in paths} == {tmp_path}
        assert all(path.name.isascii() and path.name.removesuffix(".json").isalnum() for path in paths)


@pytest.mark.skipif(os.name != "posix", reason="links and pipes are POSIX")
def test_a_transcript_path_that_is_no_transcript_is_not_opened(hostile: list[str], tmp_path: Path) -> None:
    """1, 3, 5: a key, a folder, a pipe, a link out of the root; the hook exits 0 and the rest is taken in."""
    root, data, home = tmp_path / "project", tmp_path / "data", Path(os.environ["HOME"])
    root.mkdir()
    workspace = init(root, data)
    session = ClaudeSession(cwd=str(root))
    session.user("Which port does the gateway listen on?")
    real = session.write(home / ".claude")
    key = home / ".ssh" / "id_ed25519"
    key.parent.mkdir()
    key.write_text(KEY)
    folder, pipe, link = (real.with_name(f"{name}.jsonl") for name in ("folder", "pipe", "link"))
    folder.mkdir()
    os.mkfifo(pipe)
    link.symlink_to(key)
    held = hold_lock(data)
    before = outside(tmp_path, data, root / ".recall")

    for number, path in enumerate((key, folder, pipe, link, Path("../../outside"))):
        ran = run_client(data, event("Stop", root, transcript_path=str(path), session_id=hostile[number]))
        assert (ran.code, ran.out, ran.err) == (0, b"", b"")
        _captured(data, workspace)
    os.close(held)

    log = Log(workspace)
    assert [log.text(one) for one in log.read() if one.type == "conversation_turn"] == [
        "Which port does the gateway listen on?"
    ]
    assert not [path for path in data.rglob("*") if path.is_file() and b"secret-of-the-key" in path.read_bytes()]
    assert outside(tmp_path, data, root / ".recall") == before
    assert counted(data) == {}


def outside(folder: Path, *ours: Path) -> set[Path]:
    """Everything in a folder that lies in none of our own."""
    return {path for path in folder.rglob("*") if not any(path.is_relative_to(one) for one in ours)}


def _captured(data: Path, workspace: Workspace) -> None:
    """Wait until the capture that a hook started is over."""
    wait_for(lambda: not list((data / "run").glob("capture-*.again")))
    lock = FileLock(workspace.run_dir / "capture.lock")
    wait_for(lambda: lock.acquire(0))
    lock.release()


@pytest.mark.parametrize(
    "words",
    [
        ["show"], ["redact"], ["memory", "archive"], ["coord", "apply"], ["coord", "decide"], ["role", "use"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_command_refuses_a_hostile_reference_in_one_plain_line(
    words: list[str],
    hostile: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """1, 4, 5: nothing is made, nothing runs, and what is printed holds no line break or direction mark of theirs."""
    root = tmp_path / "project"
    root.mkdir()
    monkeypatch.chdir(root)
    recall = runner(capsys)
    recall("init")
    before = set(tmp_path.rglob("*"))

    for text in hostile:
        more = ["approve"] if words == ["coord", "decide"] else []
        ran = recall(*words, "--", text, *more)
        assert ran.code in (1, 2), text
        assert not any(line.startswith("2026-06-19 fake") for line in (ran.out + ran.err).splitlines())
        assert "\u202e" not in ran.out + ran.err

    assert set(tmp_path.rglob("*")) == before
