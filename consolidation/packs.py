"""Packs: identity, procedures, skills and knowledge of a role as one unit, a folder whose `pack.json` names its hash.

    pack.json  IDENTITY.md  USER.md  roles/NAME.md  instructions/*.md  commands/*.md  skills/NAME/SKILL.md
    knowledge/*.md

What is installed is a copy below `.recall/packs/NAME`, made from the bytes that were checked, put in place whole by one
rename. Knowledge becomes memories and lies in the copy hidden; the rest is read from there like an identity folder.
"""

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from consolidation.coord_ref_words import bad_path
from recall.standing_places import MOST_BYTES, PACKS, PROCEDURAL, SEMANTIC, SKILL, layer_of
from transcript.canonical import canonical, sha256_hex
from transcript.errors import CoordError, PackError
from transcript.paths import NotPlainError, fsync_dir, open_plain, secure_dir, write_atomic
from transcript.strict_json import strict_json
from transcript.telling import counted, quoted

MANIFEST = "pack.json"
VERSION = 1
KINDS = ("identity", "procedure", "skill", "knowledge")
MOST_FILES = 200
MOST_TOTAL = 5 * 1024 * 1024
MOST_PROMPTED = 63  # files but for knowledge: each is evidence of the proposal, and so is the manifest
STAGED = ".staged"  # beside the installed packs: what waits for a person
_KNOWLEDGE = re.compile(r"knowledge/(?:[^/]+/)*[^/]+\.md")
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+-]{0,31}")
_FIELDS = ("files", "name", "schema_version", "sha256", "version")


@dataclass(frozen=True, slots=True)
class PackFile:
    """A file of a pack: its path there, its kind, its bytes."""

    path: str
    kind: str
    data: bytes

    @property
    def sha256(self) -> str:
        """The hash of its bytes."""
        return sha256_hex(self.data)

    @property
    def kept(self) -> str:
        """Its path in the installed copy: what is no file of the standing context is hidden there."""
        return f".{self.path}" if self.kind == "knowledge" else self.path


@dataclass(frozen=True, slots=True)
class Pack:
    """A pack that was read and held against its hash."""

    name: str
    version: str
    sha256: str
    files: tuple[PackFile, ...]
    manifest: bytes

    @property
    def ref(self) -> str:
        """What a proposal names as its target."""
        return f"pack:{self.name}@{self.sha256}"

    @property
    def prompted(self) -> tuple[PackFile, ...]:
        """The files that a session would be told: they need a person's approval."""
        return tuple(one for one in self.files if one.kind != "knowledge")

    @property
    def knowledge(self) -> tuple[PackFile, ...]:
        """The files that become memories."""
        return tuple(one for one in self.files if one.kind == "knowledge")

    def listed(self) -> list[dict[str, str]]:
        """Return its files as events name them."""
        return [{"path": one.path, "sha256": one.sha256, "kind": one.kind} for one in self.files]


def hash_of(files: Iterable[tuple[str, str]]) -> str:
    """Return the hash of a pack from (path, sha256) of its files but for the manifest."""
    return sha256_hex(canonical([[path, sha256] for path, sha256 in sorted(files)]))


def read(folder: Path) -> Pack:
    """Return the pack of a folder; PackError says what is wrong with it. Every file is read once, no link followed."""
    return _read(folder, MANIFEST, hidden=False)


def manifest(folder: Path, *, name: str, version: str) -> bytes:
    """Return the manifest of a folder's files, each of the kind that its place says; PackError where one is of none."""
    paths = sorted(path for path in _below(folder, hidden=False) if path != MANIFEST)
    files = [{"path": path, "kind": _kind(path)} for path in paths]
    found = [(path, sha256_hex(_bytes(folder / path, path))) for path in paths]
    held = {"schema_version": VERSION, "name": name, "version": version, "sha256": hash_of(found), "files": files}
    data = _pretty(held)
    manifest_of(data)
    return data


def installed(root: Path, name: str) -> Pack | None:
    """Return an installed pack, None where there is none; PackError where its copy is not whole any more."""
    folder = place_of(root, name)
    return _read(folder, f".{MANIFEST}", hidden=True) if folder.is_dir() else None


def staged(root: Path, name: str, sha256: str) -> Pack | None:
    """Return a pack that waits, None where there is none of this hash; PackError where it is not whole any more.

    Also where another pack lies in its folder, whole in itself.
    """
    folder = waiting(root, name, sha256)
    if not folder.is_dir():
        return None
    pack = _read(folder, f".{MANIFEST}", hidden=True)
    if (pack.name, pack.sha256) != (name, sha256):
        raise PackError(f"what waits as pack {name} is another one than was named: its hash is {pack.sha256[:12]}")
    return pack


