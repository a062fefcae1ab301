"""Finds why something failed, said by the agent in one sentence, where an edit and a passing check came with it.

Either the cause is said first and acted upon afterwards, or a final answer tells of it when all is done.
"""

import re
from collections.abc import Sequence

from consolidation.finding import DANGLING, HEDGE, IDENTIFIER, Places, Sentence, made, part_of, prose
from consolidation.model import Candidate, SessionView, Step
from transcript.memories import MemoryState
from transcript.projections.fold import PATH_KEYS, is_write
from transcript.secrets import veil

LEAST, MOST = 60, 360
WITHIN = 40  # steps in which the edit and the passing command have to follow
SHOWN = 200  # characters of a call that close a cause
_CAUSE = re.compile(
    r"^\W*(?:root cause|the problem|problem|bug|issue|cause|reason|why it (?:failed|happened))\b[^\w\n]*:|"
    r"\b(?:root cause (?:is|was|of)|caused by|the culprit|it turn(?:s|ed) out|"
    r"the (?:actual |real |underlying |main )?(?:problem|issue|bug|cause|reason) (?:is|was) "
    r"(?:that|due|because|in how|with)|"
    r"(?:fails?|failed|failing|broke|breaks|broken|happens|happened|crash(?:es|ed)|hangs?|hung|lost|missing) because|"
    r"(?:isn't|wasn't|aren't|weren't|doesn't|didn't|don't|won't|cannot|can't) [^.;:]{2,60} because)\b",
    re.IGNORECASE,
)
_TURNED_OUT = re.compile(r"it turn(?:s|ed) out\b", re.IGNORECASE)
_PATCHED = re.compile(r"\*\*\* (?:Update|Add) File: ([^\n]+?)(?:\n|\\n|$)")
_SHELLS = ("bash", "shell", "exec", "terminal", "run_command", "command")
_CHECKS = re.compile(
    r"\b(?:tests?|spec|pytest|jest|vitest|build|check|lint|vet|tsc|mypy|cargo|compile|verify|ci|tox|ruff)\b",
    re.IGNORECASE,
)
_PASSING = re.compile(  # what is soon untrue, or was an agent's own slip
    r"\b(?:at|on) lines? \d|\blines? \d+\b|\bI(?:'m| was| am| had| need)?\b|"
    r"\b(?:now|recently|currently|doesn't need|don't need|looking at|we never|staged|uncommitted)\b|"
    r"^the (?:lint|linter|tests?|build) (?:is|are|was|were) failing\b",
    re.IGNORECASE,
)


def find(view: SessionView, state: MemoryState, key: bytes, places: Places) -> list[Candidate]:
    """Return the causes of a session that were acted upon, in order."""
    steps = [step for step in view.steps if not step.worker]
    found: list[Candidate] = []
    asked = 0
    for at, step in enumerate(steps):
        if step.kind == "prompt":
            asked = at
        if step.kind != "reply":
            continue
        causes = [one for one in prose(step.text) if _is_cause(one)]
        closed = _closed(steps[at + 1 : at + 1 + WITHIN]) if causes else None
        if causes and closed is None and step.final:
            closed = _closed(steps[asked:at])
        if closed is None:
            continue
        edit, run = closed
        why = f"fixed in `{path_of(edit)}`; `{command_of(run)}` passed after it"
        spans = tuple(part_of(one, SHOWN, key) for one in closed)
        found += [
            made(view, step, cause, key, found_by="cause", memory_type="known_failure", why=why, closed_by=spans)
            for cause in causes
        ]
    return found


def _is_cause(sentence: Sentence) -> bool:
    text = sentence.text
    dangles = DANGLING.match(text.lstrip("*_")) and not _TURNED_OUT.match(text)
    if not LEAST <= len(text) <= MOST or text.endswith(("?", ":")) or dangles:
        return False
    return bool(
        _CAUSE.search(text) and IDENTIFIER.search(text) and not HEDGE.search(text) and not _PASSING.search(text)
    )


def _closed(steps: Sequence[Step]) -> tuple[Step, Step] | None:
    """Return the first edit of these steps and the first check that passes after it."""
    edit: Step | None = None
    calls: dict[str, Step] = {}
    for step in steps:
        if step.kind == "call":
            calls[str((step.body or {}).get("call_id", ""))] = step
            if edit is None and not (path_of(step) or ".md").endswith(".md"):
                edit = step
        elif step.kind == "ok" and edit is not None:
            call = calls.get(str((step.body or {}).get("call_id", "")))
            if call is not None and call.seq > edit.seq and _CHECKS.search(command_of(call)):
                return edit, call
    return None


def path_of(call: Step) -> str:
    """Return the name of the file that a call changes, "" where it changes none or names none."""
    given = call.input or {}
    patched = next((found[1] for value in given.values() if (found := _PATCHED.search(str(value)))), "")
    written = next((str(given[name]) for name in PATH_KEYS if given.get(name)), "") if is_write(call.tool) else ""
    return (patched or written).replace("\\", "/").rsplit("/", 1)[-1]


def command_of(call: Step) -> str:
    """Return what a call ran in a shell, on one line and cut, "" where it is no such call."""
    if not any(word in call.tool.lower() for word in _SHELLS):
        return ""
    given = call.input or {}
    said = given.get("command") or given.get("cmd") or ""
    line = " ".join(map(str, said)) if isinstance(said, list) else str(said)
    line = veil(
        re.sub(r"^\s*cd \S+\s*(?:&&|;)\s*", "", line)
    )  # before it is cut: half a credential is not known as one
    return " ".join(re.split(r"\||2>&1|&&|;|\n", line)[0].replace("`", "'").split())[:60].strip()
