"""What must never be shown, whatever its score; asked when items are chosen and once more at the output.

On the hook path: standard library only.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from indexer.rows import RowFilter
from recall.audiences import PRIVATE, wide
from recall.likeness import folded
from recall.query import Query
from recall.turn import Candidate
from transcript.injected import has_block
from transcript.secrets import find


def forbidden(candidate: Candidate, query: Query, *, now: datetime, allowed: RowFilter | None, prompt: str) -> str:
    """The reason why an item is excluded, or "".

    `allowed` is the row-id set that was passed into the scans (running session, point in time, root): an item
    outside it is an error elsewhere, and stays out all the same. `prompt` is the folded prompt.
    """
    standing = candidate.standing
    if allowed is not None and candidate.chunk not in allowed:
        return "own_session"
    if query.audience != PRIVATE and (standing.private or (wide(query.audience) and not standing.cleared)):
        return "private"
    if standing.superseded and not query.history:
        return "superseded"
    at = (query.as_of or now).timestamp()
    if (standing.valid_from is not None and at < standing.valid_from) or (
        standing.valid_to is not None and at >= standing.valid_to and not query.history
    ):
        return "invalid"
    if query.as_of is not None and max(candidate.pointer.said, standing.recorded) >= at:
        return "after_as_of"
    if has_block(candidate.text):
        return "own_injection"
    if prompt and folded(candidate.text) == prompt:
        return "same_as_prompt"
    return ""


def with_secrets(candidates: Sequence[Candidate]) -> set[int]:
    """Chunk ids of the candidates that still hold an unmasked credential, in their text or their heading."""
    whole = "\n\n".join(text for c in candidates for text in (c.text, c.head) if text)
    if not find(whole):
        return set()
    return {c.chunk for c in candidates if holds_secret(c.text) or holds_secret(c.head)}


def holds_secret(text: str) -> bool:
    """Whether a text still holds an unmasked credential."""
    return bool(text) and bool(find(text))


def withheld(candidate: Candidate) -> Candidate:
    """The candidate without its words, for lists that say that something was excluded and why."""
    return replace(candidate, text="", head="", matched=frozenset())
