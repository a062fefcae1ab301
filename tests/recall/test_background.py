"""The capture behind a turn: detached, once at a time, and complete without anybody asking (ESAA-04)."""

import os
import subprocess
from pathlib import Path

import pytest
from support.claude import ClaudeSession
from support.embedder import StubEmbedder
from support.hooks import SITE, counted, event, hold_lock, run_client, wait_for

from indexer.store import Store
from recall import background, spawn
from transcript.handoff import window
from transcript.lock import FileLock
from transcript.log import Log
from transcript.paths import secure_dir
from transcript.projections import views
from transcript.projections.handoff import Focus, sections
from transcript.projections.views import folded
from transcript.workspace import Workspace, exclude, init, locate

SAID = "The invoice gateway listens on port 7443 because 8080 is taken by the metrics exporter."


@pytest.fixture(autouse=True)
def _no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECALL_INDEX_MODEL", "none:at-all")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return secure_dir(tmp_path / "data")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def converse(root: Path, home: Path | None = None) -> Path:
    session = ClaudeSession(cwd=str(root))
    session.user("Which port does the invoice gateway listen on?")
    session.assistant(SAID)
    return session.write((home or Path(os.environ["HOME"])) / ".claude")


def texts(workspace: Workspace) -> list[str]:
    log = Log(workspace)
    return [log.text(event) for event in log.read() if event.type == "conversation_turn"]


def test_a_capture_takes_in_and_indexes_the_session(root, data):
    converse(root)
    workspace = init(root, data)

    background.capture(data, root, os.environ)

    assert SAID in texts(workspace)
    with Store.open(workspace.index_path) as store:
        assert store.lexical(["7443"], limit=5).hits


def test_a_project_seen_for_the_first_time_gets_its_entry_in_the_table_only(root, data):
    converse(root)

    background.capture(data, root, os.environ)

    found = locate(root, data)
    assert found is not None
    assert SAID in texts(found)
    assert list(root.iterdir()) == []


def test_an_excluded_project_is_left_alone(root, data):
    converse(root)
    exclude(root, data)

    background.capture(data, root, os.environ)

    assert not (data / "workspaces").exists()


def test_a_capture_goes_round_again_when_a_hook_came_meanwhile(root, data, monkeypatch):
    again = data / "run" / "capture-x.again"
    secure_dir(again.parent)
    again.touch()
    seen = []

    def capture(*args, **more):
        seen.append(again.exists())
        if len(seen) == 1:
            again.touch()

    monkeypatch.setattr(background, "capture", capture)

    assert background.rounds(data, root, again, {}, settle_s=0) == 2
    assert seen == [False, False]
    assert not again.exists()


def test_a_hook_that_comes_while_vectors_are_made_does_not_wait_for_them(root, data, monkeypatch):
    """LCA-6.5-03: before a compaction the handoff is written first, whatever else is to be done."""
    converse(root)
    init(root, data)
    again = secure_dir(data / "run") / "capture-x.again"
    again.touch()
    done = []

    class Interrupted(StubEmbedder):
        def encode(self, texts):
            done.append("vectors")
            if len(done) == 2:
                again.touch()
            return super().encode(texts)

    monkeypatch.setattr(views, "refresh", lambda workspace: done.append("views"))
    monkeypatch.setattr("indexer.embedder.load", lambda *args, **more: Interrupted())
    monkeypatch.setenv("RECALL_INDEX_EMBED_BATCH", "1")

    assert background.rounds(data, root, again, os.environ, settle_s=0) == 2
    assert done == ["views", "vectors", "views", "vectors"]


def test_before_a_compaction_the_handoff_of_the_session_is_written(root, data, monkeypatch):
    """LCA-6.5-03: the record and the view hold the state of before; what comes after takes nothing away."""
    session = ClaudeSession(cwd=str(root))
    session.user("Which port does the invoice gateway listen on?")
    session.assistant(SAID)
    session.write(Path(os.environ["HOME"]) / ".claude")
    workspace = init(root, data)
    monkeypatch.setattr(background, "index", lambda *args, **more: None)

    background.capture(data, root, os.environ)

    assert session.session[:8] in (root / ".recall" / "views" / "handoff.md").read_text()
    log = Log(workspace)
    state = folded(log)[0]
    focus = Focus(purpose="compaction", session=session.session)
    assert [message.text for message in window(log, state, focus)] == texts(workspace)
    assert dict(sections(state, focus))["Active role state"][0].startswith("- the same agent goes on: claude-code")


