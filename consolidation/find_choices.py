"""Finds what a person settled in passing: a choice with its object, a reason, that something is so on purpose.

An agent's "we decided …" counts only in its first reply to a person's message: there it repeats what was settled.
"""

import re

from consolidation.align import words_of
from consolidation.alone import stands_alone
from consolidation.find_wishes import asked, stands
from consolidation.finding import HEDGE, Places, Sentence, made, spoken
from consolidation.model import Candidate, SessionView, Step
from transcript.memories import MemoryState

MOST_PROMPT, MOST, LEAST_WORDS = 1200, 300, 5
_SETTLES = re.compile(
    r"\b(?:let'?s (?:go|stick|stay) (?:with|for)|(?:going|go) with|"
    r"we (?:explicitly |always |only |deliberately )*(?:use|chose|picked|removed|kept|keep|dropped|want|decided on|"
    r"decided to|agreed on|agreed to)\b.*\b(?:because|since|so that|to not|to avoid|in order to)|"
    r"that'?s why we|we (?:really |explicitly )?(?:don'?t|do not|never) want (?:to|the|any|users?)|"
    r"in this (?:repo\w*|project|codebase),? we|"
    r"the (?:\w+ )?(?:directive|principle|rule) is|"
    r"by design|on purpose|deliberately|intentionally|absichtlich|mit absicht|exprès|a propósito)\b",
    re.IGNORECASE,
)
_AGREED = re.compile(r"\b(?:we|you) (?:agreed|decided|settled|chose)\b(?: (?:on|to|that|against))?", re.IGNORECASE)
_ASKS = re.compile(
    r"^(?:\w+ )?(?:why|what|how|where|which)\b|"
    r"\b(?:can|could|would|should|do|does|did|is|are) (?:you|we|i|it|this|that|there)\b|"
    r"\b(?:now|for now|first(?! time)|straight away|this time|today|temporarily|option|fix|step|phase|pr|branch|"
    r"commit)\b|"
    r"#\d|\b[a-d]\b$|^(?:yeah|yes|yep|ok|okay)\b",
    re.IGNORECASE,
)
_REASONED = re.compile(
    r"\bthat'?s why we\b|\bwe (?:\w+ )*use\b.*\b(?:to not|because|so that)\b|"
    r"\bin this (?:repo\w*|project|codebase),? we\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_][\w'’./-]{2,}")
_EMPTY = words_of(
    "the and but that this with for let's lets yeah yes okay cool then have has will want they them those these here "
    "there one ones all some any use using used keep because since from into your our its it's not don't"
)


def find(view: SessionView, state: MemoryState, key: bytes, places: Places) -> list[Candidate]:
    """Return what a session's people settled, in order."""
    found = []
    before = prompt = None
    for step in view.steps:
        if step.worker or not (step.is_typed or step.kind == "reply"):
            continue
        if step.is_typed:
            before, prompt = prompt or before, step
            typed = spoken(step.text) if len(step.text) <= MOST_PROMPT else ()
            settled = [one for one in typed if _settles(one.text) and not stands(one.text)]
            found += [_made(view, step, one, before, key) for one in settled]
        elif prompt is not None:
            agreed = [one for one in spoken(step.text) if _agrees(one.text)]
            found += [_made(view, step, one, prompt, key) for one in agreed[:1]]
            prompt, before = None, prompt
    return found


def _made(view: SessionView, step: Step, sentence: Sentence, before: Step | None, key: bytes) -> Candidate:
    when = asked(before, key)
    why = when.why if when.text else "a person settled it"
    return made(
        view, step, sentence, key, found_by="choice", memory_type="design_decision", why=why, sources=when.sources
    )


def _settles(text: str) -> bool:
    plain = text.replace("’", "'")
    if len(plain) > MOST or plain.endswith(("?", ":")) or not _SETTLES.search(plain):
        return False
    if not stands_alone(plain) or (_ASKS.search(plain) and not _REASONED.search(plain)):
        return False
    return not HEDGE.search(re.sub(r"\blet'?s\b", "", plain, flags=re.IGNORECASE)) and _says_what(plain)


def _agrees(text: str) -> bool:
    plain = text.replace("’", "'")
    if len(plain) > MOST or plain.endswith(("?", ":")) or not _AGREED.search(plain) or _ASKS.search(plain):
        return False
    return not HEDGE.search(plain) and _says_what(plain)


def _says_what(text: str) -> bool:
    words = [word.lower() for word in _WORD.findall(text)]
    return len(text.split()) >= LEAST_WORDS and sum(word not in _EMPTY for word in words) >= 3
