"""A workspace out of a backup: everything is read and checked first, and what was erased since is erased in the copy
before the copy takes its place.
"""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path

from transcript import tombstones
from transcript.backup import Manifest, check
from transcript.backup_files import FILES, Stored, copy_out
from transcript.backup_places import BEFORE, set_aside
from transcript.errors import BackupError, RecallError, RecordError
from transcript.kept_out import LIST, keep_out
from transcript.lock import FileLock
from transcript.log import Log
from transcript.paths import fsync_dir, read_file, secure_dir
from transcript.redaction import Planner, erase
from transcript.redaction_plan import plan_known
from transcript.roots import EXCLUDED, exclude, excluded_roots
from transcript.segments import read_head, write_head
from transcript.sieve import Sieve
from transcript.telling import counted
from transcript.verify import verify
from transcript.workspace import USER, Workspace, claim, claimable

RESTORING = ".restoring-"
LOCK = "restore.lock"  # in the data folder's run/
LOCK_SECONDS = 30.0
_REASON = "erased after the backup was made"


@dataclass(slots=True)
class Restored:
    """What a restoration did, or with dry_run would do.

    `here` is how many events the record in its place has, None where there is none; `aside` is where that went.
    `erased` counts events of the backup that were erased since; `kept` names files of a person that were left alone,
    `unwritten` those that could not be written: (path, why, the backup's copy).
    """

    manifest: Manifest
    workspace: Workspace
    here: int | None = None
    aside: Path | None = None
    erased: int = 0
    settings: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    unwritten: list[tuple[str, str, str]] = field(default_factory=list)


def restore(
    place: Path, data: Path, *, project: Path | None = None, replace: bool = False, dry_run: bool = False, now: datetime
) -> Restored:
    """Put a workspace back from its backup; nothing is written before all of the backup was read and found whole.

    BackupError where it is not whole, where its workspace has a record here and replace is not given, or where no
    project's folder is known for it. WorkspaceError where that folder belongs to another record. LockBusy while another
    restoration into this data folder goes on.
    """
    checked = check(place)
    manifest = checked.manifest
    if checked.wrong:
        raise BackupError(f"{place} is not whole, nothing was restored: {'; '.join(checked.wrong[:3])}")
    home = data / "workspaces" / manifest.workspace
    root = _root(manifest, project)
    done = Restored(manifest, Workspace(manifest.workspace, home, root))
    if root is not None:
        claimable(manifest.workspace, root, data)
    done.here = _may_take(home, manifest, replace=replace)
    if dry_run:
        return done
    with FileLock(secure_dir(data / "run") / LOCK, timeout=LOCK_SECONDS):  # two at once would build in the same folder
        done.here = _may_take(home, manifest, replace=replace)
        done.erased, done.aside = _put_back(place, manifest, data, home, now)
        _personal(place, manifest, data, root, done)
        if root is not None:
            done.workspace = claim(manifest.workspace, root, data)
    return done


def _may_take(home: Path, manifest: Manifest, *, replace: bool) -> int | None:
    """Return how many events are in a record's place; BackupError where there are some that must stay."""
    here = _events(home)
    if here and not replace:
        raise BackupError(
            f"a record of {counted(here, 'event')} is here, the backup has {manifest.head.seq:,}; nothing was restored."
            " --replace sets the one here aside"
        )
    return here


def _put_back(place: Path, manifest: Manifest, data: Path, home: Path, now: datetime) -> tuple[int, Path | None]:
    """Make the record beside its place, check it and swap; return (events erased again, where the old one went)."""
    staged = Workspace(manifest.workspace, secure_dir(data / "workspaces") / f"{RESTORING}{manifest.workspace}")
    shutil.rmtree(staged.home, ignore_errors=True)
    try:
        _stage(place, manifest, staged)
        erased = _erase_again(staged, home, data, now)
        report = verify(staged)
        if not report.ok:
            raise BackupError(f"the restored record is not whole ({', '.join(report.codes[:3])}); nothing was changed")
        shutil.rmtree(staged.run_dir, ignore_errors=True)
        secure_dir(staged.run_dir)
        return erased, _swap(staged.home, home, now)
    finally:
        shutil.rmtree(staged.home, ignore_errors=True)


def _root(manifest: Manifest, project: Path | None) -> Path | None:
    if manifest.workspace == USER:
        return None
    found = [project] if project is not None else [Path(root) for root in manifest.roots]
    for path in found:
        if os.path.isdir(path):  # noqa: PTH112 - no error, whatever a manifest names
            return Path(os.path.realpath(path))
    where = project or (manifest.roots[0] if manifest.roots else "its project")
    raise BackupError(f"no folder {where} here; name the project's folder with --project PATH")


def _events(home: Path) -> int | None:
    """Return how many events the record in a place has, None where there is none; 1 for one that cannot be read."""
    try:
        head = read_head(home / "log")
    except RecordError:
        return 1
    if head is None:
        return 1 if any((home / "log").glob("activity*.jsonl")) else None
    return head.seq


