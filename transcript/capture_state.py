"""How far each source has been read: `run/capture.json`, and what its reader remembers in `run/capture/`.

All of it is derived. Where it is lost, sources are read again from their first byte, and everything that the record
holds already is recognised by its id. The memory of a source counts only together with the place it was written for.
"""

import json
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from transcript.paths import read_file, secure_dir, write_atomic
from transcript.workspace import Workspace

STATE_VERSION = 1
FILE = "capture.json"
DAMAGES_KEPT = 50


@dataclass(slots=True)
class SourceState:
    """One source as it was left. Offsets are bytes of the file, `lines` counts the lines before `offset`.

    `tail` is the SHA-256 of the 64 KiB before `offset`, `pieces` the (end, SHA-256) of each stretch that was read.
    """

    harness: str
    path: str
    identity: str
    session: str
    worker: str = ""
    companion: str = ""
    cwd: str = ""
    first: str = ""
    offset: int = 0
    lines: int = 0
    tail: str = ""
    pieces: list[list[Any]] = field(default_factory=list)
    generation: int = 0
    rest: str = ""
    rest_bytes: int = 0
    missing: bool = False
    absences: int = 0
    reread: bool = False  # a redaction took away what was remembered of it
    damaged: int = 0
    damage: list[list[Any]] = field(default_factory=list)
    records: dict[str, int] = field(default_factory=dict)
    unknown: dict[str, int] = field(default_factory=dict)
    notes: dict[str, int] = field(default_factory=dict)

    @property
    def incomplete(self) -> int:
        """How many bytes of an unfinished line wait at the end of the file."""
        return 0 if self.rest else self.rest_bytes


_FIELDS = frozenset(item.name for item in fields(SourceState))


class CaptureState:
    """The state of a workspace's capture. Reading it needs no lock."""

    def __init__(self, workspace: Workspace) -> None:
        self.path = workspace.run_dir / FILE
        self.folder = workspace.run_dir / "capture"
        self.sources: dict[str, SourceState] = {}
        self.skipped: dict[str, int] = {}
        self.heads: dict[str, list[Any]] = {}
        self.synced = ""
        self.lost = False
        try:
            kept = json.loads(read_file(self.path))
            if kept["version"] == STATE_VERSION:
                self.sources = {name: SourceState(**_known(item)) for name, item in kept["sources"].items()}
                self.skipped = dict(kept["skipped"])
                self.heads = dict(kept.get("heads", {}))
                self.synced = str(kept["synced"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            self.sources = {}
            self.lost = workspace.head_file.exists()

    def save(self) -> None:
        """Replace the file whole."""
        secure_dir(self.path.parent)
        kept = {
            "version": STATE_VERSION,
            "synced": self.synced,
            "skipped": self.skipped,
            "heads": self.heads,
            "sources": {name: asdict(item) for name, item in self.sources.items()},
        }
        write_atomic(self.path, json.dumps(kept, separators=(",", ":")).encode("ascii"), durable=False)

    def memory(self, source: str) -> dict[str, Any] | None:
        """Return what the reader of a source remembers, None when that is lost or of another place."""
        state = self.sources[source]
        try:
            kept = json.loads(zlib.decompress(read_file(self.folder / source)))
            if kept["at"] == [state.generation, state.offset]:
                memory: dict[str, Any] = kept["memory"]
                return memory
        except (OSError, ValueError, KeyError, TypeError, zlib.error):
            pass
        return None

    def remember(self, source: str, memory: dict[str, Any]) -> None:
        """Keep what the reader of a source remembers; `save` makes it count."""
        state = self.sources[source]
        secure_dir(self.folder)
        kept = {"at": [state.generation, state.offset], "memory": memory}
        data = json.dumps(kept, separators=(",", ":")).encode("ascii")
        write_atomic(self.folder / source, zlib.compress(data, 1), durable=False)

    # -- what health shows -------------------------------------------------------------------

    def unknown(self) -> Counter[str]:
        """Return how often each type that no adapter knows was met, by type@version."""
        return _sum(item.unknown for item in self.sources.values())

    def notes(self) -> Counter[str]:
        """Return how often each oddity was met, by name."""
        return _sum(item.notes for item in self.sources.values())

    def records(self) -> Counter[str]:
        """Return how many records were met, by type."""
        return _sum(item.records for item in self.sources.values())

    def damaged(self) -> int:
        """Return how many damaged lines were met."""
        return sum(item.damaged for item in self.sources.values())

    def damage(self) -> list[tuple[str, int, int, str]]:
        """Return (file, line, byte offset, reason) of damaged lines, at most 50 a file."""
        return [(item.path, *entry) for item in self.sources.values() for entry in item.damage]

    def missing(self) -> list[str]:
        """Return the files that are gone from their place; the record holds what they held."""
        return [item.path for item in self.sources.values() if item.missing]

    def incomplete(self) -> list[tuple[str, int]]:
        """Return (file, bytes) of each file that ends in an unfinished line."""
        return [(item.path, item.incomplete) for item in self.sources.values() if item.incomplete and not item.missing]


def _known(item: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name in _FIELDS}


def _sum(counts: Iterable[Mapping[str, int]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for count in counts:
        total.update(count)
    return total
