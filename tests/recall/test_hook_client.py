"""The hook's client as its harness sees it: exit 0, one whole answer or nothing, never late.

Cases recall-stdout-purity and recall-hook-timeout. Public references: thedotmack/claude-mem#3280, #3434, #3303;
anthropics/claude-code#66649; topoteretes/cognee-integrations#273; vshulcz/deja-vu#386.
"""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.hooks import (
    HASTY,
    PATIENCE_MS,
    SITE,
    address,
    client_command,
    counted,
    event,
    payload,
    run_client,
    serving,
    wait_for,
)

from recall import hook_client
from recall.contracts import EVENTS
from recall.harness import HOOK_TIMEOUT_S
from recall.hook_client import (
    ANSWER_SHARE,
    LONGEST_DEADLINE_MS,
    SERVICE_SHARE,
    STRIKES,
    Hook,
    OutOfTime,
)
from recall.service import Limits, Reply
from transcript.kept_out import kept_out

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the resident service is for Unix; elsewhere words answer")
ALLOWED = {"os", "sys", "time", "_socket", "recall", "recall.hook_client"}
LIST = (  # a client that ends with the list of what it has imported
    "def leave(code):\n"
    "    print(*sorted(set(sys.modules) - before), flush=True); os.kill(os.getpid(), 9)\n"
    "os._exit = leave"
)
ANSWER = json.dumps(
    {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "what was said"}}
).encode()


def answering(harness: str, raw: bytes, left: float) -> Reply:
    return Reply(ANSWER)


def test_the_services_answer_is_printed_whole_and_alone(data):
    with serving(data, answering):
        ran = run_client(data, payload("why"))

    assert (ran.code, ran.out, ran.err) == (0, ANSWER, b"")


def test_the_service_gets_the_payload_byte_for_byte(data):
    got = []

    def respond(harness, raw, left):
        got.append((harness, raw, left))
        return Reply()

    raw = payload("é" * 300_000 + "\ud800")
    with serving(data, respond):
        ran = run_client(data, raw)

    assert ran.out == b""
    assert got[0][:2] == ("claude-code", raw)
    assert 0 < got[0][2] <= PATIENCE_MS / 1000 * SERVICE_SHARE


def test_the_warm_path_imports_only_what_is_on_the_list(data):
    """Every further module is paid for at every prompt; click, numpy and json alone would double the time."""
    started_with = subprocess.run(
        [sys.executable, "-I", "-S", "-c", "import os, sys; print(*sys.modules)"], capture_output=True, text=True
    ).stdout.split()
    with serving(data, answering):
        ran = run_client(data, payload("why"), LIST)

    loaded = set(ran.out.decode().removeprefix(ANSWER.decode()).split())
    assert loaded - set(started_with) == {"_socket", "recall", "recall.hook_client"}
    assert loaded - set(started_with) <= ALLOWED


@pytest.mark.parametrize("name", ["RECALL_OFF", "RECALL_CHILD"])
def test_a_switched_off_shell_and_a_child_of_ours_get_nothing(name, data):
    with serving(data, answering):
        ran = run_client(data, payload("why"), **{name: "1"})
        on = run_client(data, payload("why"), **{name: "0"})

    assert (ran.code, ran.out, ran.err) == (0, b"", b"")
    assert on.out == ANSWER


@pytest.mark.parametrize(("name", "reason"), [("RECALL_OFF", "opted_out"), ("RECALL_CHILD", "child")])
def test_a_switched_off_session_is_noted_once_and_never_asked_about(name, reason, data):
    got = []

    def respond(harness, raw, left):
        got.append(raw)
        return Reply(ANSWER)

    project = data.parent
    with serving(data, respond):
        for raw in (event("SessionStart", project), payload("why"), event("Stop", project)):
            ran = run_client(data, raw, **{name: "1"})
            assert (ran.code, ran.out, ran.err) == (0, b"", b"")

    assert got == []
    assert kept_out(data) == {json.loads(payload(""))["session_id"]: reason}
    assert counted(data) == {}


