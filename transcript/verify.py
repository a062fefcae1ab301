"""Checks a whole record and names each fault by a code; writes nothing and quotes nothing of what it checks."""

import contextlib
import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from transcript import memory_verify
from transcript.blobs import BlobStore, references
from transcript.canonical import canonical
from transcript.errors import RecordError, clip
from transcript.event import VERSION, Position, commitment, envelope_hash, genesis, line_fault
from transcript.log import Log
from transcript.native import NativeStore
from transcript.projections import views as projections
from transcript.segments import ACTIVITY, Head, lines, open_segment, read_head, sealed_path, starts_line
from transcript.workspace import Workspace

CODES = {
    "bad_json": "a line is no JSON",
    "not_canonical": "a line is not written the one way it should be",
    "oversized": "a line is longer than any the record writes",
    "schema": "a field is missing, unknown or of the wrong kind",
    "missing_ts": "an event has no time",
    "missing_session": "an event has no session",
    "unknown_type": "an event's type is none the record knows",
    "newer_version": "an event was written by a newer version",
    "chain_edit": "an envelope was changed after it was written",
    "chain_insert": "a line was put in",
    "chain_delete": "a line was taken out",
    "chain_reorder": "lines changed places",
    "commit_mismatch": "a body was changed after it was written",
    "unexplained_redaction": "a body is gone and no redaction says so",
    "duplicate_id": "an event stands in the record twice",
    "foreign_workspace": "the record was begun by another workspace",
    "head_missing": "the witness of the record's end is gone",
    "head_damaged": "the witness of the record's end cannot be read",
    "head_mismatch": "the last event is not the one the head witnesses",
    "truncated": "the record is shorter than its head or an index has seen it",
    "watermark_mismatch": "an index has read another event at this place",
    "missing_segment": "a sealed segment is gone",
    "torn_tail": "bytes of an unfinished write stand behind the record's end",
    "missing_blob": "a long text is gone",
    "damaged_blob": "a long text was changed",
    "damaged_native": "native bytes were changed or are incomplete",
    **memory_verify.CODES,
    **projections.CODES,
}
MAX_LINE = 64 << 20
MAX_PROBLEMS = 1000


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault: its code, where it stands, and what it means in at most 200 characters."""

    code: str
    where: str
    message: str


@dataclass(slots=True)
class VerifyReport:
    """What was checked and what was found; beyond MAX_PROBLEMS faults are only counted.

    `start` is the event behind which the lines were checked, 0 for all; `through` is where a later check may go on.
    """

    problems: list[Problem] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    types: Counter[str] = field(default_factory=Counter)
    start: int = 0
    through: Position | None = None

    @property
    def ok(self) -> bool:
        """Say whether nothing was found."""
        return not self.problems

    @property
    def codes(self) -> list[str]:
        """The codes found, sorted, each once."""
        return sorted({problem.code for problem in self.problems})

    def add(self, code: str, where: str, detail: str = "") -> None:
        """Note a fault."""
        self.counts["problems"] += 1
        if len(self.problems) < MAX_PROBLEMS:
            message = f"{CODES[code]} ({detail})" if detail else CODES[code]
            self.problems.append(Problem(code, where, clip(message)))


def verify(
    workspace: Workspace,
    *,
    chain: bool = True,
    watermark: Position | None = None,
    blobs: bool = True,
    native: bool = True,
    views: bool = True,
    since: Position | None = None,
) -> VerifyReport:
    """Check a workspace's record: every line, the chain, the head, an index's watermark, blobs, native bytes, views.

    chain=False leaves out everything that is hashed; blobs, native and views say whether what lies
    beside the lines is opened too. With since, where an earlier check ended, only the lines behind it are read, with
    the long texts they name; all of them where an erasure has moved that place.
    """
    report = VerifyReport()
    try:
        head = read_head(workspace.log_dir)
    except RecordError:
        head = None
        report.add("head_damaged", "log/head")
    else:
        if head is None and (workspace.activity.exists() and workspace.activity.stat().st_size > 0):
            report.add("head_missing", "log/head")
    since = since if since is not None and _stands(workspace, head, since) else None
    walk = _Walk(workspace, report, chain=chain, watermark=watermark, since=since)
    walk.run(head)
    if head is not None:
        report.through = head.position
    if blobs:
        _check_blobs(workspace, walk.blobs, report)
    if native:
        _check_native(workspace, report)
    if views:
        with contextlib.suppress(RecordError):  # a record that cannot be read is reported already
            projections.check(workspace, report.add)
            memory_verify.check(Log(workspace), report.add)
    return report


class _Walk:
    """One pass over the lines."""

    def __init__(
        self,
        workspace: Workspace,
        report: VerifyReport,
        *,
        chain: bool,
        watermark: Position | None,
        since: Position | None = None,
    ) -> None:
        self.workspace = workspace
        self.report = report
        self.chain = chain
        self.watermark = watermark
        self.blobs: dict[str, str] = {}
        self._ids: set[str] = set()
        self._seq = 0
        self._hash = genesis(workspace.id)
        self._where = "start of the record"
        self._gaps: dict[int, str] = {}
        self._emptied: dict[str, str] = {}
        self._redacted: set[str] = set()
        self._head_seen = False
        self._short = False
        self._marked = watermark is None or watermark.seq == 0
        self._since = since
        if since is not None:
            self._seq, self._hash, self._where = since.seq, since.hash, f"event {since.seq}"
            self._marked = self._marked or (watermark is not None and watermark.seq <= since.seq)
            report.start = since.seq

    def run(self, head: Head | None) -> None:
        """Check every line, then what only the whole record shows."""
        if head is not None and self._since == head.position:
            self._check_head(head, self._where)
        for where, segment, end, line in self._lines(head):
            self._line(where, line)
            if head is not None and (segment, end) == (head.segment, head.length):
                self._check_head(head, where)
        if head is not None and head.length == 0 and not self._head_seen and not self._short:
            self._check_head(head, "log/head")  # a segment that was just begun holds no line to end at
        for where in self._gaps.values():
            self.report.add("chain_delete", where)
        for name, where in self._emptied.items():
            if name not in self._redacted:
                self.report.add("unexplained_redaction", where)
        if head is not None and not self._head_seen and head.seq:
            if self._seq < head.seq and self._short:
                self.report.add("truncated", ACTIVITY, f"it ends at event {self._seq}, its head witnesses {head.seq}")
            else:
                self.report.add("head_mismatch", "log/head", f"it witnesses event {head.seq} at byte {head.length}")
        if self.watermark is not None and not self._marked:
            self.report.add(
                "truncated", "index", f"it has read {self.watermark.seq} events, the record has {self._seq}"
            )

    def _check_head(self, head: Head, where: str) -> None:
        self._head_seen = True
        if self._seq != head.seq or (self.chain and self._hash != head.hash):
            self.report.add("head_mismatch", where, f"the head witnesses event {head.seq}")

    def _lines(self, head: Head | None) -> Iterator[tuple[str, int, int, bytes]]:
        """Yield (where, segment, end offset, line) up to the head; report what is missing or too much."""
        log_dir = self.workspace.log_dir
        number, skipped = (1, 0) if self._since is None else (self._since.segment, self._since.offset)
        behind = f" behind event {self._since.seq}" if self._since is not None else ""
        while True:
            sealed = sealed_path(log_dir, number).exists()
            last = not sealed and (head is None or number >= head.segment)
            if not sealed and not last:
                self.report.add("missing_segment", f"segment {number}")
                number += 1
                continue
            if last and not (log_dir / ACTIVITY).exists():
                self._short = True
                return
            with open_segment(log_dir, number) as handle:
                size = os.fstat(handle.fileno()).st_size
                limit = min(size, head.length) if last and head is not None else size
                end, count = handle.seek(skipped), 0
                while end < limit:
                    line = handle.readline(MAX_LINE + 1)
                    end += len(line)
                    count += 1
                    yield f"segment {number} line {count}{behind}", number, end, line
            self.report.counts["bytes"] += limit - skipped
            skipped, behind = 0, ""
            if last:
                self._short = head is not None and size < head.length
                if head is not None and size > head.length:
                    self._tail()
                return
            number += 1

    def _tail(self) -> None:
        """Report bytes behind the head unless a writer is just about to move it."""
        for _ in range(4):
            head = read_head(self.workspace.log_dir)
            left = self.workspace.activity.stat().st_size - (head.length if head else 0)
            if left <= 0:
                return
            time.sleep(0.05)
        self.report.add("torn_tail", ACTIVITY, f"{left} bytes; the next write moves them to quarantine")

    def _line(self, where: str, line: bytes) -> None:
        self.report.counts["lines"] += 1
        if len(line) > MAX_LINE:
            self.report.add("oversized", where, f"more than {MAX_LINE} bytes")
            return
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            self.report.add("bad_json", where, f"{len(line)} bytes")
            return
        version = fields.get("v") if isinstance(fields, dict) else None
        if type(version) is int and version > VERSION:
            self.report.add("newer_version", where, f"version {version}, this program knows {VERSION}; upgrade recall")
            return
        problem = line_fault(fields)
        if problem is not None:
            self.report.add(problem[0], where, problem[1])
        if not isinstance(fields, dict) or type(fields.get("seq")) is not int:
            return
        if problem is None:
            self.report.counts["events"] += 1
            self.report.types[fields["type"]] += 1
            self._event(where, line, fields)
        if self.chain:
            self._link(where, line, fields)
        else:
            self._seq = max(self._seq, fields["seq"])
            self._marked = self._marked or self.watermark is None or self._seq >= self.watermark.seq

    def _event(self, where: str, line: bytes, fields: dict[str, object]) -> None:
        name, body = str(fields["id"]), fields["body"]
        if name in self._ids:
            self.report.add("duplicate_id", where)
        self._ids.add(name)
        if self.chain and canonical(fields) + b"\n" != line:
            self.report.add("not_canonical", where)
        if not isinstance(body, dict):
            return
        if not body:
            self._emptied[name] = where
        elif self.chain and commitment(str(body["salt"]), canonical(body)) != fields["commit"]:
            self.report.add("commit_mismatch", where)
        if fields["type"] == "redaction":
            listed = body.get("events")
            self._redacted.update(map(str, listed) if isinstance(listed, list) else ())
        if b'"blob":' in line:
            for blob in references(body):
                self.blobs.setdefault(blob, where)

    def _link(self, where: str, line: bytes, fields: dict[str, object]) -> None:
        """Hold a line against the one before it."""
        seq = int(str(fields["seq"]))
        if seq == self._seq + 1:
            if fields.get("prev") != self._hash:
                if seq == 1:
                    self.report.add("foreign_workspace", where)
                else:
                    self.report.add("chain_edit", self._where, "the next line does not follow it")
        elif seq > self._seq + 1:
            for missing in range(self._seq + 1, min(seq, self._seq + 1 + MAX_PROBLEMS)):
                self._gaps[missing] = where
        elif seq in self._gaps:
            del self._gaps[seq]
            self.report.add("chain_reorder", where)
        else:
            self.report.add("chain_insert", where)
            return
        try:
            own = envelope_hash(line)
        except ValueError:
            own = ""
        if seq > self._seq:
            self._seq, self._hash, self._where = seq, own, where
        if self.watermark is not None and seq == self.watermark.seq:
            self._marked = True
            if own != self.watermark.hash:
                self.report.add("watermark_mismatch", where)


def _stands(workspace: Workspace, head: Head | None, since: Position) -> bool:
    """Say whether the record still goes on at a place, or ends there, as it did when that place was noted."""
    if head is None or since.seq > head.seq:
        return False
    if since.seq == head.seq:
        return since == head.position
    if not starts_line(workspace.log_dir, since.segment, since.offset):
        return False
    for _, _, line in lines(workspace.log_dir, head, segment=since.segment, offset=since.offset):
        return f',"prev":"{since.hash}","seq":{since.seq + 1},'.encode("ascii") in line
    return False


def _check_blobs(workspace: Workspace, wanted: dict[str, str], report: VerifyReport) -> None:
    store = BlobStore(workspace.blobs_dir)
    for name, where in wanted.items():
        report.counts["blobs"] += 1
        if name not in store:
            report.add("missing_blob", where, f"blob {name[:12]}")
            continue
        try:
            store.get(name)
        except RecordError:
            report.add("damaged_blob", where, f"blob {name[:12]}")


def _check_native(workspace: Workspace, report: VerifyReport) -> None:
    store = NativeStore(workspace)
    for harness, source in store.sources():
        where = f"native/{harness}/{source}"
        report.counts["native"] += 1
        try:
            report.counts["native_bytes"] += sum(len(data) for _, _, data in store.read(harness, source))
            torn = store.torn_bytes(harness, source)
        except RecordError:
            report.add("damaged_native", where)
            continue
        if torn:
            report.add("damaged_native", where, f"{torn} bytes at the end are no whole frame; the next sync mends it")
