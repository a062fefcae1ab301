"""One record of a Claude Code file: what it is called, where it stands, and what all its events share."""

from typing import Any

from transcript.adapters.base import Options, SourceFile
from transcript.adapters.tree_memory import Memory
from transcript.adapters.values import moment
from transcript.canonical import b32id, canonical, sha256_hex

HARNESS = "claude-code"
ADAPTER_VERSION = "1"


class Record:
    """The shared fields of a record, and the events that come of it.

    A record without an id of its own gets one from what it says: `said` is that, when it is not the record itself.
    `once` makes every copy of such a record the same event.
    """

    def __init__(
        self,
        fields: dict[str, Any],
        source: SourceFile,
        memory: Memory,
        options: Options,
        *,
        said: object = None,
        once: bool = False,
    ) -> None:
        self._fields = fields
        self._source = source
        self._memory = memory
        self.events: list[str] = []
        self.tools: list[str] = []
        self.flags: list[str] = []
        self.message = ""
        self.model = ""
        kept = memory.kept
        session = _text(fields, "sessionId", "session_id")
        if not kept["session"] and session:
            kept["session"] = session
        self.session: str = source.session or kept["session"] or source.path.stem
        self.version = _text(fields, "version") or kept["version"]
        kept["version"] = self.version
        self.uuid = _text(fields, "uuid")
        self.parent = _text(fields, "parentUuid", "parent_uuid") or _text(fields, "logicalParentUuid")
        self.sidechain = fields.get("isSidechain") is True
        self.worker = self._worker()
        if self.sidechain:
            self.flags.append("sidechain")
        if fields.get("isMeta"):
            self.flags.append("meta")
        self._identity = self.uuid
        if not self._identity and fields:
            body = said if said is not None else fields
            role = _text(fields, "type")
            seen = "" if once else sha256_hex(canonical([role, body]))[:16]
            self._identity = options.identify(self.session, role, body, memory.occurrence(seen) if seen else 0)
        self.ts, self.ts_source = self._time()

    def _worker(self) -> str:
        """Return the sub-agent's id; before 2.0 it had none, and the first record of its thread names it."""
        if self._source.worker:
            return self._source.worker
        if not self.sidechain:
            return ""
        agent = _text(self._fields, "agentId")
        if agent or not self.uuid:
            return agent or "sidechain"
        threads: dict[str, str] = self._memory.kept["threads"]
        worker = threads.get(self.parent, self.uuid[:8])
        threads[self.uuid] = worker
        return worker

    def _time(self) -> tuple[str, str]:
        """Return the record's time; without one, that of the record before, or the clock at capture."""
        kept = self._memory.kept
        if ts := moment(self._fields.get("timestamp")):
            kept["ts"] = ts
            return ts, "record"
        return (kept["ts"], "joined") if kept["ts"] else ("", "capture")

    def event_id(self, part: int, *names: str) -> str:
        """Return the id of the event for a block of this record."""
        return b32id(HARNESS, self._identity, str(part), *names)

    def native(self, part: int) -> dict[str, Any]:
        """Return where an event comes from."""
        return self._source.native(ADAPTER_VERSION, self.version, self.uuid, part)

    def common(self) -> dict[str, Any]:
        """Return the body fields that every event of the record has; empty ones are left out."""
        shared = {
            "cwd": _text(self._fields, "cwd"),
            "branch": _text(self._fields, "gitBranch"),
            "file": str(self._source.path),
            "parent": self.parent,
            "message": self.message,
            "model": self.model,
            "worker": self.worker,
            "flags": sorted(set(self.flags)),
        }
        return {name: value for name, value in shared.items() if value}

    def join_tree(self, kind: str) -> None:
        """Take the record's place among the others of the file."""
        if self.uuid:
            side = self.sidechain and not self._source.worker
            self._memory.meet(self.uuid, self.parent, "side" if side else kind, self.message, self.tools, self.events)


def _text(fields: dict[str, Any], *names: str) -> str:
    for name in names:
        value = fields.get(name)
        if isinstance(value, str) and value:
            return value
    return ""
