"""Every test gets a home and a data folder of its own."""

import contextlib
import itertools
import os
import shutil
import socket
import sqlite3
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from recall.cli.caller import AGENTS

settings.register_profile("same every time, however slow the machine", deadline=None, derandomize=True, database=None)
settings.load_profile("same every time, however slow the machine")
SHARED = Path(__file__).resolve().parents[2] / "shared"

# What a shell, a git hook, a harness or CI may have set, and what would change what a test sees.
_FOREIGN = (
    *("RECALL_", "GIT_", "XDG_", "LC_", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "SOURCE_DATE_EPOCH"),
    *("CLAUDE", "ANTHROPIC_", "CODEX_", "GEMINI_", "QWEN_", "COPILOT_", "CURSOR_", "GROK_", "CLINE_", "LETTA_"),
    *("AIDER_", *AGENTS),
)
_FOR_TESTS = ("RECALL_E2E_", "RECALL_TEST_", "RECALL_KILL_")
for _name in [name for name in os.environ if name.startswith(_FOREIGN) and not name.startswith(_FOR_TESTS)]:
    del os.environ[_name]
os.environ.update(TZ="UTC", LANG="C.UTF-8", TERM="xterm-256color", GIT_CONFIG_NOSYSTEM="1")
if hasattr(time, "tzset"):
    time.tzset()


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Return 0 for a run that gains nothing from workers or needs its own output or quiet; None leaves it to the cores.

    Each worker imports every test file first, which takes longer than the tests of a few files.
    """
    files_only = not any(Path(arg).is_dir() for arg in config.args)
    return 0 if files_only or config.option.capture == "no" or config.option.markexpr == "bench" else None


@pytest.fixture(scope="session")
def _fresh_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Folders that nothing has used. `mktemp` looks at every folder there is before it makes one, and we make many."""
    root = tmp_path_factory.mktemp("own")
    return (root / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def _own_home(_fresh_folders: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    own = next(_fresh_folders)
    home, run = own / "home", own / "run"
    home.mkdir(parents=True)
    run.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("RECALL_HOME", str(home / "recall-data"))
    monkeypatch.setenv("TEST_PROJECT", str(home / "shop-api"))  # support.hooks.project makes it when it is asked for
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(run))


@pytest.fixture(scope="session", autouse=True)
def _nothing_left_running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A service or capture that outlives its test would meet the next one; what a test starts, it ends or waits for."""
    yield
    until = time.monotonic() + 180
    while (left := _processes_of(tmp_path_factory.getbasetemp())) and time.monotonic() < until:
        time.sleep(0.05)
    for pid in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, 9)
    assert not left, f"left running: {list(left.values())}"


def _processes_of(folder: Path) -> dict[int, str]:
    """Our detached processes that work below this folder; none where the system shows no processes."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if any(word.startswith(os.fsencode(folder) + b"/") for word in words) and any(
            name in word
            for word in words
            for name in (b"recall.cli.serve", b"recall.cli.capture_job", b"recall.cli.checkpoint_job")
        ):
            found[int(process.name)] = b" ".join(words).decode("utf-8", "replace")
    return found


@pytest.fixture(autouse=True)
def _no_network(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plain suite opens no connection that leaves this machine; what must is marked."""
    if any(request.node.get_closest_marker(name) for name in ("e2e", "slow")):
        return
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family != getattr(socket, "AF_UNIX", None) and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise AssertionError(f"a test without the marker e2e or slow connects to {address}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests write many small records; waiting for the disk each time proves nothing and takes minutes."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    monkeypatch.setattr(os, "fdatasync", lambda descriptor: None, raising=False)


@pytest.fixture(autouse=True)
def _room_on_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a healthy project's report says does not hang on how full the disk of the machine is."""
    real = shutil.disk_usage
    monkeypatch.setattr(shutil, "disk_usage", lambda path: real(path)._replace(total=10**12, used=0, free=10**12))


@pytest.fixture(scope="session", autouse=True)
def _own_priority() -> Iterator[None]:
    """Indexing in this process would lower its priority for good, and that of all tests after it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "setpriority", lambda which, who, priority: None, raising=False)
        yield


@pytest.fixture(autouse=True)
def _one_sqlite_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process uses APSW: closing a file that the standard library opened here would drop APSW's locks."""
    connect = sqlite3.connect

    def guarded(database: Any, *args: Any, **kwargs: Any) -> sqlite3.Connection:
        assert database == ":memory:", (
            f"{database} opened with the standard sqlite3 beside APSW; start a process for it"
        )
        return connect(database, *args, **kwargs)

    monkeypatch.setattr(sqlite3, "connect", guarded)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The data folder beside the project; tests that need it are skipped where it is missing."""
    if not SHARED.is_dir():
        pytest.skip("no ../shared folder beside the project: real data is not at hand")
    return SHARED


@pytest.fixture(scope="session")
def real_sessions(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the 273 real sessions, unpacked once a run."""
    folder = tmp_path_factory.mktemp("real")
    with tarfile.open(shared / "transcripts" / "claude-code.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture(scope="session")
def other_harnesses(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of real sessions and fixtures of other harnesses, unpacked once a run."""
    folder = tmp_path_factory.mktemp("other")
    with tarfile.open(shared / "transcripts" / "other-harnesses.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder
