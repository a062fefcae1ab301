"""A copy of a workspace in another folder, whole while others write, checked, and cheap to bring up to date.

What is copied: the record up to its head, long texts, source bytes, hashes of what was erased, the workspace's key,
fitted thresholds, and what a person wrote for recall. Not copied: the index and `run/`, which are made from the record,
quarantined bytes, and keys that sign. Nothing is erased meanwhile; everybody else goes on writing.
"""

import contextlib
import errno
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from transcript.backup_files import (
    FILES,
    Mirror,
    Stored,
    check_files,
    check_names,
    copy_out,
    extra,
    folder,
    purge,
)
from transcript.backup_places import remember
from transcript.backup_unnamed import found, last_event
from transcript.backup_wanted import LOCK_SECONDS, locked, untaken, wanted
from transcript.canonical import canonical, sha256_hex
from transcript.errors import BackupError, BackupNewer, LockBusy, RecordError
from transcript.event import is_stamp, stamp
from transcript.lock import FileLock
from transcript.log import Log
from transcript.marks import is_id
from transcript.paths import read_file, remove_parts, write_atomic
from transcript.redaction import unfinished
from transcript.roots import read_table
from transcript.segments import Head, write_head
from transcript.telling import counted, minute, quoted
from transcript.verify import VerifyReport, verify
from transcript.workspace import USER, Workspace

