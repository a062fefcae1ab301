"""What an adapter is: it turns one harness's session files into drafts of events.

The contract, which every adapter's tests check:

- Native logs are read as they are. An adapter never writes, asks the network or the clock, and its output depends
  on the bytes it is fed, its memory and its options alone: same log, same drafts, ids included, in every time zone
  and with every hash seed.
- Drafts are fed to the record in the order of the lines. Identity comes from the record's native id; where there is
  none, `Options.identify` makes one that depends on what was said and not on where it stands.
- What it does not know becomes an `unknown` event and is counted by name; bookkeeping is counted only.
- `memory` is all that a reader keeps between two calls, plain JSON, so that reading can go on behind the last line.
  An empty memory is always valid and means: from the first line.
"""

import hashlib
import hmac
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Protocol, runtime_checkable

from transcript.adapters.jsonl import Line
from transcript.canonical import b32id, canonical
from transcript.event import Draft


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of a harness: what it is called for ever, and whose session it belongs to.

    `identity` does not name the folder above the harness's project folders, so that a copy of those is the same source.
    """

    harness: str
    path: Path
    identity: str
    session: str
    worker: str = ""
    companion: str = ""

    @property
    def source(self) -> str:
        """The identity as events carry it: 16 hex digits."""
        return hashlib.sha256(f"{self.harness}\x1f{self.identity}".encode("utf-8", "surrogateescape")).hexdigest()[:16]

    def native(self, adapter: str, version: str, record: str, part: int) -> dict[str, Any]:
        """Return where an event comes from: which part of which record of this source, read by which adapter."""
        return {
            "harness": self.harness, "version": version, "id": record, "part": part, "adapter": adapter,
            "source": self.source,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Options:
    """What the workspace decides: whether exposed reasoning is kept, and the key of ids made here."""

    key: bytes
    reasoning: bool = False

    def identify(self, session: str, role: str, body: object, occurrence: int) -> str:
        """Return an id for what has none of its own; it tells nothing to whoever lacks the key."""
        said = canonical([session, role, body, occurrence])
        return b32id("hmac", hmac.new(self.key, said, hashlib.sha256).hexdigest())


@dataclass(frozen=True, slots=True)
class Taken:
    """A draft together with the bytes its `media` names by their SHA-256."""

    draft: Draft
    media: tuple[bytes, ...] = ()


@dataclass(slots=True)
class Counts:
    """What was met in a source, by name: records by type, what nobody knows by type@version, oddities."""

    records: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)


class Reader(Protocol):
    """Reads one source on, line after line."""

    counts: Counts

    def feed(self, line: Line) -> None:
        """Take in the next line."""

    def take(self) -> list[Taken]:
        """Return what is ready since the last call, in order."""

    def finish(self) -> list[Taken]:
        """Return what follows from the whole: marks. Call once, at the end of what there is."""


class Adapter(Protocol):
    """One harness. `origin` says whether its sessions are the agent's own (`internal`)."""

    harness: str
    version: str
    origin: str

    def roots(self, env: Mapping[str, str]) -> list[Path]:
        """Return the folders where the harness keeps its sessions by default."""

    def discover(self, roots: Iterable[Path]) -> tuple[list[SourceFile], Counter[str]]:
        """Return every source under roots in the order of their paths, and what was refused by reason."""

    def open(self, source: SourceFile) -> BinaryIO:
        """Return a source as lines of JSON, from its first byte, seekable.

        A harness that writes lines gives its file. One that rewrites a whole document, keeps a database or writes
        text gives a view: one canonical line a record, in the record's order, so that what is new stands at the end
        and capture reads on behind the last line. OSError when it cannot be read.
        """

    def is_record(self, value: dict[str, Any]) -> bool:
        """Return whether an object found behind damage is a whole record and no part of one."""

    def recognises(self, values: Sequence[dict[str, Any]]) -> bool:
        """Return whether these first records of a file are this harness's."""

    def restarted(self, memory: dict[str, Any]) -> dict[str, Any]:
        """Return the memory to read a rewritten file from its first line with."""

    def recalled(self, abandoned: list[str], rewound: dict[str, list[str]], marks: int) -> dict[str, Any]:
        """Return the memory to read a file from its first line with, of which these marks stand in the record."""

    def reader(self, source: SourceFile, memory: dict[str, Any], options: Options) -> Reader:
        """Return a reader that goes on where memory stands and keeps it up to date."""

    def head(self, values: Sequence[dict[str, Any]]) -> tuple[str, str, str]:
        """Return (cwd, time, session) of the first of these records that has each, "" where none has."""


@runtime_checkable
class InProject(Protocol):
    """What an adapter has besides when its harness keeps sessions in the project itself."""

    def in_project(self, root: Path) -> list[Path]:
        """Return the files or folders of a project to look in; they need not exist."""
