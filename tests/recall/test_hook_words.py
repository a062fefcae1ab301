"""The hook without its service: words alone, from the standard library, and a ledger row for every prompt.

Cases store-no-extension and emb-offline (hook side), recall-hook-timeout (a) and (c). Public references:
asg017/sqlite-vec#83; doobidoo/mcp-memory-service#97; huggingface/setfit#495; thedotmack/claude-mem#3434.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.hooks import (
    AT_ONCE,
    SITE,
    client_command,
    counted,
    event,
    ledger_rows,
    payload,
    project,
    remember,
    run_client,
)

from recall.hook_turn import read_beat
from recall.hook_words import bytes_third
from transcript.lock import FileLock
from transcript.workspace import Workspace, exclude, locate

pytestmark = pytest.mark.skipif(os.name != "posix", reason="clients are started as on Unix")
ASKED = "Which port does the invoice gateway listen on?"
SAID = "The invoice gateway listens on port 7443 because 8080 is taken by the metrics exporter."
QUESTION = "on which port listens the invoice gateway"


@pytest.fixture
def workspace(data: Path) -> Workspace:
    return remember(data, project(), (ASKED, SAID), ("Rename the button.", "Done, it says Save now."))


def test_a_prompt_is_answered_with_the_earlier_words_and_a_pointer(data, workspace):
    ran = run_client(data, payload(QUESTION))

    assert (ran.code, ran.err) == (0, b"")
    assert "port 7443" in ran.context
    (row,) = ledger_rows(workspace)
    assert row["mode"] == "words"
    assert row["note"] == "no_service"
    assert row["prompt"] == QUESTION
    assert [item["pointer"] in ran.context for item in row["items"]] == [True] * len(row["items"])
    assert row["items"]


def test_every_prompt_has_a_row_also_an_empty_one(data, workspace):
    for prompt in (QUESTION, "ok", "zyx wvu tsr", "/clear", "!norecall " + QUESTION):
        run_client(data, payload(prompt))

    rows = ledger_rows(workspace)
    assert len(rows) == 5
    assert [bool(row.get("empty_reason")) for row in rows] == [False, True, True, True, True]


def test_the_same_item_is_not_injected_twice_into_a_session_until_it_is_compacted(data, workspace):
    first = run_client(data, payload(QUESTION, prompt_id="a"))
    again = run_client(data, payload(QUESTION, prompt_id="b"))
    run_client(data, event("PreCompact", project()))
    announced = run_client(data, payload(QUESTION, prompt_id="c"))
    run_client(data, event("SessionStart", project(), source="compact"))
    after = run_client(data, payload(QUESTION, prompt_id="d"))

    assert [bool(ran.context) for ran in (first, again, announced, after)] == [True, False, False, True]


def test_two_identical_calls_at_the_same_time_inject_once(data, workspace):
    raw = payload(QUESTION, prompt_id="a")
    command = client_command(data, AT_ONCE)
    hooks = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)]
    for hook in hooks:
        hook.stdin.write(raw)
        hook.stdin.close()
    outs = [hook.stdout.read() for hook in hooks]
    for hook in hooks:
        hook.stdout.close()
        assert hook.wait(180) == 0

    assert sorted(bool(out) for out in outs) == [False, True]


def test_the_running_sessions_own_words_are_not_recalled(data):
    remember(data, project(), (ASKED, SAID), session="80b5532c-e69c-5fb2-87a1-88437a0a9d12")

    assert run_client(data, payload(QUESTION)).context == ""


def test_a_sub_agents_prompt_gets_nothing(data, workspace):
    assert run_client(data, payload(QUESTION, agent_id="a1", agent_type="Explore")).out == b""
    assert ledger_rows(workspace) == []


def test_an_excluded_project_gets_nothing_and_leaves_no_row(data, workspace):
    exclude(project(), data)

    assert run_client(data, payload(QUESTION)).out == b""
    assert ledger_rows(workspace) == []


def test_no_heavy_module_is_loaded_and_all_of_ours_lie_in_the_four_packages(data, workspace):
    """CARD-09: the path that only searches words imports the standard library and nothing else."""
    changes = (
        "def leave(code):\n"
        "    found = [f'{n} {m.__file__}' for n, m in sys.modules.items() if getattr(m, '__file__', None)]\n"
        "    os.write(2, '\\n'.join(found).encode()); os.kill(os.getpid(), 9)\n"
        "os._exit = leave"
    )
    ran = run_client(data, payload(QUESTION), changes)

    loaded = dict(line.split(" ", 1) for line in ran.err.decode().splitlines())
    ours = {name for name, file in loaded.items() if Path(file).is_relative_to(SITE)}
    assert b"7443" in ran.out
    assert {name.partition(".")[0] for name in ours} == {"transcript", "indexer", "scoring", "recall"}
    assert all("site-packages" not in file for file in loaded.values())
    assert not {
        name for name in loaded if name.partition(".")[0] in ("numpy", "apsw", "click", "platformdirs", "torch")
    }


def test_light_stand_ins_change_no_byte_of_the_answer(data, workspace):
    """The client's quick data classes and late patterns against the standard library's."""
    light = run_client(data, payload(QUESTION, session_id="one"))
    real = run_client(data, payload(QUESTION, session_id="two"), "import dataclasses")

    assert light.out == real.out != b""
    one, two = ledger_rows(workspace)
    changing = ("latency_ms", "stages", "now", "asked_in")
    assert {k: v for k, v in one.items() if k not in changing} == {k: v for k, v in two.items() if k not in changing}


def test_no_index_yet_is_an_empty_answer_with_its_reason(data, workspace):
    workspace.index_path.unlink()

    assert run_client(data, payload(QUESTION)).out == b""
    assert [row["empty_reason"] for row in ledger_rows(workspace)] == ["no_index"]


def test_an_index_of_a_newer_version_is_left_alone(data, workspace):
    _sql(workspace.index_path, "UPDATE meta SET value = '99' WHERE key = 'schema'")

    assert run_client(data, payload(QUESTION)).out == b""
    assert [row["empty_reason"] for row in ledger_rows(workspace)] == ["index_newer"]


def test_a_damaged_index_is_counted_and_the_row_says_so(data, workspace):
    workspace.index_path.write_bytes(b"no database at all" * 1000)

    assert run_client(data, payload(QUESTION)).out == b""
    assert [row["empty_reason"] for row in ledger_rows(workspace)] == ["index_unreadable"]
    assert counted(data) == {"words_index_unreadable": 1}


def test_without_fts5_the_hook_is_silent_and_says_why(data, workspace):
    _sql(workspace.index_path, "DROP TABLE chunk_fts_1")

    assert run_client(data, payload(QUESTION)).out == b""
    assert "no_fts5" in str(ledger_rows(workspace)[0]["empty_reason"]) or counted(data)


def test_a_sqlite_that_cannot_load_extensions_is_enough(data, workspace):
    """Case store-no-extension (a): the hook never asks for an extension."""
    source = "".join(
        (SITE / package / name).read_text()
        for package, name in (("recall", "hook_words.py"), ("indexer", "reader.py"), ("indexer", "lexical.py"))
    )

    assert "load_extension" not in source
    assert "7443" in run_client(data, payload(QUESTION)).context


def test_a_writer_that_holds_the_index_does_not_hold_the_hook(data, workspace):
    """Case recall-hook-timeout (a)."""
    code = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "c.execute('BEGIN EXCLUSIVE'); c.execute('UPDATE meta SET value = value')\n"
        "print('held', flush=True); sys.stdin.read()"
    )
    words = [sys.executable, "-c", code, str(workspace.index_path)]
    writer = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    writer.stdout.readline()
    try:
        ran = run_client(data, payload(QUESTION))
    finally:
        writer.kill()
        writer.wait()
        writer.stdin.close()
        writer.stdout.close()

    assert "7443" in ran.context


def test_a_busy_record_sends_the_row_to_the_spool(data, workspace):
    with FileLock(workspace.run_dir / "log.lock"):
        ran = run_client(data, payload(QUESTION))
        spooled = list((workspace.run_dir / "spool").glob("*.json"))

    assert "7443" in ran.context
    assert len(spooled) == 1
    assert [row["prompt"] for row in ledger_rows(workspace)] == [QUESTION]


def test_a_search_past_its_time_is_cut_and_has_its_row(data, workspace):
    """The client's alarm goes off while it searches."""
    changes = (
        "import time; from recall import hook_words\n"
        "def search(hook, turn):\n"
        "    hook_client._set_alarm(hook_client._late, 0.05); time.sleep(600)\n"
        "hook_words._search = search"
    )
    ran = run_client(data, payload(QUESTION), changes)

    assert (ran.code, ran.out) == (0, b"")
    assert [row["empty_reason"] for row in ledger_rows(workspace)] == ["deadline"]
    assert counted(data) == {"deadline:words:search": 1}


