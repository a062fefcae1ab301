"""Helpers around the adapter and capture: read a built session, sync a folder into a workspace."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from support.claude import ClaudeSession
from transcript.adapters.base import Options, SourceFile
from transcript.adapters.claude_code import ClaudeCode
from transcript.adapters.jsonl import parse_line, raw_lines
from transcript.capture import DEFAULTS, SyncReport, sync
from transcript.event import Draft, Event, validate_draft
from transcript.log import Log
from transcript.settings import CaptureSettings
from transcript.workspace import Workspace, init

KEY = b"k" * 32
NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)


def adapt(path: Path, *, reasoning: bool = False, memory: dict[str, Any] | None = None) -> list[Draft]:
    """Return what the adapter makes of one file, marks included; every draft is checked against the record's rules."""
    return adapt_counted(path, reasoning=reasoning, memory=memory)[0]


def adapt_counted(
    path: Path, *, reasoning: bool = False, memory: dict[str, Any] | None = None
) -> tuple[list[Draft], Any]:
    """Return what the adapter makes of one file, and its counts."""
    adapter = ClaudeCode()
    [source], _ = adapter.discover([path])
    return _read(adapter, source, reasoning, {} if memory is None else memory)


def _read(adapter: ClaudeCode, source: SourceFile, reasoning: bool, memory: dict[str, Any]) -> tuple[list[Draft], Any]:
    reader = adapter.reader(source, memory, Options(KEY, reasoning))
    with source.path.open("rb") as file:
        for number, (start, end, raw, _) in enumerate(raw_lines(file, 0), 1):
            reader.feed(parse_line(number, start, end, raw, adapter.is_record))
    drafts = [taken.draft for taken in reader.take() + reader.finish()]
    for draft in drafts:
        validate_draft(draft if draft.ts else replace(draft, ts="2026-12-01T12:00:00.000Z"))
    return drafts, reader.counts


def said(drafts: list[Draft] | list[Event], kind: str | None = None) -> list[tuple[str, str]]:
    """Return (kind of turn, else type; text, tool or mark) of events, in order; marks only when asked for."""
    out = []
    for draft in drafts:
        body = draft.body
        name = body.get("kind") or (f"system:{body['subtype']}" if draft.type == "system" else draft.type)
        if (draft.type == "mark") != (kind == "mark") or (kind not in (None, "mark", draft.type, name)):
            continue
        out.append(
            (name if draft.type != "mark" else body["mark"], body.get("text", body.get("tool", body.get("note", ""))))
        )
    return out


class Project:
    """A project folder with its workspace, and a harness configuration folder beside it."""

    def __init__(self, base: Path, name: str = "shop") -> None:
        self.base = base
        self.root = base / name
        self.root.mkdir(parents=True, exist_ok=True)
        self.data = base / "data"
        self.config = base / "claude"
        self.env = {"CLAUDE_CONFIG_DIR": str(self.config), "HOME": str(base)}
        self.workspace: Workspace = init(self.root, self.data)

    def session(self, seed: str = "one", **fields: Any) -> ClaudeSession:
        """Return a session of this project in the making."""
        return ClaudeSession(cwd=fields.pop("cwd", str(self.root)), seed=seed, **fields)

    def sync(self, *, settings: CaptureSettings = DEFAULTS, **options: Any) -> SyncReport:
        """Sync at a fixed time."""
        options.setdefault("now", NOW)
        return sync(options.pop("workspace", self.workspace), self.data, self.env, settings=settings, **options)

    def events(self, *types: str) -> list[Event]:
        """Return the record's events of some types (all by default)."""
        return [event for event in Log(self.workspace).read() if not types or event.type in types]

    def texts(self, *kinds: str) -> list[str]:
        """Return the whole texts of turns of some kinds (all by default)."""
        log = Log(self.workspace)
        turns = [event for event in log.read() if event.type == "conversation_turn"]
        return [log.text(event) for event in turns if not kinds or event.body["kind"] in kinds]
