"""Reads the content blocks of Claude Code messages: texts, media, tool outputs, outputs the client spilled to files."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from transcript.adapters.values import UNTYPED, inline, text_of
from transcript.paths import read_file

MAX_SPILL_BYTES = 32 << 20
_SPILLED = re.compile(r"Full output saved to: (\S[^\r\n]*\.txt)")
_SPILL_HEAD = "<persisted-output>"


@dataclass(slots=True)
class Content:
    """What a list of blocks holds: its text, its media as (bytes, type), and the names of blocks nobody knows."""

    text: str = ""
    media: list[tuple[bytes, str]] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


def output_of(content: Any) -> Content:
    """Return what a tool result holds, whatever shape the client gave it."""
    found = Content()
    if isinstance(content, str):
        found.text = content
        return found
    if content is None:
        return found
    texts = []
    for block in content if isinstance(content, list) else [content]:
        kind = block.get("type") if isinstance(block, dict) else None
        if isinstance(block, str):
            texts.append(block)
        elif kind == "text" and isinstance(block.get("text"), str):
            texts.append(block["text"])
        elif kind in ("image", "document") and (medium := medium_of(block)) is not None:
            found.media.append(medium)
        else:
            if kind not in ("image", "document", "tool_reference"):
                found.unknown.append(f"tool_result/{kind if isinstance(kind, str) else type(block).__name__}")
            texts.append(json.dumps(block, ensure_ascii=False))
    found.text = "\n".join(texts)
    return found


def joined(content: Any) -> str:
    """Return the text of a string, of a list of strings or text blocks, or of anything else as JSON; "" of nothing."""
    if isinstance(content, str):
        return content
    if content is None or content == [] or content == {}:
        return ""
    if isinstance(content, list) and all(isinstance(item, str) for item in content):
        return "\n".join(content)
    return output_of(content).text


def medium_of(block: dict[str, Any]) -> tuple[bytes, str] | None:
    """Return (bytes, type) of an image or document that stands in the block itself."""
    source = block.get("source")
    if not isinstance(source, dict):
        return None
    data, mime = text_of(source.get("data")), text_of(source.get("media_type"))
    if data and source.get("type") == "text":
        return data.encode("utf-8", "surrogatepass"), mime or UNTYPED
    return inline(data, mime)


def is_spilled(text: str) -> bool:
    """Return whether a tool output is only the head of what the client wrote to a file."""
    return text.lstrip().startswith(_SPILL_HEAD) and _SPILLED.search(text) is not None


def read_spilled(text: str, companion: str) -> str | None:
    """Return the whole output behind a stub, None when the file is gone or is no plain file of this session.

    The stub names a full path; only its last part is used, in the session's own folder.
    """
    found = _SPILLED.search(text)
    if found is None or not companion:
        return None
    name = re.split(r"[\\/]", found.group(1))[-1]
    path = Path(companion) / "tool-results" / name
    try:
        if path.is_symlink() or path.parent.is_symlink() or path.stat().st_size > MAX_SPILL_BYTES:
            return None
        return read_file(path).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None


def worker_facts(path: Path) -> dict[str, str]:
    """Return what the file beside a sub-agent's says about it: its type and its task, as far as given."""
    try:
        meta = json.loads(read_file(path.with_suffix(".meta.json")))
    except (OSError, ValueError):
        return {}
    given = (
        {"worker_type": meta.get("agentType"), "worker_task": meta.get("description")} if isinstance(meta, dict) else {}
    )
    return {name: value for name, value in given.items() if isinstance(value, str) and value}
