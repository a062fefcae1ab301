"""The keys a person's decisions are signed with: files of the data folder, outside every workspace and record.

A key is read only when it is a regular file of ours that nobody else can open; it never enters an environment, an
argument, an event, a log line or an error.
"""

import contextlib
import os
import re
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from transcript.coord_codes import key_fault
from transcript.errors import KeyFault
from transcript.event import stamp
from transcript.paths import NotPlainError, fsync_dir, open_plain, secure_dir, write_all, write_atomic

FOLDER, CURRENT, REVOKED, USED = "keys", "approval.key", "revoked", "used"
KEY_BYTES = 32
ID_LENGTH = 16
_DOMAIN = b"recall-key/1\n"
_HEX = re.compile(rb"[0-9a-f]{64}")
_ID = re.compile(f"[0-9a-f]{{{ID_LENGTH}}}")
_MOST_BYTES = 256  # of a key file; one that is longer is none


@dataclass(frozen=True, slots=True)
class Key:
    """A key and its public id (16 hex digits). The secret is never printed."""

    id: str
    secret: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class KeyEntry:
    """What `list` says of a key: its id, `current`, `rotated` or `revoked`, and why it was revoked."""

    id: str
    state: str
    reason: str = ""


def key_id(secret: bytes) -> str:
    """Return the public id of a key."""
    return sha256(_DOMAIN + secret).hexdigest()[:ID_LENGTH]


