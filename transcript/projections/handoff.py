"""`handoff.md`: what the next agent, role or session needs in order to go on. Every line points into the record."""

from dataclasses import dataclass
from typing import Any

from transcript.projections import state as now
from transcript.projections.fold import FOLDED, task_number, watermark
from transcript.projections.page import NONE, day, line, markdown, pointer, who

NAME = "handoff.md"
TYPES = FOLDED
PURPOSES = ("compaction", "role", "session")
HEADINGS = (
    "Current objective",
    "Open threads",
    "Files and projects touched",
    "Decisions made",
    "Active role state",
    "Immediate next actions",
    "Risks and non-obvious constraints",
    "Verified commands and evidence",
    "Not claimed and not tested",
    "Not to be lost",
)
FILES = 20
MOST = 20


@dataclass(frozen=True, slots=True)
class Focus:
    """For whom a handoff is: a task or all of the work, a purpose, a role that takes over, the session that ends."""

    task: str = ""
    purpose: str = "session"
    role: str = ""
    harness: str = ""
    session: str = ""


def render(state: dict[str, Any]) -> bytes:
    """Return the view: the handoff to any new session."""
    return markdown("Handoff", watermark(state, TYPES), page(state, Focus()))


def page(state: dict[str, Any], focus: Focus) -> list[str]:
    """Return the lines of a handoff, all ten headings always."""
    return [text for title, body in sections(state, focus) for text in (f"## {title}", "", *(body or [NONE]), "")]


def sections(state: dict[str, Any], focus: Focus) -> list[tuple[str, list[str]]]:
    """Return (heading, lines) for the ten sections; with a task, what is tied to it and what holds for all."""
    parts = (_objective, _threads, _files, _decisions, _roles, _next, _risks, _verified, _untested, _keep)
    return [(title, part(state, focus)[: FILES + MOST]) for title, part in zip(HEADINGS, parts, strict=True)]


def tied_decisions(state: dict[str, Any], task: str) -> list[dict[str, Any]]:
    """Return the decisions of a task, in the record's order: tagged with it or named by one of its steps."""
    held = state["tasks"].get(task, {"steps": []})
    named = {item for step in held["steps"] for item in step["decisions"]}
    return [one for one in state["decisions"].values() if one.get("task") == task or one["id"] in named]


def tied_evidence(state: dict[str, Any], task: str) -> set[str]:
    """Return the ids of all events that a task, its decisions, outcomes and questions point to."""
    held = state["tasks"].get(task, {"steps": []})
    asked = [q[part] for q in state["questions"].values() for part in ("asked", "resolved") if q[part]]
    tagged = [one for one in (*state["outcomes"], *asked) if one.get("task") == task]
    said = [*held["steps"], *tied_decisions(state, task), *tagged]
    return {item.partition("#")[0] for one in said for item in one["evidence"]}


def _of(focus: Focus, one: dict[str, Any], *, loose: bool = False) -> bool:
    """Say whether an entry belongs to the focus; loose keeps what is tied to no task at all."""
    return not focus.task or one.get("task") == focus.task or (loose and not one.get("task"))


def _tasks(state: dict[str, Any], focus: Focus, *states: str) -> list[tuple[str, dict[str, Any]]]:
    held = [(name, t) for name, t in state["tasks"].items() if t["state"] in states]
    return sorted((t for t in held if not focus.task or t[0] == focus.task), key=lambda item: task_number(item[0]))


def _objective(state: dict[str, Any], focus: Focus) -> list[str]:
    if focus.task:
        return [now.task_line(focus.task, state["tasks"][focus.task])]
    started = _tasks(state, focus, "started") or _tasks(state, focus, "open")[:1]
    return [now.task_line(name, held) for name, held in started]


def _threads(state: dict[str, Any], focus: Focus) -> list[str]:
    blocked = [now.task_line(name, held) for name, held in _tasks(state, focus, "blocked")]
    left = [(n, q["asked"]) for n, q in state["questions"].items() if q["resolved"] is None]
    left = sorted((n, said) for n, said in left if _of(focus, said, loose=True))
    asked = [f"- {name} {line(said['statement'])} ({who(said)}) {pointer(said['id'])}" for name, said in left]
    peers = [
        f"- {line(one['channel'])} ({one['category']}, external): {line(one['text'])} ({who(one)}) {pointer(one['id'])}"
        for one in state["observations"][-5:]
    ]
    return blocked + asked + (peers if not focus.task else [])


def _files(state: dict[str, Any], focus: Focus) -> list[str]:
    files = [(path, held) for path, held in state["files"].items() if _touched(state, focus, held)]
    files.sort(key=lambda item: (-bool(item[1]["writes"]), -item[1]["seq"], item[0]))
    folders = sorted({(one["cwd"], one["event"]) for one in _newest(state, 3) if one["cwd"]})
    lines = {f"- project {line(folder)}": event for folder, event in folders}
    touched = [
        f"- {line(path)}: {h['writes']} written, {h['reads']} read, last {day(h['ts'])} {pointer(h['event'])}"
        for path, h in files[:FILES]
    ]
    return [f"{text} {pointer(event)}" for text, event in lines.items()] + touched


