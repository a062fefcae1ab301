"""The files of the standing context as consolidation looks at them: all read or named, which changed, templates.

What a file was when somebody took responsibility for it stands in the record as an event `standing`; the file's bytes
are held against the last one of its name.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files as resources
from pathlib import Path

from consolidation.front_matter import parse, text_of
from recall.rules_block import without_block
from recall.standing_places import (
    COMMAND,
    FOLDER,
    MOST_FILES,
    PROCEDURAL,
    SKILL,
    Entry,
    Place,
    Spot,
    harness_spots,
    has_more,
    head,
    layer_of,
    names,
    read,
    spots,
)
from transcript.canonical import canonical, sha256_hex
from transcript.event import Draft
from transcript.injected import strip_blocks
from transcript.log import Log
from transcript.memory_told import Told, told
from transcript.paths import read_file, secure_dir, write_once
from transcript.sieve import Sieve, type_field
from transcript.telling import counted

TYPE = "standing"
HOW = ("scaffold", "seen", "pack", "approved", "accepted")
CHANGED, NEW, MISSING = "standing_ungoverned", "standing_new", "standing_missing"
SAYS = {
    CHANGED: "edited since somebody took responsibility for it; look at it, then 'recall standing accept'",
    NEW: "not known yet; 'recall standing accept' takes responsibility for it",
    MISSING: "gone; put it back, or 'recall standing accept' that it is",
}
WARNINGS = frozenset({NEW})  # of a change that fails no verification
NO_FILE = "it is no file that can be read"
NO_NAME = "it is none of IDENTITY.md, USER.md, roles/NAME.md, instructions/*.md, commands/*.md, skills/NAME/SKILL.md"
MORE = f"it holds more than {counted(MOST_FILES, 'file')}, and the others are not looked at; take some away"
UNSEEN = "its name holds a line end or another sign that is not shown; rename it"
TEMPLATES = ("IDENTITY.md", "USER.md", "roles/reviewer.md", "instructions/project.md")


@dataclass(frozen=True, slots=True)
class Found:
    """Every file of every place: as an entry, or as (key, reason) why it is none."""

    entries: tuple[Entry, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Governed:
    """What a file was when it last went through somebody's hands: the hash of its bytes, how, and the event."""

    sha256: str
    how: str
    event: str


@dataclass(frozen=True, slots=True)
class Present:
    """A file as it is: its key, path, the hash of its bytes, and whether it is semantic or procedural."""

    key: str
    path: Path
    sha256: str
    kind: str


@dataclass(frozen=True, slots=True)
class Change:
    """A file that is not what the record says: its key, the code, its hash now ("" for gone) and the recorded one."""

    key: str
    code: str
    now: str
    before: str


@dataclass(frozen=True, slots=True)
class ProcedureText:
    """A procedure's text behind its front matter, for comparing; `first_line` is where that begins in the file."""

    key: str
    path: Path
    text: str
    first_line: int = 1


def files(where: Iterable[Place], root: Path | None) -> Found:
    """Return the files of these places and those that the project's harnesses load themselves."""
    entries: list[Entry] = []
    failed: list[tuple[str, str]] = []
    for place in where:
        if has_more(place.folder):
            failed.append((place.name, MORE))
        ours = {spot.name for spot in spots(place)}
        for name in names(place.folder):
            if not name.isprintable():
                failed.append((f"{place.name}:{shown(name)}", UNSEEN))
            elif name not in ours:
                failed.append((f"{place.name}:{name}", NO_FILE if layer_of(name)[0] else NO_NAME))
        for spot in spots(place):
            try:
                entries.append(_entry(spot, place.folder))
            except (OSError, ValueError) as error:
                failed.append((f"{spot.place}:{spot.name}", _why(error)))
    for spot in harness_spots(root):
        try:
            data = read_file(spot.path)
            entries.append(_listed(spot, data))
        except (OSError, ValueError) as error:
            failed.append((f"{spot.place}:{spot.name}", _why(error)))
    return Found(tuple(entries), tuple(failed))


def shown(name: str) -> str:
    """Return a file's name on one line, signs that are not shown as escapes."""
    return name if name.isprintable() else ascii(name)[1:-1]


def _why(error: Exception) -> str:
    return f"cannot be read ({error.strerror})" if isinstance(error, OSError) else str(error)


def _entry(spot: Spot, folder: Path) -> Entry:
    """A file as it is carried; its front matter must be YAML, which may say a description over several lines."""
    made = read(spot, folder)
    fields, _body, _layout = parse(spot.path.read_text("utf-8-sig"))
    if spot.layer in (COMMAND, SKILL) and text_of(fields, "description"):
        name = text_of(fields, "name") or (spot.path.parent.name if spot.layer == SKILL else spot.path.stem)
        said = " ".join(text_of(fields, "description").split())[:200]
        return replace(made, text=f"{name}: {said} ({spot.path})")
    return made


