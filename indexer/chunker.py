"""Cuts text into passages along its structure. The spans are contiguous and rebuild the text exactly."""

import re
from collections.abc import Callable
from dataclasses import dataclass

Span = tuple[int, int]
# From the strongest seam to the weakest; each match belongs to the piece before it.
_SEAMS = (
    re.compile(r"\n(?:[ \t\r]*\n)+"),
    re.compile(r"\n"),
    re.compile(r"[.!?;:…][\"')\]*_`]*[ \t]+|[。！？；][」』）\"']*"),
    re.compile(r"[ \t\r\f\v\u00a0\u2028\u2029\u3000]+|[，、]"),
    re.compile(r"[/\\,;&=|._\-]+(?=.)"),
)
_HEADING = re.compile(r"[ \t]*(?:#{1,6}[ \t]|\*\*[^*\n]+\*\*:?[ \t]*$)", re.MULTILINE)
_UNBROKEN = re.compile(r"[!-~]{2000,}")
_TAIL_JOINS = 0.2  # a last passage shorter than this share of the target goes to the one before


@dataclass(frozen=True, slots=True)
class Passage:
    """A half-open span of a text, and the text it holds."""

    start: int
    end: int
    text: str


def split(text: str, *, target_chars: int = 400, max_tokens: int, count: Callable[[str], int]) -> list[Passage]:
    """Return passages of about target_chars, none with more than max_tokens by count; joined they are the text.

    Empty text gives none. Where no seam is left a passage is cut hard, never inside a surrogate pair or an accent's
    combining mark when it can be helped.
    """
    spans: list[Span] = []
    for start, end in _pack(text, 0, len(text), target_chars, 0):
        spans.extend(_within_limit(text, start, end, target_chars, max_tokens, count))
    return [Passage(start, end, text[start:end]) for start, end in spans]


def keep_ends(length: int, head: int, tail: int) -> list[Span]:
    """Return the spans that stay of a long output: its head and its tail, or all of it when it is short."""
    if length <= head + tail:
        return [(0, length)] if length else []
    return [(0, head), (length - tail, length)]


def without_unbroken_runs(text: str, keep: int) -> list[Span]:
    """Return the spans of text without the middle of runs of 2,000 and more characters that no blank breaks.

    keep characters of each run stay at both ends: a minified file or an encoded image must not become hundreds of
    chunks that say nothing.
    """
    spans: list[Span] = []
    done = 0
    for run in _UNBROKEN.finditer(text):
        if run.end() - run.start() > 2 * keep:
            spans.append((done, run.start() + keep))
            done = run.end() - keep
    spans.append((done, len(text)))
    return [span for span in spans if span[0] < span[1]]


def _pack(text: str, start: int, end: int, target: int, level: int) -> list[Span]:
    """Return spans of at most target characters over [start, end), cut at the strongest seams that allow it."""
    if end - start <= target:
        return [(start, end)] if end > start else []
    if level == len(_SEAMS):
        return _cut_hard(text, start, end, target)
    pieces: list[Span] = []
    done = start
    for seam in _SEAMS[level].finditer(text, start, end):
        pieces.append((done, seam.end()))
        done = seam.end()
    if done < end:
        pieces.append((done, end))
    if len(pieces) == 1:
        return _pack(text, start, end, target, level + 1)
    packed: list[Span] = []
    for piece in pieces:
        for part in _pack(text, *piece, target, level + 1):
            _append(packed, part, text, target)
    if len(packed) > 1 and packed[-1][1] - packed[-1][0] < target * _TAIL_JOINS:
        last = packed.pop()
        packed[-1] = (packed[-1][0], last[1])
    return packed


def _append(packed: list[Span], part: Span, text: str, target: int) -> None:
    """Add part to the last span while it fits; a heading begins a span of its own rather than ending one."""
    if packed and part[1] - packed[-1][0] <= target:
        full = packed[-1][1] - packed[-1][0] > target / 2
        if not (full and _HEADING.match(text, part[0], part[1])):
            packed[-1] = (packed[-1][0], part[1])
            return
    elif packed and packed[-1][1] - packed[-1][0] <= target * _TAIL_JOINS and _HEADING.match(text, *packed[-1]):
        packed[-1] = (packed[-1][0], part[1])  # a heading is worth nothing without what it heads
        return
    packed.append(part)


def _cut_hard(text: str, start: int, end: int, size: int) -> list[Span]:
    spans = []
    while end - start > size:
        at = start + size
        while at > start + size // 2 and (0x0300 <= ord(text[at]) <= 0x036F or 0xDC00 <= ord(text[at]) <= 0xDFFF):
            at -= 1
        spans.append((start, at))
        start = at
    spans.append((start, end))
    return spans


def _within_limit(
    text: str, start: int, end: int, target: int, max_tokens: int, count: Callable[[str], int]
) -> list[Span]:
    """Return [start, end) cut smaller until each part has at most max_tokens."""
    if end - start <= 1 or end - start <= (max_tokens - 2) // 4 or count(text[start:end]) <= max_tokens:
        return [(start, end)]
    half = max(1, min(target, end - start) // 2)
    out: list[Span] = []
    for part in _pack(text, start, end, half, 0):
        out.extend(_within_limit(text, *part, half, max_tokens, count))
    return out
