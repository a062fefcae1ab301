"""Copies one item of the canonical memory into a folder of the repository, to be committed like any other file."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from consolidation.coord_desk import CoordDesk
from transcript import proposal_drafts
from transcript.canonical import sha256_hex
from transcript.coord_codes import Refusal
from transcript.event import stamp
from transcript.marks import IGNORED
from transcript.paths import read_file
from transcript.projections import coord_files, coord_lines

GIT_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Promoted:
    """The file with the item, the manifest beside it and what that says; `written` is False where both were there."""

    file: Path
    manifest_file: Path
    manifest: dict[str, Any]
    written: bool


def promote(desk: CoordDesk, event_id: str, folder: Path, *, actor: str, dry_run: bool = False) -> Promoted:
    """Write one item of the memory, as its line stands there, and a manifest of where it comes from.

    CoordError: no_target for no such item, erased, bad_place for a folder outside the repository, ignored by git or
    ours, place_taken where a file of that name holds something else.
    """
    applied = desk.state().item(event_id)
    if applied is None:
        raise Refusal("no_target", note="the canonical memory has no item of this id; see recall coord read").error()
    if applied.item is None:
        raise Refusal("erased").error()
    place = _place(desk.root, folder)
    data = coord_lines.line(applied.item)
    file, manifest_file = place / f"{event_id}.yml", place / f"{event_id}.manifest.json"
    manifest = {
        "event_id": event_id,
        "proposal_id": applied.proposal,
        "sha256": sha256_hex(data),
        "source": f"{coord_files.FOLDER}/{coord_files.MEMORY}:{applied.place}",
        "kind": applied.item["kind"],
        "actor": applied.item["actor"],
        "approved_at": applied.item["approved_at"],
        "promoted_by": actor,
    }
    said = json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False).encode() + b"\n"
    there = [path for path in (file, manifest_file) if path.exists() or path.is_symlink()]
    if any(path.is_symlink() or not path.is_file() for path in there) or (file in there and read_file(file) != data):
        raise Refusal("place_taken", file.name, "a file of this name holds something else").error()
    missing = [(path, text) for path, text in ((file, data), (manifest_file, said)) if path not in there]
    if missing and not dry_run:
        place.mkdir(parents=True, exist_ok=True)
        for path, text in missing:
            path.write_bytes(text)
        to = place.relative_to(desk.root.resolve()).as_posix()
        desk.append(proposal_drafts.promoted(stamp(desk.now), event_id, to, str(manifest["sha256"]), manifest))
    return Promoted(file, manifest_file, manifest, bool(missing) and not dry_run)


def _place(root: Path, folder: Path) -> Path:
    """Return the folder, a plain one of the repository that git does not ignore."""
    try:
        whole, top = folder.resolve(), root.resolve()
    except (OSError, ValueError, RuntimeError):  # a name that no file can have, a link to itself
        raise Refusal("bad_place", "to", "no folder can have this name").error() from None
    inside = whole.is_relative_to(top)
    parts = [part.casefold() for part in whole.relative_to(top).parts] if inside else []
    if not inside or ".git" in parts or f"{parts[0] if parts else ''}/" in IGNORED:
        raise Refusal("bad_place", "to", "name a folder of the repository, such as docs/evidence").error()
    if whole.exists() and not whole.is_dir():
        raise Refusal("bad_place", "to", "a file stands in the folder's place").error()
    if _is_ignored(top, whole / "item.yml"):
        raise Refusal("bad_place", "to", "git ignores this folder; name one that is committed").error()
    return whole


def _is_ignored(root: Path, path: Path) -> bool:
    """Whether git ignores a path; False where there is no git or no repository."""
    try:
        asked = subprocess.run(
            ["git", "check-ignore", "-q", "--", str(path)],
            cwd=root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return asked.returncode == 0
