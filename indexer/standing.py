"""How a memory or a file of the project stands: its interval, its label, what it quotes, and what it has earned.

The left half of a row follows from the record alone and is filled as it is read (`indexer.memories`). The right half
is what consolidation makes of the record under its settings: `write` brings it up to date, and a rebuild keeps it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from indexer.reader import Execute
from indexer.store import Store
from transcript.canonical import canonical

SUPERSEDED, REFUTED, ARCHIVED = 1, 2, 4  # why a memory does not hold any more: bits of `barred`
_WEIGHTS = ("approved", "raw", "hits", "applied", "roles", "risks")
_EARNED = ", ".join(_WEIGHTS)
_NOTHING = (0, 0.0, 0, 0, "", "")
_TOLD = "recorded = 0 AND barred = 0 AND valid_to IS NULL"  # nothing of the record stands in such a row


@dataclass(frozen=True, slots=True)
class Weighed:
    """What consolidation says of a memory, or of an event that was cited.

    `raw` is evidence without unit, `roles` what counts besides for one role, `applied` when it was last used in
    seconds since 1970, 0 for never; `risks` are keys of `scoring.risk.RISKS`.
    """

    approved: bool = False
    raw: float = 0.0
    hits: int = 0
    applied: int = 0
    roles: Mapping[str, float] = field(default_factory=dict)
    risks: tuple[str, ...] = ()

    def row(self) -> tuple[int, float, int, int, str, str]:
        """Return the values as they are stored."""
        roles = canonical(dict(self.roles)).decode("ascii") if self.roles else ""
        risks = json.dumps(sorted(self.risks)) if self.risks else ""
        return int(self.approved), self.raw, self.hits, self.applied, roles, risks


def write(store: Store, rows: Mapping[str, Weighed], *, under: str = "") -> int:
    """Let the serving generation hold exactly these weights, by whole event id; return how many rows changed.

    `under` stands for the settings that they were made under, as `made_under` returns it.
    """
    g = store.generation
    if not g:
        return 0
    wanted = {event: weighed.row() for event, weighed in rows.items()}
    held = weights(store)
    changed = {e: wanted.get(e, _NOTHING) for e in wanted.keys() | held.keys()}
    changed = {event: row for event, row in changed.items() if row != held.get(event, _NOTHING)}
    if not changed and made_under(store) == under:
        return 0
    with store.transaction(changes=bool(changed)):
        for event in sorted(changed):
            _upsert(store.run, g, event, **dict(zip(_WEIGHTS, changed[event], strict=True)))
        store.run(f"DELETE FROM standing_{g} WHERE {_TOLD} AND ({_EARNED}) = (?, ?, ?, ?, ?, ?)", _NOTHING)
        store.run("INSERT OR REPLACE INTO meta VALUES ('weighed_under', ?)", (under,))
    return len(changed)


def made_under(store: Store) -> str:
    """Return what stands for the settings that the weights were made under, "" where none were made yet."""
    for (under,) in store.run("SELECT value FROM meta WHERE key = 'weighed_under'"):
        return str(under)
    return ""


def is_due(store: Store, under: str, *, unmade: bool = True) -> bool:
    """Say whether an index holds weights of other settings than these, or, with `unmade`, none at all."""
    held = made_under(store)
    return store.generation > 0 and held != under and (unmade or bool(held))


def weights(store: Store) -> dict[str, tuple[Any, ...]]:
    """Return what the serving generation holds of weights: event -> `Weighed.row`, where that is not nothing."""
    if not store.has_table(f"standing_{store.generation}"):
        return {}
    rows = store.run(f"SELECT event, {_EARNED} FROM standing_{store.generation}")
    return {event: tuple(earned) for event, *earned in rows if tuple(earned) != _NOTHING}


def carry_over(execute: Execute, old: int, new: int) -> None:
    """Let a new generation begin with the weights of the one before, inside the caller's transaction."""
    rows = list(execute(f"SELECT event, {_EARNED} FROM standing_{old}", ()))
    for event, *earned in rows:
        if tuple(earned) != _NOTHING:
            _upsert(execute, new, event, **dict(zip(_WEIGHTS, earned, strict=True)))


def note(
    execute: Execute,
    g: int,
    event: str,
    *,
    recorded: int,
    valid_from: int | None = None,
    valid_to: int | None = None,
    label: str = "",
    quotes: str = "",
    path: str = "",
) -> None:
    """Store what the record says of a memory or a file; times in seconds since 1970, None for open."""
    columns = {"valid_from": valid_from, "label": label, "recorded": recorded, "quotes": quotes, "path": path}
    _upsert(execute, g, event, **columns)
    if valid_to is not None:
        close(execute, g, event, valid_to)


def amend(execute: Execute, g: int, event: str, **columns: int | None) -> None:
    """Change the interval of a memory: `valid_from`, `valid_to`."""
    _upsert(execute, g, event, **columns)


def close(execute: Execute, g: int, event: str, at: int) -> None:
    """Let a memory hold until then, or as long as before where that is shorter."""
    _upsert(execute, g, event)
    execute(
        f"UPDATE standing_{g} SET valid_to = ? WHERE event = ? AND (valid_to IS NULL OR valid_to > ?)", (at, event, at)
    )


def bar(execute: Execute, g: int, event: str, why: int, *, on: bool = True) -> bool:
    """Note, or with on=False take back, why a memory does not hold; return whether anything bars it now.

    It may be told before the memory itself is stored, and is known then.
    """
    _upsert(execute, g, event)
    change = "barred | ?" if on else "barred & ~?"
    execute(f"UPDATE standing_{g} SET barred = {change} WHERE event = ?", (why, event))
    return barred(execute, g, event)


def barred(execute: Execute, g: int, event: str) -> bool:
    """Tell whether anything bars a memory."""
    return any(why for (why,) in execute(f"SELECT barred FROM standing_{g} WHERE event = ?", (event,)))


def files(execute: Execute, g: int, path: str) -> list[tuple[str, int]]:
    """Return (event, when it was recorded) of each state of a project's file."""
    return list(execute(f"SELECT event, recorded FROM standing_{g} WHERE path = ? ORDER BY event", (path,)))


def quoting(execute: Execute, g: int) -> dict[str, list[str]]:
    """Return event -> the memories that quote it."""
    found: dict[str, list[str]] = {}
    for event, quotes in execute(f"SELECT event, quotes FROM standing_{g} WHERE quotes <> '' ORDER BY event", ()):
        found.setdefault(quotes.partition("#")[0], []).append(event)
    return found


def _upsert(execute: Execute, g: int, event: str, **columns: Any) -> None:
    execute(f"INSERT OR IGNORE INTO standing_{g} (event) VALUES (?)", (event,))
    if columns:
        named = ", ".join(f"{name} = ?" for name in columns)
        execute(f"UPDATE standing_{g} SET {named} WHERE event = ?", (*columns.values(), event))
