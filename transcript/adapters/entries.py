"""What readers of harnesses with plain records share: an entry, its events, their ids and the marks at the end.

A record becomes an `Entry` (who said it, when, where) and one event for each part of it. A harness adds only what it
calls things. The memory is that of `tree_memory`: the tree of records, what was marked, what the file no longer
holds.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from transcript.adapters import reasoning
from transcript.adapters.base import Counts, Options, SourceFile, Taken
from transcript.adapters.jsonl import Line
from transcript.adapters.tree_memory import Memory
from transcript.adapters.values import Media, media_entries, moment, type_of
from transcript.canonical import b32id, canonical, sha256_hex
from transcript.event import Draft

_COVERED = frozenset({"conversation_turn", "tool_call", "tool_result"})


@dataclass(slots=True)
class Entry:
    """One record: what its events' ids are made of, and what they all say in the same way."""

    identity: tuple[str, ...]
    native_id: str = ""
    ts: str = ""
    ts_source: str = "capture"
    session: str = ""
    version: str = ""
    cwd: str = ""
    branch: str = ""
    parent: str = ""
    message: str = ""
    model: str = ""
    worker: str = ""
    flags: list[str] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)


class EntryReader(ABC):
    """Reads one source on; a harness implements `record`, which is called for each object of a line."""

    harness: ClassVar[str] = ""
    adapter: ClassVar[str] = "1"

    def __init__(self, source: SourceFile, memory: dict[str, Any], options: Options) -> None:
        self.counts = Counts()
        self.source, self.options = source, options
        self.memory = Memory(memory)
        self.kept = memory
        for name in ("cwd", "branch", "model", "last"):
            memory.setdefault(name, "")
        self._ready: list[Taken] = []

    # -- the contract ------------------------------------------------------------------------

    def feed(self, line: Line) -> None:
        """Take in the records of the next line."""
        for at, fields in enumerate(line.objects):
            if at in line.odd:
                raw = line.raw.decode("utf-8", "replace")
                self.counts.records[type_of(fields)] += 1
                entry = self.entry((self.identified("odd", raw),))
                self.unknown(entry, "number that is not JSON", raw)
                self.join(entry, entry.identity[0])
            else:
                self.record(fields)

    @abstractmethod
    def record(self, fields: dict[str, Any]) -> None:
        """Take in one record."""

    def take(self) -> list[Taken]:
        """Return the events since the last call, in the order of the source."""
        taken, self._ready = self._ready, []
        return taken

    def finish(self) -> list[Taken]:
        """Return the rest and the marks that follow from the whole source so far."""
        self._mark("rewound", self.memory.rewound(), "the file no longer holds the record")
        self._mark("restored", self.memory.restored, "the file holds the record again")
        self.memory.restored = []
        if not self.source.worker:
            fresh, back = self.memory.abandoned()
            self._mark("restored", back, "the newest leaf descends from it again")
            self._mark("abandoned", fresh, "the newest leaf does not descend from it")
            if withheld := reasoning.withheld_mark(self.kept, self.harness, self.session):
                self._put_mark(*withheld)
        return self.take()

    # -- entries and events ------------------------------------------------------------------

    @property
    def session(self) -> str:
        """The session of this source."""
        return self.source.session or str(self.kept["session"]) or self.source.path.stem

    def entry(self, identity: tuple[str, ...], *, native_id: str = "", at: object = None, **fields: Any) -> Entry:
        """Return an entry of this session with its time: the record's, else that of the one before."""
        ts = moment(at)
        if ts:
            self.kept["ts"] = ts
        source = "record" if ts else "joined" if self.kept["ts"] else "capture"
        fields.setdefault("session", self.session)
        for name in ("version", "cwd", "branch"):
            fields.setdefault(name, self.kept[name])
        fields.setdefault("worker", self.source.worker)
        return Entry(identity, native_id, self.kept["ts"], fields.pop("ts_source", source), **fields)

    def identified(self, role: str, body: object, scope: str = "") -> str:
        """Return an id for what has none of its own: from what was said, and how often it was before (in scope)."""
        seen = sha256_hex(canonical([scope, role, body]))[:16]
        return self.options.identify(scope or self.session, role, body, self.memory.occurrence(seen))

    def join(self, entry: Entry, place: str, parent: str = "", *, linear: bool = True) -> None:
        """Take an entry's place in the tree; linear: it follows the one before, whatever it says."""
        self.memory.meet(place, self.kept["last"] if linear else parent, "user", "", [], entry.events)
        self.kept["last"] = place

    def emit(
        self,
        entry: Entry,
        kind: str,
        body: dict[str, Any],
        part: int,
        *names: str,
        actor: str = "system",
        media: Sequence[tuple[bytes, str]] = (),
    ) -> None:
        """Add the event for a part of an entry."""
        event = b32id(self.harness, *entry.identity, str(part), *names)
        if media:
            body = {**body, "media": media_entries(list(media))}
        draft = self._draft(entry, kind, event, body, part, actor)
        self._ready.append(Taken(draft, tuple(data for data, _ in media)))
        entry.events.append(event)
        if not entry.worker and kind in _COVERED:
            self.memory.cover(event)

    def system(self, entry: Entry, subtype: str, text: str, part: int = 0, *names: str, **more: Any) -> None:
        """Add what the client itself put there; it is never indexed."""
        self.emit(entry, "system", {"subtype": subtype, "text": text, **more}, part, *names)

    def user(self, entry: Entry, said: Sequence[tuple[int, str, str]], media: Media) -> None:
        """Add the pieces of a user record: (part, "" or the kind of envelope, text). Media go with the first prompt."""
        kind, actor = ("worker_prompt", "assistant") if entry.worker else ("prompt", "user")
        waiting = list(media)
        last, piece = -1, 0
        for part, subtype, text in said:
            piece = piece + 1 if part == last else 0
            last = part
            names = ("piece", str(piece)) if piece else ()
            if not text.strip():
                self.counts.notes["empty text"] += 1
            elif subtype:
                self.counts.notes[f"client text: {subtype}"] += 1
                self.system(entry, subtype, text, part, *names)
            else:
                self.counts.notes["prompt"] += not entry.worker
                body = {"kind": kind, "text": text, **entry.extra}
                self.emit(entry, "conversation_turn", body, part, *names, actor=actor, media=waiting)
                waiting = []
        if waiting:
            self.emit(entry, "conversation_turn", {"kind": kind, "text": ""}, last + 1, actor=actor, media=waiting)

    def reply(self, entry: Entry, text: str, part: int) -> None:
        """Add a text of the assistant."""
        if not text:
            self.counts.notes["empty text"] += 1
            return
        if not entry.worker:
            self.kept["replies"] = True
        self.emit(entry, "conversation_turn", {"kind": "reply", "text": text}, part, actor="assistant")

    def call(self, entry: Entry, name: str, call_id: str, arguments: Any, part: int) -> None:
        """Add a tool call."""
        given = arguments if isinstance(arguments, dict) else {} if arguments is None else {"": arguments}
        body = {"tool": name, "call_id": call_id, "input": given}
        self.emit(entry, "tool_call", body, part, actor="assistant")

    def result(
        self, entry: Entry, call_id: str, text: str, part: int, *, is_error: bool = False, media: Media | None = None
    ) -> None:
        """Add what a tool answered."""
        body: dict[str, Any] = {"call_id": call_id, "text": text}
        if is_error:
            body["is_error"] = True
        self.emit(entry, "tool_result", body, part, actor="tool", media=media or ())

    def reasoning(self, entry: Entry, text: str, part: int) -> None:
        """Add exposed reasoning where it is wanted; note what became of it."""
        if reasoning.is_kept(text, self.kept, self.counts, wanted=self.options.reasoning):
            self.emit(entry, "reasoning", {"text": text}, part, actor="assistant")

    def summary(self, entry: Entry, text: str, part: int, flag: str) -> None:
        """Add what a compaction left: a view on the turns before it, which all stay where they are."""
        body: dict[str, Any] = {"kind": "summary", "text": text}
        if flag == "compact_summary" and not entry.worker and (covers := self.memory.covered()):
            body["covers"] = covers
        entry.flags.append(flag)
        self.emit(entry, "conversation_turn", body, part, actor="assistant")

    def unknown(self, entry: Entry, name: str, raw: Any, part: int = 0) -> None:
        """Keep and count what nobody knows."""
        self.counts.unknown[f"{name}@{entry.version}"] += 1
        self.emit(entry, "unknown", {"raw": raw}, part, "unknown")

    # -- marks -------------------------------------------------------------------------------

    def _mark(self, mark: str, events: list[str], note: str) -> None:
        if events:
            event = self.memory.mark_id(mark, self.source.source, events)
            self._put_mark(event, {"mark": mark, "events": events, "note": note})

    def _put_mark(self, event: str, body: dict[str, Any]) -> None:
        self._ready.append(Taken(self._draft(self.entry(()), "mark", event, body, 0, "system")))

    def _draft(self, entry: Entry, kind: str, event: str, body: dict[str, Any], part: int, actor: str) -> Draft:
        native = self.source.native(self.adapter, entry.version, entry.native_id, part)
        shared = {
            "cwd": entry.cwd, "branch": entry.branch, "file": str(self.source.path), "parent": entry.parent,
            "message": entry.message, "model": entry.model, "worker": entry.worker, "flags": sorted(set(entry.flags)),
        }  # fmt: skip
        common = {name: value for name, value in shared.items() if value}
        return Draft(
            kind, event, entry.ts, entry.ts_source, entry.session, self.harness, actor, "internal", native,
            {**common, **body},
        )  # fmt: skip
