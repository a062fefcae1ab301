"""Finds the reasons that a commit message gives: what went wrong before, and why it is done like this.

A commit message is written for those who were not there, when the work is done. Its title and its lists say what was
changed, which the code says too; the paragraphs of its body hold the reasons.
"""

import re
from collections.abc import Iterator

from consolidation.find_causes import command_of
from consolidation.finding import (
    DANGLING,
    LEANING,
    POINTING,
    Places,
    Sentence,
    made,
    part_of,
    prose,
)
from consolidation.model import Candidate, SessionView, Step
from transcript.memories import MemoryState

LEAST, MOST, SHOWN = 80, 360, 200
_COMMITS = re.compile(r"\bgit\b[^\n|;]*? commit\b[^\n|;]*? (?:-\w*m|--message|-F)\b|\bgh pr create\b")
_REASON = re.compile(
    r"\b(?:previously|because|since|caus(?:e|es|ed|ing)|silently|intentional(?:ly)?|by design|otherwise|"
    r"so (?:it|that|they|the)|rather than|belongs|"
    r"(?:was|were) (?:never |always )?(?:being|\w+ing|lost|rejected|dropped|ignored|skipped|treated|zero|empty)|"
    r"fail(?:s|ed) (?:with|when|to)|break(?:s|ing)|broke|race|leak(?:s|ed)?|wrong\w*|incorrect\w*|invalid|mismatch|"
    r"stale|"
    r"(?:does|do|did|is|are|was|were|has|have|had|would|must|can|could|should)(?:n't| not)|cannot|never|won't|"
    r"even (?:though|when|if)|unlike|special case|only (?:when|if|because)|regardless)\b",
    re.IGNORECASE,
)
_CHANGES = re.compile(  # says what the commit does
    r"(?:fix\w*|solution|changes?|tests?|now|adds?|added|adding|also|allow\w*|use[sd]?|updat\w+|replac\w+|remov\w+|"
    r"mov\w+|renam\w+|refactor\w*|extract\w*|implement\w*|introduc\w+|ensur\w+|chang\w+|convert\w*|creat\w+|"
    r"delet\w+|switch\w*|makes?|skip\w*|keep\w*|log|handl\w+|address\w*|drop\w*|improv\w+|simplif\w+|"
    r"consolidat\w+|mark\w*|note\w*|document\w*|resolv\w+|support\w*|stop\w*|prevent\w*|pass\w*|return\w*|check\w*|"
    r"detect\w*|enabl\w+|generat\w+|includ\w+|rework\w*|set|restor\w+|revert\w*|writ\w+|show\w*|bump\w*|all|warn|fire|"
    r"wrap\w*|print\w*|propagat\w+|only|clos\w+|parse|query|verif\w+|pull|with (?:this|the))\b",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"https?:|#\d|\bEOF\b|^[A-Z][\w-]+-[Bb]y:|\\|\$\(|\b[0-9a-f]{7,}\b|\b(?:feedback|follow-up|interim|TODO|typo)\b|\bTest[A-Z]|_test\b|"
    r"^(?:the|this|these) (?:\w+ )?(?:tests?|function|method|caller|field)\b|"
    r"\b(?:migration file|rebase|merge conflict|generated with)\b",
    re.IGNORECASE,
)
_FIRST = re.compile(r"[.!?]\s")
_LISTED = re.compile(r"^[ \t]*(?:[-*+]|\d+[.)]) [^\n]*\n?\Z", re.MULTILINE)  # a list item begins here
_DOUBTED = re.compile(r"\b(?:probably|likely|might|may|maybe|perhaps|seems?|appears?|suspect|unclear)\b", re.IGNORECASE)


def find(view: SessionView, state: MemoryState, key: bytes, places: Places) -> list[Candidate]:
    """Return the reasons in the messages of a session's commits that went through, in order."""
    calls: dict[str, Step] = {}
    found: list[Candidate] = []
    for step in view.steps:
        name = str((step.body or {}).get("call_id", ""))
        if step.kind == "call" and not step.worker and command_of(step):
            calls[name] = step
        elif step.kind == "ok" and name in calls and _COMMITS.search(calls[name].text):
            call = calls.pop(name)
            why, closed = f'said in the commit "{_title(call.text)}"', (part_of(call, SHOWN, key),)
            found += [
                made(view, call, one, key, found_by="commit", memory_type="lesson", why=why, closed_by=closed)
                for one in _reasons(call.text)
            ]
    return found


def _reasons(text: str) -> Iterator[Sentence]:
    """Yield of each paragraph of a message's body the sentences that do not say what was changed, if they give reasons.

    They are one statement where they follow each other: what was so, and what came of it.
    """
    begin = _body(text)
    whole: Sentence | None = None
    for one in prose(text):
        if one.start < begin:
            continue
        tells = not (_changes(one.text) or one.text.endswith(("?", ":")) or _LISTED.search(text, begin, one.start))
        follows = whole is not None and _same_paragraph(text[whole.end : one.start])
        if whole is not None and follows and tells and one.end - whole.start <= MOST:
            whole = Sentence(whole.start, one.end, text[whole.start : one.end])
            continue
        if whole is not None and _is_reason(whole.text):
            yield whole
        whole = one if tells else None
    if whole is not None and _is_reason(whole.text):
        yield whole


def _changes(text: str) -> bool:
    """Say whether a sentence begins with what was done; a name in mixed case is no verb."""
    return bool(_CHANGES.match(text)) and text.split(maxsplit=1)[0][1:].islower()


def _same_paragraph(apart: str) -> bool:
    return apart.isspace() and apart.count("\n") < 2


def _body(text: str) -> int:
    """Return where the paragraphs behind a message's title begin, the end of the text where there are none."""
    commit = _COMMITS.search(text)
    blank = text.find("\n\n", commit.end()) if commit else -1
    return blank if blank >= 0 else len(text)


def _title(text: str) -> str:
    commit = _COMMITS.search(text)
    lines = text[commit.end() if commit else 0 : _body(text)].strip().splitlines()
    return re.sub(r"^[\s\"']+", "", lines[-1])[:SHOWN] if lines else ""


def _is_reason(text: str) -> bool:
    first = _FIRST.split(text, maxsplit=1)[0]
    if not LEAST <= len(text) <= MOST or DANGLING.match(text) or LEANING.match(text) or POINTING.search(first):
        return False
    return bool(_REASON.search(text) and not (_DOUBTED.search(text) or _PASSING.search(text)))
