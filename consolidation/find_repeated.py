"""Finds what a person says again: a sentence they call a reminder, or typed in an earlier session to the letter.

Most sentences that recur were pasted: output, reviews, logs. A paste has many sentences, so a short message is asked
for. What is said for the first time is nobody's repetition; the place that repeats is the source, once a session.
"""

import re
from collections.abc import Iterator, Sequence

from consolidation.align import words_of
from consolidation.find_wishes import stands
from consolidation.finding import HEDGE, Places, Sentence, made, part_of, spoken
from consolidation.model import Candidate, SessionView, Step, folded
from transcript.memories import MemoryState, Span

MOST_SENTENCES, MOST_CHARS = 3, 300
LEAST_WORDS, LEAST_SAID = 5, 3
_LABEL = re.compile(
    r"(?:(?:a |kind(?:ly)? |last |final )*reminder|remember|as (?:i )?said(?: before)?|again|(?:zur )?erinnerung|"
    r"wie gesagt|rappel|je rappelle|recordatorio|recuerda)"
    r"(?:,? (?:number|no\.?|nr\.?|nummer|numéro|número|#) ?\d*| ?#?\d+)?\s*[:.,–-]\s*",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"^(?:why|what|how|where|which|who|when|can|could|would|should|do|does|did|is|are|let'?s|please|ok|okay|"
    r"yes|yeah|yep|no|now|then)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_][\w'’./-]{2,}")
_EMPTY = words_of(
    "the and but that this with for can you please will has have are was were into from your our its all any"
)


def find(view: SessionView, state: MemoryState, key: bytes, places: Places) -> list[Candidate]:
    """Return the sentences that a session's people say again, each at its first place there, in order."""
    first: dict[str, tuple[Step, Sentence]] = {}
    again: dict[str, Step] = {}
    for step, sentence, labelled in _said(view):
        name = folded(sentence.text)
        if name not in first:
            first[name] = (step, sentence)
        elif labelled and step is not first[name][0]:
            again.setdefault(name, step)
    here = {step.event for step, _ in first.values()}
    found = []
    for name, (step, sentence) in first.items():
        before = [] if name in again else _before(places(sentence.text), here)
        if name in again or before:
            closed = before[:1] or [part_of(again[name], MOST_CHARS, key)]
            found.append(
                made(
                    view,
                    step,
                    sentence,
                    key,
                    found_by="repeated",
                    memory_type="project_fact",
                    why="a person says it again and again",
                    closed_by=tuple(closed),
                )
            )
    return found


def bare(sentence: Sentence) -> Sentence:
    """Return a sentence without the label that calls it a reminder."""
    label = _LABEL.match(sentence.text)
    if label is None or label.end() == len(sentence.text):
        return sentence
    return Sentence(sentence.start + label.end(), sentence.end, sentence.text[label.end() :])


def _said(view: SessionView) -> Iterator[tuple[Step, Sentence, bool]]:
    """Yield what people state in short messages, without its label, and whether it had one."""
    for step in view.steps:
        if not step.is_typed:
            continue
        sentences = list(spoken(step.text))
        for sentence in sentences if len(sentences) <= MOST_SENTENCES else ():
            plain = bare(sentence)
            if _states(plain.text) and not stands(plain.text):  # a standing wish is found as one
                yield step, plain, plain is not sentence


def _states(text: str) -> bool:
    words = text.split()
    if len(text) > MOST_CHARS or len(words) < LEAST_WORDS or text.endswith(("?", ":")):
        return False
    if _ASKS.match(text) or HEDGE.search(text):
        return False
    return sum(word.lower() not in _EMPTY for word in _WORD.findall(text)) >= LEAST_SAID


def _before(spans: Sequence[Span], here: set[str]) -> list[Span]:
    """Return the places of other sessions, where the oldest of all is one of them: this one then says it again."""
    return [span for span in spans if span.event not in here] if spans and spans[0].event not in here else []
