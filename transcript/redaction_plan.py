"""Decides what an erasure takes: which events, long texts, source lines and files. Looks only, and writes nothing.

A plan names places and keyed hashes, never words, so that it can lie in a journal.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Set
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from transcript.backup_places import out_of_reach
from transcript.blobs import references
from transcript.capture_state import CaptureState
from transcript.errors import RecordError
from transcript.event import Event, stamp
from transcript.log import Log
from transcript.memory_names import derived
from transcript.native import NativeStore
from transcript.needles import Needles, leaves
from transcript.paths import read_file
from transcript.projections import coord_files
from transcript.proposals import fold_proposals
from transcript.tombstones import LEAST, Tombstones, line_hash, record_hash, text_hash
from transcript.workspace import Workspace

SAID = frozenset({"conversation_turn", "tool_call", "tool_result", "reasoning", "system", "unknown", "recall"})
KEPT = frozenset({"redaction"})
LONG = 16  # characters from which the same words in another record of the source are the same text
_IN_NOTE = "reason and --by are kept, and one of them holds the text itself; give another reason or name"
_OLD_INDEX = ("unreadable", "before-")  # what a rebuild and a migration set aside
_DERIVED = ("capture", "spool", "turns", "vectors")  # folders of run/ that have a rewriter of their own


@dataclass(slots=True)
class Plan:
    """What one erasure takes.

    `native` lists (harness, source, generation, offset, length) of source lines, `blank` (file, start, end) of
    quarantined bytes, `drop` files of the workspace that go as a whole, `unreachable` what the command cannot erase.
    """

    how: str
    reason: str = ""
    events: list[tuple[str, int, int]] = field(default_factory=list)  # id, segment, seq
    blobs: list[str] = field(default_factory=list)
    native: list[tuple[str, str, int, int, int]] = field(default_factory=list)
    blank: list[tuple[str, int, int]] = field(default_factory=list)
    drop: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    tombstones: list[str] = field(default_factory=list)
    types: dict[str, int] = field(default_factory=dict)
    elsewhere: int = 0  # events that hold the same words and stay
    unreachable: list[str] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        """Say whether there is nothing to erase."""
        return self.derived_only and not self.drop

    @property
    def derived_only(self) -> bool:
        """Say whether nothing but files that are made anew would go: they may get the words from envelopes again."""
        return not (self.events or self.blobs or self.native or self.blank)

    def ids(self) -> list[str]:
        """Return the ids of the events whose words go."""
        return [name for name, _, _ in self.events]

    def counts(self) -> dict[str, int]:
        """Return how much goes, by kind of place."""
        found = {"events": len(self.events), "blobs": len(self.blobs), "native_lines": len(self.native)}
        return {**found, "quarantined": len(self.blank), "files": len(self.drop), "ledger": self.types.get("recall", 0)}

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, held: dict[str, Any]) -> "Plan":
        """Return the plan that to_dict wrote."""
        plan = cls(**held)
        plan.events = [(name, segment, seq) for name, segment, seq in plan.events]
        plan.native = [(harness, source, g, at, size) for harness, source, g, at, size in plan.native]
        plan.blank = [(name, start, end) for name, start, end in plan.blank]
        return plan


def plan_events(workspace: Workspace, ids: Set[str], *, reason: str = "", by: str = "") -> Plan:
    """Plan the erasure of single events, of what the ledger quotes of them, and of their source lines.

    RecordError where the reason, or the name of who decides it, would keep the words.
    """
    log = Log(workspace)
    texts: set[str] = set()
    for name in ids:
        event = log.get(name)
        if event.type in KEPT:
            raise RecordError(f"{event.pointer} is itself the note of a redaction; it holds no words and stays")
        texts.update(said(log.body(event)))
    if any(_repeats(kept, text) for text in texts for kept in (reason, by)):
        raise RecordError(_IN_NOTE)
    long = Needles(text for text in texts if len(text) >= LONG)
    finder = _Finder(workspace, Plan("redact", reason))
    finder.events(lambda event: event.id in ids, quotes=lambda body: body.get("prompt") in texts or long.in_value(body))
    finder.plan.elsewhere = _elsewhere(log, set(finder.plan.ids()), long)
    finder.native(_OfEvents(log, finder.plan))
    finder.files(long)
    return finder.plan


def plan_text(workspace: Workspace, text: str, *, ids: Set[str] = frozenset(), reason: str = "", by: str = "") -> Plan:
    """Plan the erasure of every event, long text, source line and file that holds a text, and of the events in ids.

    RecordError where the reason, or the name of who decides it, would keep the words.
    """
    needles = Needles([text])
    if needles.in_text(reason) or needles.in_text(by):
        raise RecordError(_IN_NOTE)
    finder = _Finder(workspace, Plan("forget", reason))
    holding = finder.blobs_holding(needles)

    def holds(event: Event) -> bool:
        return event.id in ids or needles.in_value(event.body) or not holding.isdisjoint(references(event.body))

    finder.events(holds, also=holding)
    of_events = _OfEvents(Log(workspace), finder.plan)
    finder.native(lambda source, raw: needles.in_bytes(raw) or of_events(source, raw))
    finder.files(needles)
    finder.coord(needles)
    for event in Log(workspace).read():
        if needles.in_value([event.session, event.agent, event.native]):
            finder.plan.unreachable.append(f"the envelope of event {event.pointer} (session, agent, native id)")
            break
    return finder.plan


def plan_retention(workspace: Workspace, before: datetime, *, reason: str = "") -> Plan:
    """Plan the erasure of everything said before a time. What somebody recorded by a command stays, envelopes stay."""
    oldest = stamp(before)
    finder = _Finder(workspace, Plan("retention", reason))
    newest: dict[str, str] = {}

    def old(event: Event) -> bool:
        source = str(event.native.get("source", ""))
        newest[source] = max(newest.get(source, ""), event.ts)
        return event.type in SAID and event.ts < oldest

    finder.events(old)
    of_events = _OfEvents(Log(workspace), finder.plan)
    finder.native(lambda source, raw: newest.get(source, "~") < oldest or _older(raw, oldest) or of_events(source, raw))
    finder.files(Needles([]))
    return finder.plan


def plan_known(workspace: Workspace, ids: Set[str], *, how: str = "forget", reason: str = "") -> Plan:
    """Plan the erasure of the events in ids, of all that the tombstones know where ids is empty, with their source
    lines: what was erased already, in a copy from before that.
    """
    held = Tombstones(workspace)
    finder = _Finder(workspace, Plan(how, reason))

    def erased(event: Event) -> bool:
        spoken = event.type in SAID and event.type != "recall"
        return spoken and held.record(event.type, event.ts, finder.log.body(event))

    finder.events(lambda event: event.id in ids if ids else erased(event))
    of_events = _OfEvents(finder.log, finder.plan)
    finder.native(lambda source, raw: held.line(raw) or of_events(source, raw))
    finder.files(Needles([]))
    return finder.plan


def said(body: dict[str, Any]) -> Iterator[str]:
    """Yield the verbatim texts of a body, those that blanks alone make up left out."""
    for name in ("text", "raw", "input"):
        for leaf in leaves(body.get(name, "")):
            if leaf.strip():
                yield leaf


def _repeats(reason: str, text: str) -> bool:
    """Say whether a reason holds a text, or so long a piece of it that it is no chance."""
    if len(text.strip()) >= LEAST and text.strip() in reason:
        return True
    return any(reason[at : at + LONG] in text for at in range(len(reason) - LONG + 1))


class _Finder:
    """Fills a plan, step by step."""

    def __init__(self, workspace: Workspace, plan: Plan) -> None:
        self.workspace, self.plan = workspace, plan
        self.log = Log(workspace)
        self._key = workspace.id_key()
        self._hashes: set[bytes] = set()
        self._sources: set[str] = set()

    def blobs_holding(self, needles: Needles) -> set[str]:
        """Return the names of long texts and media that hold a text."""
        found = set()
        for name in self.log.blobs.names():
            try:
                if needles.in_bytes(self.log.blobs.get(name)):
                    found.add(name)
            except RecordError:
                self.plan.unreachable.append(f"blob {name[:12]}, which is damaged")
        return found

    def events(
        self,
        goes: Callable[[Event], bool],
        *,
        quotes: Callable[[dict[str, Any]], bool] = lambda body: False,
        also: Set[str] = frozenset(),
    ) -> None:
        """Take the events that go, the ledger rows that show one of them, and blobs that nothing refers to any more."""
        gone: dict[str, Event] = {}
        ledger: dict[str, Event] = {}
        memories: dict[str, Event] = {}
        for event in self.log.read():
            if event.type in KEPT or not event.body:
                continue
            if goes(event):
                gone[event.id] = event
            elif event.type == "recall":
                ledger[event.id] = event
            if event.type.startswith("memory."):
                memories[event.id] = event
        self._follow(gone, ledger, memories if self.plan.how != "retention" else {}, quotes)
        self.plan.events = [(name, event.position.segment, event.seq) for name, event in gone.items()]
        self.plan.types = dict(sorted(Counter(event.type for event in gone.values()).items()))
        freed = {name for event in gone.values() for name in references(event.body)} | also
        if freed:
            for event in self.log.read():
                if event.id not in gone:
                    freed.difference_update(references(event.body))
        self.plan.blobs = sorted(freed)
        for event in gone.values():
            if source := str(event.native.get("source", "")):
                self._sources.add(source)
            if event.type in SAID and event.type != "recall":
                whole = self.log.body(event)
                self._hashes.add(record_hash(self._key, event.type, event.ts, whole))
                self._hashes.update(text_hash(self._key, text) for text in said(whole) if len(text) >= LEAST)
        self._settle()

    @staticmethod
    def _follow(
        gone: dict[str, Event],
        ledger: dict[str, Event],
        memories: dict[str, Event],
        quotes: Callable[[dict[str, Any]], bool],
    ) -> None:
        """Add the memory events that rest on what goes and the ledger rows that show it, each to the last."""
        while True:
            before = len(gone)
            gone.update((name, memories[name]) for name in sorted(derived(memories.values(), set(gone))))
            for name, event in ledger.items():
                if not gone.keys().isdisjoint(_shown(event.body)) or quotes(event.body):
                    gone[name] = event
            if len(gone) == before:
                return

    def native(self, goes: Callable[[str, bytes], bool]) -> None:
        """Take the source lines that go."""
        store = NativeStore(self.workspace)
        for harness, source in store.sources():
            for generation, offset, raw, _ in store.lines(harness, source):
                if raw.strip() and goes(source, raw):
                    self.plan.native.append((harness, source, generation, offset, len(raw)))
                    self._hashes.add(line_hash(self._key, raw))
                    self._sources.add(source)
        self._settle()

    def files(self, needles: Needles) -> None:
        """Take what lies beside the record: the spool, quarantined bytes, what capture remembers, derived files."""
        home, run = self.workspace.home, self.workspace.run_dir
        for path in sorted((self.workspace.log_dir / "quarantine").glob("*")):
            for start, end, raw in _lines_of(read_file(path)):
                if needles.in_bytes(raw):
                    self.plan.blank.append((path.relative_to(home).as_posix(), start, end))
        gone = set(self.plan.ids())
        for path in sorted((run / "spool").glob("*.json")):
            if needles.in_bytes(read_file(path)) or not gone.isdisjoint(_shown(_body_of(path))):
                self.plan.drop.append(path.relative_to(home).as_posix())
        for path in sorted(run.rglob("*")) if needles else ():
            other = path.relative_to(run).parts[0] not in _DERIVED and path.suffix != ".lock"
            if other and path.is_file() and needles.in_bytes(read_file(path)):
                self.plan.drop.append(path.relative_to(home).as_posix())
        self.plan.drop += [path.name for kind in _OLD_INDEX for path in sorted(home.glob(f"index.sqlite.{kind}*"))]
        self.plan.sources = sorted(self._sources)
        self.plan.unreachable += out_of_reach(self.workspace)
        known = CaptureState(self.workspace).sources
        for name in self.plan.sources:
            if name in known and not known[name].missing and Path(known[name].path).exists():
                self.plan.unreachable.append(f"{known[name].harness}'s own file {known[name].path}")

    def coord(self, needles: Needles) -> None:
        """Name files that hold a text and that came of proposals, lie among them without being one of ours, or say
        what a session always carries.
        """
        state = fold_proposals(self.log)
        known = {coord_files.MEMORY, *(f"{name}.json" for name in state.documents)}
        roots = {*coord_files.coord_roots(self.workspace), *filter(None, (self.workspace.root,))}
        carried = [root / ".recall" / name for root in roots for name in ("identity", "packs")]
        carried.append(self.workspace.data / "identity")
        made = [path for folder in carried for path in folder.rglob("*")]
        for root in coord_files.coord_roots(self.workspace):
            found = [path for path in (root / coord_files.FOLDER).rglob("*") if path.name not in known]
            made += [root / str(one["to"]) / f"{one['event_id']}.yml" for one in state.promoted]
            made += found
        for path in sorted(set(made)):
            if path.is_file() and not path.is_symlink() and needles.in_bytes(read_file(path)):
                self.plan.unreachable.append(str(path))

    def _settle(self) -> None:
        self.plan.tombstones = sorted(item.decode("ascii") for item in self._hashes)


class _OfEvents:
    """Says whether a source line is one of a plan's events: it carries the record's id and words of it."""

    def __init__(self, log: Log, plan: Plan) -> None:
        self._names: dict[str, dict[str, set[str]]] = {}
        self._texts: dict[str, set[str]] = {}
        gone = set(plan.ids())
        texts: dict[str, tuple[str, set[str]]] = {}
        for event in log.read():
            source = str(event.native.get("source", ""))
            if event.id in gone and source:
                words = set(said(log.body(event)))
                texts[event.id] = (str(event.native.get("id", "")), words)
                self._note(source, *texts[event.id])
            elif event.type == "sighting" and event.body.get("of") in texts and source:
                self._note(source, *texts[str(event.body["of"])])

    def _note(self, source: str, name: str, words: set[str]) -> None:
        if name:
            self._names.setdefault(source, {}).setdefault(name, set()).update(words)
        self._texts.setdefault(source, set()).update(word for word in words if not name or len(word) >= LONG)

    def __call__(self, source: str, raw: bytes) -> bool:
        if source not in self._texts:
            return False
        try:
            found = set(leaves(json.loads(raw)))
        except (ValueError, RecursionError):
            found = {raw.decode("utf-8", "replace")}
        if not found.isdisjoint(self._texts[source]):
            return True
        names = self._names.get(source, {})
        return any(_shares(found - {name}, names[name]) for name in found & names.keys())


def _shares(found: set[str], words: set[str]) -> bool:
    return not words or any(leaf in word or word in leaf for leaf in found if len(leaf) > 1 for word in words)


def _shown(body: dict[str, Any]) -> set[str]:
    """Return the events that a ledger row quotes."""
    items = [item for item in body.get("items", ()) if isinstance(item, dict)] if isinstance(body, dict) else []
    return {name for item in items for name in (item.get("event"), *item.get("also", ())) if isinstance(name, str)}


def _elsewhere(log: Log, gone: set[str], needles: Needles) -> int:
    """Count events that hold the same words and are not erased."""
    if not needles:
        return 0
    return sum(event.id not in gone and event.type not in KEPT and needles.in_value(event.body) for event in log.read())


def _older(raw: bytes, oldest: str) -> bool:
    """Say whether a source line is stamped before a time."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return False
    found = value.get("timestamp", value.get("ts")) if isinstance(value, dict) else None
    return isinstance(found, str) and found[:4].isdigit() and found[:19] < oldest[:19]


def _body_of(path: Path) -> dict[str, Any]:
    try:
        body = json.loads(read_file(path))["body"]
    except (ValueError, KeyError, TypeError, OSError):
        return {}
    return body if isinstance(body, dict) else {}


def _lines_of(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    at = 0
    for raw in data.split(b"\n"):
        if raw.strip():
            yield at, at + len(raw), raw
        at += len(raw) + 1
