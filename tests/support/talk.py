"""Builds what an index is made of: sessions of talk in a record, and the index over it."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from indexer.embedder import Embedder
from indexer.queue import EmbedReport, embed
from indexer.rows import PassageRow
from indexer.settings import IndexSettings
from indexer.store import Store
from indexer.writer import IndexReport, index
from transcript.canonical import b32id
from transcript.event import Draft, stamp
from transcript.log import Log
from transcript.workspace import Workspace, init

START = datetime(2026, 6, 1, 10, 0, tzinfo=UTC)
NOW = datetime(2026, 6, 20, 12, 0, tzinfo=UTC)


def made_workspace(folder: Path) -> Workspace:
    """Return a fresh workspace with its project and data under folder."""
    project = folder / "project"
    project.mkdir(parents=True, exist_ok=True)
    return init(project, folder / "data")


class Talk:
    """Drafts of one or more sessions; each call adds one event a minute after the last and returns its id."""

    def __init__(self, session: str = "one", *, cwd: str = "/home/dev/shop", start: datetime = START) -> None:
        self.session, self.cwd, self.start = session, cwd, start
        self.drafts: list[Draft] = []

    def prompt(self, text: str, **more: Any) -> str:
        return self.add("conversation_turn", "user", {"kind": "prompt", "text": text}, **more)

    def reply(self, text: str, message: str = "", **more: Any) -> str:
        body = {"kind": "reply", "text": text, "message": message or f"m{len(self.drafts)}"}
        return self.add("conversation_turn", "assistant", body, **more)

    def summary(self, text: str, **more: Any) -> str:
        return self.add("conversation_turn", "user", {"kind": "summary", "text": text}, **more)

    def call(self, tool: str, arguments: dict[str, Any], **more: Any) -> str:
        body = {"tool": tool, "call_id": f"c{len(self.drafts)}", "input": arguments}
        return self.add("tool_call", "assistant", body, **more)

    def result(self, text: str, **more: Any) -> str:
        return self.add("tool_result", "tool", {"call_id": "c", "text": text, "is_error": False}, **more)

    def compact(self, **more: Any) -> str:
        return self.add("system", "system", {"subtype": "compact_boundary", "text": "compacted"}, **more)

    def sighting(self, of: str, *, session: str, file: str = "b.jsonl") -> str:
        return self.add("sighting", "system", {"of": of, "record": "r", "file": file}, session=session, about=of)

    def mark(self, mark: str, events: list[str], **more: Any) -> str:
        return self.add("mark", "system", {"mark": mark, "events": events, "note": ""}, **more)

    def add(
        self,
        type: str,
        actor: str,
        body: dict[str, Any],
        *,
        session: str = "",
        worker: str = "",
        ts: str = "",
        **more: Any,
    ) -> str:
        """Add an event; more becomes part of its body."""
        number = len(self.drafts)
        session = session or self.session
        event = b32id("talk", self.session, session, str(number), str(more.pop("about", "")))
        body = {**body, "cwd": self.cwd} | ({"worker": worker} if worker else {}) | more
        moment = ts or stamp(self.start + timedelta(minutes=number))
        self.drafts.append(Draft(type, event, moment, "record", session, "claude-code", actor, "internal", {}, body))
        return event


def recorded(folder: Path, *talks: Talk) -> Workspace:
    """Return a fresh workspace whose record holds these talks."""
    workspace = made_workspace(folder)
    record(workspace, *talks)
    return workspace


def record(workspace: Workspace, *talks: Talk) -> None:
    """Append the talks to the record; what stands there already is skipped."""
    for talk in talks:
        Log(workspace).append(talk.drafts, now=NOW)


@contextmanager
def indexed(
    workspace: Workspace, embedder: Embedder | None = None, settings: IndexSettings | None = None, **options: Any
) -> Iterator[Store]:
    """Open the index for writing, brought up to the record and, with an embedder, to its vectors."""
    settings = settings or IndexSettings()
    with Store.open(workspace.index_path, "w", **options) as store:
        index(workspace, store, settings, now=NOW, embedder=embedder, record=False)
        if embedder is not None:
            embed(store, embedder, settings)
        yield store


def run_index(workspace: Workspace, store: Store, **options: Any) -> IndexReport:
    return index(workspace, store, IndexSettings(), now=NOW, record=options.pop("record", False), **options)


def run_embed(store: Store, embedder: Embedder, **options: Any) -> EmbedReport:
    return embed(store, embedder, IndexSettings(), **options)


def rows(store: Store, sql: str) -> list[tuple[Any, ...]]:
    """Run a query with {g} for the serving generation."""
    return list(store.run(sql.replace("{g}", str(store.generation))))


def passages(store: Store, **options: Any) -> list[PassageRow]:
    """Return every chunk that may be seen."""
    return list(store.passages([c for (c,) in rows(store, "SELECT id FROM chunk_{g} ORDER BY id")], **options).values())


def keys_and_pointers(store: Store) -> set[tuple[Any, ...]]:
    """Return what a rebuild must give again: chunk keys with the places they stand in."""
    return set(
        rows(
            store,
            "SELECT hex(c.key), v.event, p.start, p.end, s.session, p.kind, p.flags FROM pointer_{g} p"
            " JOIN chunk_{g} c ON c.id = p.chunk_id JOIN event_{g} v ON v.id = p.event"
            " JOIN session_{g} s ON s.id = p.session",
        )
    )
