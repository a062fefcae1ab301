"""What this machine gives us: SQLite, its extension, full text, the model."""

from health.facts_machine import BackendFacts
from health.known import Area, Known, one
from health.signal import Level, Signal


def vector_search(backend: BackendFacts) -> Signal:
    """Return native, fallback or off, with the loader's own words when it is not native; unknown without an index."""
    level = {"native": Level.OK, "fallback": Level.WARN}.get(backend.vectors, Level.FAIL)
    reason = f": {backend.vectors_reason}" if backend.vectors_reason else ""
    text = f"{backend.vectors}{reason} (SQLite {backend.sqlite}, sqlite-vec {backend.extension or 'not loaded'})"
    if backend.vectors == "unknown":  # the missing or unreadable index has a signal of its own
        level, text = Level.OK, "not known without an index"
    return Signal(
        id="vector_search",
        value=backend.vectors,
        unit="name",
        level=level,
        text=text,
        meaning="native: sqlite-vec scans. fallback: NumPy scans, slower, same results. off: words only.",
        action="reinstall apsw and sqlite-vec for this interpreter" if level else "",
    )


def versions(backend: BackendFacts) -> Signal:
    """Return the versions of interpreter and SQLite, ours and the hook's."""
    hook = f"; hook: Python {backend.hook_python}, SQLite {backend.hook_sqlite}" if backend.hook_python else ""
    return Signal(
        id="versions",
        value={"python": backend.python, "sqlite": backend.sqlite, "hook_sqlite": backend.hook_sqlite},
        unit="version",
        level=Level.OK,
        text=f"Python {backend.python}, SQLite {backend.sqlite}{hook}",
        meaning="What to name in a report of a fault.",
    )


def full_text(backend: BackendFacts) -> Signal:
    """Return whether words are ranked by FTS5 here and in the hook's own interpreter."""
    if backend.fts5 is False:
        level, text = Level.WARN, "no FTS5: words are ranked by rank-bm25"
    elif backend.hook_fts5 is False:
        level, text = Level.WARN, "FTS5 here, none in the hook's interpreter: without its service the hook is silent"
    elif backend.fts5 is None:
        level, text = Level.OK, "not known"
    else:
        level, text = Level.OK, "FTS5"
    return Signal(
        id="full_text",
        value=backend.fts5,
        unit="flag",
        level=level,
        text=text,
        meaning="Words are searched by SQLite's FTS5.",
        action="use a Python whose SQLite has FTS5" if level else "",
    )


def embedder(backend: BackendFacts) -> Signal:
    """Return whether the model can be loaded, and if not, why."""
    level = Level.FAIL if backend.embedder == "down" else Level.OK
    reason = f": {backend.embedder_reason}" if backend.embedder_reason else ""
    return Signal(
        id="embedder",
        value=backend.embedder,
        unit="name",
        level=level,
        text=f"{backend.embedder} ({backend.embedder_model or 'no model'}){reason}",
        meaning="Without a model recall goes by words only.",
        action="run 'recall model add FILE'" if level else "",
        details=(backend.embedder_path,) if backend.embedder_path else (),
    )


KNOWN = (
    Known(
        "vector_search",
        one(lambda f: vector_search(f.backend)),
        Area.RECALL,
        "SQLite of this interpreter",
        warn="fallback",
        fail="off",
    ),
    Known(
        "full_text",
        one(lambda f: full_text(f.backend)),
        Area.RECALL,
        "SQLite of this interpreter and the hook's",
        warn="no FTS5",
        why_never="rank-bm25 ranks words instead",
    ),
    Known(
        "embedder",
        one(lambda f: embedder(f.backend)),
        Area.RECALL,
        "the model's file",
        fail="cannot be loaded",
        why_never="without a model recall goes by words only",
        remedy="model add",
    ),
    Known(
        "versions",
        one(lambda f: versions(f.backend)),
        Area.OPERATIONS,
        "this interpreter and the hook's",
        why_never="what to name in a report of a fault",
    ),
)