def _touched(state: dict[str, Any], focus: Focus, held: dict[str, Any]) -> bool:
    if focus.purpose == "compaction" and focus.session:
        return bool(held["session"] == focus.session)
    return True


def _newest(state: dict[str, Any], count: int) -> list[dict[str, Any]]:
    return [one for _, one in _by_time(state)[:count]]


def _by_time(state: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return sorted(state["sessions"].items(), key=lambda item: (item[1]["last"], item[0]), reverse=True)


def _decisions(state: dict[str, Any], focus: Focus) -> list[str]:
    made = tied_decisions(state, focus.task) if focus.task else list(state["decisions"].values())
    made = [one for one in made if not one["superseded_by"] and one.get("kind") not in ("risk", "constraint")]
    return [now.decision_line(one) for one in reversed(made[-MOST:])]


def _roles(state: dict[str, Any], focus: Focus) -> list[str]:
    lines = []
    if focus.purpose == "compaction":
        kept = [item for item in _by_time(state) if not focus.session or item[0] == focus.session][:1]
        lines += [f"- the same agent goes on: {now.session_line(name, one)[2:]}" for name, one in kept]
    else:
        lines += [now.session_line(name, one) for name, one in _by_time(state)[:3]]
    for name, held in _tasks(state, focus, "started", "blocked"):
        last = held["steps"][-1]
        role = next((step["role"] for step in reversed(held["steps"]) if step.get("role")), "")
        as_role = f" as {line(str(role))}" if role else ""
        over = f", to be taken over as {line(focus.role)}" if focus.purpose == "role" and focus.role else ""
        lines.append(f"- {name} is with {who(last)}{as_role}{over} {pointer(last['id'])}")
    return lines


def _next(state: dict[str, Any], focus: Focus) -> list[str]:
    return [
        f"- {'go on with' if held['state'] == 'started' else 'start'} {now.task_line(name, held)[2:]}"
        for name, held in [*_tasks(state, focus, "started"), *_tasks(state, focus, "open")]
    ]


def _risks(state: dict[str, Any], focus: Focus) -> list[str]:
    kept = [one for one in state["decisions"].values() if one.get("kind") in ("risk", "constraint")]
    kept = [one for one in kept if not one["superseded_by"] and _of(focus, one, loose=True)]
    failed = [one for one in state["outcomes"] if one["status"] == "failed" and _of(focus, one, loose=True)]
    risks = [f"- {one['kind']}: {now.decision_line(one)[2:]}" for one in reversed(kept[-MOST:])]
    return risks + [now.outcome_line(one) for one in reversed(failed[-5:])]


def _verified(state: dict[str, Any], focus: Focus) -> list[str]:
    done = [one for one in state["outcomes"] if one["status"] == "verified" and _of(focus, one)]
    steps = [
        f"- {name} done: {line(step['note']) or line(held['title'])} ({who(step)}) "
        + " ".join(pointer(item) for item in (step["id"], *step["evidence"]))
        for name, held in _tasks(state, focus, "done")
        for step in held["steps"][-1:]
        if step["evidence"]
    ]
    return [now.outcome_line(one) for one in reversed(done[-MOST:])] + steps[::-1][:MOST]


def _untested(state: dict[str, Any], focus: Focus) -> list[str]:
    left = [one for one in state["outcomes"] if one["status"] in ("untested", "not_claimed")]
    return [now.outcome_line(one) for one in reversed([one for one in left if _of(focus, one, loose=True)][-MOST:])]


def _keep(state: dict[str, Any], focus: Focus) -> list[str]:
    kept = [one for one in state["decisions"].values() if one.get("keep") and not one["superseded_by"]]
    lines = [(one["seq"], now.decision_line(one)) for one in kept if _of(focus, one, loose=True)]
    lines += [(o["seq"], now.outcome_line(o)) for o in state["outcomes"] if o.get("keep") and _of(focus, o, loose=True)]
    lines += [
        (one["seq"], f"- {_about(one)}: {line(one['text'])} ({who(one)}) {pointer(one['id'])}")
        for one in state["corrections"]
        if one.get("kind") != "confirmation"
    ]
    return [text for _, text in sorted(lines, reverse=True)[:MOST]]


def _about(one: dict[str, Any]) -> str:
    """What kind of correction it is, and of what; of a peer's the channel too."""
    external = f" ({line(one['channel'])}, external)" if one.get("channel") else ""
    return f"{one['kind']}{external} of {pointer(one['of'])}"
