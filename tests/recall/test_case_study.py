"""ESAA's case study by commands: Codex finds and mends a defect, Grok talks, a cold agent goes on from the handoff."""

import json

import pytest
from click.testing import CliRunner
from support.capture import Project
from support.codex import Rollout
from support.grok import GrokSession

from recall.cli.app import App
from recall.cli.group import cli

CODEX = ("--actor", "codex", "--as", "agent")
GROK_TURNS = 15


@pytest.fixture
def run(tmp_path):
    """Run a command in a project that Codex and Grok have worked in; the sessions are as those clients write them."""
    project = Project(tmp_path)
    rollout = Rollout(str(project.root), seed="case")
    rollout.user("context --agent grok returns nothing for events of the old schema")
    rollout.assistant("the filter reads agent, old events lack it")
    rollout.tool("t1", {"cmd": "pytest -q"}, "12 passed", "exec_command")
    rollout.write(tmp_path / "sessions" / "codex")
    grok = GrokSession(str(project.root), seed="case")
    for number in range(GROK_TURNS):
        grok.user(f"question {number}")
        grok.assistant(f"answer {number}")
    grok.write(tmp_path / "sessions" / "grok")
    app = App(project.env, project.root, project.data)

    def run(*arguments, lines=False):
        done = CliRunner().invoke(cli, list(arguments), obj=app)
        assert done.exit_code == 0, done.output
        return [json.loads(line) for line in done.stdout.splitlines()] if lines else done.stdout

    run("sync", "--from", str(tmp_path / "sessions"))
    return run


def pointer(run, kind, agent="codex"):
    """The pointer of the newest event of a kind."""
    found = run("context", "--agent", agent, "--type", kind, "--json", lines=True)
    return found[-2]["id"][:10]


def mended(run):
    """Record diagnosis, fix and verification as Codex would."""
    run(
        "decide",
        "Old events lack agent",
        "--kind",
        "diagnosis",
        "--evidence",
        pointer(run, "conversation_turn"),
        *CODEX,
    )
    decision = run("context", "--type", "decision", "--json", lines=True)[0]["id"]
    run("task", "add", "Let the filter read old events", "--decision", decision[:10], *CODEX)
    proof = pointer(run, "tool_result")
    run("outcome", "pytest -q: 12 passed", "--status", "verified", "--task", "T1", "--evidence", proof, *CODEX)
    run("task", "done", "T1", "--note", "the filter falls back", "--evidence", proof, *CODEX)
    run("task", "add", "Document the old schema", *CODEX)
    run("outcome", "the filter on Windows", "--status", "untested", *CODEX)


def test_the_last_twenty_turns_of_one_agent_are_exact(run):
    """ESAA-17, as in the study: context --agent grok --last 20."""
    shown = run("context", "--agent", "grok", "--last", "20", "--json", lines=True)

    expected = [f"{what} {number}" for number in range(5, GROK_TURNS) for what in ("question", "answer")]
    assert [turn["text"] for turn in shown[:-1]] == expected
    assert {turn["agent"] for turn in shown[:-1]} == {"grok-build"}


def test_diagnosis_fix_and_verification_are_one_chain(run):
    """ESAA-40."""
    mended(run)

    chain = run("log", "trail", "T1", "--json", lines=True)

    told = [(step["type"], step["text"].splitlines()[0]) for step in chain]
    assert told == [
        ("conversation_turn", "the filter reads agent, old events lack it"),
        ("tool_result", "12 passed"),
        ("decision", "Old events lack agent"),
        ("task", "T1 open: Let the filter read old events"),
        ("outcome", "verified: pytest -q: 12 passed"),
        ("task", "T1 done: the filter falls back"),
    ]
    place = {step["id"]: number for number, step in enumerate(chain)}
    links = [sorted(place[name] for name in step["names"]) for step in chain]
    assert links == [[], [], [0], [2], [1], [1]]


def test_a_cold_agent_learns_from_the_handoff_alone_what_to_do(run):
    """LCA-6.5-04: decision, next action and what is untested are fields of the handoff, each with its pointer."""
    mended(run)

    [handoff] = run("handoff", "--for", "claude-code", "--json", lines=True)

    sections = handoff["sections"]
    [decided] = sections["Decisions made"]
    [todo] = sections["Immediate next actions"]
    [untested] = sections["Not claimed and not tested"]
    assert decided.startswith("- Old events lack agent")
    assert todo.startswith("- start T2 open — Document the old schema")
    assert untested.startswith("- untested: the filter on Windows")
    for line in (decided, todo, untested):
        opened = run("show", line.rpartition(" ")[2].strip("`"))
        assert opened
    assert len(handoff["window"]) == 20