def test_many_hooks_start_one_capture_and_none_is_forgotten(root, data, monkeypatch):
    started = []
    monkeypatch.setattr(spawn, "detach", lambda *words, **more: started.append(os.dup(more["keep"])))

    answers = [spawn.start_capture(str(data), str(SITE), str(root)) for _ in range(5)]

    assert answers == [True, False, False, False, False]
    assert len(started) == 1
    assert list((data / "run").glob("capture-*.again"))
    os.close(started[0])
    assert spawn.start_capture(str(data), str(SITE), str(root))


@pytest.mark.skipif(os.name != "posix", reason="detached processes as on Unix")
def test_a_stop_event_captures_while_the_harness_goes_on(root, data):
    """No service runs: the client itself starts the capture, and nothing keeps the harness's pipes."""
    converse(root)
    workspace = init(root, data)
    held = hold_lock(data)

    with FileLock(workspace.run_dir / "capture.lock"):  # no capture can end while the hook does
        ran = run_client(data, event("Stop", root))
        taken_in = texts(workspace)

    assert (ran.code, ran.out, ran.err) == (0, b"", b"")
    assert taken_in == []
    _captured(data, workspace)
    os.close(held)
    assert SAID in texts(workspace)
    assert counted(data) == {}


@pytest.mark.skipif(os.name != "posix", reason="detached processes as on Unix")
def test_the_sessions_own_home_is_read_and_not_the_services(root, data, tmp_path, monkeypatch):
    """HOME changed: the payload names the transcript, and with it the folder to look in."""
    other = tmp_path / "other-home"
    other.mkdir()
    transcript = converse(root, other)
    workspace = init(root, data)
    held = hold_lock(data)

    run_client(data, event("Stop", root, transcript_path=str(transcript)))

    _captured(data, workspace)
    os.close(held)
    assert SAID in texts(workspace)


def test_homes_that_hooks_of_two_harnesses_named_are_both_looked_in(root, data, tmp_path, monkeypatch):
    """The second hook comes while a capture runs: it only leaves its mark."""
    folders = [tmp_path / name for name in ("claude", "codex")]
    for folder in folders:
        folder.mkdir()
    monkeypatch.setattr(spawn, "detach", lambda *words, **more: 0)
    for name, folder in zip(("CLAUDE_CONFIG_DIR", "CODEX_HOME"), folders, strict=True):
        spawn.start_capture(str(data), str(SITE), str(root), workspace="x", home=f"{name}={folder}")
    spawn.start_capture(str(data), str(SITE), str(root), workspace="x", home=f"GROK_HOME={tmp_path}/gone")
    seen = []
    monkeypatch.setattr(background, "capture", lambda data, cwd, env, **more: seen.append(env))

    background.rounds(data, root, data / "run" / "capture-x.again", {"HOME": "/home/ann"}, settle_s=0)

    assert seen == [{"HOME": "/home/ann", "CLAUDE_CONFIG_DIR": str(folders[0]), "CODEX_HOME": str(folders[1])}]
    assert [path.name for path in (data / "run").glob("capture-x*")] == ["capture-x.lock"]


def test_a_failed_capture_is_counted_and_the_next_one_runs(root, data):
    (data / "config.toml").write_text("[index]\nchunk_chars = 'many'\n")
    again = secure_dir(data / "run") / "capture-x.again"
    again.touch()
    init(root, data)

    background.rounds(data, root, again, os.environ, settle_s=0)

    assert counted(data) == {"ConfigError": 1}


@pytest.mark.skipif(os.name != "posix", reason="detached processes as on Unix")
def test_a_detached_process_keeps_only_the_lock_and_its_null_streams(data, tmp_path):
    """Descriptors that the harness leaked into the hook must not live on in what the hook starts."""
    out = tmp_path / "descriptors"
    module = tmp_path / "probe.py"
    module.write_text(
        "import os\n"
        "from recall import spawn\n"
        "def main(words):\n"
        "    spawn.settle(int(words[0]))\n"
        "    folder = '/proc/self/fd/'\n"
        "    names = [(n, os.readlink(folder + n)) for n in os.listdir(folder) if os.path.lexists(folder + n)]\n"
        f"    open({str(out)!r} + '.new', 'w').write(repr(sorted(names)))\n"
        f"    os.rename({str(out)!r} + '.new', {str(out)!r})\n"
    )
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("looks at descriptors as Linux shows them")
    leaked, other = os.pipe()
    os.set_inheritable(leaked, True)
    locked = spawn.take_lock(str(data / "run" / "x.lock"))
    assert locked is not None
    site = tmp_path / "site"
    site.mkdir()
    for name in ("transcript", "indexer", "scoring", "recall", "consolidation", "health", "eval"):
        (site / name).symlink_to(SITE / name)
    (site / "probe.py").write_bytes(module.read_bytes())

    spawn.detach("probe", (str(locked),), data=str(data), site=str(site), keep=locked)
    wait_for(out.exists)
    os.close(leaked)
    os.close(other)
    os.close(locked)

    held = dict(eval(out.read_text()))
    assert [held[n] for n in ("0", "1", "2")] == ["/dev/null"] * 3
    assert not [target for target in held.values() if target.startswith("pipe:")]
    assert [target for target in held.values() if target.endswith("x.lock")]


