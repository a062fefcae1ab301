"""ESAA's case study as events: a decision, a defect, its diagnosis, fix and verification, told by two agents."""

from typing import Any

from support.record import make_draft
from transcript.curation import Author, Setting, decision, outcome, question, task
from transcript.event import Draft

CODEX = Author("codex", "agent", "codex")
CLAUDE = Author("claude-code", "agent", "claude-code")
ANA = Author("ana", "human", "recall")


def at(minute: int, session: str = "s-codex", **where: str) -> Setting:
    """Return a setting on the first of March, so many minutes after noon."""
    return Setting(f"2026-03-01T12:{minute:02}:00.000Z", session, "key", where)


def turn(number: int, text: str, **fields: Any) -> Draft:
    """Return a turn of the Codex session."""
    values = {"session": "s-codex", "agent": "codex", "ts": f"2026-03-01T11:{number:02}:00.000Z", **fields}
    return make_draft(f"turn {number}", text=text, **values)


def story() -> list[Draft]:
    """Return the record's drafts in order; every id follows from its words."""
    asked = turn(0, "context --agent grok returns nothing for events of the old schema", body={"cwd": "/home/dev/shop"})
    found = turn(1, "the filter reads `agent`, old events lack it", actor="assistant", body={"kind": "reply"})
    edit = make_draft(
        "edit",
        "tool_call",
        session="s-codex",
        agent="codex",
        actor="assistant",
        body={"tool": "Edit", "input": {"file_path": "shop/filter.py"}},
    )
    ran = make_draft("ran", "tool_result", session="s-codex", agent="codex", actor="tool", text="12 passed")
    first = decision(ANA, at(1), "Use Python for the tooling", why="the team knows it", evidence=[asked.id])
    second = decision(CODEX, at(2), "Use Python 3.11", why="tomllib is there", supersedes=first.id)
    diagnosis = decision(
        CODEX,
        at(3),
        "Old events lack agent",
        kind="diagnosis",
        why="the filter drops them",
        evidence=[found.id],
        task="T1",
    )
    risk = decision(ANA, at(4), "Never rewrite the record", kind="constraint", why="it is the authority", keep=True)
    return [
        asked,
        found,
        edit,
        ran,
        first,
        second,
        task(CODEX, at(5), "T1", "add", title="Let the filter read old events", decisions=[diagnosis.id]),
        diagnosis,
        task(CODEX, at(6, role="implementer"), "T1", "start"),
        outcome(CODEX, at(7), "pytest -q: 12 passed", "verified", task="T1", evidence=[ran.id]),
        task(CODEX, at(8), "T1", "done", note="filter falls back", evidence=[ran.id, edit.id]),
        task(ANA, at(9), "T2", "add", title="Document the old schema"),
        question(CODEX, at(10), "Q1", "ask", text="Are there events older than v0?", task="T2"),
        outcome(CODEX, at(11), "the filter on Windows", "untested"),
        risk,
    ]