def stage(root: Path, pack: Pack) -> Path:
    """Write what was read beside the installed packs, whole or not at all, and return its folder."""
    folder = waiting(root, pack.name, pack.sha256)
    if folder.is_dir():
        return folder
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    _own(root, part)
    write_atomic(part / f".{MANIFEST}", pack.manifest)
    for one in pack.files:
        secure_dir((part / one.kept).parent)
        write_atomic(part / one.kept, one.data)
    part.rename(folder)
    fsync_dir(folder.parent)
    return folder


def put(root: Path, name: str, sha256: str) -> None:
    """Put a pack that waits in its place, whatever stood there; done again it changes nothing. PackError: not whole."""
    place, waits = place_of(root, name), staged(root, name, sha256)
    here = installed(root, name) if waits is None else None
    if waits is None:
        if here is None or here.sha256 != sha256:
            raise PackError(f"the files of pack {name} that were approved are gone; 'recall pack install' brings them")
        return
    _away(root, place)
    waiting(root, name, sha256).rename(place)
    fsync_dir(place.parent)
    _tidy(root)


def take_away(root: Path, name: str) -> None:
    """Remove an installed pack; done again it changes nothing."""
    _away(root, place_of(root, name))
    _tidy(root)


def names(root: Path) -> list[str]:
    """Return the names of the packs that are installed."""
    folder = root / ".recall" / PACKS
    try:
        return sorted(
            one.name for one in os.scandir(folder) if one.is_dir(follow_symlinks=False) and one.name[0] != "."
        )
    except OSError:
        return []


def _read(folder: Path, name: str, *, hidden: bool) -> Pack:
    paths = set(_below(folder, hidden=hidden))
    if name not in paths:
        raise PackError(f"{folder} is no pack: it has no {MANIFEST}; 'recall pack build' writes one")
    data = _bytes(folder / name, name)
    held = manifest_of(data)
    files = []
    for one in held["files"]:
        kept = PackFile(one["path"], one["kind"], b"").kept if hidden else one["path"]
        if kept not in paths:
            raise PackError(f"{MANIFEST} names {one['path']}, and there is no such file")
        files.append(PackFile(one["path"], one["kind"], _bytes(folder / kept, kept)))
    unlisted = paths - {name, *((one.kept if hidden else one.path) for one in files)}
    if unlisted:
        raise PackError(f"{min(unlisted)} is not named in {MANIFEST}; 'recall pack build' names every file")
    if sum(len(one.data) for one in files) > MOST_TOTAL:
        raise PackError(f"the files have more than {MOST_TOTAL // 1024 // 1024} MB together")
    for one in files:
        _text(one)
    if hash_of((one.path, one.sha256) for one in files) != held["sha256"]:
        raise PackError(f"the files are not those that {MANIFEST} was made for: their hash is another")
    return Pack(held["name"], held["version"], held["sha256"], tuple(files), data)


def manifest_of(data: bytes) -> dict[str, Any]:
    """Return what a manifest says; PackError for anything that it may not say."""
    try:
        held = strict_json(data)
    except CoordError as error:
        raise PackError(f"{MANIFEST} cannot be read: {error}") from None
    if not isinstance(held, dict) or sorted(held) != list(_FIELDS):
        raise PackError(f"{MANIFEST} is no object of exactly {', '.join(_FIELDS)}")
    if held["schema_version"] is True or held["schema_version"] != VERSION:
        raise PackError(f"{MANIFEST} is of version {quoted(held['schema_version'])}, this program reads {VERSION}")
    for field, form in (("name", _NAME), ("version", _VERSION), ("sha256", re.compile("[0-9a-f]{64}"))):
        if not isinstance(held[field], str) or form.fullmatch(held[field]) is None:
            raise PackError(f"{MANIFEST}: {field} is {quoted(held[field])}, must be like {form.pattern}")
    files = held["files"]
    if not isinstance(files, list) or not 0 < len(files) <= MOST_FILES:
        raise PackError(f"{MANIFEST}: files must name 1 to {MOST_FILES} files")
    for one in files:
        if not isinstance(one, dict) or sorted(one) != ["kind", "path"] or not isinstance(one["path"], str):
            raise PackError(f"{MANIFEST}: each of files has a path and a kind")
        if one["kind"] != _kind(one["path"]):
            raise PackError(f"{MANIFEST}: {one['path']} is of kind {_kind(one['path'])}, not {quoted(one['kind'])}")
    paths = [one["path"].casefold() for one in files]
    if len(set(paths)) < len(paths):
        raise PackError(f"{MANIFEST} names a file twice")
    if sum(one["kind"] != "knowledge" for one in files) > MOST_PROMPTED:
        raise PackError(f"a pack has at most {MOST_PROMPTED} files besides knowledge: a person reads each of them")
    return held


