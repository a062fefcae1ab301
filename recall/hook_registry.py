"""Which files hold something of ours, and what is needed to give their original bytes back.

One list for the machine, `<data>/hooks.json`, with the original bytes in `<data>/hooks-backup/`.
"""

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from transcript.errors import HookInstallError
from transcript.paths import secure_dir, write_atomic

REGISTRY = "hooks.json"
BACKUPS = "hooks-backup"


@dataclass(frozen=True, slots=True)
class Installed:
    """One file that holds something of ours."""

    harness: str
    scope: str  # "user" or "project"
    file: str
    command: str
    version: str
    at: str
    before: str  # name of the backup, "" where there was no file
    after: str  # SHA-256 of the file as we left it
    folders: tuple[str, ...] = ()  # those that we made for it, the innermost first
    exclude: str = ""  # the git exclude file that got our line
    line: str = ""  # that line
    kind: str = "hooks"  # or "extension", or "rules": a rules file that holds our block (recall.rules_block)


def registered(data: Path) -> list[Installed]:
    """Return every file that holds something of ours, as recorded when it was written."""
    known = {field.name for field in fields(Installed)}
    try:
        found = json.loads((data / REGISTRY).read_bytes())
        entries = [Installed(**{key: value for key, value in entry.items() if key in known}) for entry in found]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise HookInstallError(f"{data / REGISTRY} cannot be read ({error}); remove it") from error
    return entries


def entry_of(data: Path, file: Path) -> Installed | None:
    """Return what is recorded of one file."""
    return next((entry for entry in registered(data) if entry.file == str(file)), None)


def record(data: Path, entry: Installed) -> None:
    """Add an entry, or replace the one of its file."""
    _save(data, [*(known for known in registered(data) if known.file != entry.file), entry])


def drop(data: Path, entry: Installed) -> None:
    """Take an entry and its backup away."""
    if entry.before:
        (data / BACKUPS / entry.before).unlink(missing_ok=True)
    _save(data, [known for known in registered(data) if known.file != entry.file])


def back_up(data: Path, file: Path, text: str) -> str:
    """Keep the bytes that removal gives back; return the backup's name."""
    name = f"{sha(str(file))[:16]}.json"
    write_atomic(secure_dir(data / BACKUPS) / name, text.encode())
    return name


def backed_up(data: Path, entry: Installed) -> str | None:
    """Return the text from before, None where there was no file. HookInstallError when the backup is gone."""
    if not entry.before:
        return None
    try:
        return (data / BACKUPS / entry.before).read_bytes().decode()
    except OSError as error:
        raise HookInstallError(f"the backup of {entry.file} cannot be read: {error}") from error


def sha(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def _save(data: Path, entries: list[Installed]) -> None:
    write_atomic(data / REGISTRY, json.dumps([asdict(entry) for entry in entries], indent=1).encode())
