"""A Cursor transcript as lines: a head with session and folder, then its records.

The name of the project's folder is its path with everything but letters and digits turned to `-`: two projects can
share it, and it is never decoded. It only confirms a path that stands in full in the records (the workspace that the
client names, the files that tools touch), in `.workspace-trusted` beside them, or in the editor's list of workspaces.
The last two are about the folder of the name, not about a session: they count only while no other project there is has
this name. Without a path the session's project stays unknown, and it is not taken in.
"""

import contextlib
import io
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import unquote, urlsplit

from transcript.adapters.values import text_of
from transcript.adapters.views import as_line
from transcript.adapters.walk import HEAD_BYTES, read_object
from transcript.paths import open_file, read_file
from transcript.roots import same_place

FOLDER = "agent-transcripts"
VIEW = "cursor"
TRUSTED = ".workspace-trusted"
_MARKERS = {"user:": "user", "assistant:": "assistant"}
_EDITOR = ((".config", "Cursor"), ("Library", "Application Support", "Cursor"), ("AppData", "Roaming", "Cursor"))
_PART = re.compile(r"\[(Thinking|Tool call|Tool result)\]\s*(.*)")
_WORKSPACE = re.compile(r"Workspace Path: (\S[^\n\\]*)")
_PATH = re.compile(r'"((?:/|[A-Za-z]:(?:/|\\\\))[^"\n]{1,1000})"')


def is_line(value: dict[str, Any]) -> bool:
    """Return whether an object is a line of a transcript."""
    message = value.get("message")
    return value.get("role") in ("user", "assistant") and isinstance(message, dict) and "content" in message


def is_text(path: Path) -> bool:
    """Return whether a text file begins as a transcript does: with who speaks, alone on a line."""
    try:
        with open_file(path) as file:
            lines = file.read(HEAD_BYTES).decode("utf-8", "replace").split("\n")
    except OSError:
        return False
    return next((line.strip() in _MARKERS for line in lines if line.strip()), False)


def view(path: Path) -> BinaryIO:
    """Return a transcript as lines. OSError when it cannot be read."""
    data = read_file(path)
    if path.suffix == ".txt":
        records = from_text(data.decode("utf-8", "replace"))
        data = b"".join(map(as_line, records))
    head = {"view": VIEW, "session": path.stem, "cwd": _cwd(path, data)}
    return io.BytesIO(as_line({name: value for name, value in head.items() if value}) + data)


def from_text(text: str) -> Iterator[dict[str, Any]]:
    """Yield the records of a transcript written as text: `user:` and `assistant:` alone on a line begin one."""
    role, held = "", []
    for line in [*text.replace("\r\n", "\n").split("\n"), "user:"]:
        if line.strip() not in _MARKERS:
            held.append(line)
            continue
        said = "\n".join(held).strip("\n")
        if role and said.strip():
            content = [{"type": "text", "text": said}] if role == "user" else list(_parts(said))
            yield {"role": role, "message": {"content": content}}
        role, held = _MARKERS[line.strip()], []


def _parts(said: str) -> Iterator[dict[str, Any]]:
    """Yield the blocks of an answer: text, and what `[Thinking]`, `[Tool call]` and `[Tool result]` introduce.

    What they introduce is indented or blank; the first line at the margin is text again.
    """
    kind, name = "text", ""
    held: list[str] = []
    for line in said.split("\n"):
        found = _PART.fullmatch(line.strip())
        at_margin = line.strip() != "" and line[0] not in " \t"
        if not found and (kind == "text" or not at_margin):
            held.append(line)
            continue
        yield from _part(kind, name, "\n".join(held))
        kind, name = (found.group(1), found.group(2)) if found else ("text", "")
        held = [name] if kind == "Thinking" else [] if found else [line]
    yield from _part(kind, name, "\n".join(held))


def _part(kind: str, name: str, body: str) -> Iterator[dict[str, Any]]:
    said = re.sub(r"(?m)^(?: {2}|\t)", "", body).strip("\n")
    if kind == "Tool call":
        yield {"type": "tool_use", "name": name, "input": _arguments(said)}
    elif kind == "Tool result":
        yield {"type": "tool_result", "name": name, "content": said}
    elif kind == "Thinking" and said.strip():
        yield {"type": "thinking", "thinking": said}
    elif kind == "text" and body.strip():
        yield {"type": "text", "text": body.strip("\n")}


def _arguments(said: str) -> dict[str, Any]:
    """Return a call's arguments: an object, or `name: value` or `name=value` on every line, else the text itself."""
    try:
        value = json.loads(said, parse_constant=str)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return value
    pairs = [re.fullmatch(r"\s*([\w.-]+)\s*[:=]\s?(.*)", line) for line in said.split("\n") if line.strip()]
    if pairs and all(pairs):
        return {pair.group(1): pair.group(2) for pair in pairs if pair}
    return {"": said} if said else {}


def slug(path: str) -> str:
    """Return what Cursor calls the folder of a project, for comparing."""
    return re.sub(r"[^a-z0-9]+", "-", path.casefold()).strip("-")


def _cwd(path: Path, data: bytes) -> str:
    """Return the folder a session ran in, "" when nothing names it in full."""
    parts = path.parts
    if FOLDER not in parts[1:]:
        return ""
    project = Path(*parts[: len(parts) - 1 - parts[::-1].index(FOLDER)])
    text = data.decode("utf-8", "replace")
    name = slug(project.name)
    for said in _WORKSPACE.finditer(text):
        if slug(said.group(1)) == name:
            return said.group(1).rstrip()
    for touched in _PATH.finditer(text):
        if folder := _above(touched.group(1).replace("\\\\", "\\"), name):
            return folder
    trusted = text_of(read_object(project / TRUSTED).get("workspacePath"))
    named = [trusted] if slug(trusted) == name else [item for item in _workspaces(project) if slug(item) == name]
    if len(set(named)) != 1:
        return ""
    return named[0] if all(same_place(named[0], other) for other in _named(named[0], name)) else ""


def _named(folder: str, name: str) -> set[str]:
    """Return every folder there is on this one's drive that has this slug: one listing for each step of its path."""
    found: set[str] = set()
    below = [Path(folder).anchor or os.sep]
    while below:
        with contextlib.suppress(OSError), os.scandir(below.pop()) as entries:
            for entry in entries:
                begins = slug(entry.path)
                if (begins and not f"{name}-".startswith(f"{begins}-")) or not entry.is_dir(follow_symlinks=False):
                    continue
                below.append(entry.path)
                if begins == name:
                    found.add(entry.path)
    return found


def _above(touched: str, name: str) -> str:
    """Return the folder above a path (or the path itself) that has this slug, "" when none has."""
    if not slug(touched).startswith(name):
        return ""
    at = [found.start() for found in re.finditer(r"[/\\]", touched)] + [len(touched)]
    return next((touched[:end] for end in at if end and slug(touched[:end]) == name), "")


def _workspaces(project: Path) -> Iterator[str]:
    """Yield the folders that the editor of the same home was opened in."""
    for home in project.parents:
        if home.name == ".cursor":
            for place in _EDITOR:
                for found in sorted(home.parent.joinpath(*place, "User", "workspaceStorage").glob("*/workspace.json")):
                    address = urlsplit(text_of(read_object(found).get("folder")))
                    if address.scheme == "file":
                        folder = unquote(address.path)
                        yield folder[1:] if re.match(r"/[A-Za-z]:", folder) else folder
