"""The words that a candidate rests on, as verification reads them."""

from collections.abc import Iterable
from itertools import islice

from consolidation.claims import claims
from consolidation.span import marked, words
from indexer.passages import event_text
from transcript.adapters.rejections import said_in_rejection
from transcript.errors import PointerError
from transcript.event import Event
from transcript.injected import block_spans
from transcript.log import Log
from transcript.memories import Span

MARGIN = 4000  # characters around a span in which its sentences begin and end
CALLS_BACK = 100  # of other calls between one and its result: sub-agents may be at work beside it
AGENT, PERSON, OTHERS = 1, 2, 0  # authority: a sub-agent's or peer's word stands below the agent's own


def around(log: Log, span: Span, key: bytes) -> str:
    """Return the whole sentences that a span touches, masked, own injections cut.

    A span may begin behind the word that turns its sentence: what it is held against is the sentence. What a person
    said in rejecting a call is held against their words alone.
    """
    event = log.get(span.event)
    whole = event_text(event.type, log.body(event))
    first, last = rejection(log, event) or (0, len(whole))
    low, high = max(first, span.start - MARGIN), min(last, span.end + MARGIN)
    text = whole[low:high]
    start, end = span.start - low, span.end - low
    near = [claim for claim in claims(text) if claim.start < end and claim.end > start]
    start, end = min([start, *(c.start for c in near)]), max([end, *(c.end for c in near)])
    start, end = low + start, low + end
    parts, done = [], start
    for begin, stop in block_spans(whole):
        if begin < end and stop > start:
            parts.append((done, max(done, begin)))
            done = max(done, stop)
    return "\n".join(marked(event.id, whole, a, b, key)[1] for a, b in [*parts, (done, end)] if a < b)


def read(log: Log, spans: Iterable[Span], key: bytes) -> list[tuple[str, str]]:
    """Return (pointer, masked words) of each span that can be read: what a reviewer is shown."""
    found = []
    for span in spans:
        try:
            found.append((span.pointer, words(log, span, key)))
        except PointerError:
            continue
    return found


def authority(log: Log, spans: Iterable[Span]) -> int:
    """Return whose word stands at some places: the highest of PERSON, AGENT and OTHERS (a sub-agent, a peer)."""
    best = OTHERS
    for span in spans:
        try:
            event = log.get(span.event)
        except PointerError:
            continue
        body = event.body
        if event.origin == "external" or body.get("worker") or body.get("kind") == "worker_prompt":
            continue
        start, end = rejection(log, event) or (0, 0)
        typed = event.actor in ("user", "human") or start <= span.start < span.end <= end
        best = max(best, PERSON if typed else AGENT)
    return best


def rejection(log: Log, event: Event) -> tuple[int, int] | None:
    """Return where in the result of a call a person says why they rejected it, None where nobody does."""
    if event.type != "tool_result" or not event.body.get("is_error"):
        return None
    body = log.body(event)
    calls = islice(log.read_back(event.position, only="tool_call"), CALLS_BACK)
    call = next((one for one in calls if one.body.get("call_id") == body.get("call_id")), None)
    tool = str(call.body.get("tool", "")) if call is not None else ""
    return said_in_rejection(event.agent, tool, event_text(event.type, body))
