"""`recall service`: started once, seen, stopped; a death is counted, an orderly end is not."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.hooks import SITE, service_pids, serving, stop_services, wait_for

from health.gather_service import service_facts
from recall import service_control
from recall.cli import serve
from recall.cli.group import run
from recall.service import Reply, call
from recall.service_control import STARTS, Start, crashes, note_end, note_start, starts, status
from recall.spawn import SERVICE_STARTING
from transcript.errors import ConfigError, ServiceError
from transcript.paths import secure_dir

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes as Linux shows them")
NOW = 1_780_000_000.0


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("RECALL_INDEX_MODEL", "none:at-all")
    folder = secure_dir(tmp_path / "data")
    monkeypatch.setenv("RECALL_HOME", str(folder))
    yield folder
    stop_services(folder)


@pytest.fixture
def gone() -> int:
    """The id of a process that has ended."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    return ended.pid


def test_two_starts_at_once_make_one_service_whose_kill_is_counted_and_whose_stop_is_not(data, capsys, monkeypatch):
    for patient in (service_control.start, service_control.stop):
        monkeypatch.setitem(patient.__kwdefaults__, "wait_s", 180.0)
    found = []
    both = [threading.Thread(target=lambda: found.append(service_control.start(data).pid)) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()

    assert found == service_pids(data) * 2
    assert service_control.processes(data) == 1
    up = status(data, now=starts(data)[0].at)
    assert (up.up, up.crashes_7d, up.limit_mb, up.site) == (True, 0, 1500, str(SITE))

    os.kill(found[0], signal.SIGKILL)
    wait_for(lambda: not service_pids(data))
    assert (run(["service", "status"]), run(["service", "start"]), run(["service", "status", "--json"])) == (1, 0, 0)
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["processes"] == 1
    assert (run(["service", "stop"]), run(["service", "stop"])) == (0, 1)

    ended = status(data, now=starts(data)[-1].at)
    assert (ended.up, ended.starts_7d, ended.crashes_7d, ended.last_end) == (False, 2, 1, "stop")
    facts = service_facts(data, {}, now=starts(data)[-1].at)
    assert (facts.up, facts.crashes_7d, facts.processes) == (False, 1, 0)


def test_where_there_is_no_service_a_start_says_so_at_once(data):
    with pytest.raises(ServiceError, match="each hook answers by itself"):
        service_control.start(data, system="nt")


@pytest.mark.slow
def test_a_service_that_listens_no_more_is_named_when_it_does_not_end(data):
    pid = service_control.start(data).pid
    os.kill(pid, signal.SIGSTOP)

    later = starts(data)[-1].at + 60
    early = status(data, now=later - 59)
    assert (early.stuck, early.up, early.pid) == (False, False, pid)  # it may still be starting
    with pytest.raises(ServiceError, match=f"process {pid} serves and does not answer"):
        service_control.start(data, wait_s=0.0)
    assert (status(data, now=later).stuck, status(data, now=later).pid) == (True, pid)
    assert service_facts(data, {}, now=later).stuck
    with pytest.raises(ServiceError, match=rf"process {pid} still serves.*kill -9 {pid}"):
        service_control.stop(data, wait_s=0.0)

    assert service_control.stop(data, wait_s=0.0, hard=True)
    assert service_pids(data) == []


def test_a_service_of_another_copy_is_seen_without_being_ended(data, tmp_path):
    (tmp_path / "other" / "recall").mkdir(parents=True)
    (tmp_path / "other" / "recall" / "version.py").write_text("")
    with serving(data, lambda *_: Reply(), site=SITE):
        assert call(data, "status", site=tmp_path / "other")["site"] == str(SITE)
        assert status(data, now=NOW).up


def test_a_start_that_failed_a_moment_ago_is_not_tried_again_at_once(data):
    secure_dir(data / "run")
    (data / SERVICE_STARTING).touch()
    note_start(data, now=NOW)
    note_end(data, "failed: ConfigError", now=NOW)

    with pytest.raises(ServiceError, match=r"failed within the last half minute \(failed: ConfigError\)"):
        service_control.start(data)


def test_what_keeps_a_service_from_starting_is_written_down(data, monkeypatch):
    monkeypatch.setenv("RECALL_SERVICE_IDLE_MINUTES", "soon")

    with pytest.raises(ConfigError):
        serve.serve(data, dict(os.environ))

    assert [one.reason for one in starts(data)] == ["failed: ConfigError"]
    assert crashes(starts(data), since=0) == []


def test_the_last_fifty_starts_are_kept(data):
    for number in range(52):
        note_start(data, now=NOW + number)
        note_end(data, "idle", now=NOW + number)

    assert [one.at for one in starts(data)] == [NOW + number for number in range(2, 52)]


def test_a_crash_is_a_start_without_an_end_whose_process_is_gone(gone):
    orderly, killed, old = Start(NOW, gone, NOW + 1, "idle"), Start(NOW, gone), Start(NOW - 99, gone)

    assert crashes([old, orderly, killed], since=NOW - 1) == [killed]


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "{}", '{"starts": 3}', '{"starts": [[1]]}', '{"starts": [["x", 1, null, ""]]}', "[" * 100_000),
        *('{"starts": [[1, 1e999, null, ""]]}', f'{{"starts": [[1{"0" * 400}, 1, null, ""]]}}'),
    ],
)
def test_a_damaged_list_of_starts_is_an_empty_one_and_made_anew(text, data):
    secure_dir(data / "run")
    (data / STARTS).write_text(text)

    assert starts(data) == []
    note_start(data, now=NOW)
    assert [one.at for one in starts(data)] == [NOW]


def test_a_process_that_took_over_the_number_of_a_dead_service_is_none(data):
    server = subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()", "http.server"], stdin=subprocess.PIPE
    )
    try:
        held = [Start(NOW, server.pid)]
        assert crashes(held, since=NOW - 1) == held
    finally:
        server.communicate()


def test_the_status_in_json_names_every_figure(data, capsys):
    assert run(["service", "status", "--json"]) == 1

    found = json.loads(capsys.readouterr().out)
    assert (found["up"], found["pid"], found["crashes_7d"]) == (False, None, 0)
