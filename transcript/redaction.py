"""Carries an erasure out: bodies, long texts, source bytes, what lies beside them, then everything derived.

A journal in `run/` is written first and removed last. Every step may be done again, so whoever finds the journal
finishes the work from its start. The chain stays whole: an envelope is hashed without its body, and body and salt go
together, so nothing can be guessed from what is left.
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from transcript import tombstones
from transcript.blobs import remove
from transcript.canonical import b32id, canonical
from transcript.capture_state import CaptureState
from transcript.errors import LockBusy, RecordError
from transcript.event import Draft
from transcript.lock import FileLock
from transcript.log import Log
from transcript.native import NativeStore
from transcript.paths import fsync_dir, read_file, write_atomic
from transcript.redaction_plan import Plan
from transcript.segments import REWRITING, rewrite_sealed, sealed_path
from transcript.workspace import Workspace

JOURNAL = "redaction.json"
MOST_ROUNDS = 4
MOST_IDS = 5000  # of one event; beyond it the list would become a blob, which verify does not open
LOCK_SECONDS = 600.0
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Erased:
    """What a rewriter of something derived has to take out: these events, wherever it has words of them."""

    workspace: Workspace
    events: Sequence[str]
    how: str
    now: datetime


@dataclass(frozen=True, slots=True)
class Rewriter:
    """Takes erased events out of one derived store and says how many of its entries went. May be called again."""

    name: str
    erase: Callable[[Erased], int]


@dataclass(slots=True)
class Report:
    """What one erasure took, by kind of place, and what it cannot reach."""

    id: str
    how: str
    resumed: bool = False
    counts: dict[str, int] = field(default_factory=dict)
    types: dict[str, int] = field(default_factory=dict)
    unreachable: list[str] = field(default_factory=list)


Planner = Callable[[], Plan]


def erase(
    workspace: Workspace,
    planner: Planner,
    rewriters: Sequence[Rewriter] = (),
    *,
    now: datetime,
    by: str = "",
    lock_timeout: float = LOCK_SECONDS,
) -> Report | None:
    """Carry out what planner finds, None when it finds nothing.

    No capture runs meanwhile. An erasure that a crash left unfinished is finished first.
    """
    with _held(workspace, lock_timeout):
        _resume(workspace, rewriters, now)
        Log(workspace).drain_spool(now=now)
        report: Report | None = None
        for _ in range(MOST_ROUNDS):  # a turn may write the words into the ledger meanwhile
            plan = planner()
            if plan.empty or (report is not None and plan.derived_only and not _spooled(plan)):
                break
            journal = {"version": _VERSION, "id": os.urandom(8).hex(), "by": by, "plan": plan.to_dict()}
            write_atomic(workspace.run_dir / JOURNAL, json.dumps(journal).encode("ascii"))
            found = _carry_out(workspace, journal, rewriters, now)
            report = found if report is None else _joined(report, found)
        return report


def _spooled(plan: Plan) -> bool:
    return any(name.startswith("run/spool/") for name in plan.drop)


def unfinished(workspace: Workspace) -> bool:
    """Say whether an erasure was begun and not finished."""
    return (workspace.run_dir / JOURNAL).exists()


def resume(
    workspace: Workspace, rewriters: Sequence[Rewriter] = (), *, now: datetime, lock_timeout: float = LOCK_SECONDS
) -> Report | None:
    """Finish an erasure that a crash left unfinished; None when there is none."""
    if not unfinished(workspace):
        return None
    with _held(workspace, lock_timeout):
        return _resume(workspace, rewriters, now)


class _held:
    """The lock of erasures, and the one of captures: nothing may take the words in again meanwhile."""

    def __init__(self, workspace: Workspace, timeout: float) -> None:
        self._locks = [FileLock(workspace.run_dir / name) for name in ("redaction.lock", "capture.lock")]
        self._timeout = timeout

    def __enter__(self) -> None:
        for lock in self._locks:
            if not lock.acquire(self._timeout):
                self.__exit__()
                raise LockBusy(f"{lock.path.name} is held by another process; try again when it is done")

    def __exit__(self, *_: object) -> None:
        for lock in reversed(self._locks):
            lock.release()


def _resume(workspace: Workspace, rewriters: Sequence[Rewriter], now: datetime) -> Report | None:
    path = workspace.run_dir / JOURNAL
    try:
        journal = json.loads(read_file(path))
        if journal["version"] != _VERSION:
            raise RecordError("an unfinished redaction was begun by a newer version; upgrade recall")
        plan, _ = Plan.from_dict(journal["plan"]), journal["id"]
        for file in (*plan.drop, *(name for name, _, _ in plan.blank)):
            _inside(workspace, file)  # all of it is looked at before anything is touched
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        raise RecordError(f"{path} is damaged; move it away and run the redaction again") from None
    report = _carry_out(workspace, journal, rewriters, now)
    report.resumed = True
    return report


def _carry_out(workspace: Workspace, journal: dict[str, Any], rewriters: Sequence[Rewriter], now: datetime) -> Report:
    plan, name = Plan.from_dict(journal["plan"]), str(journal["id"])
    _clear(workspace)
    for file in plan.drop:  # first: the next write would take the spool in
        _inside(workspace, file).unlink(missing_ok=True)
    tombstones.add(workspace, (item.encode("ascii") for item in plan.tombstones))
    note(workspace, plan, name, str(journal.get("by", "")), now)
    _segments(workspace, plan, now)
    _beside(workspace, plan)
    _capture(workspace, plan)
    report = Report(name, plan.how, False, plan.counts(), plan.types, plan.unreachable)
    erased = Erased(workspace, plan.ids(), plan.how, now)
    for rewriter in rewriters:
        report.counts[rewriter.name] = rewriter.erase(erased)
    (workspace.run_dir / "ids.bin").unlink(missing_ok=True)
    _done(workspace, report, now)
    (workspace.run_dir / JOURNAL).unlink()
    fsync_dir(workspace.run_dir)
    return report


def _joined(first: Report, then: Report) -> Report:
    names = {*first.counts, *then.counts}
    counts = {name: first.counts.get(name, 0) + then.counts.get(name, 0) for name in sorted(names)}
    types = dict(Counter(first.types) + Counter(then.types))
    return Report(first.id, first.how, first.resumed, counts, types, first.unreachable)


def note(workspace: Workspace, plan: Plan, name: str, by: str, now: datetime) -> None:
    """Write into the record which bodies go, why and by whose word, before the first of them goes."""
    ids = plan.ids()
    parts = [ids[at : at + MOST_IDS] for at in range(0, len(ids), MOST_IDS)] or [[]]
    drafts = []
    for number, part in enumerate(parts):
        body = {"how": plan.how, "redaction": name, "events": part, "reason": plan.reason, "by": by}
        drafts.append(_draft(b32id("redaction", name, str(number)), name, {**body, "part": number, "of": len(parts)}))
    Log(workspace).append(drafts, now=now)


def _done(workspace: Workspace, report: Report, now: datetime) -> None:
    """Note that everything is erased: whoever keeps places of lines reads them anew behind this."""
    body = {"how": report.how, "redaction": report.id, "events": [], "erased": report.counts, "types": report.types}
    Log(workspace).append([_draft(b32id("redaction", report.id, "done"), report.id, {**body, "done": True})], now=now)


def _draft(event_id: str, name: str, body: dict[str, Any]) -> Draft:
    return Draft(
        type="redaction",
        id=event_id,
        ts="",
        ts_source="capture",
        session=f"recall:{name}",
        agent="recall",
        actor="human",
        origin="internal",
        body=body,
    )


def _clear(workspace: Workspace) -> None:
    """Remove files that a crash left half written beside those they were to replace."""
    for folder in (workspace.log_dir, *workspace.native_dir.glob("*")):
        for path in folder.glob(f"{REWRITING}*"):
            path.unlink(missing_ok=True)


def _segments(workspace: Workspace, plan: Plan, now: datetime) -> None:
    wanted: dict[int, set[int]] = {}
    for _, segment, seq in plan.events:
        wanted.setdefault(segment, set()).add(seq)
    log = Log(workspace)
    log.recover(now=now)  # a sealing that a crash left half done is completed before the sealed file changes
    for segment, seqs in sorted(wanted.items()):
        if not sealed_path(workspace.log_dir, segment).exists():
            log.seal_open(segment, now=now)
        rewrite_sealed(workspace.log_dir, segment, lambda line, seqs=seqs: _emptied(line, seqs))  # type: ignore[misc]


def _emptied(line: bytes, seqs: set[int]) -> bytes:
    """Return a line, without body and salt when it is one of these; the envelope's hash stays what it was."""
    tail = json.loads(b"{" + line[line.rindex(b',"commit":"') + 1 :])
    if tail["seq"] not in seqs:
        return line
    return canonical({**json.loads(line), "body": {}}) + b"\n"


