"""Finds standing wishes: what a person lays down for good, as they typed it.

Why it was said is what they had asked for before: the rule then shares words with the case that it came from.
"""

import re
from dataclasses import dataclass

from consolidation.align import words_of
from consolidation.finding import HEAD_CHARS, POINTING, Places, Sentence, head_of, made, spoken
from consolidation.model import Candidate, SessionView, Step
from consolidation.span import marked
from indexer.wishes import MOST_CHARS, is_wish
from transcript import secrets
from transcript.memories import MemoryState, Span

MOST_WORDS, LEAST_WORDS = 40, 3
_LASTING = re.compile(
    r"\b(?:always|wherever|never|from now on|going forward|in (?:the )?future|as a rule|every time|each time|whenever|"
    r"prefer|immer|nie|niemals|ab (?:jetzt|sofort)|in zukunft|künftig|toujours|jamais|"
    r"désormais|siempre|nunca|a partir de ahora)\b",
    re.IGNORECASE,
)
_RULE = re.compile(  # laid down for a case, or for all that it fits
    r"^(?:if|when|whenever|once) [^,]{5,90}, (?:please )?(?:always|never|don'?t|do not)\b|"
    r"\bwherever (?:we|you|it|possible)\b",
    re.IGNORECASE,
)
_WRITTEN = re.compile(  # asked for as a sentence of the project's own documents: it can be read there
    r"\b(?:update|extend|amend|add to|put in|note in|write in) \S+\.(?:md|rst|txt|adoc),? (?:so )?(?:that|to say)\b",
    re.IGNORECASE,
)
_MOMENTARY = re.compile(
    r"\b(?:yet|just|for now|now|at the moment|this time|today|currently|first|until|still|next|here|again|already|"
    r"later|anymore|let'?s|let me|i'?ll|i will|i'?m|i am|can you|could you|would you|do you|should (?:we|i|it)|"
    r"make sure|be sure|remember to|noch nicht|erstmal|vorerst|jetzt|gerade|"
    r"pour l'instant|por ahora)\b|^(?:no|nope|wrong|nein|non)\b",
    re.IGNORECASE,
)
_DOUBTED = re.compile(r"\b(?:i (?:think|guess|suppose|wonder)|maybe|perhaps|probably|not sure)\b", re.IGNORECASE)
_REPORTED = re.compile(
    r"\bi (?:said|told you|asked)\b|\b(?:i|we|you) (?:always|never) (?:had|got|saw|see|get|thought|knew|said|did)\b|"
    r"^(?:like|and then|so then|no, (?:then|it'?s|that|there))\b",
    re.IGNORECASE,
)
_POINTING = re.compile(
    r"\b(?:this|that|it|its|it's|these|those|them|they|he|she|above|below|one|ones|things?|stuff|anything|something)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_NO_OBJECT = words_of(
    "please don't dont do not no never always stop avoid make sure to be use only the a an and but so ok okay also you "
    "we i i'd should must want need have prefer keep add change remove run fix is are in on of for with there any all "
    "my your our if can will just remember mind let go and would like everything every time"
)
_NAME = r"[`\"']?([A-Za-z@][\w@./+-]*)[`\"']?"
_MISTAKES = (
    (
        re.compile(rf"\bnever (?:use |run |call )?{_NAME}[^.;]{{0,40}}?[,;:]? (?:but |always )?use {_NAME}", re.I),
        (0, 1),
    ),
    (
        re.compile(
            rf"\b(?:use|using|run) {_NAME},? (?:never|not|instead of|rather than) (?:use |using )?{_NAME}", re.I
        ),
        (1, 0),
    ),
    (
        re.compile(rf"\b(?:don'?t|do not) (?:use|run) {_NAME}[^.;]{{0,40}}?[,;:.] ?(?:but |always )?use {_NAME}", re.I),
        (0, 1),
    ),
    (re.compile(rf"^{_NAME},? not {_NAME}\W*$", re.I), (1, 0)),
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for when something was said: its head, masked, and where it stands."""

    text: str = ""
    sources: tuple[Span, ...] = ()

    @property
    def why(self) -> str:
        """The reason that a rule of that moment is given."""
        return f'said when asked: "{self.text}"' if self.text else "a person asked for it"


def find(view: SessionView, state: MemoryState, key: bytes, places: Places) -> list[Candidate]:
    """Return the standing wishes that a session's people typed, in order."""
    found = []
    before: Step | None = None
    for step in view.steps:
        if not step.is_typed:
            continue
        if len(step.text) <= MOST_CHARS:
            for sentence in spoken(step.text):
                if stands(sentence.text):
                    when = asked(before, key)
                    wish = made(
                        view,
                        step,
                        sentence,
                        key,
                        found_by="wish",
                        memory_type="user_preference",
                        why=when.why,
                        sources=when.sources,
                        mistake=mistake_in(secrets.mask(sentence.text, key)[0]),
                    )
                    found.append(wish)
        before = step if step.kind == "prompt" else before
    return found


def stands(sentence: str) -> bool:
    """Say whether a sentence lays something down for good, and says of what."""
    text = sentence.strip(" *").replace("’", "'")
    words = [word.lower() for word in _WORD.findall(text)]
    if not LEAST_WORDS <= len(words) <= MOST_WORDS or text.endswith(("?", ":")):
        return False
    if not (is_wish(text) or _RULE.search(text)) or _WRITTEN.search(text):
        return False
    lasting = _LASTING.search(text)
    passing = _MOMENTARY.search(text) or _POINTING.search(text)
    if POINTING.search(text) or _DOUBTED.search(text) or _REPORTED.search(text) or (passing and not lasting):
        return False
    named = [word for word in words if word not in _NO_OBJECT and not _POINTING.fullmatch(word)]
    return len(named) >= (1 if lasting else 2)


def mistake_in(sentence: str) -> tuple[str, str] | None:
    """Return what a wish says to avoid and what to do instead, None where it does not name both."""
    for pattern, (avoid, instead) in _MISTAKES:
        match = pattern.search(sentence.replace("’", "'"))
        if match and match[1].lower() != match[2].lower():
            pair = (match[avoid + 1].rstrip(".,"), match[instead + 1].rstrip(".,"))
            return pair if all(len(one) > 1 for one in pair) else None
    return None


def asked(before: Step | None, key: bytes) -> Asked:
    """Return what the prompt before asked for, nothing where there was none."""
    head: Sentence | None = head_of(before.text) if before is not None else None
    if before is None or head is None or len(head.text) > HEAD_CHARS:
        return Asked()
    span, text = marked(before.event, before.text, head.start, head.end, key)
    return Asked(text, (span,))
