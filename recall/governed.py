"""What is known of the found items besides their words: how memories hold, what was earned by being used, and risks.

On the hook path: standard library only. One read for all candidates, none where nothing is known of anything.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from indexer.reader import Reader
from indexer.rows import StandingRow
from recall.query import Query
from recall.turn import Candidate

MOST_PLACES = 20  # of a passage that are looked up: what stands in more is said everywhere


def with_standing(found: Sequence[Candidate], reader: Reader, query: Query, *, now: datetime) -> list[Candidate]:
    """Return the candidates, each with what is known of it: interval, label, approval, evidence for the role, risks."""
    if not found or not reader.has_standing():
        return list(found)
    if query.as_of is not None:
        found = _held_then(found, reader, math.ceil(query.as_of.timestamp()) - 1)
    rows = reader.standing({p.event for c in found for p in c.pointers[:MOST_PLACES]})
    at = (query.as_of or now).timestamp()
    return [_stood(_speaking(c, rows, at), rows, query.role or "") for c in found] if rows else list(found)


def _held_then(found: Sequence[Candidate], reader: Reader, as_of: int) -> list[Candidate]:
    """The candidates; one that was replaced later than the time that is asked for was not replaced then."""
    out = []
    for c in found:
        if c.standing.superseded:
            made = reader.corrections({p.event for p in c.pointers})
            by = {one.by for p in c.pointers for one in made.get(p.event, ()) if one.covers(p.start, p.end)}
            if by and not any(reader.passages(reader.chunks_of(event), as_of=as_of) for event in by):
                risks = tuple(risk for risk in c.standing.risks if risk != "superseded")
                c = replace(c, standing=replace(c.standing, superseded=False, risks=risks))
        out.append(c)
    return out


def _speaking(candidate: Candidate, rows: Mapping[str, StandingRow], at: float) -> Candidate:
    """The candidate with a pointer in front that holds: two memories may have the same words at different times."""
    if len(candidate.pointers) == 1 or _holds(rows.get(candidate.pointer.event), at):
        return candidate
    flags = candidate.pointer.flags
    for pointer in candidate.pointers[1:]:
        if pointer.flags == flags and pointer.source == candidate.source and _holds(rows.get(pointer.event), at):
            return replace(candidate, pointers=(pointer, *(p for p in candidate.pointers if p is not pointer)))
    return candidate


def _holds(row: StandingRow | None, at: float) -> bool:
    if row is None:
        return True
    return (row.valid_from is None or row.valid_from <= at) and (row.valid_to is None or at < row.valid_to)


def _stood(candidate: Candidate, rows: Mapping[str, StandingRow], role: str) -> Candidate:
    earned = [rows[p.event] for p in candidate.pointers if p.event in rows]
    if not earned:
        return candidate
    own = rows.get(candidate.pointer.event)
    standing = replace(
        candidate.standing,
        raw_experience=max(row.raw + (json.loads(row.roles).get(role, 0.0) if row.roles else 0.0) for row in earned),
        hits=max(row.hits for row in earned),
        applied=max(row.applied for row in earned),
    )
    if own is None:
        return replace(candidate, standing=standing)
    risks = tuple(json.loads(own.risks)) if own.risks else ()
    return replace(
        candidate,
        demoted=(*candidate.demoted, *risks),
        standing=replace(
            standing,
            valid_from=own.valid_from,
            valid_to=own.valid_to,
            approved=bool(own.approved),
            label=own.label,
            recorded=own.recorded,
            quotes=_place(own.quotes),
            risks=(*standing.risks, *(risk for risk in risks if risk not in standing.risks)),
        ),
    )


def _place(quotes: str) -> tuple[str, int, int] | None:
    event, _, span = quotes.partition("#")
    start, _, end = span.partition("-")
    return (event, int(start), int(end)) if end else None
