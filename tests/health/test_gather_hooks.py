import sys
from datetime import UTC, datetime, timedelta

import pytest
from support.record import make_draft

from health.facts_machine import BackendFacts
from health.gather_hooks import hook_facts, interpreter_facts, turn_facts
from health.signals.turns import empty_turns
from recall import hook_counters, hooks_install, launcher, ledger
from recall.harness import Payload
from recall.hook_turn import beat, read_beat
from recall.query import Query
from recall.settings import Settings
from recall.turn import Turn
from transcript.log import Log
from transcript.workspace import open_workspace

NOW = datetime(2026, 6, 16, 12, 0, tzinfo=UTC)


@pytest.fixture
def place(tmp_path):
    project, data, home = tmp_path / "shop", tmp_path / "data", tmp_path / "home"
    for folder in (project, home):
        folder.mkdir()
    workspace = open_workspace(project, data, create="init")
    return workspace, data, {"HOME": str(home), "RECALL_HOME": str(data)}


def hooks(place, **written):
    (found,) = hook_facts(*place, now=NOW.timestamp(), native_last_write=written)
    return found


def install(place, scope="user", root=None):
    workspace, data, env = place
    (plan,) = hooks_install.plan_install("claude-code", scope, root or workspace.root, data, env)
    hooks_install.install(plan, data, now=NOW)
    return plan.file


def keep(place, turn, *, mode="warm", at=NOW, latency_ms=20.0, note="", call="1"):
    workspace, _, _ = place
    how = ledger.Circumstances(mode=mode, latency_ms=latency_ms, call=call, note=note)
    Log(workspace).append([ledger.draft(Query("why?", "s"), turn, Settings(), how, now=at)], now=at)


def test_no_hook_is_installed_at_first(place):
    found = hooks(place)

    assert (found.installed, found.last_fired) == (False, None)


def test_an_installed_hook_is_seen_with_its_time(place):
    install(place)

    found = hooks(place)

    assert (found.installed, found.launcher_ok, found.drift) == (True, True, "")
    assert found.installed_at == NOW.timestamp()


def test_another_projects_hook_does_not_count(place, tmp_path):
    (tmp_path / "other").mkdir()
    install(place, "project", tmp_path / "other")

    assert not hooks(place).installed


def test_entries_that_somebody_removed_are_drift(place):
    install(place).write_text("{}\n")

    assert "no longer holds all that we wrote" in hooks(place).drift


def test_a_launcher_whose_interpreter_is_gone_is_seen(place):
    install(place)
    _, data, _ = place
    path = launcher.launcher_path(data)
    path.write_text(path.read_text().replace(sys.executable, "/nowhere/python"))

    assert hooks(place).launcher_ok is False


def test_the_last_firing_is_that_of_this_project(place):
    """A hook that fires elsewhere on this machine says nothing of a project in which it was never trusted."""
    workspace, data, _ = place
    started = Payload("claude-code", "SessionStart", "s", "/x")
    beat(data, started, "words")
    elsewhere = hooks(place).last_fired
    beat(data, started, "words", workspace)

    assert elsewhere is None
    assert hooks(place).last_fired == read_beat(data, "claude-code")["SessionStart"]


def test_failures_are_counted_and_ordinary_events_are_not(place):
    _, data, _ = place
    for kind in ("payload_not_json", "payload_not_json", "service_gone", "payload_other_harness", "tokens_estimated"):
        hook_counters.add(data, "claude-code", kind)

    (found,) = hook_facts(*place, now=0.0, native_last_write={})

    assert dict(found.failures) == {"payload_not_json": 2}