def test_noting_a_switched_off_session_imports_no_json(data):
    ran = run_client(data, payload("why"), LIST, RECALL_OFF="1")

    ours = {"recall", "recall.hook_client", "transcript", "transcript.kept_out"}
    assert set(ran.out.decode().split()) <= ours | {"_signal", "time"}


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b"", {"no_session_to_keep_out": 1}),
        (b"nonsense \xff", {"no_session_to_keep_out": 1}),
        (payload("x" * (6 << 20), "/nowhere"), {}),
    ],
    ids=["empty", "no payload", "far too long"],
)
def test_a_payload_without_a_session_is_counted_and_a_long_one_is_read(raw, kind, data):
    ran = run_client(data, raw, RECALL_OFF="1")

    assert (ran.code, ran.out, ran.err) == (0, b"", b"")
    assert counted(data) == kind
    assert bool(kept_out(data)) is not bool(kind)


@pytest.mark.parametrize("name", ["GROK_HOOK_EVENT", "CURSOR_VERSION"])
def test_another_client_that_runs_claude_codes_hooks_gets_nothing(name, data):
    with serving(data, answering):
        assert run_client(data, payload("why"), **{name: "x"}).out == b""


@pytest.mark.parametrize("served", [True, False], ids=["with service", "without"])
@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b"", "payload_empty"),
        (b"not json", "payload_not_json"),
        (payload("x", "/nowhere").decode().encode("utf-16"), "payload_not_utf8"),
        (payload("x", "/nowhere", turn_id="t1", model="gpt-5-codex"), "payload_other_harness"),
        (payload("x" * 5_000_000, "/nowhere"), "payload_too_long"),
    ],
    ids=["empty", "not json", "utf-16", "codex", "5 MB"],
)
def test_a_bad_payload_gets_nothing_and_is_counted(raw, kind, served, data):
    from recall.resident import Resident
    from recall.warm_model import WarmModel

    def never():
        raise AssertionError("no model is needed")

    if served:
        resident = Resident(data, SITE, WarmModel(never), os.environ)
        with serving(data, resident.respond):
            ran = run_client(data, raw)
    else:
        ran = run_client(data, raw)

    assert (ran.code, ran.out, ran.err) == (0, b"", b"")
    assert counted(data)[kind] == 1


@pytest.mark.parametrize("name", EVENTS)
def test_no_event_but_a_prompt_prints_anything(name, data, tmp_path):
    ran = run_client(data, event(name, tmp_path))

    assert (ran.code, ran.out, ran.err) == (0, b"", b"")