def _listed(spot: Spot, data: bytes) -> Entry:
    text = data.decode("utf-8-sig")
    sha256 = sha256_hex(data)
    return Entry(
        spot.place,
        spot.name,
        spot.layer,
        PROCEDURAL,
        text,
        sha256,
        path=str(spot.path),
        size=len(data),
        mtime_ns=spot.path.stat().st_mtime_ns,
        privacy="project",
        loaded_by="harness",
    )


def procedures(where: Iterable[Place], root: Path | None) -> list[ProcedureText]:
    """Return the whole texts of all procedures: instructions, commands and skills, the harnesses' own included.

    What cannot be read says nothing here; `files` names it. Blocks that recall wrote into a rules file are left out.
    """
    found = []
    for spot in [*(one for place in where for one in spots(place)), *harness_spots(root)]:
        if spot.kind != PROCEDURAL:
            continue
        try:
            whole = read_file(spot.path).decode("utf-8-sig")
            text = head(whole)[1]
        except (OSError, ValueError):
            continue
        first = len(whole.splitlines()) - len(text.splitlines()) + 1
        said = strip_blocks(without_block(text))
        found.append(ProcedureText(f"{spot.place}:{spot.name}", spot.path, said, first))
    return found


def hash_of(texts: Iterable[ProcedureText]) -> str:
    """Return one hash over procedures, "" for none."""
    listed = sorted((one.key, one.text) for one in texts)
    return sha256_hex(canonical([list(one) for one in listed])) if listed else ""


def governed(log: Log) -> dict[str, Governed]:
    """Return by its key what each file was when it was last taken responsibility for."""
    found = {}
    for event in log.read(sieve=Sieve((type_field(TYPE),))):
        if event.type == TYPE and event.body:
            body = event.body
            found[str(body["path"])] = Governed(str(body["sha256"]), str(body["how"]), event.id)
    return found


def present(where: Iterable[Place]) -> list[Present]:
    """Return every file of these places that belongs to the standing context, whatever it says, by key."""
    found = []
    for place in where:
        for spot in spots(place):
            try:
                sha256 = sha256_hex(read_file(spot.path))
            except OSError:  # `files` says why
                continue
            found.append(Present(f"{spot.place}:{spot.name}", spot.path, sha256, spot.kind))
    return sorted(found, key=lambda one: one.key)


def changes(files: Iterable[Present], known: Mapping[str, Governed]) -> list[Change]:
    """Return the files that are not as the record knows them: edited, not known yet, or gone; by key.

    A template that was filled in is not known yet.
    """
    now = {one.key: one.sha256 for one in files}
    found = [Change(key, MISSING, "", one.sha256) for key, one in known.items() if key not in now and one.sha256]
    for key, sha256 in now.items():
        before = known.get(key)
        if before is None or before.sha256 != sha256:
            is_new = before is None or not before.sha256 or before.how == "scaffold"
            found.append(Change(key, NEW if is_new else CHANGED, sha256, before.sha256 if before else ""))
    return sorted(found, key=lambda one: one.key)


def draft(
    at: Told, key: str, sha256: str, kind: str, how: str, *, proposal_id: str = "", sources: Sequence[str] = ()
) -> Draft:
    """Return that a file, by its key such as `project:IDENTITY.md`, is governed as it is; "" for a file taken away."""
    if how not in HOW:
        raise ValueError(f"how is {how!r}, must be one of {', '.join(HOW)}")
    body = {"path": key, "sha256": sha256, "kind": kind, "how": how}
    if proposal_id:
        body["proposal_id"] = proposal_id
    more = {"sources": list(sources)} if sources else {}
    return told(TYPE, at, {**body, **more}, key, sha256, how, proposal_id or at.ts)


def seen(
    files: Iterable[Present], known: Mapping[str, Governed], at: Told, *, made: Iterable[Path] = ()
) -> list[Draft]:
    """Return that files which the record does not know are known from now on, `made` ones as templates.

    What was edited since somebody took responsibility for it stays edited.
    """
    listed = {one.key: one for one in files}
    new = [listed[one.key] for one in changes(listed.values(), known) if one.code == NEW]
    templates = frozenset(made)
    return [draft(at, one.key, one.sha256, one.kind, "scaffold" if one.path in templates else "seen") for one in new]


def identity_folder(root: Path) -> Path:
    """Return the folder of a project's own standing context."""
    return root / ".recall" / FOLDER


def scaffold(root: Path, data: Path) -> list[Path]:
    """Write the templates that are missing and return them; what is there is never touched.

    What the user is goes into their data folder, for it is the same in every project.
    """
    made = []
    for name in TEMPLATES:
        folder = data / FOLDER if name == "USER.md" else identity_folder(root)
        path = folder / name
        if path.exists() or path.is_symlink():
            continue
        secure_dir(path.parent)
        text = (resources("consolidation") / "scaffold" / path.name).read_bytes()
        write_once(path, text)
        made.append(path)
    return made