MANIFEST = "manifest.json"
SCHEMA = 1
MOST = 1 << 62  # bytes or events: more no file system holds
_CHECK = "recall-check-"  # how the name of the folder begins in which a backup is read back


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup holds: whose, when, up to which event, its files; `verified` once the copy was found whole."""

    workspace: str
    at: str
    head: Head
    roots: tuple[str, ...]
    files: tuple[Stored, ...]
    verified: bool = False

    @property
    def size(self) -> int:
        """How many bytes its files have together."""
        return sum(one.size for one in self.files)


@dataclass(frozen=True, slots=True)
class Made:
    """What a backup did: its manifest, the folder, how many bytes were written, how many old files went.

    `noted` is whether the data folder took the note that there is this backup: a full disk does not. `untaken` names
    what of a person's own files is not in it: a link, and what no other system could give that name.
    """

    manifest: Manifest
    folder: Path
    written: int
    removed: int
    noted: bool = True
    untaken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Checked:
    """What is wrong with a backup, a sentence each, and how many files its manifest does not name."""

    manifest: Manifest
    wrong: tuple[str, ...]
    extra: int


def backup(workspace: Workspace, target: Path, *, now: datetime) -> Made:
    """Bring `target/<workspace>` up to what the workspace is now, and check it.

    BackupError when the copy is not whole, which a damaged record's is not, or when the record is not the one that was
    backed up there, gone on: an earlier backup then stays what it was. LockBusy while something is being erased, or
    another backup writes there.
    """
    data = workspace.data
    place = folder(place_for(workspace, target))
    log = Log(workspace)
    with _alone(place):
        with _no_erasure(workspace):
            earlier = _earlier(place, workspace.id)
            _goes_on(log, earlier, place)
            remove_parts(place / MANIFEST)
            before = {one.path: one for one in earlier.files} if earlier is not None else {}
            if earlier is not None and earlier.verified:
                purge(place / FILES, earlier.files)
            else:  # what no manifest names may be all that there is: gone on with, and removed by a whole one alone
                before = {**found(place / FILES), **before}
            _take_spool_in(log, now)
            head = log.head()
            mirror = Mirror(place / FILES, before)
            was_open = earlier.head.segment if earlier else 0
            files = [mirror.take(one) for one in wanted(workspace, head, was_open=was_open)]
            mirror.sync()
            entry = read_table(data).get(workspace.id)
            roots = tuple(entry.roots) if entry else ()
            manifest = Manifest(workspace.id, stamp(now), head, roots, tuple(files))
            report, first = verified(place, manifest), not (place / MANIFEST).exists()
            if report.ok or first:
                manifest = replace(manifest, verified=report.ok)
                _write(place, manifest)
            else:
                mirror.take_back()
        if not report.ok:
            kept = f"the backup of {earlier.at} stays" if earlier else f"what lies in {place} stays"
            kept = "it was kept, marked as not verified" if first else kept
            codes = ", ".join(report.codes[:3])
            raise BackupError(f"the copy is not whole ({codes}): {kept}; 'recall verify' says more")
        removed = purge(place / FILES, files)  # before another one may begin: it would take away what that has written
    made = Made(manifest, place, mirror.written, removed, untaken=untaken(workspace, manifest.files))
    try:
        remember(data, workspace.id, place, at=now, files=len(files), size=manifest.size, events=head.seq)
    except OSError:  # the copy is whole all the same, and never wanted more
        return replace(made, noted=False)
    return made


def check(place: Path) -> Checked:
    """Read a whole backup and say what is wrong with it. Writes nothing there; BackupError when it is no backup."""
    manifest = read_manifest(place)
    check_names(manifest.files)
    wrong = check_files(place / FILES, manifest.files)
    if not wrong:
        report = verified(place, manifest)
        wrong = [f"{problem.code} at {problem.where}: {problem.message}" for problem in report.problems]
    return Checked(manifest, tuple(wrong), extra(place / FILES, manifest.files))


def read_manifest(place: Path) -> Manifest:
    """Return what a backup says it holds; BackupError when it is none, damaged, or of a newer version."""
    if not (place / MANIFEST).is_file():
        raise BackupError(f"{place} holds no backup: {MANIFEST} is missing")
    try:
        fields = json.loads(read_file(place / MANIFEST))
        held = fields.pop("check")
        schema, head = fields.pop("schema_version"), Head(**fields.pop("head"))
        files = tuple(Stored(**one) for one in fields.pop("files"))
        manifest = Manifest(head=head, files=files, **{**fields, "roots": tuple(fields["roots"])})
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise BackupError(f"{place / MANIFEST} cannot be read as a backup's manifest; take another backup") from None
    if type(schema) is not int or schema > SCHEMA:
        raise BackupNewer(f"the backup is of version {quoted(schema)}, this program reads {SCHEMA}; upgrade recall")
    whose = isinstance(manifest.workspace, str) and (manifest.workspace == USER or is_id(manifest.workspace))
    if not whose or not all(isinstance(root, str) for root in manifest.roots):
        raise BackupError(f"{place / MANIFEST} does not say whose workspace it holds; take another backup")
    if held != _sum(manifest) or not _sound(manifest):
        raise BackupError(f"{place / MANIFEST} was changed or damaged; take another backup")
    return manifest


def _sound(manifest: Manifest) -> bool:
    """Whether each value is of its kind: a sum that is right does not say that a backup of ours was summed."""
    head, counts = manifest.head, [one.size for one in manifest.files]
    counts += [head.segment, head.seq, head.length]
    words = [head.hash, *(word for one in manifest.files for word in (one.path, one.stored, one.sha256))]
    return (
        is_stamp(manifest.at)
        and type(manifest.verified) is bool
        and all(type(count) is int and 0 <= count <= MOST for count in counts)
        and all(isinstance(word, str) for word in words)
        and head.segment <= len(manifest.files)  # each is a file, and is looked for
    )


def backups(target: Path) -> list[Path]:
    """Return the backups in a folder, which may itself be one, sorted."""
    if (target / MANIFEST).is_file():
        return [target]
    return sorted(path.parent for path in target.glob(f"*/{MANIFEST}")) if target.is_dir() else []


@contextlib.contextmanager
def laid_out(place: Path, manifest: Manifest) -> Iterator[Workspace]:
    """Give a backup's files the names they have in a workspace, by links in a folder that goes afterwards."""
    _clear_checks()
    with tempfile.TemporaryDirectory(prefix=f"{_CHECK}{os.getpid()}-") as made:
        home = Path(made) / "workspaces" / manifest.workspace
        for one in manifest.files:
            if not one.path.startswith(("data/", "project/")):
                path = home / one.path
                folder(path.parent)
                _linked(place / FILES, one, path)
        folder(home / "log")
        folder(home / "run")
        write_head(home / "log", manifest.head)
        yield Workspace(manifest.workspace, home)


def _clear_checks() -> None:
    """Remove such folders of processes that were killed: they may hold words."""
    if os.name != "posix":  # elsewhere signal 0 is a real signal
        return
    for path in Path(tempfile.gettempdir()).glob(f"{_CHECK}*-*"):
        pid = path.name.removeprefix(_CHECK).partition("-")[0]
        with contextlib.suppress(OSError):
            if path.is_symlink() or path.stat().st_uid != os.geteuid() or not pid.isdigit():
                continue
            try:
                os.kill(int(pid), 0)
            except ProcessLookupError:
                shutil.rmtree(path, ignore_errors=True)


