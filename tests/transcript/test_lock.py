import os
import signal
import subprocess
import sys
import time

import pytest

from transcript.errors import LockBusy
from transcript.lock import FileLock, holder

HOLD = """
import sys, time
from pathlib import Path
from transcript.lock import FileLock
FileLock(Path(sys.argv[1])).acquire()
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def other_holder(tmp_path):
    """A process that holds the lock until it is killed."""
    path = tmp_path / "run" / "log.lock"
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    yield path, process
    process.kill()
    process.wait()
    process.stdout.close()


def test_lock_is_exclusive_between_processes_and_names_its_holder(other_holder):
    path, process = other_holder
    lock = FileLock(path, timeout=0.02)

    assert lock.acquire(0.02) is False
    assert holder(path) == process.pid
    with pytest.raises(LockBusy, match=f"held by process {process.pid}"), lock:
        pass


def test_lock_of_a_dead_process_is_taken_over_and_reported(other_holder):
    """ESAA-35: a stale lock from a dead pid is broken and reported."""
    path, process = other_holder
    process.send_signal(signal.SIGKILL)
    process.wait()
    lock = FileLock(path)

    assert lock.acquire(1.0)
    assert lock.stale_pid == process.pid
    lock.release()
    assert FileLock(path).acquire() is True


def test_orderly_release_leaves_nothing_stale(tmp_path):
    path = tmp_path / "a.lock"
    with FileLock(path):
        assert holder(path) == os.getpid()

    assert holder(path) is None
    with FileLock(path) as lock:
        assert lock.stale_pid is None


def test_waiting_ends_when_the_holder_lets_go(tmp_path):
    first, second = FileLock(tmp_path / "a.lock"), FileLock(tmp_path / "a.lock")
    first.acquire()

    started = time.monotonic()
    assert second.acquire(0.05) is False
    assert 0.04 < time.monotonic() - started < 1.0
    first.release()
    assert second.acquire(0.05) is True
    second.release()


def test_lock_is_not_taken_twice_by_one_object(tmp_path):
    with FileLock(tmp_path / "a.lock") as lock, pytest.raises(ValueError, match="already held"):
        lock.acquire()