def _stage(place: Path, manifest: Manifest, staged: Workspace) -> None:
    """Copy the workspace's own files beside its place; the head, without which it is no record, last."""
    secure_dir(staged.home)
    for one in manifest.files:
        if not one.path.startswith(("data/", "project/")):
            copy_out(place / FILES, one, staged.home / one.path)
    secure_dir(staged.log_dir)
    secure_dir(staged.run_dir)
    write_head(staged.log_dir, manifest.head)
    for path in (staged.home, *staged.home.rglob("*")):
        if path.is_dir():
            fsync_dir(path)


def _erase_again(staged: Workspace, home: Path, data: Path, now: datetime) -> int:
    """Erase in the copy what this machine knows to be erased: by its record's notes, then by the hashes of both."""
    known = [Workspace(staged.id, path) for path in (home, *set_aside(data, staged.id)) if path.is_dir()]
    hashes: set[bytes] = set()
    notes: dict[str, set[str]] = {}
    for one in known:
        held = _hashes(one)
        if held and one.id_key() != staged.id_key():
            raise BackupError(
                f"{one.home} was made anew from an export: what was erased there cannot be told from the backup's"
                " words; nothing was restored. Move that folder away to restore it all the same"
            )
        hashes |= held
        for how, ids in _notes(one):
            notes.setdefault(how, set()).update(ids)
    tombstones.add(staged, hashes)
    erased = 0
    for how, names in sorted(notes.items()):
        erased += _carried(staged, partial(plan_known, staged, names, how=how, reason=_REASON), now)
    if tombstones.Tombstones(staged):
        erased += _carried(staged, partial(plan_known, staged, set(), reason=_REASON), now)
    return erased


def _carried(staged: Workspace, planner: Planner, now: datetime) -> int:
    report = erase(staged, planner, now=now, by="recall restore")
    return report.counts.get("events", 0) if report is not None else 0


def _hashes(workspace: Workspace) -> set[bytes]:
    with contextlib.suppress(OSError):
        return set(read_file(workspace.log_dir / tombstones.FILE).split(b"\n")) - {b""}
    return set()


def _notes(workspace: Workspace) -> Iterator[tuple[str, list[str]]]:
    """Yield (how, ids) of each redaction in a record, as far as it can be read."""
    with contextlib.suppress(RecordError, OSError):
        for event in Log(workspace).read(sieve=Sieve(types=(b'"type":"redaction"',))):
            listed = event.body.get("events") if event.type == "redaction" else None
            if isinstance(listed, list) and listed:
                yield str(event.body.get("how", "forget")), [str(name) for name in listed]


def _swap(staged: Path, home: Path, now: datetime) -> Path | None:
    """Put the copy in place and return where the folder it replaces went, None where there was none."""
    aside = None
    with contextlib.ExitStack() as held:
        if home.is_dir():
            for name in ("redaction.lock", "capture.lock", "log.lock"):
                held.enter_context(FileLock(secure_dir(home / "run") / name, timeout=LOCK_SECONDS))
            if os.name != "posix":
                held.close()  # a folder with open files cannot be renamed there
            aside = home.with_name(f"{home.name}{BEFORE}{now.strftime('%Y%m%dT%H%M%SZ')}")
            if aside.exists():  # another one was set aside within the same second
                aside = aside.with_name(f"{aside.name}-{os.urandom(2).hex()}")
            home.rename(aside)
        try:
            staged.rename(home)
        except BaseException:  # Ctrl-C as well
            if aside is not None and not home.exists():
                aside.rename(home)
            raise
        fsync_dir(home.parent)
    if aside is not None and not _events(aside):
        shutil.rmtree(aside)
        return None
    return aside


def _personal(place: Path, manifest: Manifest, data: Path, root: Path | None, done: Restored) -> None:
    """Give back what a person wrote, where nothing stands; what keeps folders and sessions out is added to what is.

    One that cannot be written is no reason to keep back the others: the record is in its place by now.
    """
    for one in manifest.files:
        kind, _, name = one.path.partition("/")
        base = data if kind == "data" else root / ".recall" if kind == "project" and root is not None else None
        if base is None:
            continue
        try:
            _give_back(place / FILES, one, base / name, data, done)
        except (RecallError, OSError) as error:
            done.unwritten.append((str(base / name), _why(error), str(place / FILES / one.stored)))


def _why(error: RecallError | OSError) -> str:
    if not isinstance(error, OSError) or error.strerror is None:
        return str(error)
    return f"{os.fsdecode(error.filename)}: {error.strerror}" if error.filename else error.strerror


def _give_back(files: Path, one: Stored, target: Path, data: Path, done: Restored) -> None:
    held = read_file(files / one.stored)[: one.size]
    if (name := one.path.partition("/")[2]) in (EXCLUDED, LIST):
        _keep_away(held, name, data)
    elif not os.path.lexists(target):
        copy_out(files, one, target)
        done.settings.append(str(target))
    elif not target.is_file() or read_file(target) != held:
        done.kept.append(str(target))


def _keep_away(held: bytes, name: str, data: Path) -> None:
    """Add what a backup keeps out to what is kept out here."""
    if name == LIST:
        for line in held.decode("utf-8", "replace").splitlines():
            reason, _, session = line.partition(" ")
            keep_out(str(data), session.encode(), reason)
        return
    with tempfile.TemporaryDirectory() as made:
        (Path(made) / EXCLUDED).write_bytes(held)
        for path in excluded_roots(Path(made)):
            exclude(Path(path), data)