class KeyStore:
    """The keys of one data folder. Every fault is a KeyFault with a code of `transcript.coord_codes`."""

    def __init__(self, data: Path) -> None:
        self.folder = data / FOLDER

    def current(self) -> Key:
        """Return the key that signs now; a revoked one is a fault."""
        key = read_key(self.folder / CURRENT)
        if key.id in self.revoked():
            raise key_fault("key_revoked", key.id)
        return key

    def by_id(self, name: str, *, even_revoked: bool = False) -> Key:
        """Return a key by its id; `key_unknown` where there is none, `key_revoked` unless even_revoked."""
        if _ID.fullmatch(name) is None:
            raise key_fault("key_unknown")
        if not even_revoked and name in self.revoked():
            raise key_fault("key_revoked", name)
        rotated = self.folder / f"approval-{name}.key"
        if os.path.lexists(rotated):
            key = read_key(rotated)
            if key.id == name:
                return key
            raise key_fault("key_unknown", name)
        key = read_key(self.folder / CURRENT)
        if key.id != name:
            raise key_fault("key_unknown", name)
        return key

    def create(self) -> Key:
        """Make the first key; `key_exists` where there is one already."""
        return make_key(self.folder / CURRENT)

    def rotate(self) -> tuple[Key, str]:
        """Make a new key the current one; return it and the id of the old, "" for one that could not be read as a key.

        The old key only verifies from now on, also one that others could read: so what it signed before can be told
        from what it never signed. `key_missing` where there is none to replace.
        """
        path, old = self.folder / CURRENT, ""
        if self.folder.is_symlink():
            raise key_fault("key_link", FOLDER)
        try:
            held = read_key(path, trusted=False)
        except KeyFault as fault:
            if fault.code == "key_missing":
                raise
        else:
            kept, old = self.folder / f"approval-{held.id}.key", held.id
            if not kept.exists():
                write_atomic(kept, held.secret.hex().encode("ascii") + b"\n")
        try:
            write_atomic(path, _new())
        except OSError:  # a folder stands in its place
            raise key_fault("key_link", path.name) from None
        return read_key(path), old

    def revoke(self, name: str, reason: str, *, now: datetime) -> None:
        """Take back every trust in a key: what it signed and is not applied yet never will be."""
        self.by_id(name, even_revoked=True)
        if name not in self.revoked():
            self._append(REVOKED, f"{name} {stamp(now)} {' '.join(reason.split())}")

    def revoked(self) -> dict[str, str]:
        """Return the reasons of revoked keys by their ids."""
        rows = [line.split(" ", 2) for line in self._lines(REVOKED)]
        return {row[0]: row[2] if len(row) > 2 else "" for row in rows if _ID.fullmatch(row[0])}

    def used(self, store: str, nonce: str) -> bool:
        """Say whether an approval was applied in a workspace; survives whatever is put back there."""
        return nonce in self.used_nonces(store)

    def used_nonces(self, store: str) -> set[str]:
        """Return every approval that was applied in a workspace."""
        return {nonce for name, _, nonce in (line.partition(" ") for line in self._lines(USED)) if name == store}

    def burn(self, store: str, nonce: str) -> None:
        """Note, durably and once, that an approval was applied."""
        if not self.used(store, nonce):
            self._append(USED, f"{store} {nonce}")

    def _lines(self, name: str) -> list[str]:
        """Return the lines of a list beside the keys; `key_list` for anything but a plain file, which is not opened."""
        try:
            descriptor = self._list(name, os.O_RDONLY)
        except (FileNotFoundError, NotADirectoryError):
            return []
        try:
            with open(descriptor, encoding="utf-8", newline="\n") as handle:
                return handle.read().split("\n")
        except UnicodeDecodeError:
            raise key_fault("key_list", name) from None

    def _append(self, name: str, line: str) -> None:
        """Add a line, on disk when this returns; behind the beginning of one that a full disk cut off it is its own."""
        secure_dir(self.folder)
        descriptor = self._list(name, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        try:
            size = os.fstat(descriptor).st_size
            if size:
                os.lseek(descriptor, size - 1, os.SEEK_SET)
            torn = size > 0 and os.read(descriptor, 1) != b"\n"
            write_all(descriptor, b"\n" * torn + line.encode() + b"\n")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        fsync_dir(self.folder)

    def _list(self, name: str, flags: int) -> int:
        """Open a list beside the keys, a plain file: a link could show another one, a pipe would be waited for."""
        try:
            return open_plain(self.folder / name, flags)
        except (NotPlainError, PermissionError):
            raise key_fault("key_list", name) from None

    def list(self) -> list[KeyEntry]:
        """Return every key there is a file or a revocation of: the current one first, then by id."""
        revoked = self.revoked()
        found: dict[str, str] = {}
        with contextlib.suppress(KeyFault):
            found[read_key(self.folder / CURRENT, trusted=False).id] = "current"
        for path in sorted(self.folder.glob("approval-*.key")) if self.folder.is_dir() else ():
            name = path.stem.removeprefix("approval-")
            if _ID.fullmatch(name):
                found.setdefault(name, "rotated")
        for name in sorted(revoked):
            found[name] = "revoked"
        return [KeyEntry(name, state, revoked.get(name, "")) for name, state in found.items()]


def make_key(path: Path) -> Key:
    """Make a key in a file that was not there; `key_exists` where it was. Of two that try, one does."""
    secure_dir(path.parent)
    if os.path.lexists(path):
        raise key_fault("key_exists")
    part = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    write_atomic(part, _new())
    try:
        os.link(part, path)
    except FileExistsError:
        raise key_fault("key_exists") from None
    except OSError:  # no hard links here
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    fsync_dir(path.parent)
    return read_key(path)


def read_key(path: Path, *, trusted: bool = True) -> Key:
    """Return the key of a file; unless trusted is asked for, also one that others could read."""
    data = _opened(path, trusted=trusted).strip()
    if _HEX.fullmatch(data) is None:
        raise key_fault("key_short", path.name)
    secret = bytes.fromhex(data.decode("ascii"))
    return Key(key_id(secret), secret)


def _new() -> bytes:
    return os.urandom(KEY_BYTES).hex().encode("ascii") + b"\n"


def _opened(path: Path, *, trusted: bool) -> bytes:
    """Return a key file's bytes after looking at what was opened, not at what the name says."""
    try:
        if path.parent.is_symlink():
            raise key_fault("key_link", path.name)
        descriptor = open_plain(path)
    except (FileNotFoundError, NotADirectoryError):
        raise key_fault("key_missing") from None
    except NotPlainError:
        raise key_fault("key_link", path.name) from None
    except OSError:
        raise key_fault("key_owner", path.name) from None
    try:
        found = os.fstat(descriptor)
        if os.name == "posix" and trusted:
            if found.st_uid != os.geteuid():
                raise key_fault("key_owner", path.name)
            if found.st_mode & 0o077 or path.parent.stat().st_mode & 0o022:
                raise key_fault("key_exposed", path.name)
        return os.read(descriptor, _MOST_BYTES)
    finally:
        os.close(descriptor)
