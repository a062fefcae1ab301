"""Finds why something failed, said by the agent in one sentence, where an edit and a passing check came with it.

Either the cause is said first and acted upon afterwards, or a final answer tells of it when all is done.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from consolidation.alone import is_mended, stands_alone
from consolidation.finding import HEDGE, IDENTIFIER, Places, Sentence, joined, made, part_of, prose
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
    r"(?:doesn't|does not|can't|cannot|won't|ignores?|silently) [^.;:]{4,90}, (?:so|which|causing|leaving)\b|"
    r"(?:isn't|wasn't|aren't|weren't|doesn't|didn't|don't|won't|cannot|can't) [^.;:]{2,60} because)\b",
    re.IGNORECASE,
)
_EFFECT = re.compile(  # the cause says more than that something was not there
    r"\b(?:so|but|while|whereas|because|since|without|before|only|not|cannot|never|always|which|even|when|"
    r"instead|drop\w*|los(?:es?|t|ing)|overwr\w+|skip\w*|ignor\w+|caus\w+|fails?|failed|during|created|due to)\b|"
    r"n't\b|\bdespite\b|:.*\b(?:all|any|every|both)\b",
    re.IGNORECASE,
)
_COMES_OF_IT = re.compile(
    r"\b(?:causing|this causes|which causes|leading to|leads to|resulting in|results in|incorrectly|silently|"
    r"lost because|, so|so that|so the|"
    r"without (?:subtract|check|reset|clear)ing|actually (?:inherits|returns|drops))\b",
    re.IGNORECASE,
)
_LABEL = re.compile(r"\W*\*\*")
_TESTS = re.compile(
    r"\bTest[A-Z]\w+|\b\w+_test\b|\btestenv\b|\benv\.|\btest (?:repo\w*|env\w*|fixtures?|helpers?|setup|data|cases?)\b|"
    r"^\W*(?:[\w' ]+ (?:is|was) that )?(?:the|this|one|my) (?:\w+ ){0,2}tests?\b"
)
_PASTED = re.compile(r"https?:|^\W*(?:error|warning|operation)\b|\btests?\b|\bcomments?\b", re.IGNORECASE)
_ADVISES = re.compile(r"\W*(?:consider|use|add|make|try|instead|please|we|you)\b", re.IGNORECASE)
_ASIDE = re.compile(r"\.md$|(?:_test|\.test|\.spec|_spec)\.\w+$|^test_|^testenv\b", re.IGNORECASE)
_TURNED_OUT = re.compile(r"^\W*it turn(?:s|ed) out (?:that )?", re.IGNORECASE)
_NUMBER = re.compile(r"\W*(?:task|bug|issue|problem|finding|cause|item) ?#?\d+\W*:[\s*_]*", re.IGNORECASE)
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d+[.)])[ \t]")
_SUPPOSES = re.compile(  # a line above a list that makes suppositions of its items
    r"\b(?:possib\w+|potential\w*|likely|suspect\w*|hypothes\w+|candidates?|might|may|could|maybe|perhaps|options?|"
    r"ideas|suggest\w*)\b",
    re.IGNORECASE,
)
# of what an agent says: a build that passes tells nothing of a cause
_TRIES = re.compile(r"\b(?:tests?|spec|pytest|jest|vitest|check|verify|ci|tox)\b|test:", re.IGNORECASE)
_PATCHED = re.compile(r"\*\*\* (?:Update|Add) File: ([^\n]+?)(?:\n|\\n|$)")
_SHELLS = ("bash", "shell", "exec", "terminal", "run_command", "command")
_CHECKS = re.compile(
    r"\b(?:tests?|spec|pytest|jest|vitest|build|check|lint|vet|tsc|mypy|cargo|compile|verify|ci|tox|ruff)\b",
    re.IGNORECASE,
)
_LOOKS = re.compile(r"(?:cat|echo|printf|grep|rg|ls|find|sed|head|tail|git|gh|mkdir|cp|mv|rm)\b")
_PASSING = re.compile(  # what is soon untrue, or was an agent's own slip
    r"\.\w+:\d+\b|\b(?:at|on) lines? \d|\blines? \d+\b|\bI(?:'m| was| am| had| need)?\b|"
    r"\b(?:now|recently|currently|no (?:reason|need) to|so \S+ can|doesn't need|don't need|looking at|we never|"
    r"staged|uncommitted)\b|"
    r"^the (?:lint|linter|tests?|build) (?:is|are|was|were) failing\b",
    re.IGNORECASE,
)


def find(view: SessionView, state: MemoryState, key: bytes, places: Places) -> list[Candidate]:
    """Return the causes of a session that were acted upon, in order.

    Of what was said on the way in an exchange about one file, the last counts, and only if the first check passed.
    """
    steps = [step for step in view.steps if not step.worker]
    found: dict[tuple[int, str, int], Candidate] = {}
    asked = 0
    for at, step in enumerate(steps):
        if step.kind == "prompt":
            asked = at
        if step.kind not in ("prompt", "reply"):
            continue
        causes = [*_causes(step.text, _is_cause if step.kind == "reply" else _is_report)]
        checks = _CHECKS if step.kind == "prompt" else _TRIES
        sure = step.kind == "prompt" or step.final or any(_COMES_OF_IT.search(one.text) for one in causes)
        closed = _closed(_exchange(steps[at + 1 : at + 1 + WITHIN]), sure, checks) if causes else None
        if causes and closed is None and step.final:
            closed = _closed(steps[asked:at], True, checks)
        if closed is None:
            continue
        edit, run = closed
        why = f"fixed in `{path_of(edit)}`; `{command_of(run)}` passed after it"
        spans = tuple(part_of(one, SHOWN, key) for one in closed)
        by = "cause" if step.kind == "reply" else "report"
        for cause in causes:
            labelled = step.final or step.kind == "prompt" or _LABEL.match(cause.text)
            place = (at, "", cause.start) if labelled else (asked, path_of(edit), 0)
            found.pop(place, None)
            found[place] = made(
                view, step, cause, key, found_by=by, memory_type="known_failure", why=why, closed_by=spans
            )
    return list(found.values())


def _causes(text: str, counts: Callable[[str], bool]) -> Iterator[Sentence]:
    """Yield the statements of a text that count as a cause, each with what its paragraph says to come of it."""
    sentences = list(prose(text))
    end = 0
    for at, one in enumerate(sentences):
        whole = _unnumbered(joined(text, sentences[at:], MOST))
        if one.start >= end and (counts(one.text) or counts(whole.text)) and not _supposed(text, one.start):
            end = whole.end
            yield whole


def _unnumbered(sentence: Sentence) -> Sentence:
    """Return a sentence without the number that a list gave it."""
    number = _NUMBER.match(sentence.text)
    return Sentence(sentence.start + number.end(), sentence.end, sentence.text[number.end() :]) if number else sentence


def _supposed(text: str, start: int) -> bool:
    """Say whether a place is in a list whose heading says that its items are suppositions."""
    lines = text[:start].split("\n")
    if not _ITEM.match(lines[-1]):
        return False
    outside = (line for line in reversed(lines) if line.strip() and line[0] not in " \t" and not _ITEM.match(line))
    return bool(_SUPPOSES.search(next(outside, "")))


def _is_cause(text: str) -> bool:
    return bool(_CAUSE.search(text) and _EFFECT.search(text) and _stands(text) and not is_mended(text))


def _is_report(text: str) -> bool:
    """Say whether a person, or a review that they hand on, says what is wrong and what comes of it."""
    effect = _COMES_OF_IT.search(text)
    named = effect is not None and IDENTIFIER.search(text, 0, effect.start())
    return bool(named and _stands(text) and not (_PASTED.search(text) or _ADVISES.match(text)))


def _stands(text: str) -> bool:
    if not LEAST <= len(text) <= MOST or text.endswith(("?", ":")):
        return False
    if not stands_alone(_TURNED_OUT.sub("", text)):
        return False
    return bool(IDENTIFIER.search(text) and not (HEDGE.search(text) or _PASSING.search(text) or _TESTS.search(text)))


def _exchange(steps: Sequence[Step]) -> Sequence[Step]:
    """Return the steps up to the next prompt."""
    return steps[: next((at for at, step in enumerate(steps) if step.kind == "prompt"), len(steps))]


def _closed(steps: Sequence[Step], later: bool, checks: re.Pattern[str]) -> tuple[Step, Step] | None:
    """Return the first edit of these steps that is of no test, and the first check behind it, None where it failed.

    With `later` a check that fails may be followed by one that passes. `checks` tells checks by their commands.
    """
    edit: Step | None = None
    calls: dict[str, Step] = {}
    for step in steps:
        if step.kind == "call":
            calls[str((step.body or {}).get("call_id", ""))] = step
            if edit is None and not _ASIDE.search(path_of(step) or ".md"):
                edit = step
        elif step.kind in ("ok", "error") and edit is not None:
            call = calls.get(str((step.body or {}).get("call_id", "")))
            if call is not None and call.seq > edit.seq and _is_check(call, checks):
                if step.kind == "ok":
                    return edit, call
                if not later:
                    return None
    return None


def _is_check(call: Step, checks: re.Pattern[str]) -> bool:
    command = command_of(call)
    return bool(checks.search(command) and not _LOOKS.match(command))


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
