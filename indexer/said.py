"""What an index says was said, event by event, in the order of the record: for questions made from a user's own past.

It tells nothing of row numbers, so that two indexes of one record say the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from indexer.rows import ABANDONED, CURATED, FINAL, IMPLAUSIBLE_TIME, NARRATION, PRIVATE, PROMPT, REWOUND, SUPERSEDED
from indexer.rows import TOOL_RESULT as RESULT
from indexer.store import Store
from indexer.vectors import KINDS

KINDS_SAID = (PROMPT, FINAL, NARRATION, RESULT, CURATED)
_OUT = ABANDONED | REWOUND | SUPERSEDED | PRIVATE | IMPLAUSIBLE_TIME


@dataclass(frozen=True, slots=True)
class Said:
    """One event: its passages joined, every session it stands in, and the exchange it belongs to (0: none)."""

    event: str
    kind: int
    exchange: int  # tells events of one exchange from others'; the number itself says nothing
    sessions: frozenset[str]
    said: int  # seconds since 1970
    text: str  # credentials masked


def said(store: Store) -> list[Said]:
    """Return prompts, answers, tool results and curated events in the order of the record.

    Left out are sub-agents, and what is private, superseded, was abandoned or rewound, or has no plausible time.
    """
    g = store.generation
    kinds = ",".join(map(str, KINDS_SAID))
    sql = (
        f"SELECT v.event, p.kind, p.exchange, s.session, p.ts, p.start, plain_text(c.text) FROM pointer_{g} p"
        f" JOIN chunk_{g} c ON c.id = p.chunk_id JOIN event_{g} v ON v.id = p.event"
        f" JOIN session_{g} s ON s.id = p.session"
        f" WHERE p.kind IN ({kinds}) AND p.flags & {_OUT} = 0 AND (p.worker = '' OR p.kind = {CURATED})"
        " ORDER BY p.seq, v.event, s.session, p.start"
    )
    rows: dict[str, list[tuple[int, int, str, int, int, str]]] = {}
    for event, *row in store.run(sql):
        rows.setdefault(event, []).append(tuple(row))
    return [_said(event, held) for event, held in rows.items()]


def vector_texts(store: Store) -> Iterator[tuple[int, str]]:
    """Yield the passages that have a vector, (chunk id, text), by id."""
    held = {number // KINDS for number in store.vectors.ids()}
    for chunk, text in store.run(f"SELECT id, plain_text(text) FROM chunk_{store.generation} ORDER BY id"):
        if chunk in held:
            yield int(chunk), str(text)


def _said(event: str, rows: list[tuple[int, int, str, int, int, str]]) -> Said:
    kind, exchange, first, ts = rows[0][:4]
    texts = [text for _, _, session, _, _, text in rows if session == first]
    return Said(event, kind, exchange, frozenset(row[2] for row in rows), ts, "\n".join(texts))
