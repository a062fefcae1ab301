"""The files of the standing context: where they lie, what each of them is, and what one of them says.

On the hook path: standard library only. Every place is laid out alike:

    IDENTITY.md  USER.md  roles/NAME.md  instructions/*.md  commands/*.md  skills/NAME/SKILL.md

Places in their order: the user's own (`<data>/identity`), installed packs, folders that the settings name, the
project's (`.recall/identity`). Of two files with one name the later place's holds.
"""

import hashlib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from transcript.paths import read_file, user_path

FOLDER = "identity"
PACKS = "packs"
IDENTITY, ROLE, INSTRUCTIONS, MEMORY, USER, COMMAND, SKILL = (
    "identity",
    "role",
    "instructions",
    "memory",
    "user",
    "command",
    "skill",
)
SEMANTIC, PROCEDURAL = "semantic", "procedural"
MOST_BYTES = 64 * 1024  # of one file: what is always carried is short
MOST_FILES = 1_000  # of one place
_LAYOUT = (
    (re.compile(r"IDENTITY\.md"), IDENTITY, SEMANTIC),
    (re.compile(r"USER\.md"), USER, SEMANTIC),
    (re.compile(r"roles/[^/]+\.md"), ROLE, SEMANTIC),
    (re.compile(r"instructions/(?:[^/]+/)*[^/]+\.md"), INSTRUCTIONS, PROCEDURAL),
    (re.compile(r"commands/(?:[^/]+/)*[^/]+\.md"), COMMAND, PROCEDURAL),
    (re.compile(r"skills/[^/]+/SKILL\.md"), SKILL, PROCEDURAL),
)
# What a harness loads by itself: listed with its size, never told a second time.
HARNESS_FILES = ("AGENTS.md", "CLAUDE.md", "GEMINI.md")
HARNESS_FOLDERS = ((".claude/commands", "**/*.md", COMMAND), (".claude/skills", "*/SKILL.md", SKILL))
EMPTY = "it says nothing yet: below its headings there is no text"  # as a template does
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)  # for whoever edits the file, not for the agent
_PRIVACY = ("private", "project", "shared")


@dataclass(frozen=True, slots=True)
class Place:
    """A folder laid out like an identity folder; `name` is user, project, pack:NAME or folder:NAME."""

    name: str
    folder: Path


@dataclass(frozen=True, slots=True)
class Spot:
    """A file of a place: its name below the place's folder, and what it is by that."""

    place: str
    name: str
    path: Path
    layer: str
    kind: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that a session always carries: a file, or a critical memory of the record (`event`, no `path`).

    `sha256` is that of the file's bytes, of a memory that of its words. `raw` is a memory's E, `authority` 3 for an
    approved one, 2 for a claim, 1 for an inference; `said` when it was last applied or said. `for_roles` are the roles
    that a memory is critical for; empty: for all.
    """

    place: str
    name: str
    layer: str
    kind: str
    text: str
    sha256: str
    path: str = ""
    event: str = ""
    size: int = 0
    mtime_ns: int = 0
    privacy: str = "private"
    memory_type: str = ""
    for_roles: tuple[str, ...] = ()
    raw: float = 0.0
    authority: int = 0
    said: str = ""
    governed: str = ""  # yes, no (changed since), new; "" where nobody has asked
    loaded_by: str = "recall"
    valid_to: str = ""  # a memory holds until then; "" without an end

    @property
    def key(self) -> str:
        """Its name among all places: `project:roles/reviewer.md`, `memory:abcdefghij`."""
        return f"{self.place}:{self.name}"

    @property
    def role(self) -> str:
        """The role that a role's file is of, "" for any other."""
        return self.name.removeprefix("roles/").removesuffix(".md") if self.layer == ROLE else ""


def places(data: Path, root: Path | None, more: str = "") -> list[Place]:
    """Return the places there can be, in their order, whether they exist or not. `more` is separated as in PATH."""
    found = [Place("user", data / FOLDER)]
    if root is not None:
        found += [Place(f"pack:{folder.name}", folder) for folder in packs(root)]
    for one in filter(None, more.split(os.pathsep)):
        folder = user_path(one)
        found.append(Place(f"folder:{folder.name}", folder if folder.is_absolute() else (root or data) / folder))
    return [*found, Place("project", root / ".recall" / FOLDER)] if root is not None else found


def packs(root: Path) -> list[Path]:
    """Return the folders of the packs that are installed in a project, by name."""
    try:
        with os.scandir(root / ".recall" / PACKS) as found:
            return sorted(Path(one.path) for one in found if one.is_dir(follow_symlinks=False) and one.name[0] != ".")
    except OSError:
        return []


def spots(place: Place) -> list[Spot]:
    """Return the files of a place that belong to the standing context, by name. No folder: none."""
    found = []
    for name in names(place.folder):
        layer, kind = layer_of(name)
        if layer and (place.folder / name).is_file():  # a pipe would keep its reader waiting
            found.append(Spot(place.name, name, place.folder / name, layer, kind))
    return found


def names(folder: Path) -> list[str]:
    """Return every file below a folder by its name there, sorted; hidden ones and links to folders are passed over.

    Of more than MOST_FILES the first ones, each folder's own files before those below it.
    """
    return sorted(_walked(folder)[:MOST_FILES])


def has_more(folder: Path) -> bool:
    """Say whether there are files below a folder that `names` leaves out."""
    return len(_walked(folder)) > MOST_FILES