def verified(place: Path, manifest: Manifest) -> VerifyReport:
    """Read the record in a backup as `recall verify` does."""
    with laid_out(place, manifest) as workspace:
        return verify(workspace)


def _linked(files: Path, one: Stored, path: Path) -> None:
    source = files / one.stored
    with contextlib.suppress(OSError):  # some systems let only administrators make links
        if source.stat().st_size == one.size:  # behind that stands what a killed backup left
            path.symlink_to(source.absolute())
            return
    copy_out(files, one, path)


def place_for(workspace: Workspace, target: Path) -> Path:
    """Return the folder of this workspace's backup, there or not; BackupError where it holds something else, or where
    no copy of every word may lie.
    """
    real, home = Path(os.path.realpath(target)), Path(os.path.realpath(workspace.data))
    if real == home or home in real.parents:
        raise BackupError(f"{target} lies in the data folder itself; name a folder on another disk")
    root = workspace.root and Path(os.path.realpath(workspace.root))
    if root and (real == root or root in real.parents):
        raise BackupError(f"{target} lies in the project, whose git would take every word along; name another folder")
    place = real / (f"recall-{USER}" if workspace.id == USER else workspace.id)
    if place.exists() and not (place / MANIFEST).exists():
        begun = {FILES, "lock", *(path.name for path in place.glob(f".{MANIFEST}.*"))}
        if not place.is_dir() or {path.name for path in place.iterdir()} - begun:
            raise BackupError(f"{place} exists and is no backup of recall; name another folder")
    return place


@contextlib.contextmanager
def _alone(place: Path) -> Iterator[None]:
    with FileLock(place / "lock", timeout=LOCK_SECONDS):
        yield


def _take_spool_in(log: Log, now: datetime) -> None:
    try:
        log.drain_spool(now=now, lock_timeout=0.5)
    except LockBusy:  # whoever holds the lock does it
        return
    except (OSError, RecordError) as error:  # a disk that went bad is mounted read-only: what is on it can be saved
        cause = error if isinstance(error, OSError) else error.__cause__
        if not isinstance(cause, OSError) or cause.errno != errno.EROFS:
            raise


@contextlib.contextmanager
def _no_erasure(workspace: Workspace) -> Iterator[None]:
    """Keep erasures waiting: they change files that are otherwise only ever appended to."""
    with locked(workspace.run_dir / "redaction.lock"):
        if unfinished(workspace):
            raise BackupError("an erasure was interrupted; run 'recall sync' to finish it, then the backup again")
        yield


def _earlier(place: Path, name: str) -> Manifest | None:
    """Return the manifest of the last backup here, None where none can be read; BackupError for another workspace's."""
    try:
        manifest = read_manifest(place)
        check_names(manifest.files)
    except BackupNewer:
        raise
    except BackupError:
        return None
    if manifest.workspace != name:
        raise BackupError(f"{place} holds the backup of workspace {manifest.workspace}; name another folder")
    return manifest


def _goes_on(log: Log, earlier: Manifest | None, place: Path) -> None:
    """BackupError where the record here lacks events that the backup has: a lost or replaced record is no newer one."""
    end = last_event(place / FILES) if earlier is None else (earlier.head.seq, earlier.head.hash)
    if end is None or not end[0]:
        return
    now, (then, held) = log.head(), end
    if now.seq >= then and next(e for e in log.read_back() if e.seq <= then).position.hash == held:
        return
    upto, what = "", f"Its {MANIFEST} cannot be read; name another folder"
    if earlier is not None:
        upto, what = (
            f" up to {minute(earlier.at)}",
            ("'recall restore' puts the backup's record back; to keep both, name another folder"),
        )
    raise BackupError(
        f"the backup in {place} holds {counted(then, 'event')}{upto} that the record here,"
        f" {counted(now.seq, 'event')}, does not go on from; nothing was changed. {what}"
    )


def _write(place: Path, manifest: Manifest) -> None:
    write_atomic(place / MANIFEST, canonical({**_fields(manifest), "check": _sum(manifest)}) + b"\n")


def _fields(manifest: Manifest) -> dict[str, Any]:
    return {**asdict(manifest), "schema_version": SCHEMA}


def _sum(manifest: Manifest) -> str:
    return sha256_hex(canonical(_fields(manifest)))
