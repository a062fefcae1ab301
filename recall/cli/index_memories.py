"""What `recall index status` says of memories: each file with the passages that the index holds of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transcript.telling import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indexer.reader import Reader
    from recall.disclosure import Door
    from transcript.log import Log

MOST_NAMED = 8


def in_index(reader: Reader, log: Log, exit_: Door) -> dict[str, dict[str, int]]:
    """How many passages the index holds of each memory's file, of each file taken in, of each file of the project.

    A file's name is made of a memory's words: of those that do not leave by this door none is named.
    """
    from transcript.memories import fold_memories
    from transcript.projections.memory_files import name_of

    state = exit_.state(fold_memories(log))
    found: dict[str, dict[str, int]] = {"files": {}, "imported": {}, "project": {}}
    for memory in state.memories.values():
        passages = len(reader.chunks_of(memory.id))
        found["files"][name_of(memory)] = passages
        held = state.candidates.get(memory.candidate)
        file = held.body.get("file") if held is not None and held.body.get("found_by") == "import" else None
        if file and not memory.superseded_by:
            found["imported"][str(file.get("path"))] = passages
    for path, (event, _) in state.project_files.items():
        found["project"][path] = len(reader.chunks_of(event))
    return found


def lines(found: Mapping[str, Mapping[str, int]]) -> list[str]:
    """The same for people, one line a kind; nothing where there is none."""
    names = {"files": ("memory", "memories"), "imported": ("imported file",), "project": ("project file",)}
    told = []
    for kind, words in names.items():
        files = found[kind]
        if files:
            most = sorted(files.items(), key=lambda item: (-item[1], item[0]))[:MOST_NAMED]
            shown = ", ".join(f"{name} {number:,}" for name, number in most)
            more = f", {len(files) - MOST_NAMED:,} more" if len(files) > MOST_NAMED else ""
            told.append(f"{counted(len(files), *words)} in {counted(sum(files.values()), 'passage')}: {shown}{more}")
    return told
