"""Which files hold something of ours, and what is needed to give their original bytes back.

One list for the machine, `<data>/hooks.json`, with the original bytes in `<data>/hooks-backup/`.
"""

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from transcript.errors import HookInstallError
from transcript.paths import read_file, secure_dir, write_atomic

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
    try:
        return [_entry(held) for held in json.loads(read_file(data / REGISTRY))]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise HookInstallError(
            f"{data / REGISTRY} cannot be read ({error}); "
            "move it away, and 'recall enable-hooks --all --remove' works without it"
        ) from error


def _entry(held: dict[str, Any]) -> Installed:
    known = {field.name for field in fields(Installed)}
    found = Installed(**{key: value for key, value in held.items() if key in known})
    texts = [value for name, value in asdict(found).items() if name != "folders"] + list(found.folders)
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(f"an entry of unknown shape: {held!r:.100}")
    return found


def entry_of(data: Path, file: Path) -> Installed | None:
    """Return what is recorded of one file."""
    return next((entry for entry in registered(data) if entry.file == str(file)), None)


def record(data: Path, entry: Installed) -> None:
    """Add an entry, or replace the one of its file."""
    _save(data, [*(known for known in registered(data) if known.file != entry.file), entry])


def drop(data: Path, entry: Installed) -> None:
    """Take an entry and its backup away."""
    _save(data, [known for known in registered(data) if known.file != entry.file])
    if entry.before:
        (data / BACKUPS / entry.before).unlink(missing_ok=True)


def back_up(data: Path, file: Path, text: str) -> str:
    """Keep the bytes that removal gives back; return the backup's name."""
    name = f"{sha(str(file))[:16]}.json"
    write_atomic(secure_dir(data / BACKUPS) / name, text.encode())
    return name


def backed_up(data: Path, entry: Installed) -> str | None:
    """Return the text from before; None where there was no file, or where its backup cannot be read any more."""
    try:
        return read_file(data / BACKUPS / entry.before).decode() if entry.before else None
    except (OSError, UnicodeDecodeError):
        return None


def sha(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def _save(data: Path, entries: list[Installed]) -> None:
    write_atomic(data / REGISTRY, json.dumps([asdict(entry) for entry in entries], indent=1).encode())