def _walked(folder: Path) -> list[str]:
    found: list[str] = []
    top = len(str(folder)) + 1
    for base, folders, files in os.walk(folder):
        folders[:] = sorted(one for one in folders if one[0] != ".")
        found += [f"{base}{os.sep}{one}"[top:].replace(os.sep, "/") for one in sorted(files) if one[0] != "."]
        if len(found) > MOST_FILES:
            break
    return found


def layer_of(name: str) -> tuple[str, str]:
    """Return (layer, kind) of a file by its name below a place, ("", "") for a file that is none of ours.

    None of ours is one whose name holds a line end or another sign that is not shown: it would forge what names it.
    """
    if not name.isprintable():
        return "", ""
    return next(((layer, kind) for form, layer, kind in _LAYOUT if form.fullmatch(name)), ("", ""))


def harness_spots(root: Path | None) -> list[Spot]:
    """Return the instruction files of a project that its harnesses load themselves."""
    if root is None:
        return []
    found = [(name, INSTRUCTIONS) for name in HARNESS_FILES if (root / name).is_file()]
    for folder, pattern, layer in HARNESS_FOLDERS:
        listed = (one for one in (root / folder).glob(pattern) if one.is_file())  # a pipe would keep its reader waiting
        found += sorted((one.relative_to(root).as_posix(), layer) for one in listed)
    return [Spot("harness", name, root / name, layer, PROCEDURAL) for name, layer in found if name.isprintable()]


def read(spot: Spot, folder: Path) -> Entry:
    """Return what a file of a place says; ValueError says why it cannot be carried, OSError that it cannot be read.

    A file with front matter may name its `privacy` there; comments (`<!-- -->`) are left out. A command's or skill's
    text is its name, description and path alone.
    """
    if spot.path.is_symlink() and not spot.path.resolve().is_relative_to(folder.resolve()):
        raise ValueError("it links to a place outside of its folder")
    stat = spot.path.stat()
    if stat.st_size > MOST_BYTES:
        raise ValueError(f"it has {stat.st_size:,} bytes, {MOST_BYTES:,} are carried at most; divide it")
    data = read_file(spot.path)
    try:
        fields, body = head(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError(f"it is no UTF-8: byte {error.start:,}") from None
    body = _COMMENT.sub("", body)
    if spot.layer in (COMMAND, SKILL):
        body = _listed(spot, fields, body)
    if not any(line.strip() and not line.startswith("#") for line in body.splitlines()):
        raise ValueError(EMPTY)
    return Entry(
        spot.place,
        spot.name,
        spot.layer,
        spot.kind,
        body.strip(),
        hashlib.sha256(data).hexdigest(),
        path=str(spot.path),
        size=stat.st_size,
        mtime_ns=stat.st_mtime_ns,
        privacy=_privacy(spot, fields),
        memory_type="user_preference" if spot.layer == USER else "",
    )


def head(text: str) -> tuple[dict[str, str], str]:
    """Return (fields, body): the one-line fields of a text's front matter, and what stands behind it.

    ValueError where the front matter has no end. Lists and longer values are another reader's.
    """
    lines = text.splitlines()
    if not lines or lines[0].rstrip() != "---":
        return {}, text
    for at, line in enumerate(lines[1:], 1):
        if line.rstrip() == "---":
            fields = (one.partition(":") for one in lines[1:at] if one[:1].strip())
            named = {name.strip(): value.strip().strip("\"'") for name, mark, value in fields if mark}
            return named, "\n".join(lines[at + 1 :])
    raise ValueError("its front matter has no end: a line of three dashes is missing")


def _privacy(spot: Spot, fields: dict[str, str]) -> str:
    named = fields.get("privacy", "")
    if named:
        return named if named in _PRIVACY else "private"
    return "private" if spot.layer == USER or spot.place == "user" else "project"


def _listed(spot: Spot, fields: dict[str, str], body: str) -> str:
    """A command or skill as it is carried: its text is read when it is used."""
    name = fields.get("name") or (spot.path.parent.name if spot.layer == SKILL else spot.path.stem)
    first = next((line.strip("# ") for line in body.splitlines() if line.strip("# ")), "")
    if not first and not fields:
        return ""
    told = " ".join((fields.get("description", "").strip("|> ") or first).split())
    return f"{name}: {told[:200]} ({spot.path})"


def refreshed(entries: Iterable[Entry], where: Iterable[Place]) -> tuple[list[Entry], list[str]]:
    """Return entries with what the files say by now, and the keys of those that are new, changed or gone.

    A file whose size and time are as they were is not read again.
    """
    known = {(one.place, one.name): one for one in entries if one.path and one.place not in ("memory", "harness")}
    found, changed = [one for one in entries if not one.path or one.place in ("memory", "harness")], []
    for place in where:
        for spot in spots(place):
            held = known.pop((spot.place, spot.name), None)
            try:
                stat = spot.path.stat()
                if held is not None and (stat.st_size, stat.st_mtime_ns) == (held.size, held.mtime_ns):
                    found.append(held)
                    continue
                read_now = read(spot, place.folder)
            except (OSError, ValueError):
                changed += [held.key] if held is not None else []
                continue
            if held is not None and held.sha256 == read_now.sha256:
                found.append(replace(read_now, governed=held.governed))
            else:
                found.append(replace(read_now, governed="no" if held is not None else "new"))
                changed.append(read_now.key)
    return found, [*changed, *(one.key for one in known.values())]
