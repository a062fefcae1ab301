"""Writes each memory as a file under `.recall/memory/`, and one that lists them: made from the record, never read back.

What holds is at the top, what was replaced, refuted or archived under `past/`. A file that was changed by hand is first
copied to `edited/`, from where it is offered as a proposal; a file that is none of ours is left alone.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from unicodedata import normalize

from transcript.canonical import sha256_hex
from transcript.memories import Memory, MemoryState, Span
from transcript.memory_words import MEMORY_TYPES
from transcript.paths import read_file, write_atomic
from transcript.projections.page import POINTER, line, plain, sealed
from transcript.secrets import veil

FOLDER, INDEX, PAST, EDITED = "memory", "MEMORY.md", "past", "edited"
SCHEMA = "recall/memory/1"
WHY = "\n\nWhy: "
CODES = {
    "memory_missing": "the file of a memory is gone; 'recall project' restores it",
    "memory_edited": "the file of a memory was changed by hand; 'recall project' keeps a copy and restores it",
    "memory_stale": "the file of a memory is behind the record; 'recall project' renews it",
    "memory_unlisted": f"{INDEX} does not list a file beside it; 'recall memory import' takes in what is not recall's",
}
_ZERO = "0" * 64
_FIRST = f"---\nschema: {SCHEMA}\n".encode("ascii")
_LISTS = b"<!-- recall view of the memories, not to be edited: sha256="
_SEAL = re.compile(rb'^(?:sha256: "|<!-- recall view of the memories, not to be edited: sha256=)([0-9a-f]{64})', re.M)
_SLUG_CHARS, _HASH_CHARS, _LISTED_CHARS = 40, 8, 200
_BREAKS = re.compile("[\u2028\u2029\ufeff\ufffe\uffff]")  # what a reader of YAML takes as a line's end, or not at all


@dataclass(frozen=True, slots=True)
class Written:
    """What one writing did, by names within the folder; `edited` are copies of what somebody had changed by hand."""

    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()


def emit(memory: Memory) -> bytes:
    """Return the file of a memory: front matter of fixed keys, the statement and why it holds, a hash over it all."""
    approved = memory.actor_kind if memory.actor_kind == "policy" else f"{memory.actor_kind}:{memory.actor}"
    fields = {
        "id": memory.id,
        "type": memory.memory_type,
        "kind": memory.kind,
        "label": memory.label,
        "verified": memory.verified,
        "tags": list(memory.tags),
        "projects": list(memory.projects),
        "roles": list(memory.roles),
        "critical_for": list(memory.critical_for),
        "privacy": memory.privacy,
        "created": memory.ts,
        "last_applied": memory.last_applied or None,
        "valid_from": memory.valid_from or None,
        "valid_to": memory.valid_to or None,
        "supersedes": list(memory.supersedes),
        "superseded_by": memory.superseded_by or None,
        "supersession_note": memory.supersession_note,
        "sources": [f"{span.pointer} {span.sha256}".strip() for span in memory.sources],
        "approved_by": " ".join([approved, *(name[:POINTER] for name in memory.approved)]),
    }
    head = "".join(f"{name}: {_scalar(value)}\n" for name, value in fields.items())
    why = f"{WHY}{memory.why}" if memory.why else ""
    text = veil(f"{memory.statement}{why}").strip("\n")
    raw = plain(f'---\nschema: {SCHEMA}\n{head}sha256: "{_ZERO}"\n---\n{text}\n').encode("utf-8")
    at = len(plain(f"---\nschema: {SCHEMA}\n{head}").encode()) + len('sha256: "')
    return raw[:at] + sha256_hex(raw).encode("ascii") + raw[at + len(_ZERO) :]


def name_of(memory: Memory) -> str:
    """Return the name of a memory's file: the beginning of what it says, and of its id."""
    words = normalize("NFKD", veil(memory.statement)).encode("ascii", "ignore").decode("ascii").lower()
    slug = re.sub(r"[^a-z0-9]+", "-", words)[:_SLUG_CHARS].strip("-")
    return f"{slug or 'memory'}-{memory.id[:POINTER]}.md"


def rendered(state: MemoryState) -> dict[str, bytes]:
    """Return every file by its name within the folder; none where nothing is remembered. No clock is asked.

    A private memory has none: the folder lies in the project, where others look.
    """
    memories = [memory for memory in state.memories.values() if memory.privacy != "private"]
    if not memories:
        return {}
    past = {memory.id for memory in memories if _is_past(memory)}
    held = [memory for memory in memories if memory.id not in past]
    files = {INDEX: _index(held)}
    for memory in memories:
        name = name_of(memory)
        files[f"{PAST}/{name}" if memory.id in past else name] = emit(memory)
    return files


def is_sealed(data: bytes) -> bool:
    """Say whether no byte of a file of ours was changed since it was written."""
    found = _SEAL.search(data)
    if found is None:
        return False
    raw = data[: found.start(1)] + _ZERO.encode("ascii") + data[found.end(1) :]
    return sha256_hex(raw).encode("ascii") == found[1]


