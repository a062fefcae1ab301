"""Finds errors that were got over: the same command failed and then passed, and what was changed in between.

Most such pairs are lint and build noise (252 in 273 sessions, hardly one worth a memory). One counts only when the
error names a file and what cured it was an edit of another one: there the error alone does not tell where to look.
"""

import re
from collections.abc import Iterator, Sequence

from consolidation.find_causes import command_of, path_of
from consolidation.finding import Places, Sentence, made, part_of
from consolidation.model import Candidate, SessionView, Step
from transcript.memories import MemoryState

LEAST, MOST = 30, 300
WITHIN, SHOWN = 60, 200
_ERROR = re.compile(
    r"\b(?:error|fatal|failed|failure|cannot|can't|unable|undefined|not found|denied|panic|exception)\b", re.IGNORECASE
)
_NOISE = re.compile(  # a runner's own words, a line of code, an accident that says nothing of the project
    r"exit (?:code|status)|^\s*(?:---|===|FAIL|ok|\d+ (?:tests?|issues?))\b|^\s*at |^\s*\^|\.{3}|"
    r"user (?:rejected|doesn)|tool_use_error|interrupted|timed? ?out|deadline|task failed|nil pointer|no such file|"
    r"assert|expected|\d+ failed|\d+ errors?|command not found|:\d+(?::\d+)?\b|\+0x|[{};]\s*$|%[vswd]|:=|\bfunc \b|"
    r"\bdef \b|//|\breturn\b|^\s*(?:have|want) ",
    re.IGNORECASE,
)
_SPECIFIC = re.compile(r"[`'\"][^`'\"]{3,}[`'\"]|[a-z][A-Z]\w|\w_\w|[\w-]+\.[a-z]{1,5}\b|--\w")
_VARYING = re.compile(r"(?:[\w.~-]*/)+[\w.-]+|0x[0-9a-f]+|\b[0-9a-f]{7,}\b|\d+", re.IGNORECASE)
_FILE = re.compile(r"[\w-]+\.[a-z]{1,5}\b")


def find(view: SessionView, state: MemoryState, key: bytes, places: Places) -> list[Candidate]:
    """Return the errors of a session that were got over, in order, each signature once."""
    steps = [step for step in view.steps if not step.worker and step.kind in ("call", "error", "ok")]
    calls = {str((step.body or {}).get("call_id", "")): step for step in steps if step.kind == "call"}
    found: dict[str, Candidate] = {}
    for at, step in enumerate(steps):
        call = calls.get(str((step.body or {}).get("call_id", "")))
        command = _whole(call) if step.kind == "error" and call is not None else ""
        line = next(_lines(step.text), None) if command else None
        if line is None or signature(line.text) in found:
            continue
        cure = _cure(steps[at + 1 : at + 1 + WITHIN], command, calls)
        if cure is None:
            continue
        edits, passed = cure
        named = set(_FILE.findall(line.text))
        if not (edits and named) or any(path_of(edit) in named for edit in edits):
            continue
        closed = (part_of(edits[-1], SHOWN, key), part_of(passed, SHOWN, key))
        why = f"fixed in `{path_of(edits[-1])}`; `{command_of(passed)}` failed with it and passed afterwards"
        found[signature(line.text)] = made(
            view, step, line, key, found_by="recovered", memory_type="known_failure", why=why, closed_by=closed
        )
    return list(found.values())


def signature(line: str) -> str:
    """Return an error's line without what differs from run to run: paths, numbers, hashes."""
    return " ".join(_VARYING.sub("#", line.lower()).split())


def _lines(text: str) -> Iterator[Sentence]:
    at = 0
    for line in text.splitlines(keepends=True):
        said = line.strip()
        start = at + len(line) - len(line.lstrip())
        at += len(line)
        if LEAST <= len(said) <= MOST and _is_error(said):
            yield Sentence(start, start + len(said), said)


def _is_error(line: str) -> bool:
    return bool(_ERROR.search(line) and _SPECIFIC.search(line) and not _NOISE.search(line))


def _whole(call: Step) -> str:
    """Return all of what a call ran in a shell, "" where it is no such call."""
    given = call.input or {}
    return " ".join(str(given.get("command") or given.get("cmd")).split()) if command_of(call) else ""


def _cure(later: Sequence[Step], command: str, calls: dict[str, Step]) -> tuple[list[Step], Step] | None:
    """Return the edits up to the call in which the same command passed, and that call; None where it did not."""
    edits = []
    for step in later:
        if step.kind == "call" and path_of(step):
            edits.append(step)
        elif step.kind == "ok":
            call = calls.get(str((step.body or {}).get("call_id", "")))
            if call is not None and _whole(call) == command:
                return edits, call
    return None
