"""Brings an index of an older schema up, with a copy of the old file beside it until the result was checked."""

import os
from collections.abc import Iterable
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path

import apsw

from indexer import schema
from indexer.connection import connect, translated
from indexer.passage_text import Execute, Texts
from indexer.reader import SCHEMA_VERSION
from indexer.rows import KEY_BYTES
from indexer.store import WRITER_BUSY_MS, Store
from indexer.vocabulary import counts
from transcript.errors import IndexNewer, IndexUnreadable, StoreError

BEFORE = ".before-"  # what follows the file's name, before its old schema, in the name of the copy
_COUNTED = ("chunk", "pointer", "event", "session", "exchange")
_PAGES = 1024


def bring_up(path: Path) -> tuple[int, int]:
    """Bring an index to this version's schema and return (schema before, schema now).

    An older file is copied first; the copy goes once rows, texts, words, vectors and pages of the new one were checked,
    by the next run where this one is killed.
    IndexNewer for a newer file, IndexUnreadable for one that is none. StoreError when the check fails: the old file is
    then back in its place.
    """
    held = schema.held(path)
    if held is None:
        raise IndexUnreadable(f"the index {path.name} cannot be read; run 'recall index rebuild'")
    if held > SCHEMA_VERSION:
        raise IndexNewer(f"the index has schema {held}, this version writes {SCHEMA_VERSION}; upgrade recall")
    try:
        copy = path.with_name(f"{path.name}{BEFORE}{held}")
        if held < SCHEMA_VERSION:
            _keep(path, copy)
        else:  # a run that was killed may have left one before it had checked
            copy = min(_finished(path), default=copy, key=_number)
        if copy.exists():
            with Store.open(path, "w") as store:
                wrong = _wrong(store, copy)
            if wrong:
                _copy(copy, path)
                raise StoreError(f"the index could not be brought up ({wrong}); the old one is back in its place")
    except apsw.Error as error:
        raise translated(error, path) from error
    for left in copies(path):
        left.unlink(missing_ok=True)
    return held, SCHEMA_VERSION


def _keep(path: Path, copy: Path) -> None:
    part = copy.with_name(f"{copy.name}.part")
    try:
        _copy(path, part)
        part.replace(copy)
    except apsw.Error:  # half a copy is of no use, and on a full disk in the way
        for left in part.parent.glob(f"{part.name}*"):
            left.unlink(missing_ok=True)
        raise


def copies(path: Path) -> list[Path]:
    """Return the copies beside an index, those that a killed run left unfinished included."""
    return sorted(path.parent.glob(f"{path.name}{BEFORE}*"))


def _copy(source: Path, target: Path) -> None:
    """Copy a database as it stands at one moment, whoever else reads or writes it; the target is replaced in one step
    that other readers see whole.
    """
    reading = connect(source, writable=False, busy_ms=WRITER_BUSY_MS)
    try:
        writing = connect(target, writable=True, busy_ms=WRITER_BUSY_MS)
        try:
            with writing.backup("main", reading, "main") as running:
                while not running.done:
                    running.step(_PAGES)
        finally:
            writing.close()
    finally:
        reading.close()
    if os.name == "posix":
        target.chmod(0o600)


def _finished(path: Path) -> list[Path]:
    return [one for one in copies(path) if _number(one) >= 0]


def _number(copy: Path) -> int:
    """The schema of the file that this is a copy of, -1 for what was left unfinished."""
    number = copy.name.rpartition(BEFORE)[2]
    return int(number) if number.isdecimal() else -1


def _wrong(store: Store, copy: Path) -> str:
    """Return what differs from the old file or does not fit together, "" when all is well.

    Once somebody wrote to the new one, it differs rightly; then its pages alone are checked.
    """
    pages = [str(row[0]) for row in store.run("PRAGMA quick_check")]
    if pages != ["ok"]:
        return f"quick_check says {pages[0]}"
    old = connect(copy, writable=False, busy_ms=WRITER_BUSY_MS)
    try:
        if _written(old.execute) != _written(store.run):
            return ""
        found = _difference(store, old.execute) if store.generation else ""
        return found if _written(old.execute) == _written(store.run) else ""
    finally:
        old.close()


def _written(execute: Execute) -> list[tuple[object, ...]]:
    """What another write makes another one of; a migration leaves it as it is."""
    return sorted(execute("SELECT key, value FROM meta WHERE key IN ('data_version', 'generation')", ()))


def _difference(store: Store, old: Execute) -> str:
    generation = store.generation
    words = f"chunk_fts_{generation}_docsize"
    has_words = bool(list(old("SELECT 1 FROM sqlite_master WHERE name = ?", (words,))))
    for name in [f"{name}_{generation}" for name in _COUNTED] + [words] * has_words:
        count = f"SELECT count(*) FROM {name}"
        before, after = next(iter(old(count, ())))[0], next(iter(store.run(count)))[0]
        if before != after:
            return f"{before} rows of {name} became {after}"
    vectors = next(iter(old("SELECT n_vectors FROM generation WHERE id = ?", (generation,))))[0]
    if vectors != len(store.vectors.ids()):
        return f"{vectors} vectors became {len(store.vectors.ids())}"
    if _texts(old, generation) != _texts(store.run, generation):
        return "a passage became another"
    if has_words and _differ(counts(old, generation), counts(store.run, generation)):
        return "the words of the passages became others"
    return ""


def _differ(one: Iterable[object], other: Iterable[object]) -> bool:
    return any(a != b for a, b in zip_longest(one, other))


def _texts(execute: Execute, generation: int) -> bytes:
    """Return a hash over the keys and texts of all passages."""
    texts, digest = Texts(execute), sha256()
    for key, held in execute(f"SELECT key, text FROM chunk_{generation} ORDER BY key, id", ()):
        digest.update(key[:KEY_BYTES] + texts.plain(held).encode() + b"\0")
    return digest.digest()
