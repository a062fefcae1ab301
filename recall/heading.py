"""The prompt on an item's head line: whether it is shown, and where it was said.

On the hook path: standard library only. A question and its answer are one piece of the record: an answer is shown
under the head of its prompt, and both say where they stand.
"""

from collections.abc import Sequence
from dataclasses import replace

from indexer.reader import Reader
from recall.silence import is_continuation
from recall.turn import Candidate, Ranked


def shows_head(item: Candidate) -> bool:
    """Whether an item has a head line: not a prompt itself, nor under a prompt that only says to go on."""
    if item.source == "prompt" or not item.head.strip() or is_continuation(item.head):
        return False
    return not " ".join(item.text.split()).startswith(" ".join(item.head.split()))  # a sub-agent's task is its head


def with_prompts(ranked: Sequence[Ranked], reader: Reader, head_chars: int) -> list[Ranked]:
    """Return the list with the place of its prompt on each item under a head line of at most head_chars; 0: none."""
    headed = [r.candidate.pointer.exchange for r in ranked if shows_head(r.candidate)] if head_chars else []
    said = reader.prompts(headed) if headed else {}
    return [
        replace(r, candidate=_placed(r.candidate, *said[r.candidate.pointer.exchange], head_chars))
        if r.candidate.pointer.exchange in said and shows_head(r.candidate)
        else r
        for r in ranked
    ]


def _placed(item: Candidate, event: str, start: int, end: int, ts: int, head_chars: int) -> Candidate:
    if ts > item.pointer.said:
        return item
    shown = min(end, start + min(len(item.head), head_chars))
    return replace(
        item, asked=replace(item.pointer, event=event, start=start, end=shown, said=ts, source="prompt", worker="")
    )