def _kind(path: str) -> str:
    """Return the kind of a file by its place; PackError for a place that a pack does not have."""
    if not bad_path(path) and not any(part.startswith(".") for part in path.split("/")):
        if _KNOWLEDGE.fullmatch(path):
            return "knowledge"
        layer, kind = layer_of(path)
        if layer:
            return "skill" if layer == SKILL else {SEMANTIC: "identity", PROCEDURAL: "procedure"}[kind]
    raise PackError(
        f"{quoted(path)} has no place in a pack: IDENTITY.md, USER.md, roles/NAME.md, instructions/*.md, commands/*.md,"
        " skills/NAME/SKILL.md, knowledge/*.md"
    )


def _below(folder: Path, *, hidden: bool) -> Iterator[str]:
    """Yield the path of every file below a folder; PackError for a link or anything else that is no file."""
    if not folder.is_dir():
        raise PackError(f"{folder} is no folder")
    found, top = 0, len(os.fspath(folder)) + 1
    open_ = [os.fspath(folder)]
    while open_:
        with os.scandir(open_.pop()) as entries:
            for entry in sorted(entries, key=lambda one: one.name):
                name = entry.path[top:].replace(os.sep, "/")
                if entry.name.startswith(".") and not hidden:
                    continue  # of an editor or of git: never copied
                found += 1
                if found > MOST_FILES * 3:
                    raise PackError(f"there are more than {counted(MOST_FILES, 'file')} below {folder}")
                if entry.is_symlink():
                    raise PackError(f"{name} is a link; a pack holds its files itself")
                if entry.is_dir(follow_symlinks=False):
                    open_.append(entry.path)
                else:
                    yield name


def _bytes(path: Path, name: str) -> bytes:
    """Return the bytes of a plain file, never more than one of a pack may have."""
    try:
        descriptor = open_plain(path)
    except NotPlainError:
        raise PackError(f"{name} is no plain file") from None
    except OSError as error:
        raise PackError(f"{name} cannot be read ({error.strerror})") from None
    with open(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if found.st_mode & 0o111 and os.name == "posix":
            raise PackError(f"{name} is marked as a program; a pack holds text alone (chmod -x)")
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise PackError(f"{name} has more than {MOST_BYTES // 1024} KB; divide it")
    return data


def _text(one: PackFile) -> None:
    try:
        one.data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise PackError(f"{one.path} is no UTF-8: byte {error.start:,}") from None


def place_of(root: Path, name: str) -> Path:
    """Return where a pack of this name is installed; PackError for what is no name."""
    if _NAME.fullmatch(name) is None:
        raise PackError(f"{quoted(name)} is no name of a pack")
    return root / ".recall" / PACKS / name


def waiting(root: Path, name: str, sha256: str) -> Path:
    """Return where a pack of this name and hash waits for a person; PackError for what is no name."""
    return place_of(root, name).parent / STAGED / f"{name}-{sha256[:16]}"


def _own(root: Path, folder: Path) -> None:
    """Make a folder below the project's; PackError where a link stands on the way."""
    for one in (root / ".recall", root / ".recall" / PACKS, root / ".recall" / PACKS / STAGED):
        if one.is_symlink():
            raise PackError(f"{one} is a link; packs are installed in the project itself")
    secure_dir(folder)


def _away(root: Path, place: Path) -> None:
    """Move what stands in a pack's place aside by one rename, then remove it."""
    aside = place.parent / STAGED / f".old-{place.name}"
    shutil.rmtree(aside, ignore_errors=True)
    if place.is_dir() and not place.is_symlink():
        _own(root, aside.parent)
        place.rename(aside)
        shutil.rmtree(aside, ignore_errors=True)


def _tidy(root: Path) -> None:
    """Remove folders of packs that hold nothing."""
    for folder in (root / ".recall" / PACKS / STAGED, root / ".recall" / PACKS):
        try:
            folder.rmdir()
        except OSError:
            return


def _pretty(held: Mapping[str, Any]) -> bytes:
    return json.dumps(held, ensure_ascii=True, indent=2).encode("ascii") + b"\n"
