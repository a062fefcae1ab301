"""Prints what claude-code-log takes for messages, one line of JSON a file. Runs under an interpreter that has it.

usage: PYTHON oracle_reader.py claude|codex FOLDER
"""

import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

from claude_code_log.converter import load_transcript  # type: ignore[import-not-found]
from claude_code_log.providers.codex import CodexProvider  # type: ignore[import-not-found]
from claude_code_log.renderer import generate_template_messages  # type: ignore[import-not-found]

SIDES = ("user", "assistant")


def entries(harness: str, path: Path) -> list[Any]:
    """Return the entries that the package reads from one file."""
    if harness == "codex":
        return list(CodexProvider().load_session_from_path(path))
    return list(load_transcript(path, silent=True))


def text(entry: Any) -> str:
    """Return the words of an entry, without tool blocks."""
    content = getattr(getattr(entry, "message", None), "content", None) or []
    if isinstance(content, str):
        return content
    return "\n".join(block.text for block in content if getattr(block, "type", "") == "text")


def messages(harness: str, path: Path) -> list[tuple[str, str, str, str]]:
    """Return (side, kind, id of the record, words) of each message that the package shows for one file."""
    found = entries(harness, path)
    words = {entry.uuid: text(entry) for entry in found if getattr(entry, "uuid", "")}
    _, _, context = generate_template_messages(found)
    shown = [message for message in context.messages if message is not None and message.type in SIDES]
    return [(m.type, type(m.content).__name__, m.meta.uuid, words.get(m.meta.uuid, "")) for m in shown]


def main(harness: str, folder: str) -> None:
    """Print a line for each file under the folder."""
    for path in sorted(Path(folder).rglob("*.jsonl")):
        with contextlib.redirect_stdout(io.StringIO()):
            found = messages(harness, path)
        print(json.dumps([str(path), found]))


if __name__ == "__main__":
    main(*sys.argv[1:])
