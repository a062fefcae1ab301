"""What all finders share: sentences of a text that somebody said, and a candidate that quotes one."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from consolidation.claims import claims
from consolidation.model import Candidate, SessionView, Step
from consolidation.span import marked
from consolidation.subject import subject
from recall.cite import sentences
from transcript import secrets
from transcript.injected import block_spans
from transcript.memories import Span

Places = Callable[[str], Sequence[Span]]  # where a sentence stands word for word elsewhere
HEDGE = re.compile(
    r"\b(?:thinks?|thought|likely|probably|might|maybe|may be|could|perhaps|seems?|appears?|let me|let's|wonder|suspect"
    r"|arguably|unclear|i'll|we'll|should|would|possibly|presumably|i guess|not sure|unsure|if)\b",
    re.IGNORECASE,
)
IDENTIFIER = re.compile(
    r"`[^`\n]{3,}`|\b[a-z]+[A-Z]\w+|\b[A-Z]\w+[a-z][A-Z]\w*|\w+_\w+|\w+\(\)|[\w/-]+\.(?:go|tsx?|jsx?|py|rs|java|rb|sh|sql"
    r"|c|h|cpp|json|ya?ml|toml|md|lock)\b|(?<!\w)--[a-z][\w-]+"
)
DANGLING = re.compile(
    r"(?:this|that|it|these|those|they|he|she|which|so|but|and|or|because|then|here|there|same|however|also)\b",
    re.IGNORECASE,
)
LEANING = re.compile(  # begins what goes on with the sentence before it
    r"(?:this|that|it|so|as a result|therefore|thus|hence|consequently|since|then|which|but|however|they|without)\b",
    re.IGNORECASE,
)
POINTING = re.compile(  # names what only its surroundings name
    r"\b(?:these|both (?:issues|problems|bugs|fixes|cases)|above|below|the (?:one|former|latter))\b|"
    r"^(?:\w+ )?(?:it|they) |\b(?:it|them|this|that|one)\W*$",
    re.IGNORECASE,
)
_EDGES = " \t\r\n->•#|"
_SPOKEN_END = re.compile(r"((?<=[.!?。])\s+|\n+)")
HEAD_CHARS = 120


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and where it stands in its text."""

    start: int
    end: int
    text: str


def prose(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a text; code, tables, headings and what recall injected are none."""
    blocks = block_spans(text)
    for found in sentences(text):
        for claim in claims(found.text):
            start, end = found.start + claim.start, found.start + claim.end
            if all(end <= low or high <= start for low, high in blocks):
                yield from _trimmed(text, start, end)


def spoken(text: str) -> Iterator[Sentence]:
    """Yield the sentences of what a person typed: a new line begins a new one, and so does a word in lower case."""
    for sentence in prose(text):
        at = sentence.start
        for piece in _SPOKEN_END.split(sentence.text):
            yield from _trimmed(text, at, at + len(piece))
            at += len(piece)


def _trimmed(text: str, start: int, end: int) -> Iterator[Sentence]:
    while start < end and text[start] in _EDGES:
        start += 1
    while end > start and text[end - 1] in " \t\r\n":
        end -= 1
    if end > start:
        yield Sentence(start, end, text[start:end])


def joined(text: str, following: Sequence[Sentence], most: int) -> Sentence:
    """Return the first of some sentences with those of its paragraph that go on with it, up to `most` characters."""
    whole = following[0]
    for one in following[1:]:
        apart = text[whole.end : one.start]
        stays = apart.isspace() and apart.count("\n") < 2 and LEANING.match(one.text)
        if not stays or one.end - whole.start > most or HEDGE.search(one.text) or one.text.endswith(("?", ":")):
            break
        whole = Sentence(whole.start, one.end, text[whole.start : one.end])
    return whole


def made(
    view: SessionView, step: Step, sentence: Sentence, key: bytes, *, found_by: str, memory_type: str, **more: Any
) -> Candidate:
    """Return a candidate that quotes a sentence of a step, masked; `more` sources stand behind the quoted place."""
    span, said = marked(step.event, step.text, sentence.start, sentence.end, key)
    sources = (span, *more.pop("sources", ()))
    why = secrets.mask(more.pop("why", ""), key)[0]
    return Candidate(
        found_by=found_by,
        memory_type=memory_type,
        text=said,
        sources=sources,
        said_at=step.ts,
        subject=subject(said),
        projects=(view.project,) if view.project else (),
        roles=(view.role,) if view.role else (),
        worker=step.worker,
        why=why,
        **more,
    )


def head_of(text: str) -> Sentence | None:
    """Return the first sentence of a prompt, cut to HEAD_CHARS at a blank; None where it has none."""
    first = next(spoken(text), None)
    if first is None or len(first.text) <= HEAD_CHARS:
        return first
    cut = first.text[:HEAD_CHARS].rsplit(" ", 1)[0].rstrip()
    return Sentence(first.start, first.start + len(cut), cut)


def part_of(step: Step, most: int, key: bytes) -> Span:
    """Return the place of the beginning of a step's text."""
    return marked(step.event, step.text, 0, min(most, len(step.text)), key)[0]
