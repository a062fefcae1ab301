"""`state.md`: where the work stands now, from the latest tasks, decisions, questions and sessions."""

from typing import Any

from transcript.projections.fold import task_number, watermark
from transcript.projections.page import NONE, day, line, markdown, pointer, who
from transcript.telling import counted

NAME = "state.md"
TYPES = frozenset({"task", "decision", "question", "outcome", "conversation_turn", "redaction"})
DECISIONS = 10
SESSIONS = 10


def render(state: dict[str, Any]) -> bytes:
    """Return the view."""
    parts = [
        ("Tasks", tasks(state)),
        ("Decisions that hold", decisions(state)),
        ("Open questions", questions(state)),
        ("Last outcomes", outcomes(state)),
        ("Sessions", sessions(state)),
    ]
    lines = [text for title, body in parts for text in (f"## {title}", "", *(body or [NONE]), "")]
    return markdown("State of the work", watermark(state, TYPES), lines)


def tasks(state: dict[str, Any]) -> list[str]:
    """Return what is not done, started tasks first, then how many are done."""
    order = {"started": 0, "blocked": 1, "open": 2}
    left = sorted(
        ((name, held) for name, held in state["tasks"].items() if held["state"] in order),
        key=lambda item: (order[item[1]["state"]], task_number(item[0])),
    )
    lines = [task_line(name, held) for name, held in left]
    done = [held["steps"][-1]["id"] for held in state["tasks"].values() if held["state"] == "done"]
    return lines + ([f"- {len(done)} done, the last {pointer(done[-1])}"] if done else [])


def task_line(name: str, held: dict[str, Any]) -> str:
    """Return a task in one line."""
    last = held["steps"][-1]
    note = f": {line(last['note'])}" if last["note"] else ""
    return (
        f"- {name} {held['state']}{note} — {line(held['title'])} ({who(last)}, {day(last['ts'])}) {pointer(last['id'])}"
    )


def decisions(state: dict[str, Any]) -> list[str]:
    """Return the newest decisions that hold, newest first."""
    made = sorted((d for d in state["decisions"].values() if not d["superseded_by"]), key=lambda one: -one["seq"])
    return [decision_line(one) for one in made[:DECISIONS]]


def decision_line(one: dict[str, Any]) -> str:
    """Return a decision in one line."""
    why = f" — {line(one['why'])}" if one["why"] else ""
    return f"- {line(one['statement'])}{why} ({who(one)}, {day(one['ts'])}) {pointer(one['id'])}"


def questions(state: dict[str, Any]) -> list[str]:
    """Return questions without an answer."""
    left = [(name, held["asked"]) for name, held in state["questions"].items() if held["resolved"] is None]
    left.sort(key=lambda item: task_number(item[0]))
    return [f"- {name} {line(said['statement'])} ({who(said)}) {pointer(said['id'])}" for name, said in left]


def outcomes(state: dict[str, Any]) -> list[str]:
    """Return the newest outcomes, newest first."""
    return [outcome_line(one) for one in reversed(state["outcomes"][-5:])]


def outcome_line(one: dict[str, Any]) -> str:
    """Return an outcome in one line, with its evidence."""
    about = f" [{one['task']}]" if one.get("task") else ""
    shown = " ".join(pointer(item) for item in (one["id"], *one["evidence"]))
    return f"- {one['status']}{about}: {line(one['statement'])} ({who(one)}, {day(one['ts'])}) {shown}"


def sessions(state: dict[str, Any]) -> list[str]:
    """Return the newest sessions, newest first; their words stay in the record."""
    held = sorted(state["sessions"].items(), key=lambda item: (item[1]["last"], item[0]), reverse=True)
    return [session_line(name, one) for name, one in held[:SESSIONS]]


def session_line(name: str, one: dict[str, Any]) -> str:
    """Return a session in one line, with its last turn as pointer."""
    where = f", branch {line(one['branch'])}" if one["branch"] else ""
    said = f"{counted(one['prompts'], 'prompt')}, {day(one['first'])} to {day(one['last'])}{where}"
    return f"- {line(one['agent'])} {line(name)}: {said} {pointer(one['event'])}"
