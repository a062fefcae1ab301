"""`recall export`: the record as files that other tools read."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from recall.cli.app import App, choose, demo_option, pass_app
from recall.cli.output import note
from recall.cli.reading import door
from transcript.canonical import sha256_hex
from transcript.errors import PointerError, RecordError
from transcript.paths import fsync_dir
from transcript.telling import counted

if TYPE_CHECKING:
    from transcript.workspace import Workspace

LONGEST_NAME = 120
HEAD_BYTES = 4096
MARKS = (b'"recall_export":', b'"schema_version": "ATIF-')  # near the beginning of what we wrote


@click.command()
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "kind",
    type=click.Choice(["wire", "atif"]),
    default="wire",
    show_default=True,
    help="wire: every event, for 'recall import'; atif: a document per session (ATIF 1.7).",
)
@click.option("--session", metavar="ID", help="With --format atif: this session only; OUT is then its file.")
@click.option(
    "--audience",
    type=click.Choice(("private", "project")),
    default="project",
    show_default=True,
    help="project: only where nothing in the record is private; private: whatever is in it, a person's choice.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be written, and write nothing.")
@demo_option
@pass_app
def command(app: App, out: Path, kind: str, session: str | None, audience: str, dry_run: bool, demo: bool) -> None:
    """Write the record to OUT, in full and unmasked.

    A wire file holds every event, one a line, with its words, media and hashes; 'recall import' takes it into an empty
    workspace. With --format atif OUT is a folder with one document per session. An earlier export is replaced, any
    other file is left alone. What was redacted is exported as redacted; the workspace's key and the kept source bytes
    are not exported. Where something in the record is private, a wire file needs --audience private: it is whole or
    it is none. No document of ATIF holds memories or observations.

    \b
        recall export record.jsonl
    """
    chosen = choose(app, demo)
    workspace = chosen.workspace()
    if session is not None and kind != "atif":
        raise click.UsageError("--session goes with --format atif; a wire file holds the whole record")
    leaving = door(chosen, workspace, audience)
    if kind == "wire":
        kept_back = leaving.kept_back(chosen.log(workspace))
        if kept_back:
            raise RecordError(
                f"{counted(kept_back, 'private event')} in the record would leave with it; nothing was written."
                " For yourself, add --audience private"
            )
        wire(workspace, out, dry_run)
    else:
        atif(workspace, out, session, dry_run)


def wire(workspace: Workspace, out: Path, dry_run: bool) -> None:
    """Write the whole record to one file, replaced when it is complete."""
    from transcript.export import export
    from transcript.log import Log

    events = Log(workspace).head().seq
    if dry_run:
        note(f"{counted(events, 'event')} would be written to {out}")
        return
    with replaced(out) as file:
        file.writelines(export(workspace))
    note(f"{counted(events, 'event')} written to {out}; it holds everything that was said, secrets included")


def atif(workspace: Workspace, out: Path, session: str | None, dry_run: bool) -> None:
    """Write one document per session."""
    from transcript import atif as format
    from transcript.log import Log

    log = Log(workspace)
    found = format.sessions(log)
    names = list(found)
    if session is not None:
        names = [name for name in names if name.startswith(session)]
        if len(names) != 1:
            how_many = counted(len(names), "session is", "sessions are")
            raise PointerError(f"{how_many} called {session}; 'recall context' shows their ids")
    if dry_run:
        note(f"{counted(len(names), 'session')} would be written to {out}")
        return
    if session is None:
        out.mkdir(exist_ok=True, mode=0o700)
    for name in names:
        path = out if session is not None else out / file_name(name)
        with replaced(path) as file:
            text = json.dumps(format.trajectory(log, found[name]), ensure_ascii=True, indent=1)
            file.write(f"{text}\n".encode("ascii"))
    what = "it holds" if len(names) == 1 else "they hold"
    note(f"{counted(len(names), 'session')} written to {out}; {what} everything that was said, secrets included")


def file_name(session: str) -> str:
    """Return what a session's file is called: its id, cut and with a hash where that cannot be a name of a file."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "-", session)[:LONGEST_NAME]
    return f"{plain}.json" if plain == session else f"{plain}-{sha256_hex(session.encode('utf-8', 'replace'))[:8]}.json"


@contextlib.contextmanager
def replaced(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for writing that only its owner can read; it stands in its place whole and on the disk, or not.

    RecordError where something else than an earlier export stands there: a name mistyped would be a file lost.
    """
    if not free(path):
        raise RecordError(f"{path} exists and is no export of recall; name another file, or remove it first")
    beside = path.with_name(f".{path.name}.part")
    beside.unlink(missing_ok=True)
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    fsync_dir(path.parent)


def free(path: Path) -> bool:
    """Say whether nothing stands at path, or an empty file, or an earlier export."""
    if not os.path.lexists(path):
        return True
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    return not head or any(mark in head for mark in MARKS)
