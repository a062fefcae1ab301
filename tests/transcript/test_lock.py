import os
import signal
import subprocess
import sys

import pytest

from transcript import lock
from transcript.errors import LockBusy
from transcript.lock import FileLock, holder

HOLD = """
import sys
from pathlib import Path
from transcript.lock import FileLock
FileLock(Path(sys.argv[1])).acquire()
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def other_holder(tmp_path):
    """A process that holds the lock until it is killed."""
    path = tmp_path / "run" / "log.lock"
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    yield path, process
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


def test_lock_is_exclusive_between_processes_and_names_its_holder(other_holder):
    path, process = other_holder
    ours = FileLock(path, timeout=0.02)

    assert ours.acquire(0.02) is False
    assert holder(path) == process.pid
    with pytest.raises(LockBusy, match=f"held by process {process.pid}"), ours:
        pass


def test_lock_of_a_dead_process_is_taken_over_and_reported(other_holder):
    """ESAA-35: a stale lock from a dead pid is broken and reported."""
    path, process = other_holder
    process.send_signal(signal.SIGKILL)
    process.wait()
    ours = FileLock(path)

    assert ours.acquire()
    assert ours.stale_pid == process.pid
    ours.release()
    assert FileLock(path).acquire() is True


@pytest.mark.skipif(os.name != "posix", reason="a folder with open files cannot be renamed elsewhere")
def test_who_waited_while_the_folder_was_replaced_holds_the_lock_that_stands_there_now(tmp_path, monkeypatch):
    folder = tmp_path / "run"
    before, waiting = FileLock(folder / "log.lock"), FileLock(folder / "log.lock")
    before.acquire()

    def replace_folder(pause):
        monkeypatch.undo()
        folder.rename(tmp_path / "aside")
        folder.mkdir()
        before.release()

    monkeypatch.setattr(lock.time, "sleep", replace_folder)

    assert waiting.acquire(10.0)
    assert (tmp_path / "aside").is_dir()
    assert holder(folder / "log.lock") == os.getpid()
    assert FileLock(folder / "log.lock").acquire() is False


def test_orderly_release_leaves_nothing_stale(tmp_path):
    path = tmp_path / "a.lock"
    with FileLock(path):
        assert holder(path) == os.getpid()

    assert holder(path) is None
    with FileLock(path) as ours:
        assert ours.stale_pid is None


def test_waiting_ends_with_the_time_given_or_when_the_holder_lets_go(tmp_path, monkeypatch):
    first, second = FileLock(tmp_path / "a.lock"), FileLock(tmp_path / "a.lock")
    first.acquire()
    clock = [100.0]
    monkeypatch.setattr(lock.time, "monotonic", lambda: clock[0])

    def sleep(seconds):
        clock[0] += seconds
        if clock[0] > 107:
            first.release()

    monkeypatch.setattr(lock.time, "sleep", sleep)

    assert second.acquire(5) is False
    assert clock[0] == pytest.approx(105)
    assert second.acquire(5) is True
    assert 107 < clock[0] < 107.1
    second.release()


def test_lock_is_not_taken_twice_by_one_object(tmp_path):
    with FileLock(tmp_path / "a.lock") as ours, pytest.raises(ValueError, match="already held"):
        ours.acquire()
