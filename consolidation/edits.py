"""Makes proposals of the files that somebody changed by hand: what was kept aside, and what still lies in its place."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from consolidation.loader import Document, document
from consolidation.model import Candidate, folded
from consolidation.plain import seen
from consolidation.subject import subject
from transcript import secrets
from transcript.memories import Memory, MemoryState, Span, span_of_body
from transcript.paths import read_file
from transcript.projections import memory_files
from transcript.projections.page import POINTER
from transcript.projections.views import folder_of, memory_folder
from transcript.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Edits:
    """What the edited files of a project propose, and (file, reason) of those that cannot be read."""

    proposed: tuple[Candidate, ...] = ()
    unread: tuple[tuple[str, str], ...] = ()


def hand_edits(workspace: Workspace, state: MemoryState) -> Edits:
    """Return what the edited files of a project say otherwise than their memories, each once, by name.

    An edit that leaves statement, reason, type and tags as they are is none; a file that cannot be read stays where it
    lies and is named. The same edit gives the same candidate: nothing is proposed twice.
    """
    views = folder_of(workspace.root)
    if views is None:
        return Edits()
    folder, key = memory_folder(views), workspace.id_key()
    found: dict[str, Candidate] = {}
    unread = []
    for name, path in _edited(folder, state):
        try:
            edit = document(name, read_file(path))
        except (ValueError, OSError) as error:
            reason = f"{error.strerror}" if isinstance(error, OSError) else str(error)
            unread.append((f"{views.parent.name}/{memory_files.FOLDER}/{name}", reason))
            continue
        memory = state.memories.get(edit.id) or _named(state, name)
        candidate = _candidate(edit, memory, key) if memory is not None else None
        if candidate is not None:
            candidate = _apart(candidate, state)
            found.setdefault(candidate.id, candidate)
    return Edits(tuple(found.values()), tuple(unread))


def _edited(folder: Path, state: MemoryState) -> Iterator[tuple[str, Path]]:
    for path in sorted((folder / memory_files.EDITED).glob("*.md")):
        yield f"{memory_files.EDITED}/{path.name}", path
    for path in sorted(folder.glob("*.md")):
        if path.is_file() and path.name != memory_files.INDEX and _is_edited(path, state):
            yield path.name, path


def _is_edited(path: Path, state: MemoryState) -> bool:
    """Whether a file of a memory is not as it was written; one without its head belongs to it by its name."""
    try:
        data = read_file(path)
    except OSError:
        return _named(state, path.name) is not None
    return not memory_files.is_sealed(data) and (memory_files.is_ours(data) or _named(state, path.name) is not None)


def _named(state: MemoryState, name: str) -> Memory | None:
    """Return the memory whose pointer stands in a file's name: its front matter may be gone."""
    short = Path(name).name.split(".")[0].rpartition("-")[2]
    if len(short) < POINTER:
        return None
    return next((memory for memory in state.memories.values() if memory.id.startswith(short)), None)


def _candidate(edit: Document, memory: Memory, key: bytes) -> Candidate | None:
    text, why = secrets.mask(edit.statement, key)[0], secrets.mask(edit.why, key)[0]
    reworded = folded(text) != folded(seen(memory.statement))
    held = (folded(seen(memory.why)), memory.memory_type, memory.tags)
    if not reworded and (folded(why), edit.memory_type, edit.tags) == held:
        return None
    return Candidate(
        found_by="hand_edit",
        memory_type=edit.memory_type,
        text=text,
        why=why,
        sources=memory.sources,
        said_at=memory.said_at,
        subject=subject(text),
        projects=memory.projects,
        roles=memory.roles,
        tags=edit.tags,
        privacy=memory.privacy,
        agent_id=memory.agent_id,
        supersedes=Span(memory.id, 0, len(memory.text)),
        mistake=memory.mistake,
        file=(edit.path, edit.sha256),
    )


def _apart(candidate: Candidate, state: MemoryState) -> Candidate:
    """Return an edit as a candidate of its own where the memory itself, or its past, had these words before."""
    held, whole = state.candidates.get(candidate.id), candidate.supersedes
    if held is None or whole is None or span_of_body(held.body.get("supersedes")).event == whole.event:
        return candidate
    return replace(candidate, sources=(*candidate.sources, whole))
