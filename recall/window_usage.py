"""How full a session's window is by its harness's own count, read from the end of the session's file.

What a record holds of a session is not all that stands in its window: system prompt, tools, instruction files, images
and hidden thinking are missing, up to 130,000 tokens. The harness writes down what the model counted at each answer.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transcript.paths import open_file, read_file

BLOCK_BYTES = 256 << 10
MOST_BYTES = 32 << 20  # from the end; one picture may fill several blocks
MOST_TOKENS = 1_000_000_000  # no window is larger: such a number is damaged

Fields = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Used:
    """Tokens that stood in the window at the last answer; `window` is the model's, 0 where the file does not say."""

    tokens: int
    window: int = 0


EMPTIED = Used(0)  # a compaction, and nothing counted since


def used_tokens(path: Path, harness: str) -> Used | None:
    """Return what the harness counted at its last answer since the last compaction; None where its file says nothing.

    None as well for a file that cannot be read, and for harnesses that count nothing or elsewhere.
    """
    if harness not in _COUNTS:
        return None
    try:
        if path.suffix == ".json":
            return used_in(_messages(path), harness)
        return used_in(_lines_back(path), harness)
    except OSError:
        return None


def used_in(lines: Iterable[bytes], harness: str) -> Used | None:
    """Return the same from a file's lines, the last one first."""
    count = _COUNTS[harness]
    for line in lines:
        if not any(word in line for word in _WORDS):
            continue
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            continue
        found = count(fields) if isinstance(fields, dict) else None
        if found is EMPTIED:
            return None
        if found is not None and found.tokens > 0:
            return found
    return None


_WORDS = (b'"usage"', b'"tokens"', b"token_count", b'"usageMetadata"', b"compact", b"chat_compression")


def _claude(fields: Fields) -> Used | None:
    if fields.get("isSidechain"):
        return None  # a sub-agent has a window of its own
    if fields.get("type") == "system" and fields.get("subtype") == "compact_boundary":
        return EMPTIED
    message = _part(fields, "message")
    if fields.get("type") != "assistant" or message.get("model") == "<synthetic>":
        return None
    return _sum(
        _part(message, "usage"),
        "input_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
        "output_tokens",
    )


def _codex(fields: Fields) -> Used | None:
    payload = _part(fields, "payload")
    if fields.get("type") == "compacted" or payload.get("type") == "context_compacted":
        return EMPTIED
    if payload.get("type") != "token_count":
        return None
    info = _part(payload, "info")
    return Used(_number(_part(info, "last_token_usage"), "total_tokens"), _number(info, "model_context_window"))


def _gemini(fields: Fields) -> Used | None:
    return Used(_number(_part(fields, "tokens"), "total"))


def _qwen(fields: Fields) -> Used | None:
    if fields.get("isSidechain"):
        return None
    if fields.get("type") == "system" and fields.get("subtype") == "chat_compression":
        return EMPTIED
    return Used(_number(_part(fields, "usageMetadata"), "totalTokenCount"))


def _pi(fields: Fields) -> Used | None:
    if fields.get("type") == "compaction":
        return EMPTIED
    return _sum(_part(_part(fields, "message"), "usage"), "input", "output", "cacheRead", "cacheWrite")


_COUNTS: dict[str, Callable[[Fields], Used | None]] = {
    "claude-code": _claude,
    "codex": _codex,
    "gemini-cli": _gemini,
    "qwen-code": _qwen,
    "pi": _pi,
}


def _part(fields: Fields, name: str) -> Fields:
    value = fields.get(name)
    return value if isinstance(value, dict) else {}


def _number(fields: Fields, name: str) -> int:
    value = fields.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MOST_TOKENS else 0


def _sum(fields: Fields, *names: str) -> Used:
    return Used(sum(_number(fields, name) for name in names))


def _messages(path: Path) -> Iterator[bytes]:
    """The messages of one document, the last one first; nothing of a document that is half written or too long."""
    if path.stat().st_size > MOST_BYTES:
        return
    try:
        messages = json.loads(read_file(path))["messages"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return
    for message in reversed(messages if isinstance(messages, list) else []):
        yield json.dumps(message).encode("ascii")


def _lines_back(path: Path) -> Iterator[bytes]:
    """The lines of a file from its end; one that is not ended yet is left out."""
    with open_file(path) as file:
        at = file.seek(0, 2)
        least = max(0, at - MOST_BYTES)
        rest, ended = b"", False
        while at > least:
            start = max(least, at - BLOCK_BYTES)
            file.seek(start)
            first, *lines = (file.read(at - start) + rest).split(b"\n")
            at = start
            for line in reversed(lines):
                if ended:
                    yield line
                ended = True
            rest = first
        if at == 0 and ended:
            yield rest