def test_a_statement_past_its_time_is_interrupted(data, workspace):
    """The alarm cannot reach into SQLite: the search has to look at the clock itself."""
    code = (
        "import sys, time; sys.path.append(sys.argv[1])\n"
        "from pathlib import Path; from recall.hook_words import open_index\n"
        "try:\n"
        "    with open_index(Path(sys.argv[2]), until=time.monotonic() + 0.1) as reader:\n"
        "        endless = 'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n'\n"
        "        list(reader._execute(endless, ()))\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    words = [sys.executable, "-I", "-S", "-c", code, str(SITE), str(workspace.index_path)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=180)

    assert done.stdout.split() == ["OperationalError", "interrupted"]


def test_a_read_only_record_loses_the_row_and_not_the_answer(data, workspace):
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    workspace.log_dir.chmod(0o500)
    try:
        assert "7443" in run_client(data, payload(QUESTION)).context
    finally:
        workspace.log_dir.chmod(0o700)


def test_reading_changes_no_byte_of_the_index(data, workspace):
    before = workspace.index_path.read_bytes()

    assert "7443" in run_client(data, payload(QUESTION)).context

    assert workspace.index_path.read_bytes() == before


def test_an_unreadable_configuration_falls_back_to_the_defaults(data, workspace):
    (data / "config.toml").write_text("[gate]\nthreshold = 'high'\n")

    assert "7443" in run_client(data, payload(QUESTION)).context
    assert counted(data) == {"config_not_readable": 1}


def test_a_project_without_a_workspace_is_listed_and_has_its_row(data, tmp_path):
    folder = tmp_path / "new"
    folder.mkdir()

    ran = run_client(data, payload(QUESTION, folder))

    found = locate(folder, data)
    assert ran.out == b""
    assert found is not None
    assert [row["empty_reason"] for row in ledger_rows(found)] == ["no_workspace"]


def test_every_event_leaves_a_heartbeat(data):
    for name in ("SessionStart", "Stop"):
        run_client(data, event(name, project(), source="startup"))
    run_client(data, payload("why"))

    assert set(read_beat(data, "claude-code")) == {"SessionStart", "Stop", "UserPromptSubmit"}


def test_tokens_are_counted_on_the_high_side():
    assert bytes_third("abcd") == 2
    assert bytes_third("日本") == 2
    assert bytes_third("") == 0


def test_two_projects_do_not_see_each_other(data, workspace, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    remember(data, other, ("Where do we deploy?", "We deploy to the blue cluster."))

    assert "port 7443" not in run_client(data, payload(QUESTION, other)).context
    assert "blue cluster" in run_client(data, payload("where do we deploy the blue cluster", other)).context


def _sql(path: Path, statement: str) -> None:
    """Change the index in a process of its own: this one has loaded APSW."""
    copy = path.with_suffix(".copy")
    shutil.copy(path, copy)
    code = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit(); c.close()"
    subprocess.run([sys.executable, "-c", code, str(copy), statement], check=True)
    for beside in path.parent.glob("index.sqlite-*"):
        beside.unlink()
    copy.replace(path)