def _beside(workspace: Workspace, plan: Plan) -> None:
    """Erase long texts, source lines and quarantined bytes."""
    blobs = Log(workspace).blobs
    for sha in plan.blobs:
        remove(blobs, sha)
    store = NativeStore(workspace)
    spans: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
    for harness, source, generation, offset, length in plan.native:
        spans.setdefault((harness, source), []).append((generation, offset, length))
    for (harness, source), places in sorted(spans.items()):
        store.blank(harness, source, places)
    torn: dict[str, list[tuple[int, int]]] = {}
    for name, start, end in plan.blank:
        torn.setdefault(name, []).append((start, end))
    for name, parts in torn.items():
        path = _inside(workspace, name)
        if path.exists():
            data = bytearray(read_file(path))
            for start, end in parts:
                data[start:end] = b" " * (end - start)
            write_atomic(path, bytes(data))


def _inside(workspace: Workspace, name: str) -> Path:
    """Return a file of the workspace by the name it has there; ValueError for one outside."""
    path = workspace.home / name
    if ".." in path.relative_to(workspace.home).parts:
        raise ValueError(f"{name} lies outside the workspace")
    return path


def _capture(workspace: Workspace, plan: Plan) -> None:
    """Make capture forget what it remembers of the sources: it reads them again, and the record knows every id."""
    if not plan.sources:
        return
    state = CaptureState(workspace)
    for name in plan.sources:
        (state.folder / name).unlink(missing_ok=True)
        if name in state.sources:
            known = state.sources[name]
            known.reread, known.offset, known.tail, known.pieces = True, 0, "", []
            known.rest, known.rest_bytes = "", 0
    if state.path.exists():
        state.save()
