"""From the text of one event to the passages that are indexed: what recall injected cut out, secrets masked, ends kept.

Spans refer to the event's own text, so that a pointer re-reads the exact words. Pure: same text, same passages.
"""

import hashlib
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from unicodedata import normalize

from indexer import chunker
from indexer.own_output import lines_of_views
from indexer.rows import KEY_BYTES
from indexer.settings import IndexSettings
from transcript import secrets
from transcript.injected import block_spans

_SURROGATE = re.compile("[\ud800-\udfff]")
_TRAILING = re.compile(r"[ \t\f\v\u00a0]+(?=\n|\Z)")
_SECRET_MARGIN = 24_000  # a private key that begins before the kept tail is found from its first line


@dataclass(frozen=True, slots=True)
class Cut:
    """A passage of an event: its span in the event's text, and what of it is stored."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Cutter:
    """Cuts texts as one index wants it. count is the embedder's own tokenizer, key the workspace's."""

    settings: IndexSettings
    max_tokens: int
    count: Callable[[str], int]
    key: bytes

    def cuts(self, text: str, *, tool: bool = False) -> list[Cut]:
        """Return the passages of text in order; those of blanks alone are left out.

        A tool's input or result keeps its head and its tail; everything else is kept whole, runs without any blank
        and own injections excepted.
        """
        text = _SURROGATE.sub("\ufffd", text)
        spans = _without(sorted(block_spans(text) + (lines_of_views(text) if tool else [])), len(text))
        if tool:
            ends = chunker.keep_ends(len(text), self.settings.tool_head_chars, self.settings.tool_tail_chars)
        else:
            ends = chunker.without_unbroken_runs(text, self.settings.unbroken_run_chars)
        found = _secrets(text, ends) if tool else secrets.find(text)
        cuts: list[Cut] = []
        for start, end in _both(spans, ends):
            cuts.extend(self._region(text, start, end, found))
        return cuts

    def head(self, text: str) -> str:
        """Return the first characters of a prompt on one line, masked, for the heading of its answers."""
        size = self.settings.prompt_head_chars
        window = _SURROGATE.sub("\ufffd", text[: size * 4 + 2000])
        spans = _without(block_spans(window), len(window))
        found = secrets.find(window)
        kept = " ".join("".join(_masked(window, start, end, found, self.key)[0] for start, end in spans).split())
        if len(kept) <= size:
            return kept
        cut = kept[:size].rsplit(" ", 1)[0] if " " in kept[:size] else kept[:size]
        opened = cut.rfind("[secret:")
        if opened >= 0 and "]" not in cut[opened:]:
            cut = cut[:opened]
        return cut.rstrip() + "…"

    def _region(self, text: str, start: int, end: int, found: list[secrets.Secret]) -> list[Cut]:
        masked, moved = _masked(text, start, end, found, self.key)
        cuts = []
        for passage in chunker.split(
            masked, target_chars=self.settings.chunk_chars, max_tokens=self.max_tokens, count=self.count
        ):
            if passage.text.strip():
                cuts.append(Cut(_origin(moved, passage.start), _origin(moved, passage.end, last=True), passage.text))
        return [cut for cut in cuts if cut.end > cut.start]


def event_text(event_type: str, body: Mapping[str, Any]) -> str:
    """Return the text that pointers into an event count in; of a tool call its name and the values of its input.

    body has its blobs opened (`Log.body`).
    """
    if event_type != "tool_call":
        text = body.get("text", "")
        return text if isinstance(text, str) else ""
    lines = [str(body.get("tool", ""))]
    _lines(body.get("input"), "", lines)
    return "\n".join(lines)


def normalised(text: str) -> str:
    """Return text as the key sees it: NFC, line ends alike, trailing blanks gone; nothing else is folded."""
    return _TRAILING.sub("", normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))).rstrip("\n")


def chunk_key(source_class: str, role: str, text: str) -> bytes:
    """Return the key of a chunk: equal for equal class, role and normalised text."""
    whole = f"{source_class}\x1f{role}\x1f{normalised(text)}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(whole).digest()[:KEY_BYTES]


def _lines(value: Any, name: str, lines: list[str]) -> None:
    if isinstance(value, Mapping):
        for key in sorted(value):
            _lines(value[key], f"{name}.{key}" if name else str(key), lines)
    elif isinstance(value, list) and any(isinstance(item, Mapping | list) for item in value):
        for item in value:
            _lines(item, name, lines)
    elif value is not None:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines.append(f"{name}: {text}")


def _without(holes: list[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    spans = []
    done = 0
    for start, end in holes:
        spans.append((done, start))
        done = max(done, end)
    spans.append((done, length))
    return [span for span in spans if span[0] < span[1]]


def _both(first: list[tuple[int, int]], second: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the parts that lie in a span of both lists, in order."""
    parts = [(max(a, c), min(b, d)) for a, b in first for c, d in second if max(a, c) < min(b, d)]
    return sorted(parts)


def _secrets(text: str, ends: list[tuple[int, int]]) -> list[secrets.Secret]:
    """Return the credentials that touch the kept ends; the middle of a long output is not read."""
    found: list[secrets.Secret] = []
    for start, end in ends:
        low, high = max(0, start - _SECRET_MARGIN), min(len(text), end + _SECRET_MARGIN)
        for secret in secrets.find(text[low:high]):
            moved = secrets.Secret(secret.start + low, secret.end + low, secret.kind)
            if moved.end > start and moved.start < end and (not found or found[-1].end <= moved.start):
                found.append(moved)
    return found


def _masked(
    text: str, start: int, end: int, found: list[secrets.Secret], key: bytes
) -> tuple[str, list[tuple[int, int, int, int]]]:
    """Return [start, end) of text with its secrets masked, and the map back.

    The map lists (at in the result, length there, at in the text, length there), without gaps.
    """
    pieces: list[str] = []
    moved: list[tuple[int, int, int, int]] = []

    def add(piece: str, source: int, length: int) -> None:
        if piece:
            at = moved[-1][0] + moved[-1][1] if moved else 0
            moved.append((at, len(piece), source, length))
            pieces.append(piece)

    done = start
    for secret in found:
        low, high = max(secret.start, start), min(secret.end, end)
        if low < high:
            add(text[done:low], done, low - done)
            add(secrets.mark(text[secret.start : secret.end], secret.kind, key), low, high - low)
            done = high
    add(text[done:end], done, end - done)
    return "".join(pieces), moved


def _origin(moved: list[tuple[int, int, int, int]], position: int, *, last: bool = False) -> int:
    """Return where a position of the masked text lies in the text; inside a mark its start, or its end for last."""
    index = max(0, bisect_right(moved, position, key=lambda piece: piece[0]) - 1)
    if last and index and moved[index][0] == position:
        index -= 1
    at, length, source, source_length = moved[index]
    if length == source_length:
        return source + position - at
    return source if position == at else source + source_length if last or position >= at + length else source
