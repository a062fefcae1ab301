"""Cline: sessions of its command line (`<id>.messages.json`) and tasks of its editor extension, Roo's alike.

Both rewrite one JSON document per session. The view gives a line for the session and one for each message, without
what the client changes afterwards (metrics). The extension's tasks name neither folder nor times of their own in old
versions: the folder stands in the text that the client adds to the first prompt, or in the list of tasks; the times
are joined from the messages shown on the screen.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from transcript.adapters.base import Options, SourceFile
from transcript.adapters.cline_reader import HARNESS, VERSION, ClineReader
from transcript.adapters.stream import StreamAdapter
from transcript.adapters.values import moment, text_of
from transcript.adapters.views import UnreadableSource, as_lines, document
from transcript.adapters.walk import find, home

_CLI = ".messages.json"
_TASK = "api_conversation_history.json"
_EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")
_EXTENSIONS = ("saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline")
_FOLDER = re.compile(r"# Current (?:Working|Workspace) Directory \((.+?)\) Files")
_STABLE = ("id", "role", "content", "ts")


class Cline(StreamAdapter):
    """The adapter of Cline's sessions and tasks."""

    harness = HARNESS
    version = VERSION
    origin = "internal"

    def roots(self, env: Mapping[str, str]) -> list[Path]:
        """Return the command line's folder and those of the extensions in the editors we know."""
        user = home(env)
        base = Path(env["CLINE_DIR"]) if env.get("CLINE_DIR") else user / ".cline"
        found = [base / "data" / "sessions", base / "data" / "tasks"]
        settings = [user / ".config", user / "Library" / "Application Support"]
        if env.get("APPDATA"):
            settings.append(Path(env["APPDATA"]))
        users = [folder / editor / "User" for folder in settings for editor in _EDITORS]
        users += [user / server / "data" / "User" for server in (".vscode-server", ".cursor-server")]
        found += [user / "globalStorage" / name / "tasks" for user in users for name in _EXTENSIONS]
        return found

    def discover(self, roots: Iterable[Path]) -> tuple[list[SourceFile], Counter[str]]:
        """Return every session and task under roots."""
        paths, refused = find(roots, _may_be)
        return [_source(path) for path in paths], refused

    def open(self, source: SourceFile) -> BinaryIO:
        """Return a session as lines."""
        found = document(source.path)
        return as_lines(_task(source, found) if source.path.name == _TASK else _session(source, found))

    def is_record(self, value: dict[str, Any]) -> bool:
        """Return whether an object is a line of the view."""
        return value.get("type") in ("session", "message")

    def recognises(self, values: Sequence[dict[str, Any]]) -> bool:
        """Return whether these are lines of the view."""
        return any(value.get("type") == "session" and value.get("layout") in ("cli", "task") for value in values)

    def reader(self, source: SourceFile, memory: dict[str, Any], options: Options) -> ClineReader:
        """Return a reader that goes on where memory stands."""
        return ClineReader(source, memory, options)

    def head(self, values: Sequence[dict[str, Any]]) -> tuple[str, str, str]:
        """Return (folder, time, session) of the session's line, the time of the first message where it has none."""
        cwd = ts = session = ""
        for value in values:
            if value.get("type") == "session":
                cwd, session = text_of(value.get("cwd")), text_of(value.get("id"))
            ts = ts or text_of(value.get("time"))
        return cwd, ts, session


def _may_be(path: Path) -> bool:
    return path.name.endswith(_CLI) or path.name == _TASK


def _source(path: Path) -> SourceFile:
    folder = path.parent
    identity = f"{folder.name}/{path.name}"
    name = path.name.removesuffix(_CLI)
    worker = name if path.name != _TASK and name != folder.name else ""
    return SourceFile(HARNESS, path, identity, folder.name, worker, str(folder))


def _session(source: SourceFile, found: Any) -> list[dict[str, Any]]:
    """Return the lines of a session of the command line; what it is about stands in a file beside it."""
    if not isinstance(found, dict) or not isinstance(found.get("messages"), list):
        raise UnreadableSource("no messages of Cline")
    about = _beside(source.path.with_name(f"{source.session}.json"))
    origin = found.get("origin")
    head = {
        "type": "session",
        "layout": "cli",
        "id": source.session,
        "cwd": about.get("cwd"),
        "version": origin.get("version") if isinstance(origin, dict) else None,
        "time": text_of(about.get("started_at")) or next(_times(found["messages"]), ""),
    }
    return [head, *(_line(message) for message in found["messages"])]


def _task(source: SourceFile, found: Any) -> list[dict[str, Any]]:
    """Return the lines of a task of the extension."""
    if not isinstance(found, list):
        raise UnreadableSource("no messages of Cline")
    shown = _shown(source.path.with_name("ui_messages.json"))
    lines = [_line(message) for message in found]
    for place, line in enumerate(lines):
        if not line["time"] and (when := shown.get(place - 1)):
            line.update(time=when, joined=True)
    started = moment(int(source.session)) if source.session.isdigit() else ""
    head = {"type": "session", "layout": "task", "id": source.session, "cwd": _folder(source, found), "version": ""}
    return [{**head, "time": started or next((line["time"] for line in lines if line["time"]), "")}, *lines]


def _line(message: Any) -> dict[str, Any]:
    if not isinstance(message, dict):
        return {"type": "message", "time": "", "message": message}
    kept = {name: message[name] for name in _STABLE if name in message}
    model, about = message.get("modelInfo"), message.get("metadata")
    if isinstance(model, dict):
        kept["model"] = model.get("id") or model.get("modelId")
    if isinstance(about, dict) and about.get("displayRole"):
        kept["shown_as"] = about["displayRole"]
    return {"type": "message", "time": moment(message.get("ts")), "message": kept}


def _times(messages: list[Any]) -> Iterator[str]:
    return (when for message in messages if isinstance(message, dict) and (when := moment(message.get("ts"))))


def _shown(path: Path) -> dict[int, str]:
    """Return when the screen first showed something after so many messages."""
    try:
        found = document(path)
    except OSError:
        return {}
    times: dict[int, str] = {}
    for item in found if isinstance(found, list) else []:
        if isinstance(item, dict) and isinstance(item.get("conversationHistoryIndex"), int):
            when = moment(item.get("ts"))
            if when:
                times.setdefault(item["conversationHistoryIndex"], when)
    return times


def _folder(source: SourceFile, messages: list[Any]) -> str:
    """Return where a task ran: from the text that the client adds to the first prompts, else from its lists."""
    for message in messages[:4]:
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else [content]:
            text = block.get("text") if isinstance(block, dict) else block
            told = _FOLDER.search(text) if isinstance(text, str) else None
            if told is not None:
                return told.group(1)
    about = _beside(source.path.with_name("history_item.json"))
    for item in (about, *_history(source.path.parent.parent.parent / "state" / "taskHistory.json", source.session)):
        for name in ("workspace", "cwdOnTaskInitialization"):
            if text_of(item.get(name)):
                return text_of(item[name])
    return ""


def _beside(path: Path) -> dict[str, Any]:
    try:
        found = document(path)
    except OSError:
        return {}
    return found if isinstance(found, dict) else {}


def _history(path: Path, task: str) -> list[dict[str, Any]]:
    try:
        found = document(path)
    except OSError:
        return []
    items = found if isinstance(found, list) else []
    return [item for item in items if isinstance(item, dict) and item.get("id") == task]
