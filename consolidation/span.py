"""From a place in the record to its words, secrets masked, and back to a place that notices when they change."""

from indexer.passages import event_text
from transcript import secrets
from transcript.canonical import sha256_hex, utf8
from transcript.errors import PointerError, SpanChanged
from transcript.log import Log
from transcript.memories import Span
from transcript.telling import quoted

HASH_DIGITS = 16


def span_of(log: Log, name: str, start: int | None = None, end: int | None = None, *, key: bytes) -> Span:
    """Return the place that a source pointer, or an event's id with start and end, names; all of the event without.

    PointerError when it opens nothing, is erased, or reaches beyond the text.
    """
    where, mark, places = name.strip().strip("[]()<>`'\".,;").partition("#")
    if mark and start is None:
        first, dash, last = places.partition("-")
        if not (first.isdecimal() and dash and last.isdecimal()):
            raise PointerError(f"{quoted(name)} is no source pointer; one looks like abcdefghij#0-120")
        start, end = int(first), int(last)
    event, text = _text(log, where)
    start, end = start or 0, len(text) if end is None else end
    if not start < end <= len(text):
        raise PointerError(f"{event[:10]}#{start}-{end}: the event has {len(text):,} characters; name a span of them")
    return marked(event, text, start, end, key)[0]


def words(log: Log, span: Span, key: bytes) -> str:
    """Return the words of a span, masked; PointerError when they are erased, SpanChanged when they are others now."""
    event, text = _text(log, span.event)
    if not 0 <= span.start < span.end <= len(text):
        raise PointerError(f"{span.pointer}: the event has {len(text):,} characters; name a span of them")
    found, said = marked(event, text, span.start, span.end, key)
    if span.sha256 and found.sha256 != span.sha256:
        raise SpanChanged(f"{span.pointer} holds other words than when it was taken; see 'recall show {span.pointer}'")
    return said


def marked(event: str, text: str, start: int, end: int, key: bytes) -> tuple[Span, str]:
    """Return the place [start, end) of an event's text with its hash, and its words masked.

    Credentials are looked for in the whole text, so that a span that cuts one does not show the rest of it.
    """
    pieces, done = [], start
    for secret in secrets.find(text):
        if secret.start < end and secret.end > start:
            mark = secrets.mark(text[secret.start : secret.end], secret.kind, key)
            pieces += [text[done : max(done, secret.start)], mark]
            done = min(end, max(done, secret.end))
    said = "".join([*pieces, text[done:end]])
    return Span(event, start, end, sha256_hex(utf8(said))[:HASH_DIGITS]), said


def _text(log: Log, name: str) -> tuple[str, str]:
    """Return the whole id of an event and the text that pointers into it count in."""
    event = log.find(name)
    text = event_text(event.type, log.body(event))
    if not text:
        why = "was redacted" if not event.body else f"is a {event.type} without words"
        raise PointerError(f"{event.pointer} {why}: it can be no source")
    return event.id, text
