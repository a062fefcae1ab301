"""SessionStart answered: each harness in its own shape, with and without the service, nothing twice in a session."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from support.embedder import StubEmbedder
from support.hooks import AT_ONCE, SITE, client_command, counted, project, run_client, serving, wait_for
from support.payloads import PAYLOADS, raw
from support.record import NOW
from support.starts import ANSWERED, WITH_PROMPT, ask, block_of, start, told_rows
from support.story import ANA, at, story

from indexer import writer
from indexer.settings import IndexSettings
from indexer.store import Store
from recall import ledger
from recall.cli.group import run
from recall.contracts import CONTRACTS
from recall.harness import Payload, recognise
from recall.hook_turn import HookTurn, read_beat
from recall.resident import Resident
from recall.service import Reply
from recall.warm_model import WarmModel
from transcript.curation import decision
from transcript.injected import has_block
from transcript.log import Log
from transcript.projections import views
from transcript.workspace import Workspace, exclude, init

pytestmark = pytest.mark.skipif(os.name != "posix", reason="clients are started as on Unix")
NEXT = "- next: T2 Document the old schema"


@pytest.fixture
def workspace(data: Path) -> Workspace:
    made = init(project(), data)
    Log(made).append(story(), now=NOW)
    views.project(made)
    return made


@pytest.fixture
def resident(data: Path) -> Resident:
    return Resident(data, SITE, WarmModel(StubEmbedder), os.environ)


@pytest.mark.parametrize("harness", ANSWERED)
def test_every_harness_that_listens_is_told_where_the_work_stands(harness, resident, workspace):
    told = ask(resident, start(harness), harness)

    assert NEXT in told
    (row,) = told_rows(workspace)
    assert row["block"] == told
    assert row["harness"] == harness
    assert row["tokens"] <= 400
    assert [item["event"][:10] in told for item in row["items"]] == [True] * 5
    assert "SessionStart" in read_beat(resident._data, harness)


def test_a_harness_that_does_not_listen_is_told_nothing(resident, workspace):
    assert ask(resident, start("grok-build"), "grok-build") == ""
    assert told_rows(workspace) == []


def test_every_contract_that_answers_is_told_somehow():
    assert {*ANSWERED, *WITH_PROMPT} == {name for name, contract in CONTRACTS.items() if contract.answers}
    assert sorted(WITH_PROMPT) == ["copilot-cli", "gemini-cli", "qwen-code"]


def prompt(harness: str, words: str = "Please go on.") -> bytes:
    return raw(harness, "UserPromptSubmit", cwd=str(project()), prompt=words)


@pytest.mark.parametrize("harness", WITH_PROMPT)
@pytest.mark.parametrize("indexed", [True, False])
def test_where_the_start_would_be_lost_the_first_prompt_brings_it(harness, indexed, resident, workspace):
    if indexed:
        with Store.open(workspace.index_path, "w") as store:
            writer.index(workspace, store, IndexSettings(), now=NOW)

    at_start = ask(resident, start(harness), harness)
    first, second = (ask(resident, prompt(harness, words), harness) for words in ("Please go on.", "And now?"))

    assert at_start == ""
    assert NEXT in first
    assert second == ""
    (row,) = told_rows(workspace)
    assert (row["block"], row["source"], row["harness"]) == (first, "startup", harness)


@pytest.mark.parametrize("harness", WITH_PROMPT)
def test_a_resumed_or_compacted_session_is_told_with_its_next_prompt(harness, resident, workspace):
    ask(resident, start(harness), harness)
    ask(resident, prompt(harness), harness)
    ask(resident, start(harness, source="resume"), harness)
    resumed = ask(resident, prompt(harness, "And now?"), harness)
    Log(workspace).append([decision(ANA, at(30), "Ship on Friday")], now=NOW)
    views.refresh(workspace)
    meanwhile = ask(resident, prompt(harness, "Still nothing?"), harness)
    ask(resident, start(harness, source="resume"), harness)
    new = ask(resident, prompt(harness, "What is new?"), harness)
    told = CONTRACTS[harness].tells_compaction
    announced = raw(harness, "PreCompact", cwd=str(project()), trigger="manual")
    ask(resident, start(harness, source="compact") if told else announced, harness)
    compacted = ask(resident, prompt(harness, "Once more?"), harness)

    assert (resumed, meanwhile) == ("", "")
    assert [line.split(" | ")[0] for line in new.splitlines()[2:-1]] == ["- decided: Ship on Friday"]
    assert NEXT in compacted
    assert [row["source"] for row in told_rows(workspace)] == ["startup", "resume", "compact"]


def test_the_first_prompt_brings_what_is_recalled_too_and_nothing_of_it_twice(resident, workspace):
    with Store.open(workspace.index_path, "w") as store:
        writer.index(workspace, store, IndexSettings(), now=NOW)
    where = {"cwd": str(project()), "session_id": "begun"}
    words = "Are we to use Python 3.11 for its tomllib, and where do the fixtures live?"
    before = ask(resident, prompt("claude-code", words))

    ask(resident, raw("gemini-cli", "SessionStart", **where), "gemini-cli")
    after = ask(resident, raw("gemini-cli", "UserPromptSubmit", **where, prompt=words), "gemini-cli")

    assert "Use Python 3.11" in before
    assert NEXT not in before
    assert NEXT in after
    assert after.count("Use Python 3.11") == 1


@pytest.mark.parametrize("harness", WITH_PROMPT)
def test_a_first_prompt_that_comes_before_its_start_is_told_all_the_same(harness, resident, workspace):
    """The hooks of a start and of the prompt after it may run at the same time."""
    first = ask(resident, prompt(harness), harness)
    ask(resident, start(harness), harness)
    second = ask(resident, prompt(harness, "And now?"), harness)

    assert NEXT in first
    assert second == ""
    assert [row["source"] for row in told_rows(workspace)] == ["startup"]


def test_an_opening_that_did_not_leave_is_told_with_the_next_prompt(data, resident, workspace):
    """A search that breaks down takes the whole answer with it."""
    ask(resident, start("gemini-cli"), "gemini-cli")
    payload = recognise("gemini-cli", prompt("gemini-cli"))
    assert isinstance(payload, Payload)
    turn = HookTurn(payload, data, mode="words", call="", now=NOW, started=0.0)

    turn.silent("deadline")
    turn.open(os.environ)
    turn.record()

    assert told_rows(workspace) == []
    assert NEXT in ask(resident, prompt("gemini-cli", "And now?"), "gemini-cli")


def test_without_a_service_the_same_words_are_told(data, resident, workspace):
    ran = run_client(data, start(session_id="one"))

    assert (ran.code, ran.err) == (0, b"")
    assert block_of(ran.out) == ask(resident, start(session_id="two"))
    first, second = told_rows(workspace)
    assert first["note"] == "no_service"
    assert "note" not in second
    assert first["items"] == second["items"]


def test_the_client_passes_on_what_a_running_service_tells(tmp_path, workspace, data, resident):
    with serving(data, resident.respond):
        ran = run_client(data, start())

    assert NEXT in block_of(ran.out)
    wait_for(lambda: told_rows(workspace))
    assert counted(data) == {}


def test_nothing_is_told_twice_in_a_session_until_it_is_compacted(resident, workspace):
    first = ask(resident, start())
    resumed = ask(resident, start(source="resume"))
    compacted = ask(resident, start(source="compact"))
    cleared = ask(resident, start(source="clear"))
    other = ask(resident, start(session_id="other"))

    assert resumed == ""
    assert NEXT in first
    assert NEXT in compacted
    assert "at this session's compaction" in compacted
    assert first == cleared == other
    assert [row["source"] for row in told_rows(workspace)] == ["startup", "compact", "clear", "startup"]


def test_a_resumed_session_is_told_only_what_is_new(resident, workspace):
    ask(resident, start())
    Log(workspace).append([decision(ANA, at(30), "Ship on Friday")], now=NOW)
    views.refresh(workspace)

    told = ask(resident, start(source="resume"))

    assert [line.split(" | ")[0] for line in told.splitlines()[2:-1]] == ["- decided: Ship on Friday"]


def test_a_resume_right_after_another_is_told_what_came_between(resident, workspace):
    ask(resident, start())
    assert ask(resident, start(source="resume")) == ""
    Log(workspace).append([decision(ANA, at(30), "Ship on Friday")], now=NOW)
    views.refresh(workspace)

    assert "Ship on Friday" in ask(resident, start(source="resume"))


def test_two_identical_starts_at_the_same_time_tell_once(data, workspace):
    command = client_command(data, AT_ONCE)
    hooks = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)]
    for hook in hooks:
        hook.stdin.write(start(source="compact"))
        hook.stdin.close()
    outs = [hook.stdout.read() for hook in hooks]
    for hook in hooks:
        hook.stdout.close()
        assert hook.wait(180) == 0

    assert sorted(bool(out) for out in outs) == [False, True]
    assert len(told_rows(workspace)) == 1


def test_a_service_that_fails_after_its_claim_leaves_no_row_and_words_tell_it(data, resident, workspace):
    def fail(harness: str, payload: bytes, left_s: float) -> Reply:
        reply = resident.respond(harness, payload, left_s)
        assert NEXT in block_of(reply.output)
        raise RuntimeError("after the claim")

    with serving(data, fail):
        ran = run_client(data, start())

    assert NEXT in block_of(ran.out)
    assert [row["note"] for row in told_rows(workspace)] == ["service_failed"]


def test_a_sub_agents_start_is_told_nothing(resident, workspace):
    assert ask(resident, start(agent_id="a1")) == ""


@pytest.mark.parametrize("way", ["setting", "variable"])
def test_it_can_be_switched_off(way, data, workspace, monkeypatch):
    if way == "setting":
        (data / "config.toml").write_text("[handoff]\nsession_start = false\n")
    else:
        monkeypatch.setenv("RECALL_HANDOFF_SESSION_START", "false")

    assert ask(Resident(data, SITE, WarmModel(StubEmbedder), os.environ), start()) == ""
    assert told_rows(workspace) == []


def test_an_unreadable_configuration_falls_back_to_the_defaults(data, resident, workspace):
    (data / "config.toml").write_text("[handoff]\ntokens = 'few'\n")

    assert NEXT in ask(resident, start())
    assert counted(data) == {"config_not_readable": 1}


def test_a_project_without_a_record_or_an_excluded_one_is_told_nothing(data, resident):
    assert ask(resident, start()) == ""
    made = init(project(), data)
    Log(made).append(story(), now=NOW)
    views.project(made)
    exclude(project(), data)

    assert ask(resident, start()) == ""
    assert told_rows(made) == []


def test_what_was_told_is_not_injected_again_as_a_passage(resident, workspace):
    with Store.open(workspace.index_path, "w") as store:
        writer.index(workspace, store, IndexSettings(), now=NOW)

    def prompted(session: str) -> str:
        asked = {"cwd": str(project()), "session_id": session, "prompt": "Are we to use Python 3.11 for its tomllib?"}
        return ask(resident, raw("claude-code", "UserPromptSubmit", **asked))

    ask(resident, start(session_id="told"))

    assert "Use Python 3.11" in prompted("fresh")
    assert "Use Python 3.11" not in prompted("told")


def test_the_ledger_of_turns_and_the_last_turn_leave_starts_apart(resident, workspace):
    ask(resident, start())

    assert ledger.last(Log(workspace), modes=ledger.HOOK_MODES) is None
    assert ledger.last(Log(workspace), modes=(ledger.START_MODE,)) is not None


def test_last_shows_what_was_told_and_nothing_can_be_replayed(data, resident, workspace, monkeypatch, capsys):
    told = ask(resident, start())
    monkeypatch.setenv("RECALL_HOME", str(data))
    monkeypatch.chdir(project())

    assert run(["last"]) == 0
    page = capsys.readouterr().out
    assert page.startswith("session start (startup)")
    assert told in page
    assert run(["last", "-n", "3"]) == 0
    assert "  claude-code  session start (startup)" in capsys.readouterr().out
    assert run(["explain", told[8:16]]) == 1
    assert "nothing was searched" in capsys.readouterr().err


def test_what_was_told_is_recognised_when_the_transcript_is_read_back(resident, workspace):
    assert has_block(ask(resident, start()))


def test_a_compaction_of_the_real_order_tells_the_state_of_before(data, workspace):
    """PreCompact prints nothing; SessionStart after it tells the state again (LCA-6.5-03)."""
    first = run_client(data, start())
    before = run_client(data, json.dumps({**PAYLOADS["claude-code"]["PreCompact"], "cwd": str(project())}).encode())
    after = run_client(data, start(source="compact"))

    assert (before.code, before.out, before.err) == (0, b"", b"")
    assert block_of(first.out).splitlines()[2:-1] == block_of(after.out).splitlines()[2:-1]
