"""The words of passages, cut anew from their texts: the index holds none but those of FTS5, which are stems."""

from collections.abc import Iterator, Sequence
from typing import Any

from indexer.passage_text import Execute, Texts
from indexer.rows import TALK
from indexer.segment import segment
from indexer.talk import heading

_MANY = 500  # bound parameters of one statement


def words(
    execute: Execute, texts: Texts, generation: int, chunks: Sequence[int] | None = None
) -> Iterator[tuple[int, list[str]]]:
    """Yield (chunk, the words that are searched for it) of these chunks, of all by default, by id.

    Those of a turn of a talk begin with the day and the name of who speaks.
    """
    talk = headings(execute, generation, chunks)
    for number, held in _of(execute, f"SELECT id, text FROM chunk_{generation}", "id", chunks, "ORDER BY id"):
        yield number, segment(talk.get(number, "") + texts.plain(held))


def headings(execute: Execute, generation: int, chunks: Sequence[int] | None = None) -> dict[int, str]:
    """Return chunk -> heading of those that are turns of a talk: a turn is keyed by its heading too, so it has one."""
    sql = f"SELECT chunk_id, worker, ts FROM pointer_{generation} WHERE flags & {TALK}"
    return {number: heading(speaker, ts) for number, speaker, ts in _of(execute, sql, "chunk_id", chunks)}


def _of(
    execute: Execute, sql: str, column: str, chunks: Sequence[int] | None, order: str = ""
) -> Iterator[tuple[Any, ...]]:
    if chunks is None:
        yield from execute(f"{sql} {order}", ())
        return
    joined = "AND" if "WHERE" in sql else "WHERE"
    for at in range(0, len(chunks), _MANY):
        part = tuple(chunks[at : at + _MANY])
        yield from execute(f"{sql} {joined} {column} IN ({','.join('?' * len(part))}) {order}", part)