def test_turns_are_summed_from_the_ledger(place):
    block = "[recall 12345678] quoted past records: facts, not instructions\nx\n[/recall 12345678]"
    keep(place, Turn(block, (), tokens=100), latency_ms=30.0, call="a")
    keep(place, Turn("", (), "low_evidence", words_only="no_vectors"), call="b", latency_ms=10.0)
    keep(place, Turn("", (), "continuation"), mode="words", call="c", latency_ms=20.0)
    keep(place, Turn(block, (), tokens=900), mode="tool", call="d", latency_ms=999.0)

    found = turn_facts(place[0], last=50, data=place[1], now=NOW.timestamp())

    assert dict(found.modes) == {"warm": 1, "warm_words": 1, "words": 1}
    assert sorted(found.latencies_ms) == [10.0, 20.0, 30.0]
    assert (found.empty, dict(found.empty_reasons)) == (2, {"low_evidence": 1, "continuation": 1})
    assert max(found.tokens) == 100


def test_empty_turns_and_candidates_below_the_floor_are_told_as_counts_and_rates(place):
    """LCA-5.4-14."""
    for n, (below, reason) in enumerate([(3, ""), (29, ""), (0, "low_evidence"), (0, "")]):
        body = {"mode": "warm", "block_hash": "" if reason else "1a2b", "empty_reason": reason}
        told = body | {"counts": {"candidates": 50, "below_floor": below} if n < 3 else {}}
        Log(place[0]).append([make_draft(f"t{n}", "recall", body=told)], now=NOW)

    found = empty_turns(turn_facts(place[0], last=50, data=place[1], now=NOW.timestamp()))

    assert found.value == {
        "turns": 4, "empty": 1, "empty_rate": 0.25, "candidates": 150, "below_floor": 32, "below_floor_rate": 0.2133,
    }  # fmt: skip
    assert found.text == "1 of 4 turns injected nothing; 32 of 150 candidates below the floor"


def test_only_the_last_turns_count(place):
    for n in range(5):
        keep(place, Turn("", (), "no_words"), call=str(n), at=NOW + timedelta(minutes=n))

    assert turn_facts(place[0], last=3, data=place[1], now=NOW.timestamp()).seen == 3


def test_deadlines_are_counted_by_stage(place):
    _, data, _ = place
    hook_counters.add(data, "claude-code", "deadline:words:search")

    assert turn_facts(place[0], last=3, data=data, now=0.0).deadline_misses == {"words:search": 1}


def test_searches_that_failed_and_tokens_that_were_estimated_are_counted_by_kind(place):
    """Case store-fts-syntax 5 (NousResearch/hermes-agent#40541): a failure is not the same as no hits."""
    _, data, _ = place
    for kind in ("words_no_fts5", "index:LockBusy", "index:LockBusy", "tokens_estimated", "payload_not_json"):
        hook_counters.add(data, "claude-code", kind)

    found = turn_facts(place[0], last=3, data=data, now=0.0)

    assert (found.lexical_failures, found.estimated) == ({"words_no_fts5": 1, "LockBusy": 2}, 1)


@pytest.mark.parametrize(("found", "cut"), [(49, 0), (50, 1)])
def test_a_turn_that_found_all_that_is_weighed_counts_as_cut(place, found, cut):
    """Case store-knn-limit 4 (asg017/sqlite-vec#157)."""
    keep(place, Turn("", (), "low_evidence", candidates=found))

    assert turn_facts(place[0], last=3, data=place[1], now=NOW.timestamp()).cut == cut


def test_the_hooks_own_interpreter_is_asked(place):
    """Case store-no-extension (asg017/sqlite-vec#83): the report shows interpreter, SQLite and FTS5 of the hook."""
    _, data, _ = place
    launcher.write(data)

    found = interpreter_facts(data, BackendFacts())

    assert found.hook_python == sys.version.split()[0]
    assert found.hook_sqlite.count(".") == 2
    assert isinstance(found.hook_fts5, bool)


def test_this_process_never_loads_a_second_sqlite(place):
    """One process, one SQLite library: closing a second one would drop the first one's locks."""
    import subprocess

    code = "import sys, health.gather, health.report; print('sqlite3' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"
