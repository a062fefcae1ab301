"""Reads a folder of memories, ours or another tool's: every file is loaded or named with the reason why it is not."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from consolidation.front_matter import OURS, PLAIN, list_of, parse, text_of
from consolidation.plain import seen
from transcript.canonical import sha256_hex
from transcript.errors import ConfigError
from transcript.event import ending, moment, stamp
from transcript.memory_words import KINDS, LABELS, MEMORY_TYPES, PRIVACY
from transcript.paths import read_file
from transcript.projections.memory_files import EDITED, INDEX, SCHEMA, WHY
from transcript.telling import quoted

TYPES = {
    **{name: name for name in MEMORY_TYPES},
    "user": "user_preference",
    "feedback": "user_preference",
    "project": "project_fact",
    "reference": "runbook",
    "decision": "design_decision",
    "fix": "known_failure",
    "incident": "known_failure",
    "procedure": "runbook",
}
_TRUE = frozenset({"true", "yes", "on", "1"})
_SUFFIXES = (".md", ".markdown")


@dataclass(frozen=True, slots=True)
class Document:
    """A memory as its file has it; moments are those of the record, "" where the file has none."""

    path: str
    sha256: str
    layout: str
    memory_type: str
    statement: str
    why: str = ""
    kind: str = "statement"
    label: str = "inference"
    id: str = ""
    name: str = ""
    tags: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    critical_for: tuple[str, ...] = ()
    critical: bool = False
    privacy: str = ""
    created: str = ""
    last_applied: str = ""
    valid_from: str = ""
    valid_to: str = ""
    supersedes: tuple[str, ...] = ()
    superseded_by: str = ""
    supersession_note: str = ""
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Loaded:
    """Every file of a folder: as a memory, or as (path, reason) why it is none."""

    memories: tuple[Document, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    layouts: Counter[str] = field(default_factory=Counter)


def load(folder: Path) -> Loaded:
    """Return what a folder and those below it hold, by path; hidden ones and copies of edited files are passed over."""
    if not folder.is_dir():
        raise ConfigError(f"{folder} is no folder; name one that holds memories as .md files")
    memories: list[Document] = []
    failed: list[tuple[str, str]] = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file() or path.is_symlink()):
        name = path.relative_to(folder).as_posix()
        if any(part.startswith(".") for part in name.split("/")) or name.startswith(f"{EDITED}/"):
            continue
        if path.is_symlink() and path.exists() and not path.resolve().is_relative_to(folder.resolve()):
            failed.append((name, "it links to a place outside of the folder"))
            continue
        try:
            memories.append(document(name, read_file(path)))
        except OSError as error:
            failed.append((name, f"cannot be read ({error.strerror})"))
        except ValueError as error:
            failed.append((name, str(error)))
    return Loaded(tuple(memories), tuple(failed), Counter(one.layout for one in memories))


def document(path: str, data: bytes) -> Document:
    """Return a file as a memory; ValueError says why it is none."""
    if not path.lower().endswith(_SUFFIXES):
        raise ValueError("it is no Markdown")
    try:
        fields, body, layout = parse(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError(f"it is no UTF-8: byte {error.start:,}") from None
    if layout == OURS and text_of(fields, "schema") != SCHEMA:
        schema = quoted(text_of(fields, "schema"))
        raise ValueError(f"its schema is {schema}, known is {SCHEMA!r}; a newer recall wrote it")
    listing = path.rsplit("/", 1)[-1] == INDEX
    statement, why = _said(body, fields, layout)
    begins, ends = _moment(fields, "valid_from"), _moment(fields, "valid_to", ending)
    if begins and ends and moment(ends) <= moment(begins):
        named = (text_of(fields, name) for name in ("valid_to", "valid_from"))
        raise ValueError("valid_to {} is not after valid_from {}: it would never hold".format(*map(quoted, named)))
    return Document(
        path,
        sha256_hex(data),
        layout,
        _type(fields, layout, listing=listing),
        statement,
        why,
        kind="summary" if listing else _one_of(fields, "kind", KINDS) or KINDS[0],
        label=(layout == OURS and _one_of(fields, "label", LABELS)) or "inference",
        id=text_of(fields, "id") if layout == OURS else "",
        name=text_of(fields, "name"),
        critical=text_of(fields, "critical").lower() in _TRUE,
        privacy=_one_of(fields, "privacy", PRIVACY),
        created=_moment(fields, "created"),
        last_applied=_moment(fields, "last_applied")[:10],
        valid_from=begins,
        valid_to=ends,
        superseded_by=text_of(fields, "superseded_by"),
        supersession_note=text_of(fields, "supersession_note"),
        **{name: list_of(fields, name) for name in ("tags", "projects", "roles", "critical_for", "sources")},
        supersedes=list_of(fields, "supersedes"),
    )


def _said(body: str, fields: Mapping[str, Any], layout: str) -> tuple[str, str]:
    """Return the statement and why it holds; a foreign file may say all of it in its description."""
    body = seen(body)
    statement, why = body.strip(), ""
    if layout == OURS:
        statement, mark, why = body.partition(WHY)
        statement, why = (statement.strip(), why.strip()) if mark else (body.strip(), "")
    statement = statement or seen(text_of(fields, "description")).strip()
    if not statement:
        raise ValueError("it says nothing: neither below its front matter nor as its description")
    return statement, why


def _type(fields: Mapping[str, Any], layout: str, *, listing: bool) -> str:
    named = text_of(fields, "type")
    if not named and (layout == PLAIN or listing):
        return "project_fact"
    if not named:
        raise ValueError(f"it has no type; known are {', '.join(TYPES)}")
    if named.lower() not in TYPES:
        raise ValueError(f"unknown type {quoted(named)}; known are {', '.join(TYPES)}")
    return TYPES[named.lower()]


def _one_of(fields: Mapping[str, Any], name: str, allowed: tuple[str, ...]) -> str:
    value = text_of(fields, name)
    if value and value not in allowed:
        raise ValueError(f"{name} is {quoted(value)}, must be one of {', '.join(allowed)}")
    return value


def _moment(fields: Mapping[str, Any], name: str, read: Callable[[str], datetime] = moment) -> str:
    """Return a date of a file as the record writes moments."""
    value = text_of(fields, name)
    if not value:
        return ""
    try:
        return stamp(read(re.sub(r"\s*(?:Z|UTC)$", "+00:00", value)))
    except (ValueError, OverflowError):
        raise ValueError(f"{name} is {quoted(value)}, must be a date such as 2026-01-31") from None