def _captured(data: Path, workspace: Workspace) -> None:
    """Wait until the detached capture has indexed the workspace and is gone."""
    wait_for(workspace.index_path.exists)
    (lock,) = (data / "run").glob("capture-*.lock")
    wait_for(lambda: (taken := spawn.take_lock(str(lock))) is not None and (os.close(taken) or True))


def test_processes_of_ours_carry_the_mark_and_no_python_variables(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    monkeypatch.setenv("PYTHONSTARTUP", "x.py")

    environment = spawn.environment("/data")

    assert environment["RECALL_CHILD"] == "1"
    assert environment["RECALL_HOME"] == "/data"
    assert not [name for name in environment if name.startswith("PYTHON")]


def test_time_is_not_wasted_when_nothing_asks(root, data, monkeypatch):
    def never(seconds):
        raise AssertionError("it waits for a harness that wrote nothing")

    monkeypatch.setattr(background.time, "sleep", never)

    assert background.rounds(data, root, data / "run" / "none.again", {}) == 0


@pytest.mark.skipif(os.name != "posix", reason="locks as on Unix")
def test_a_lock_is_seen_across_processes(data):
    held = spawn.take_lock(f"{data}/run/y.lock")
    code = "import sys; sys.path.append(sys.argv[1]); from recall import spawn; print(spawn.take_lock(sys.argv[2]))"
    words = ["python3", "-I", "-c", code, str(SITE), f"{data}/run/y.lock"]

    assert subprocess.run(words, capture_output=True, text=True).stdout.strip() == "None"
    assert held is not None
    os.close(held)


def started(monkeypatch):
    """Record which checkpoints are started."""
    found = []
    monkeypatch.setattr(spawn, "start_checkpoint", lambda *words, **more: found.append((more["trigger"], more["link"])))
    return found


@pytest.mark.parametrize(
    ("events", "wanted"),
    [
        (["Stop"], []),
        (["SessionEnd"], [("session_end", "")]),
        (["PreCompact", "Stop", "SessionEnd", "SessionEnd"], [("pre_compact", ""), ("session_end", "")]),
    ],
    ids=["a turn", "the session's end", "several hooks, one capture"],
)
def test_a_checkpoint_follows_the_capture_that_a_hook_gave_the_occasion_for(root, data, monkeypatch, events, wanted):
    """LCA-4.6-01, LCA-4.6-02: from the hook's own mark to the job, after record and handoff are written."""
    converse(root)
    workspace = init(root, data)
    monkeypatch.setattr(spawn, "detach", lambda *words, **more: 0)
    for name in events:
        spawn.start_capture(str(data), str(SITE), str(root), workspace="x", event=name, session="s1")
    found = started(monkeypatch)

    background.rounds(data, root, data / "run" / "capture-x.again", os.environ, settle_s=0)

    assert found == wanted
    assert SAID in texts(workspace)


@pytest.mark.parametrize(
    ("setting", "wanted"),
    [
        ("enabled = false", []),
        ("at_session_end = false", [("pre_compact", "")]),
        ("before_compaction = false", [("session_end", "")]),
    ],
)
def test_each_trigger_can_be_switched_off(root, data, monkeypatch, setting, wanted):
    (data / "config.toml").write_text(f"[consolidation]\n{setting}\n")
    found = started(monkeypatch)

    background.start_checkpoints(init(root, data), data, root, {}, [("PreCompact", "s1"), ("SessionEnd", "s1")])

    assert found == wanted


@pytest.mark.parametrize("hook", ["Stop", "SubagentStop"])
def test_a_window_that_fills_starts_one_checkpoint(hook, root, data, monkeypatch):
    """LCA-4.6-03."""
    converse(root)
    workspace = init(root, data)
    background.capture(data, root, os.environ)
    (data / "config.toml").write_text("[consolidation]\nwindow_tokens = 2\n")  # the file says: 2 used
    (session,) = {event.session for event in Log(workspace).read() if event.type == "conversation_turn"}
    found = started(monkeypatch)

    for _ in range(3):
        background.start_checkpoints(workspace, data, root, {}, [(hook, session)])

    assert found == [("pressure", f"{session}#0")]
