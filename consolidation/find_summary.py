"""Makes the extract of a session: what was decided and what was said at the end, and of what was asked for first, why.

Nothing is retold: all of it is quoted with its place. It tells the agent that comes later that there was such a
session, and where. A session in which nothing was written or decided leaves none.
"""

import re
from collections.abc import Iterator

from consolidation.find_causes import path_of
from consolidation.finding import Places, Sentence, prose, spoken
from consolidation.model import Candidate, SessionView, Step
from consolidation.span import marked
from consolidation.subject import subject
from transcript.curation import DECISION_KINDS
from transcript.memories import MemoryState
from transcript.projections.fold import is_write
from transcript.telling import counted

LEAST_EXCHANGES, LEAST_WORDS = 3, 4
LEAST_CHARS, MOST_CHARS = 120, 300
MOST_DECISIONS, MOST_FILES = 3, 5
_AHEAD = re.compile(r"\b(?:let me|let's|i'll|now i)\b", re.IGNORECASE)


def find(view: SessionView, state: MemoryState, key: bytes, places: Places) -> list[Candidate]:
    """Return the extract of a session with at least LEAST_EXCHANGES exchanges, or nothing."""
    steps = [step for step in view.steps if not step.worker]
    prompts = [step for step in steps if step.kind == "prompt"]
    if len(prompts) < LEAST_EXCHANGES:
        return []
    decided, files = list(_decided(steps)), _files(steps)
    if not decided and not files:
        return []
    quoted = [marked(step.event, step.text, one.start, one.end, key) for step, one in (*decided, *_answered(steps))]
    if not quoted:
        return []
    asked = [marked(step.event, step.text, one.start, one.end, key) for step, one in _asked(prompts)]
    text = "\n\n".join(said for _, said in quoted)
    return [
        Candidate(
            found_by="summary",
            memory_type="checkpoint",
            kind="summary",
            text=text,
            why=_why(asked[0][1] if asked else "", len(prompts), files),
            sources=tuple(span for span, _ in (*quoted, *asked)),
            said_at=steps[-1].ts,
            subject=subject(text),
            projects=(view.project,) if view.project else (),
            roles=(view.role,) if view.role else (),
            covers=(view.session, view.steps[0].seq, view.steps[-1].seq),
        )
    ]


def _asked(prompts: list[Step]) -> Iterator[tuple[Step, Sentence]]:
    """Yield the first whole sentence that a person typed."""
    for step in prompts:
        for sentence in spoken(step.text):
            words = len(sentence.text.split())
            if words >= LEAST_WORDS and len(sentence.text) <= MOST_CHARS and not sentence.text.endswith(":"):
                yield step, sentence
                return


def _decided(steps: list[Step]) -> Iterator[tuple[Step, Sentence]]:
    """Yield the last decisions that were recorded."""
    found = []
    for step in steps:
        body = step.body or {}
        said = str(body.get("statement", ""))
        if step.kind == "curated" and body.get("kind") in DECISION_KINDS and body.get("origin") != "external":
            at = step.text.find(said)
            if said and at >= 0:
                found.append((step, Sentence(at, at + len(said), said)))
    yield from found[-MOST_DECISIONS:]


def _answered(steps: list[Step]) -> Iterator[tuple[Step, Sentence]]:
    """Yield the beginning of the last answer that tells something: its first whole sentences within MOST_CHARS."""
    for step in reversed(steps):
        said = list(prose(step.text)) if step.final else []
        fitting = [one for one in said if one.end - said[0].start <= MOST_CHARS]
        while fitting and fitting[-1].text.rstrip("*_").endswith(("?", ":")):  # "shall I commit it?" tells nothing
            fitting.pop()
        head = step.text[fitting[0].start : fitting[-1].end] if fitting else ""
        if len(head) >= LEAST_CHARS and not _AHEAD.search(head):
            yield step, Sentence(fitting[0].start, fitting[-1].end, head)
            return


def _files(steps: list[Step]) -> list[str]:
    """Return the names of the files that were written, each once."""
    names = (path_of(step) for step in steps if step.kind == "call" and is_write(step.tool))
    return list(dict.fromkeys(filter(None, names)))


def _why(asked: str, exchanges: int, files: list[str]) -> str:
    more = f" and {len(files) - MOST_FILES:,} more" if len(files) > MOST_FILES else ""
    named = f"; wrote {', '.join(files[:MOST_FILES])}{more}" if files else ""
    first = f'asked first: "{asked}"; ' if asked else ""
    return f"{first}extract of a session of {counted(exchanges, 'exchange')}{named}"
