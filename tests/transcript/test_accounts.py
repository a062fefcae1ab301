"""Counts account for every event; a chain of decisions and tasks is found from any of its ends."""

import json

import pytest
from click.testing import CliRunner
from support.capture import NOW, Project
from support.memory_events import AT, LATER, candidate, place_of, written
from support.record import make_draft, make_log, make_turns

from recall.cli.app import App
from recall.cli.group import cli
from transcript import memory_drafts
from transcript.accounts import UNATTRIBUTED, audit, stats, trail
from transcript.errors import PointerError
from transcript.log import Log
from transcript.memories import Span
from transcript.redaction import erase
from transcript.redaction_plan import plan_events

SOURCE = {"harness": "claude-code", "version": "1", "id": "n", "part": 0, "adapter": "1", "source": "a" * 16}


def record(tmp_path):
    """A record of two agents, nameless turns, tools, a ledger row and decisions."""
    drafts = [make_draft(f"c{n}", native=SOURCE) for n in range(3)]
    drafts += [make_draft(f"x{n}", agent="codex", native=SOURCE) for n in range(2)]
    drafts += [make_draft(f"u{n}", agent=agent, native=SOURCE) for n, agent in enumerate(("unknown", "wire"))]
    drafts += [make_draft("t", "tool_call", native=SOURCE), make_draft("r", "recall", body={"mode": "warm"})]
    drafts += [make_draft("d", "decision", body={"text": "x", "actor": "dana"}), make_draft("i", "index_run")]
    return make_log(tmp_path, drafts)


def test_every_breakdown_sums_to_the_total_with_a_bucket_for_the_nameless(tmp_path):
    """ESAA-43."""
    log = record(tmp_path)

    found = stats(log.read())

    assert found.total == log.head().seq == 11
    for counts in (found.types, found.agents, found.actors, found.months):
        assert sum(counts.values()) == 11
    assert found.turns_by_agent == {"claude-code": 3, "codex": 2, UNATTRIBUTED: 2}
    assert sum(found.turns_by_agent.values()) == sum(found.turns_by_kind.values()) == found.turns == 7


def test_an_audit_accounts_for_every_event(tmp_path):
    """ESAA-41."""
    log = record(tmp_path)
    target = next(log.read())
    erase(log.workspace, lambda: plan_events(log.workspace, {target.id}, reason="asked"), now=NOW, by="dana")

    found = audit(log.read())

    assert found.total == found.accounted() == log.head().seq == 13
    assert found.captured["claude-code"]["events"] == 4
    assert found.decided["dana"]["types"] == {"decision": 1}
    assert [(entry["how"], entry.get("by"), entry["events"]) for entry in found.erased] == [
        ("redact", "dana", 1),
        ("redact", None, 0),
    ]
    assert stats(log.read()).redacted == 1
    assert stats(log.read()).turns_by_kind["redacted"] == 1


def chain(tmp_path):
    """ESAA's case: diagnosis, fix, verification, as linked events; and things that have nothing to do with it."""
    log = make_log(tmp_path, [make_draft("log", "tool_result", text="stack trace"), *make_turns(3)])
    seen = next(log.read()).id
    diagnosis = make_draft("diagnosis", "decision", body={"text": "the pool leaks", "evidence": [f"{seen}#0-5"]})
    fix = make_draft("fix", "task", body={"task": "T1", "text": "close it", "decisions": [diagnosis.id]})
    proof = make_draft("proof", "tool_result", text="12 passed")
    done = make_draft("done", "task", body={"task": "T1", "text": "T1 done", "evidence": [proof.id]})
    verified = make_draft("verified", "outcome", body={"task": "T1", "text": "verified: fixed"})
    wrong = make_draft("wrong", "correction", body={"of": diagnosis.id, "text": "only on linux"})
    other = make_draft("other", "decision", body={"text": "use sqlite"})
    log.append([diagnosis, other, fix, proof, done, verified, wrong], now=NOW)
    return log


@pytest.mark.parametrize("start", ["T1", "diagnosis", "wrong"])
def test_a_trail_tells_diagnosis_fix_and_verification(tmp_path, start):
    log = chain(tmp_path)

    found = trail(log, start if start == "T1" else make_draft(start).id)

    said = [step.event.body["text"] for step in found]
    assert said == [
        *("stack trace", "the pool leaks", "close it", "12 passed", "T1 done", "verified: fixed", "only on linux"),
    ]
    assert found[2].names == (found[1].event.id,)


