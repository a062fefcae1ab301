"""What the readers of several harnesses share: a memory of one source, the events that wait, the marks that follow.

The memory is plain JSON and holds, beside what a reader adds: `live`, the events this state of the source gave; `gone`,
those an earlier state gave and this one has not shown yet; `rewound`, those marked because they never came back.
"""

import base64
import binascii
from datetime import UTC, datetime
from typing import Any

from transcript.adapters.base import Counts, Options, SourceFile, Taken
from transcript.canonical import b32id, canonical, sha256_hex
from transcript.event import Draft, is_stamp, stamp

_REASONING = ("", "kept", "capture.reasoning is off", "withheld by the harness", "told")
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
        moment = utc(given)
        if moment:
            self.kept["ts"] = moment
            self.ts, self.ts_source = moment, "record"
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
        if not text:
            self.counts.notes["reasoning withheld"] += 1
            self._note_reasoning("withheld by the harness")
        elif not self.options.reasoning:
            self.counts.notes["reasoning not kept"] += 1
            self._note_reasoning("capture.reasoning is off")
        else:
            self.counts.notes["reasoning kept"] += 1
            self._note_reasoning("kept")
            self.emit("reasoning", event, {"text": text}, "assistant", native=native, part=part)

    def mark(self, mark: str, events: list[str], note: str, event: str = "") -> None:
        """Add a mark over events. One that a record of the source asks for brings an id of its own."""
        if not events:
            return
        if not event:
            self.kept["marks"] += 1
            event = b32id("mark", mark, self.source.source, str(self.kept["marks"]), sha256_hex(canonical(events)))
        body = {"mark": mark, "events": events, "note": note}
        self._ready.append(Taken(self._draft("mark", event, {**self._common(), **body}, "system", "", 0)))

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
        if not self.worker and self.kept["replies"] and self.kept["reasoning"] not in ("kept", "told"):
            body: dict[str, Any] = {
                "mark": "reasoning_withheld",
                "events": [],
                "note": self.kept["reasoning"] or "none in the source",
            }
            event = b32id("mark", "reasoning_withheld", self.harness, self.session)
            self._ready.append(Taken(self._draft("mark", event, {**self._common(), **body}, "system", "", 0)))
            self.kept["reasoning"] = "told"

    def _note_reasoning(self, state: str) -> None:
        if _REASONING.index(state) > _REASONING.index(self.kept["reasoning"]):
            self.kept["reasoning"] = state

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
        whence = {
            "harness": self.harness,
            "version": self.kept["version"],
            "id": native,
            "part": part,
            "adapter": self.adapter,
            "source": self.source.source,
        }
        return Draft(
            kind, event, self.ts, self.ts_source, self.session, self.harness, actor, "internal", whence, body
        )  # fmt: skip


def restarted(kept: dict[str, Any]) -> dict[str, Any]:
    """Return the memory to read a rewritten source from its start with: what it gave is gone until met again."""
    names = ("session", "rewound", "marks", "reasoning", "replies")
    gone = {**kept.get("gone", {}), **kept.get("live", {})}
    return {"gone": gone, **{name: kept[name] for name in names if name in kept}}


def utc(given: object) -> str:
    """Return a time as the record writes it; "" without a zone, or when it is none."""
    if not isinstance(given, str):
        return ""
    if is_stamp(given):
        return given
    try:
        moment = datetime.fromisoformat(given)
        return stamp(moment.astimezone(UTC)) if moment.tzinfo else ""
    except (ValueError, OverflowError):
        return ""


def text_of(value: object) -> str:
    """Return a text, "" of anything else."""
    return value if isinstance(value, str) else ""


def media_entries(media: list[tuple[bytes, str]]) -> list[dict[str, Any]]:
    """Return what an event's body says about media: their hash, type and size."""
    return [{"blob": sha256_hex(data), "mime": mime, "size": len(data)} for data, mime in media]


def inline(data: object, mime: object) -> tuple[bytes, str] | None:
    """Return (bytes, type) of base64 data, None when it is none."""
    if not isinstance(data, str) or not data:
        return None
    try:
        return base64.b64decode(data, validate=True), text_of(mime) or "application/octet-stream"
    except (binascii.Error, ValueError):
        return None


def data_url(url: object) -> tuple[bytes, str] | None:
    """Return (bytes, type) of a `data:` address, None of any other."""
    if not isinstance(url, str) or not url.startswith("data:"):
        return None
    head, _, data = url[len("data:") :].partition(",")
    mime, _, encoding = head.partition(";")
    return inline(data, mime) if encoding.endswith("base64") else None