def test_a_reader_who_left_early_is_no_failure(data):
    with serving(data, answering):
        started = subprocess.Popen(
            client_command(data), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        started.stdout.close()
        started.stdin.write(payload("why"))
        started.stdin.close()
        code, err = started.wait(180), started.stderr.read()
        started.stderr.close()

    assert (code, err) == (0, b"")
    assert counted(data) == {"reader_gone": 1}


def test_the_script_that_the_launcher_names_is_this_client(data):
    script = [sys.executable, "-I", "-S", str(SITE / "recall" / "client.py"), str(data), "claude-code", str(SITE)]

    with serving(data, answering):
        ran = run_client(data, payload("why"), command=script, RECALL_HOOK_DEADLINE_MS=str(LONGEST_DEADLINE_MS))

    assert (ran.code, ran.out, ran.err) == (0, ANSWER, b"")


def test_standard_input_that_never_ends_is_left_at_the_deadline(data):
    """The time runs from here on, so that a slow start of the process is not what ends it."""
    short = "import time; hook_client._process_start = time.monotonic; hook_client.LONGEST_DEADLINE_MS = 500"
    hook = subprocess.Popen(client_command(data, short), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    hook.stdin.write(b'{"session_id": ')
    hook.stdin.flush()
    code = hook.wait(180)
    hook.stdin.close()
    out = hook.stdout.read()
    hook.stdout.close()

    assert (code, out) == (0, b"")
    assert counted(data) == {"deadline:stdin": 1}


@pytest.mark.parametrize("given", ["300", "1000"])
def test_the_deadline_can_be_set_and_counts_from_the_start_of_the_process(given, data, monkeypatch):
    monkeypatch.setenv("RECALL_HOOK_DEADLINE_MS", given)
    monkeypatch.setattr(hook_client, "_process_start", lambda: 100.0)
    hook = hook_client.Hook(str(data), "claude-code", str(SITE))
    with monkeypatch.context() as clock:
        clock.setattr(time, "monotonic", lambda: 100.25)
        left = hook.left(), hook.left(0.5)

    assert left == pytest.approx((int(given) / 1000 - 0.25, int(given) / 2000 - 0.25))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not tell when a process began")
def test_a_process_began_before_its_first_line():
    code = (
        "import time; first = time.monotonic(); import sys; sys.path.append(sys.argv[1])\n"
        "from recall.hook_client import _process_start; print(_process_start() < first)"
    )

    done = subprocess.run([sys.executable, "-I", "-S", "-c", code, str(SITE)], capture_output=True, text=True)

    assert done.stdout == "True\n"


def test_the_waits_add_up_to_less_than_the_limit_registered_with_the_harness():
    assert SERVICE_SHARE < ANSWER_SHARE < 1
    assert hook_client.DEADLINE_MS <= LONGEST_DEADLINE_MS < HOOK_TIMEOUT_S * 1000
    assert hook_client._deadline("99999", 1000) == LONGEST_DEADLINE_MS
    assert hook_client._deadline("-5", 1000) == 1000


def test_time_that_is_over_while_a_class_is_made_is_no_error_of_ours(data, monkeypatch):
    """Python before 3.12 wraps what `__set_name__` raises: the alarm can strike there while a module is imported."""

    def wrapped(hook: Hook) -> bytes:
        hook.stage = "words"
        raise RuntimeError("Error calling __set_name__") from OutOfTime()

    monkeypatch.setattr(hook_client, "answer", wrapped)
    monkeypatch.setattr(hook_client, "_set_alarm", lambda *_: None)

    hook_client._first_part(Hook(str(data), "claude-code", SITE))

    assert counted(data) == {"deadline:words": 1}


@pytest.fixture
def hung(data, tmp_path) -> Iterator[subprocess.Popen[bytes]]:
    """A service that is dead, its socket still open."""
    path = tmp_path / "hung.sock"
    code = (
        "import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(50);"
        "print('up', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdout.readline()
    address(data).write_text(f"{path}\n1000\n")
    yield process
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


def test_a_hung_service_is_given_up_in_time_and_ended_after_three_turns(data, hung):
    """Case recall-hook-timeout (e), over more time than a busy one ever needs for an answer."""
    (data / STRIKES).write_bytes(b"0.0\n")  # since the machine started

    turns = [run_client(data, payload("why"), HASTY) for _ in range(2)]

    assert hung.wait(180) == -9
    assert [(ran.code, ran.out) for ran in turns] == [(0, b"")] * 2
    assert counted(data) == {"service_late:receive": 2, "service_killed": 1}


def test_a_service_that_several_clients_found_busy_at_once_is_left_alone(data, hung):
    at_once = f"{HASTY}; hook_client.STUCK_S = 3600.0"  # four turns of a busy machine take longer
    turns = [run_client(data, payload("why"), at_once) for _ in range(4)]

    assert hung.poll() is None
    assert [(ran.code, ran.out) for ran in turns] == [(0, b"")] * 4
    assert counted(data) == {"service_late:receive": 4}


@pytest.mark.parametrize("held", [b"1e12\n", b"...", b"\xff\n\n"], ids=["reboot", "old", "junk"])
def test_strikes_of_another_start_of_the_machine_or_unreadable_ones_kill_nobody(held, data, hung):
    (data / STRIKES).write_bytes(held)

    run_client(data, payload("why"), HASTY)

    assert hung.poll() is None


def test_an_answer_empties_the_strikes(data):
    with serving(data, answering):
        (data / STRIKES).write_bytes(b"1.0\n")
        run_client(data, payload("why"))
        wait_for(lambda: (data / STRIKES).read_bytes() == b"")


def test_a_slow_service_is_left_for_words_and_told_that_it_was_too_late(data):
    delivered = []
    client_gone = threading.Event()

    def respond(harness, raw, left):
        client_gone.wait(180)
        return Reply(ANSWER, delivered.append)

    with serving(data, respond):
        ran = run_client(data, payload("why"), HASTY)
        client_gone.set()
        wait_for(lambda: delivered)

    assert ran.out == b""
    assert counted(data) == {"service_late:receive": 1}
    assert delivered == [False]


@pytest.mark.parametrize("answer", [b"", b"recall 1 ok 500\nshort", b"nonsense\n", b"recall 1 failed 0\n"])
def test_a_service_that_breaks_off_leaves_words_to_answer_and_prints_no_part(answer, data, tmp_path):
    path = tmp_path / "odd.sock"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    address(data).write_text(f"{path}\n1000\n")
    hook = subprocess.Popen(client_command(data), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    hook.stdin.write(payload("why"))
    hook.stdin.close()
    talk, _ = listener.accept()
    talk.recv(65536)
    talk.sendall(answer)
    talk.close()
    out = hook.stdout.read()
    code = hook.wait(180)
    hook.stdout.close()
    listener.close()

    assert (code, out) == (0, b"")
    assert sum(counted(data).values()) == 1


def test_a_stale_socket_is_no_hindrance(data, tmp_path):
    path = tmp_path / "stale.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    address(data).write_text(f"{path}\n1000\n")

    ran = run_client(data, payload("why"))

    assert (ran.code, ran.out) == (0, b"")
    assert counted(data) == {"service_gone": 1}


def test_a_failure_inside_recall_is_counted_with_its_stage_and_not_seen(data, tmp_path):
    """Case recall-stdout-purity (c). A copy of the program whose words path raises and prints."""
    site = tmp_path / "site"
    for name in ("transcript", "indexer", "scoring", "recall"):
        (site / name).mkdir(parents=True)
        (site / name / "__init__.py").touch()
    for name in ("client.py", "hook_client.py", "light.py", "spawn.py", "version.py"):
        (site / "recall" / name).write_bytes((SITE / "recall" / name).read_bytes())
    (site / "recall" / "hook_words.py").write_text("raise RuntimeError('broken')\n")

    ran = run_client(data, payload("why"), command=client_command(data, site=site))

    assert (ran.code, ran.out, ran.err) == (0, b"", b"")
    assert counted(data) == {"error:words:RuntimeError": 1}


def test_a_package_of_ours_that_does_not_lie_beside_recall_silences_the_hook(data, tmp_path):
    site = tmp_path / "site"
    (site / "recall").mkdir(parents=True)
    for name in ("__init__.py", "client.py", "hook_client.py", "light.py", "spawn.py", "version.py"):
        (site / "recall" / name).write_bytes((SITE / "recall" / name).read_bytes())

    ran = run_client(data, payload("why"), command=client_command(data, site=site))

    assert (ran.code, ran.out, ran.err) == (0, b"", b"")
    assert counted(data) == {"packages_shadowed": 1}


def test_a_project_cannot_put_its_own_modules_in_the_way(data, tmp_path):
    project = tmp_path / "project"
    for name in ("recall", "health", "transcript"):
        (project / name).mkdir(parents=True)
        (project / name / "__init__.py").write_text("raise SystemExit('shadowed')")
    for name in ("eval.py", "json.py", "os.py", "sqlite3.py"):
        (project / name).write_text("raise SystemExit('shadowed')")

    with serving(data, answering):
        done = subprocess.run(
            client_command(data),
            input=payload("why", project),
            capture_output=True,
            cwd=project,
            env={**os.environ, "PYTHONPATH": ".", "PYTHONSTARTUP": "eval.py"},
        )

    assert (done.returncode, done.stdout, done.stderr) == (0, ANSWER, b"")


def test_a_folder_that_cannot_be_made_is_no_failure(tmp_path):
    (tmp_path / "file").touch()

    ran = run_client(tmp_path / "file" / "data", payload("why", tmp_path))

    assert (ran.code, ran.out, ran.err) == (0, b"", b"")


def test_limits_are_told_to_the_client_by_the_running_service(data):
    with serving(data, answering, limits=Limits(idle_s=30, deadline_ms=700)):
        assert address(data).read_text().split("\n")[1] == "700"
