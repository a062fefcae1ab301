"""Finds the reasons that a commit message gives: what went wrong before, and why it is done like this.

A commit message is written for those who were not there, when the work is done. Its title and its lists say what was
changed, which the code says too; the paragraphs of its body hold the reasons.
"""

import re
from collections.abc import Iterator, Sequence

from consolidation.alone import is_mended, stands_alone
from consolidation.find_causes import command_of
from consolidation.finding import IDENTIFIER, Places, Sentence, made, part_of, prose
from consolidation.model import Candidate, SessionView, Step
from transcript.memories import MemoryState

LEAST, MOST, SHOWN = 80, 420, 200
_COMMITS = re.compile(r"\bgit\b[^\n|;]*? commit\b[^\n|;]*? (?:-\w*m|--message|-F)\b|\bgh pr create\b")
_NAMED = re.compile(r"--title[ =]([\"'])([^\n]+?)\1")
_REASON = re.compile(
    r"\b(?:because|since|caus(?:e|es|ed|ing)|silently|intentional(?:ly)?|by design|otherwise|"
    r"so (?:it|that|they|the)|rather than|belongs|"
    r"(?:was|were) (?:never |always )?(?:being|\w+ing|lost|rejected|dropped|ignored|skipped|treated|zero|empty)|"
    r"fail(?:s|ed) (?:with|when|to)|break(?:s|ing)|broke|race|leak(?:s|ed)?|wrong\w*|incorrect\w*|invalid|mismatch|"
    r"stale|"
    r"(?:does|do|did|is|are|was|were|has|have|had|would|must|can|could|should)(?:n't| not)|cannot|never|won't|"
    r"even (?:though|when|if)|unlike|special case|only (?:when|if|because)|regardless|"
    r"only (?:\w+s|\w+ed) (?:as|in|on|by|via|through|from|after|before))\b",
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
_PURPOSE = re.compile(  # in a sentence that says what was changed: why it had to be, which the change does not show
    r"\b(?:because|since (?!v?\d)|otherwise|to (?:avoid|prevent)|prevent(?:s|ing)?\b.{3,80}\bfrom|without this|"
    r"so (?:that\s+)?(?:\S+\s+){1,6}?(?:cannot|can't|can never)|would (?:otherwise|never)|"
    r"intentional(?:ly)?|unreliable|this (?:caus|break|broke|fail|avoid|prevent|reduc|eliminat|preserv)\w*|"
    r"(?:instead of|rather than)\b.*\bthis (?:enabl|allow|simplif)\w*)\b|"
    r"\((?=[^()]{20,160}\))(?!e\.g\.|i\.e\.|was |fix)[^()]*?"
    r"(?:\b(?:can|cannot|may|already|always|never|still|causes?|could|would|(?:is|are) not)\b|n't\b)",
    re.IGNORECASE | re.DOTALL,
)
_TIDYING = re.compile(  # reasons that are gone once it is done
    r"\b(?:duplicat\w+|readab\w+|consisten\w+|shadowing|lint\w*|typos?|comments?|doc(?:s|ument\w*)?|readme|"
    r"dead code|clean(?:er|up)|clarity|formatting|testab\w+|tests?|call sites?|redundan\w+|twice|extra|repeat\w+|"
    r"no longer|backward\w*)\b|\[[ x]\]",
    re.IGNORECASE,
)
_MEASURED = re.compile(r"\d ?(?:ms|s|seconds|minutes|%|[KMG]i?B)\b")
_SLIP = re.compile(r"\b(?:set to nil|panicking|comments?|typos?|copy.paste)\b", re.IGNORECASE)
_NAMES = re.compile(r"\b[A-Z]{4,}\b")
_ALSO = re.compile(r"^also\s+", re.IGNORECASE)
_ASIDE = re.compile(
    r"^\W*(?:docs?|style|chore|tests?|ci|merge)\b[^\n]{0,20}:|^\W*merge\b|"
    r"\b(?:comments?|docs?|documentation|readme|typos?|gofmt|fmt|formatting|lint\w*|changelog)\b",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"https?:|#\d|\bEOF\b|^[A-Z][\w-]+-[Bb]y:|\\|\$\(|\b[0-9a-f]{7,}\b|(?-i:\bTest[A-Z])|_test\b|"
    r"\bfrom ~?\d\S* to ~?\d|"
    r"\b(?:feedback|follow-up|interim|TODO|typo|today|yesterday|no longer|migration file|rebase|merge conflict|"
    r"generated with)\b|"
    r"^(?:the|this|these) (?:\w+ )?(?:tests?|function|method|caller|field)\b",
    re.IGNORECASE,
)
_LISTED = re.compile(r"^[ \t]*(?:[-*+]|\d+[.)])[ \t]+\Z", re.MULTILINE)  # a list item begins here
_DOUBTED = re.compile(
    r"\b(?:probably|likely|might|may(?! not\b)|maybe|perhaps|seems?|appears? (?:to|that)|suspect|unclear)\b",
    re.IGNORECASE,
)


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
    """Yield of each paragraph and list item of a message's body what gives a reason.

    Of a paragraph it is what does not say what was changed; where that gives no reason, all of it, if it says why the
    change was needed.
    """
    begin = _body(text)
    if _ASIDE.search(_title(text)):
        return
    for unit in _units(text, begin):
        found = [one for one in _told(text, unit) if _is_reason(one.text)]
        if not found:
            whole = Sentence(unit[0].start, unit[-1].end, text[unit[0].start : unit[-1].end])
            told = " ".join(one.text for at, one in enumerate(unit) if at == 0 or not _changes(one.text))
            found = [whole] if _PURPOSE.search(told) and _is_needed(whole.text) else []
        yield from found


def _units(text: str, begin: int) -> Iterator[list[Sentence]]:
    """Yield the paragraphs and list items behind a place, each as its sentences."""
    unit: list[Sentence] = []
    for one in prose(text):
        if one.start < begin:
            continue
        item = bool(_LISTED.search(text[begin : one.start]))
        if unit and not item and _same_paragraph(text[unit[-1].end : one.start]):
            unit.append(one)
            continue
        if unit:
            yield unit
        unit = [one]
    if unit:
        yield unit


def _told(text: str, unit: Sequence[Sentence]) -> Iterator[Sentence]:
    """Yield the runs of sentences of a paragraph that do not say what was changed."""
    whole: Sentence | None = None
    for one in unit:
        if _changes(one.text) or one.text.endswith(("?", ":")):
            if whole is not None:
                yield whole
            whole = None
        elif whole is not None and one.end - whole.start <= MOST:
            whole = Sentence(whole.start, one.end, text[whole.start : one.end])
        else:
            if whole is not None:
                yield whole
            whole = one
    if whole is not None:
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
    named = _NAMED.search(text)
    if named:
        return named[2][:SHOWN]
    commit = _COMMITS.search(text)
    lines = text[commit.end() if commit else 0 : _body(text)].strip().splitlines()
    return re.sub(r"^[\s\"']+", "", lines[-1])[:SHOWN] if lines else ""


def _is_reason(text: str) -> bool:
    """Say whether words that tell how something is or was, and name it, give a reason."""
    if not LEAST <= len(text) <= MOST or not _lasts(text):
        return False
    return bool(not is_mended(text) and _REASON.search(text) and (IDENTIFIER.search(text) or _NAMES.search(text)))


def _is_needed(text: str) -> bool:
    """Say whether words that tell what was changed, and why, are of use once it is done, and name it."""
    if not LEAST <= len(text) <= MOST or text.endswith(("?", ":")) or is_mended(text):
        return False
    if _TIDYING.search(text) and not _MEASURED.search(text):
        return False
    return bool(IDENTIFIER.search(text)) and _lasts(_ALSO.sub("", text))


def _lasts(text: str) -> bool:
    return stands_alone(text) and not (_DOUBTED.search(text) or _PASSING.search(text) or _SLIP.search(text))