def test_trail_follows_a_memory_to_its_source_and_to_what_took_its_place(tmp_path):
    """LCA-4.2-10: which evidence supports it."""
    said = make_draft("said", text="Ports come from config.toml.")
    found = candidate("a", sources=[Span(said.id, 0, 5).body()])
    checked = memory_drafts.verdict(
        AT, found.id, round=0, reviewer=("computed", "c"), writer="w", verdict="not_refuted", label="claim"
    )
    old, new = written("a", sources=[Span(said.id, 0, 5)]), written("b", sources=[Span(said.id, 6, 9)])
    link = memory_drafts.superseded(AT, place_of(old), place_of(new), reason="update", since=LATER)
    log = make_log(tmp_path, [said, *make_turns(3), found, checked, old, new, link, candidate("c")])

    assert [step.event.id for step in trail(log, old.id[:10])] == [
        draft.id for draft in (said, found, checked, old, new, link)
    ]


def test_a_trail_of_nothing_is_an_error(tmp_path):
    log = chain(tmp_path)

    with pytest.raises(PointerError, match="nothing is called T99; 'recall task list'"):
        trail(log, "t99")
    with pytest.raises(PointerError, match="not a source pointer: 'zz!'"):
        trail(log, "zz!")


def test_the_commands_print_what_the_record_holds(tmp_path):
    project = Project(tmp_path)
    session = project.session()
    session.user("Which port?")
    session.assistant("8080.")
    session.write(project.config)
    project.sync()
    app = App(project.env, project.root, project.data)

    def run(*arguments):
        done = CliRunner().invoke(cli, ["log", *arguments], obj=app)
        assert done.exit_code == 0, done.output
        return done.stdout

    head = Log(project.workspace).head().seq
    counts = json.loads(run("stats", "--json"))
    account = json.loads(run("audit", "--json", "--events"))

    assert counts["total"] == account["total"] == account["accounted"] == account["head"]["seq"] == head
    assert counts["turns"] == {
        "total": 2,
        "agents": {"claude-code": 2, UNATTRIBUTED: 0},
        "kinds": {"prompt": 1, "reply": 1},
    }
    assert all(len(part["ids"]) == part["events"] for part in account["projected"])
    assert "2 turns" in run("stats")
    assert "captured claude-code" in run("audit")


def test_an_audit_lists_corrections_and_confirmations(tmp_path):
    """LCA-4.7-04: who said it, of what, on which channel."""
    project = Project(tmp_path)
    app = App(project.env, project.root, project.data)

    def run(*arguments):
        done = CliRunner().invoke(cli, list(arguments), obj=app)
        assert done.exit_code == 0, done.output
        return done.stdout

    run("decide", "The port is 8080", "--actor", "dana", "--as", "human")
    of = project.events("decision")[0]
    told = [("correction", "kite", "agent", "synapse"), ("confirmation", "dana", "human", "")]
    for kind, actor, what, channel in told:
        run("correct", of.pointer, kind, "--kind", kind, "--actor", actor, "--as", what, "--channel", channel)

    account = json.loads(run("log", "audit", "--json"))
    shown = run("log", "audit")

    assert [(s["kind"], s["by"], s["actor_kind"], s["channel"]) for s in account["signals"]] == told
    assert {s["of"] for s in account["signals"]} == {of.id}
    assert account["total"] == account["accounted"] == 3
    assert f"correction of {of.id[:10]} by kite on synapse" in shown
    assert f"confirmation of {of.id[:10]} by dana, " in shown


def test_a_task_that_is_told_by_commands_has_its_trail(tmp_path):
    project = Project(tmp_path)
    app = App(project.env, project.root, project.data)

    def run(*arguments):
        done = CliRunner().invoke(cli, list(arguments), obj=app)
        assert done.exit_code == 0, done.output
        return done.stdout

    run("decide", "The pool leaks", "--kind", "diagnosis", "--actor", "dana", "--as", "human")
    diagnosis = project.events("decision")[0]
    run("task", "add", "Close the pool", "--decision", diagnosis.pointer, "--actor", "dana", "--as", "human")
    run("task", "done", "T1", "--evidence", diagnosis.pointer, "--actor", "dana", "--as", "human")

    lines = [json.loads(line) for line in run("log", "trail", "T1", "--json").splitlines()]

    assert [line["type"] for line in lines] == ["decision", "task", "task"]
    assert lines[1]["names"] == [diagnosis.id]
    assert "The pool leaks" in run("log", "trail", "T1")


def test_an_empty_record_has_none_of_anything(tmp_path):
    project = Project(tmp_path)

    said = CliRunner().invoke(cli, ["log", "stats"], obj=App(project.env, project.root, project.data)).stdout

    assert said.splitlines()[1:4] == ["  by type: none", "  by agent: none", "  by actor: none"]
