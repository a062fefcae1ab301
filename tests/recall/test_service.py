"""The resident service as real hooks meet it: started once, replaced, gone, and never waited for.

The model is one that cannot be loaded, so that nothing here waits for it.
"""

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.hooks import (
    HASTY,
    SITE,
    address,
    client_command,
    counted,
    event,
    ledger_rows,
    payload,
    project,
    remember,
    run_client,
    service_pids,
    stop_services,
    wait_for,
)

from recall.hook_client import STRIKES
from recall.service import call
from transcript.paths import secure_dir

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes as Linux shows them")
ASKED = "Which port does the invoice gateway listen on?"
SAID = "The invoice gateway listens on port 7443 because 8080 is taken by the metrics exporter."
QUESTION = "on which port listens the invoice gateway"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("RECALL_INDEX_MODEL", "none:at-all")
    folder = secure_dir(tmp_path / "data")
    yield folder
    stop_services(folder)


def up(data: Path) -> int:
    """Start the service by a first hook and return its process."""
    run_client(data, event("SessionStart", project(), source="startup"))
    found: list[dict[str, object]] = []
    wait_for(lambda: (status := call(data, "status", site=SITE)) is not None and found.append(status) is None)
    return int(str(found[0]["pid"]))


def answered(data: Path, cwd: Path | None = None, changes: str = "", **env: str) -> str:
    """Run one turn, check that the harness sees nothing odd, return the context."""
    ran = run_client(data, payload(QUESTION, cwd, session_id=os.urandom(8).hex()), changes, **env)
    assert (ran.code, ran.err) == (0, b"")
    return ran.context


@pytest.mark.slow
def test_fifty_first_hooks_at_once_start_exactly_one_service(data):
    remember(data, project(), (ASKED, SAID))
    hooks = [
        subprocess.Popen(client_command(data), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) for _ in range(50)
    ]
    for number, hook in enumerate(hooks):
        hook.stdin.write(payload(QUESTION, session_id=f"s{number}"))
        hook.stdin.close()

    assert [hook.wait(300) for hook in hooks] == [0] * 50
    wait_for(lambda: call(data, "status", site=SITE) is not None)
    assert len(service_pids(data)) == 1


def test_the_service_answers_what_words_answered_before_it(data):
    workspace = remember(data, project(), (ASKED, SAID))
    cold = answered(data)
    up(data)
    warm = answered(data)

    assert "7443" in cold
    assert warm == cold
    wait_for(lambda: len(ledger_rows(workspace)) == 2)
    rows = ledger_rows(workspace)
    assert [row["mode"] for row in rows] == ["words", "warm"]
    assert rows[1]["note"] == "model_missing"


def test_it_holds_none_of_the_harnesss_pipes_and_has_a_session_of_its_own(data):
    """Claude Code waits for every process that holds the hook's standard output."""
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    hook = subprocess.Popen(
        client_command(data), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=(writing,)
    )
    os.close(writing)
    out, err = hook.communicate(event("SessionStart", project(), source="startup"), timeout=180)
    wait_for(lambda: call(data, "status", site=SITE) is not None)
    (pid,) = service_pids(data)
    ready, _, _ = select.select([reading], [], [], 0)  # its end, now that only the service lives
    leaked = os.read(reading, 1) if ready else None
    os.close(reading)

    assert (out, err, leaked) == (b"", b"", b"")
    assert [Path(f"/proc/{pid}/fd/{n}").readlink() for n in (0, 1, 2)] == [Path(os.devnull)] * 3
    assert os.getsid(pid) == pid
    assert Path(f"/proc/{pid}/cwd").readlink() == Path("/")
    environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    assert b"RECALL_CHILD=1" in environment


@pytest.mark.slow
def test_a_killed_service_is_replaced_and_no_turn_waits(data):
    remember(data, project(), (ASKED, SAID))
    first = up(data)
    os.kill(first, signal.SIGKILL)
    wait_for(lambda: not service_pids(data))

    assert "7443" in answered(data)
    wait_for(lambda: call(data, "status", site=SITE) is not None)
    assert service_pids(data) != [first]
    assert "7443" in answered(data)


@pytest.mark.slow
def test_a_stopped_service_is_ended_after_three_turns_and_replaced(data):
    remember(data, project(), (ASKED, SAID))
    first = up(data)
    os.kill(first, signal.SIGSTOP)
    (data / STRIKES).write_bytes(b"0.0\n")  # the first is as old as the machine's start

    assert ["7443" in answered(data, changes=HASTY) for _ in range(2)] == [True] * 2

    wait_for(lambda: first not in service_pids(data))
    wait_for(lambda: call(data, "status", site=SITE) is not None)
    assert counted(data)["service_killed"] == 1


@pytest.mark.slow
def test_an_older_service_leaves_and_the_new_version_is_started(data, tmp_path):
    """An upgrade rewrites the program; the running service is of the copy before."""
    remember(data, project(), (ASKED, SAID))
    site = tmp_path / "site"
    for name in ("transcript", "indexer", "scoring", "recall", "health", "consolidation", "eval"):
        shutil.copytree(SITE / name, site / name, ignore=shutil.ignore_patterns("__pycache__"))
    first = up(data)
    command = client_command(data, site=site)

    ran = run_client(data, payload(QUESTION), command=command)

    assert "7443" in ran.context
    wait_for(lambda: (found := call(data, "status", site=site)) is not None and found["answer"] == "ok")
    assert service_pids(data) != [first]
    assert run_client(data, payload(QUESTION, session_id="other"), command=command).context == ran.context
    stop_command = call(data, "stop", site=site)
    assert stop_command is not None


