"""What the readers of several harnesses share: a memory of one source, the events that wait, the marks that follow.

The memory is plain JSON and holds, beside what a reader adds: `live`, the events this state of the source gave; `gone`,
those an earlier state gave and this one has not shown yet; `rewound`, those marked because they never came back.
"""

from typing import Any

from transcript.adapters import reasoning
from transcript.adapters.base import Counts, Options, SourceFile, Taken
from transcript.adapters.values import media_entries, moment
from transcript.canonical import b32id, canonical, sha256_hex
from transcript.event import Draft

_COMMON = ("cwd", "branch", "model")


class Stream:
    """The events of one source in the making. `flags`, `message`, `parent` go into the next events' bodies."""

    def __init__(
        self, harness: str, version: str, source: SourceFile, kept: dict[str, Any], options: Options, counts: Counts
    ) -> None:
        self.harness, self.adapter, self.source, self.options, self.counts = harness, version, source, options, counts
        self.kept = kept
        for name in ("session", "version", "ts", "reasoning", *_COMMON):
            kept.setdefault(name, "")
        for name in ("seen", "live", "gone"):
            kept.setdefault(name, {})
        kept.setdefault("rewound", [])
        kept.setdefault("marks", 0)
        kept.setdefault("replies", False)
        self.worker = source.worker
        self.session: str = source.session or kept["session"] or source.path.stem
        self.ts: str = kept["ts"]
        self.ts_source = "joined" if self.ts else "capture"
        self.parent = self.message = ""
        self.flags: list[str] = []
        self._ready: list[Taken] = []
        self._restored: list[str] = []

    # -- where reading stands ----------------------------------------------------------------

    def at(self, given: object) -> None:
        """Move to the time of a record; without one, that of the record before, or the clock at capture."""
        ts = moment(given)
        if ts:
            self.kept["ts"] = ts
            self.ts, self.ts_source = ts, "record"
        else:
            self.ts, self.ts_source = (self.kept["ts"], "joined") if self.kept["ts"] else ("", "capture")
        self.parent = self.message = ""
        self.flags = []

    def belongs(self, session: object) -> None:
        """Note the session's id when the source has not told it yet."""
        if isinstance(session, str) and session and not self.source.session:
            self.kept["session"] = self.session = session

    def note(self, **facts: object) -> None:
        """Note facts that hold from here on (version, cwd, branch, model); what is no text changes nothing."""
        for name, value in facts.items():
            if isinstance(value, str) and value:
                self.kept[name] = value

    def count(self, *key: object) -> int:
        """Return how often this was met before in the source, and count it."""
        seen: dict[str, int] = self.kept["seen"]
        name = sha256_hex(canonical(list(key)))[:16]
        seen[name] = seen.get(name, 0) + 1
        return seen[name] - 1

    def holds(self, event: str) -> bool:
        """Say whether the source gave this event already."""
        return event in self.kept["live"]

    # -- events ------------------------------------------------------------------------------

    def emit(
        self,
        kind: str,
        event: str,
        body: dict[str, Any],
        actor: str,
        *,
        native: str = "",
        part: int = 0,
        media: list[tuple[bytes, str]] | None = None,
    ) -> bool:
        """Add an event unless the source gave it already; say whether it is new."""
        if self.holds(event):
            return False
        self.kept["live"][event] = 1
        if self.kept["gone"].pop(event, None) is None and event in self.kept["rewound"]:
            self.kept["rewound"].remove(event)
            self._restored.append(event)
        if kind == "conversation_turn" and body["kind"] == "reply":
            self.kept["replies"] = True
        if media:
            body = {**body, "media": media_entries(media)}
        draft = self._draft(kind, event, {**self._common(), **body}, actor, native, part)
        self._ready.append(Taken(draft, tuple(data for data, _ in media or ())))
        return True

    def system(self, event: str, subtype: str, text: str, *, native: str = "", part: int = 0, **more: Any) -> None:
        """Add what nobody said: an envelope, a notice, an injected block, a boundary."""
        self.emit("system", event, {"subtype": subtype, "text": text, **more}, "system", native=native, part=part)

    def unknown(self, name: str, raw: Any, event: str, *, native: str = "", part: int = 0) -> None:
        """Keep and count what nobody knows."""
        self.counts.unknown[f"{name}@{self.kept['version']}"] += 1
        self.emit("unknown", event, {"raw": raw}, "system", native=native, part=part)

    def odd(self, raw: bytes, name: str) -> None:
        """Keep a record with a number that is not JSON as its text."""
        self.counts.records[name] += 1
        text = raw.decode("utf-8", "replace")
        event = self.options.identify(self.session, name, text, self.count("odd", text))
        self.unknown("number that is not JSON", text, event)

    def reasoning(self, event: str, text: str, *, native: str = "", part: int = 0) -> None:
        """Add an exposed trace when the workspace keeps those; note in any case what became of it."""
        if reasoning.is_kept(text, self.kept, self.counts, wanted=self.options.reasoning):
            self.emit("reasoning", event, {"text": text}, "assistant", native=native, part=part)

    def mark(self, mark: str, events: list[str], note: str, event: str = "") -> None:
        """Add a mark over events. One that a record of the source asks for brings an id of its own."""
        if not events:
            return
        if not event:
            self.kept["marks"] += 1
            event = b32id("mark", mark, self.source.source, str(self.kept["marks"]), sha256_hex(canonical(events)))
        self._put_mark(event, {"mark": mark, "events": events, "note": note})

    def take(self) -> list[Taken]:
        """Return the events since the last call."""
        taken, self._ready = self._ready, []
        return taken

    def finish(self) -> None:
        """Add what follows from the whole of the source so far."""
        self.ts, self.ts_source = (self.kept["ts"], "joined") if self.kept["ts"] else ("", "capture")
        self.parent = self.message = ""
        self.flags = []
        gone = list(self.kept["gone"])
        self.kept["gone"] = {}
        self.kept["rewound"] += gone
        self.mark("rewound", gone, "the source no longer holds the record")
        self.mark("restored", self._restored, "the source holds the record again")
        self._restored = []
        if not self.worker and (withheld := reasoning.withheld_mark(self.kept, self.harness, self.session)):
            self._put_mark(*withheld)

    def _put_mark(self, event: str, body: dict[str, Any]) -> None:
        self._ready.append(Taken(self._draft("mark", event, {**self._common(), **body}, "system", "", 0)))

    def _common(self) -> dict[str, Any]:
        shared: dict[str, Any] = {name: self.kept[name] for name in _COMMON}
        shared.update(
            file=str(self.source.path),
            parent=self.parent,
            message=self.message,
            worker=self.worker,
            flags=sorted(set(self.flags)),
        )
        return {name: value for name, value in shared.items() if value}

    def _draft(self, kind: str, event: str, body: dict[str, Any], actor: str, native: str, part: int) -> Draft:
        whence = self.source.native(self.adapter, self.kept["version"], native, part)
        return Draft(kind, event, self.ts, self.ts_source, self.session, self.harness, actor, "internal", whence, body)


class StreamAdapter:
    """The part of an adapter that its readers' memory decides, where records come one after the other."""

    def restarted(self, memory: dict[str, Any]) -> dict[str, Any]:
        """Return the memory to read a rewritten source from its start with: what it gave is gone until met again."""
        names = ("session", "rewound", "marks", "reasoning", "replies")
        gone = {**memory.get("gone", {}), **memory.get("live", {})}
        return {"gone": gone, **{name: memory[name] for name in names if name in memory}}

    def recalled(self, abandoned: list[str], rewound: dict[str, list[str]], marks: int) -> dict[str, Any]:
        """Return the memory to read a source from its first line with, of which these marks stand in the record."""
        return {"rewound": [event for events in rewound.values() for event in events], "marks": marks}
