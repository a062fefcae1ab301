"""Memories of folders: whether each file on disk, and each type of memory, reaches a session."""

from health.facts_memories import LoaderFacts
from health.known import Area, Known, one
from health.signal import Level, Signal
from transcript.telling import counted

MOST_SHOWN = 20
MEND = "run 'recall session-start' for why, then mend the files or 'recall memory import' them"


def loader_lost(m: LoaderFacts) -> Signal:
    """Return how many files of memories are on disk and not loaded.

    Fails where one of them is critical, and where another version of recall wrote one.
    """
    disk, loaded = sum(m.disk.values()), sum(m.loaded.values())
    level = Level.FAIL if m.critical_missing or m.other_schema else Level.WARN if m.lost else Level.OK
    text = f"{loaded:,} of {counted(disk, 'memory on disk', 'memories on disk')} loaded"
    if m.lost:
        text += f", {len(m.lost):,} lost" + (f", {m.critical_missing:,} of them critical" if m.critical_missing else "")
        text += f", {m.other_schema:,} of another schema" if m.other_schema else ""
    return Signal(
        id="loader_lost",
        value={
            "disk": disk,
            "loaded": loaded,
            "lost": len(m.lost),
            "critical_missing": m.critical_missing,
            "other_schema": m.other_schema,
        },
        unit="count",
        level=level,
        text=text,
        meaning="A memory that the loader does not understand is told in no session; critical ones are named first.",
        action=MEND if level else "",
        details=m.lost[:MOST_SHOWN],
    )


def memory_types_loaded(m: LoaderFacts) -> Signal:
    """Return how many memories of each type on disk are loaded; a type of which none is fails."""
    none = [kind for kind, number in sorted(m.disk.items()) if kind and number and not m.loaded.get(kind)]
    text = f"{counted(len(m.disk), 'type')} on disk, all loaded"
    if none:
        text = f"none loaded of {', '.join(f'{kind[:40]} ({m.disk[kind]:,} on disk)' for kind in none[:3])}"
    return Signal(
        id="memory_types_loaded",
        value={kind or "no type": [m.loaded.get(kind, 0), number] for kind, number in sorted(m.disk.items())},
        unit="count",
        level=Level.FAIL if none else Level.OK,
        text=text,
        meaning="A class of memories that is never loaded looks from a session as if there were none.",
        action=MEND if none else "",
        details=tuple(
            f"{kind or 'no type'}: {m.loaded.get(kind, 0):,} of {number:,}" for kind, number in sorted(m.disk.items())
        ),
    )


KNOWN = (
    Known(
        "loader_lost",
        one(lambda f: loader_lost(f.loader)),
        Area.LOADING,
        "folders of memories",
        warn="> 0",
        fail="a critical one, or one of another schema",
        remedy="session-start",
        rows="LCA-D-03H, LCA-6.1-07",
    ),
    Known(
        "memory_types_loaded",
        one(lambda f: memory_types_loaded(f.loader)),
        Area.LOADING,
        "folders of memories",
        fail="none of a type",
        why_never="single files are counted by loader_lost",
        remedy="session-start",
        rows="LCA-10.6-03, LCA-D-03H",
    ),
)