@pytest.mark.slow
def test_a_service_over_its_memory_bound_answers_and_leaves(data, monkeypatch):
    monkeypatch.setenv("RECALL_SERVICE_MEMORY_MB", "1")
    workspace = remember(data, project(), (ASKED, SAID))
    run_client(data, event("SessionStart", project(), source="startup"))
    wait_for(lambda: address(data).exists())

    assert "7443" in answered(data)

    wait_for(lambda: not address(data).exists())
    wait_for(lambda: not service_pids(data))
    assert [row["mode"] for row in ledger_rows(workspace)] == ["warm"]
    assert "7443" in answered(data)


def test_two_workspaces_are_answered_by_one_service_each_from_its_own(data, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    remember(data, project(), (ASKED, SAID))
    remember(
        data, other, ("Which port does the invoice gateway use here?", "The invoice gateway of this one uses 9000.")
    )
    up(data)

    assert "7443" in answered(data)
    assert "9000" in answered(data, other)
    assert "port 7443" not in answered(data, other)
    assert len(service_pids(data)) == 1


def test_another_home_in_the_shell_changes_nothing(data, tmp_path):
    """The launcher carries the data folder; HOME and the runtime folder of the calling shell do not matter."""
    remember(data, project(), (ASKED, SAID))
    first = up(data)

    assert "7443" in answered(data, HOME=str(tmp_path), XDG_RUNTIME_DIR=str(tmp_path), RECALL_HOME=str(tmp_path / "x"))
    assert service_pids(data) == [first]


@pytest.mark.slow
def test_an_idle_service_makes_no_wake_ups(data):
    """Once it has done what followed the answer, one and a half seconds pass without a single one."""
    remember(data, project(), (ASKED, SAID))
    pid = up(data)
    answered(data)

    def is_still() -> bool:
        before = _switches(pid)
        time.sleep(1.5)
        return _switches(pid) == before > 0

    wait_for(is_still)
    assert service_pids(data) == [pid]


@pytest.mark.slow
def test_an_idle_service_leaves_by_itself(data, monkeypatch):
    monkeypatch.setenv("RECALL_SERVICE_IDLE_MINUTES", str(1.5 / 60))
    run_client(data, event("SessionStart", project(), source="startup"))
    wait_for((data / STRIKES).exists)  # written when a service begins to listen

    wait_for(lambda: not service_pids(data))
    assert not address(data).exists()
    assert list(Path(os.environ["XDG_RUNTIME_DIR"]).glob("recall/serve-*")) == []


@pytest.mark.slow
def test_a_service_that_cannot_start_is_not_started_again_at_every_prompt(data, monkeypatch):
    remember(data, project(), (ASKED, SAID))
    (data / "config.toml").write_text("[service]\nmemory_mb = 'much'\n")

    assert "7443" in answered(data)
    wait_for(lambda: counted(data).get("start_failed"))
    wait_for(lambda: not service_pids(data))
    assert "7443" in answered(data)

    assert counted(data)["start_failed"] == 1
    assert counted(data)["service_start_held_back"] == 1


def test_a_lost_client_leaves_no_thread_and_no_harm(data):
    up(data)
    for _ in range(5):
        hook = subprocess.Popen(client_command(data), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        hook.stdin.write(payload(QUESTION))
        with contextlib.suppress(BrokenPipeError):
            hook.stdin.close()
        hook.kill()
        hook.wait()
    wait_for(lambda: call(data, "status", site=SITE) is not None)

    assert len(service_pids(data)) == 1


def test_socket_and_address_can_only_be_used_by_their_owner(data):
    up(data)
    path = Path(address(data).read_text().split("\n")[0])

    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert path.stat().st_mode & 0o777 == 0o600
    assert address(data).stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become a second user")
def test_a_second_user_can_neither_read_nor_reach_the_first_ones_service(data, tmp_path):
    remember(data, project(), (ASKED, SAID))
    up(data)
    path = address(data).read_text().split("\n")[0]
    code = (
        "import os, socket, sys; os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "for what in (lambda: open(sys.argv[1]).read(), lambda: os.listdir(sys.argv[2]),"
        " lambda: socket.socket(socket.AF_UNIX).connect(sys.argv[3])):\n"
        "    try: what(); print('reached')\n"
        "    except OSError as error: print(type(error).__name__)"
    )
    for folder in [tmp_path, *tmp_path.parents[:-1]]:
        if folder.is_relative_to("/tmp") and folder != Path("/tmp"):
            folder.chmod(0o711)
    done = subprocess.run(
        [sys.executable, "-c", code, str(address(data)), str(data), path], capture_output=True, text=True
    )

    assert done.stdout.split() == ["PermissionError"] * 3


def test_status_says_what_runs(data):
    pid = up(data)

    found = call(data, "status", site=SITE)

    assert found is not None
    assert (found["pid"], found["answer"]) == (pid, "ok")
    assert json.dumps(found)


def test_serve_in_the_foreground_refuses_beside_a_running_one(data, monkeypatch):
    monkeypatch.setenv("RECALL_HOME", str(data))
    up(data)

    done = subprocess.run([sys.executable, "-I", "-m", "recall.cli.main", "serve"], capture_output=True, text=True)

    assert done.returncode == 1
    assert "runs already" in done.stderr


def _switches(pid: int) -> int:
    """Voluntary context switches of all threads: each is a time the process slept and was woken."""
    total = 0
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        for line in status.read_text().splitlines():
            if line.startswith("voluntary_ctxt_switches"):
                total += int(line.split()[1])
    return total
