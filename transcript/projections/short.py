"""The short handoff: what somebody recorded and still holds, most important first, for a session that starts.

A pure function of the fold, like the views, and written beside the snapshot whenever they are: who tells it reads this
one small file and folds nothing. It holds words and pointers only; framing, budget and policy are those of the teller.
Only what was said by a command stands in it, with the files of the newest sessions for one that was compacted.
"""

from collections.abc import Iterator
from typing import Any

from transcript.projections.fold import FOLDED, task_number, watermark
from transcript.projections.page import POINTER, line

NAME = "handoff.json"
TYPES = FOLDED
VERSION = 1
MOST_LINES = 60
MOST_WORDS = 600  # characters kept of one line; the teller cuts further
SESSIONS = 5
FILES = 8
# The order in which a reader meets them, and how many of a kind go in before the next kind has its turn.
KINDS = {
    "under way": 3,
    "next": 2,
    "blocked": 2,
    "decided": 3,
    "diagnosis": 1,
    "constraint": 3,
    "risk": 2,
    "failed": 1,
    "untested": 2,
    "not claimed": 1,
    "open question": 2,
    "corrected": 1,
    "touched": 4,
}


def short(state: dict[str, Any]) -> dict[str, Any]:
    """Return the short handoff as JSON: lines by rank, each with kind, words, who and when, and its event."""
    return {
        "view": "handoff",
        "version": VERSION,
        "watermark": watermark(state, TYPES),
        "lines": _ranked(_by_kind(state))[:MOST_LINES],
        "sessions": dict(_files(state)),
    }


def _by_kind(state: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {kind: [] for kind in KINDS}
    names = {"started": "under way", "open": "next", "blocked": "blocked"}
    for name, held in sorted(state["tasks"].items(), key=lambda item: (task_number(item[0]), item[0])):
        if held["state"] in names:
            found[names[held["state"]]].append(_task(names[held["state"]], name, held))
    holds = [one for one in state["decisions"].values() if not one["superseded_by"]]
    for one in sorted(holds, key=lambda one: (not one.get("keep"), -one["seq"])):
        kind = str(one.get("kind", "decision"))
        if kind == "diagnosis" and state["tasks"].get(one.get("task", ""), {}).get("state") == "done":
            continue  # the decision view keeps it
        kind = kind if kind in found else "decided"
        found[kind].append(_line(kind, _because(one), one))
    for one in reversed(state["outcomes"]):
        kind = str(one["status"]).replace("_", " ")
        if kind in found:
            about = f"{line(str(one['task']))}: " if one.get("task") else ""
            found[kind].append(_line(kind, about + line(one["statement"]), one))
    for name, asked in sorted(state["questions"].items(), key=lambda item: (task_number(item[0]), item[0])):
        if asked["resolved"] is None:
            said = asked["asked"]
            found["open question"].append(_line("open question", f"{line(name)} {line(said['statement'])}", said))
    for one in reversed(state["corrections"]):
        if one.get("kind") != "confirmation" and not one.get("channel"):  # a peer's word is not told unasked
            found["corrected"].append(_line("corrected", line(one["text"]), one, of=one["of"]))
    return found


def _ranked(found: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Take some of each kind in turn, so that ten decisions do not push out what is untested."""
    ranked: list[dict[str, Any]] = []
    for round_ in range(max((len(lines) for lines in found.values()), default=0)):
        for kind, share in KINDS.items():
            ranked += found[kind][round_ * share : (round_ + 1) * share]
    return ranked


def _task(kind: str, name: str, held: dict[str, Any]) -> dict[str, Any]:
    last = held["steps"][-1]
    role = next((step["role"] for step in reversed(held["steps"]) if step.get("role")), "")
    words = f"{line(name)} {line(held['title'])}"
    words += f" ({line(last['note'])})" if last["note"] else ""
    return _line(kind, words, last, role=line(str(role)))


def _because(one: dict[str, Any]) -> str:
    return f"{line(one['statement'])} — {line(one['why'])}" if one["why"] else line(one["statement"])


def _line(kind: str, words: str, one: dict[str, Any], *, role: str = "", of: str = "") -> dict[str, Any]:
    by = [line(one["actor"]), line(one["actor_kind"]) or "kind unknown"]
    by += [f"as {role}"] if role else []
    by += [f"of {of[:POINTER]}"] if of else []
    return {"kind": kind, "words": words[:MOST_WORDS], "by": ", ".join([*by, one["ts"][:10]]), "event": one["id"]}


def _files(state: dict[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the newest sessions that touched files, each with the files it touched last, written ones first."""
    of_session: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for path, held in state["files"].items():
        of_session.setdefault(held["session"], []).append((path, held))
    newest = sorted(of_session.items(), key=lambda item: -max(held["seq"] for _, held in item[1]))
    for session, files in newest[:SESSIONS]:
        files.sort(key=lambda item: (-bool(item[1]["writes"]), -item[1]["seq"], item[0]))
        folder = state["sessions"].get(session, {}).get("cwd")
        inside = f"{folder}/" if folder else ""
        yield session, [_file(path.removeprefix(inside), held) for path, held in files[:FILES]]


def _file(path: str, held: dict[str, Any]) -> dict[str, Any]:
    counts = f"{held['writes']} written, {held['reads']} read"
    return {"kind": "touched", "words": f"{line(path)}: {counts}", "by": held["ts"][:10], "event": held["event"]}