def is_ours(data: bytes) -> bool:
    """Say whether a file was written here, changed by hand or not."""
    return data.startswith(_FIRST) or _LISTS in data


def write(folder: Path, files: dict[str, bytes]) -> Written:
    """Bring a project's folder of memories up to files; what somebody changed by hand is copied to `edited/` first."""
    if not files and not folder.is_dir():
        return Written()
    written, removed, edited = [], [], []
    for name, wanted in files.items():
        held = _bytes(folder / name)
        if held == wanted:
            continue
        if held is not None and not is_sealed(held):
            edited.append(_aside(folder, name, held))
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_atomic(folder / name, wanted, durable=False)
        written.append(name)
    for name, held in _held(folder):
        if name not in files and is_ours(held):
            if not is_sealed(held):
                edited.append(_aside(folder, name, held))
            (folder / name).unlink(missing_ok=True)
            removed.append(name)
    return Written(tuple(written), tuple(removed), tuple(edited))


def differing(folder: Path | None, files: dict[str, bytes]) -> tuple[str, ...]:
    """Return the names that `write` would write or remove. Reads only."""
    wrong = [name for name, wanted in files.items() if folder is None or _bytes(folder / name) != wanted]
    gone = [name for name, held in _held(folder) if name not in files and is_ours(held)] if folder is not None else []
    return (*wrong, *gone)


def check(folder: Path, files: dict[str, bytes], report: Callable[[str, str], None]) -> None:
    """Report (code, file) for each file that is missing, edited, stale, or not listed."""
    listed = _bytes(folder / INDEX) or b""
    for name, wanted in files.items():
        held = _bytes(folder / name)
        if held is None:
            report("memory_missing", f"{FOLDER}/{name}")
        elif held != wanted:
            report("memory_stale" if is_sealed(held) else "memory_edited", f"{FOLDER}/{name}")
    for name, _ in _held(folder):
        if "/" not in name and name != INDEX and f"]({name})".encode() not in listed:
            report("memory_unlisted", f"{FOLDER}/{name}")


def copies(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield (name, bytes) of the copies of what somebody changed by hand, by name."""
    for path in sorted((folder / EDITED).glob("*.md")):
        held = _bytes(path)
        if held is not None:
            yield path.name, held


def purge(folder: Path) -> None:
    """Remove every file of ours with the copies of those that were edited: all of them hold words of the record."""
    for path in (folder / EDITED).glob("*.md"):
        path.unlink(missing_ok=True)
    for name, held in list(_held(folder)):
        if is_ours(held):
            (folder / name).unlink(missing_ok=True)


def _is_past(memory: Memory) -> bool:
    return bool(memory.superseded_by or memory.refuted_because or memory.archived)


def _index(memories: list[Memory]) -> bytes:
    lines = ["# Memories", "", f"{_LISTS.decode()}{_ZERO} -->"]
    for kind in MEMORY_TYPES:
        held = [memory for memory in memories if memory.memory_type == kind]
        held.sort(key=lambda memory: memory.id)
        held.sort(key=lambda memory: memory.said_at, reverse=True)
        if held:
            lines += ["", f"## {kind}", "", *(f"- {_listed(memory)}" for memory in held)]
    return sealed("\n".join(lines) + "\n")


def _listed(memory: Memory) -> str:
    words = line(memory.statement).replace("[", "(").replace("]", ")")
    words = words if len(words) <= _LISTED_CHARS else f"{words[:_LISTED_CHARS].rstrip()} …"
    interval = f"[{memory.valid_from[:10]}, {memory.valid_to[:10]})"
    return f"[{words}]({name_of(memory)}) {interval} `{Span(memory.id, 0, len(memory.text)).pointer}`"


def _scalar(value: object) -> str:
    """Return a value as JSON, which YAML reads: the readable characters as they are."""
    if isinstance(value, str) and value in {*MEMORY_TYPES, "statement", "summary", "claim", "inference"}:
        return value
    text = json.dumps(plain(veil(value)) if isinstance(value, str) else value, ensure_ascii=False)
    return _BREAKS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _aside(folder: Path, name: str, data: bytes) -> str:
    kept = f"{EDITED}/{Path(name).stem}.{sha256_hex(data)[:_HASH_CHARS]}.md"
    if _bytes(folder / kept) != data:
        (folder / EDITED).mkdir(parents=True, exist_ok=True)
        write_atomic(folder / kept, data)
    return kept


def _held(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield (name within the folder, bytes) of what lies in it and in `past/`, by name."""
    for below in ("", f"{PAST}/"):
        for path in sorted((folder / below).glob("*.md")):
            held = _bytes(path)
            if held is not None:
                yield f"{below}{path.name}", held


def _bytes(path: Path) -> bytes | None:
    try:
        return read_file(path)
    except OSError:
        return None
