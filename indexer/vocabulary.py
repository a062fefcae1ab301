"""The words an index holds, looked up one by one and by their first letters. Standard library only.

FTS5 keeps stems; a view over them is made in the connection's own temporary schema, never in the file.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from indexer.lexical import quoted
from indexer.passage_text import Texts
from indexer.passage_words import words

Execute = Callable[[str, tuple[Any, ...]], Iterable[tuple[Any, ...]]]
_MOST = 2000  # stems that one look may return
_SAMPLES = 4  # places of a stem whose words are read


def unheld(execute: Execute, generation: int, terms: Sequence[str]) -> list[str]:
    """Return the terms that no chunk holds, in their order."""
    table = f"chunk_fts_{generation}"
    sql = f"SELECT 1 FROM {table} WHERE {table} MATCH ? LIMIT 1"
    return [term for term in terms if not list(execute(sql, (quoted(term),)))]


def stems(execute: Execute, generation: int, prefix: str, shortest: int, longest: int) -> list[tuple[str, int]]:
    """Return the stems that begin with prefix and are so long, each with the number of chunks that hold it."""
    sql = (
        f"SELECT term, doc FROM {_view(execute, generation, 'row')} WHERE term >= ? AND term < ?"
        f" AND length(term) BETWEEN ? AND ? LIMIT {_MOST}"
    )
    after = prefix[:-1] + chr(ord(prefix[-1]) + 1)
    return [(str(stem), int(count)) for stem, count in execute(sql, (prefix, after, shortest, longest))]


def words_with(execute: Execute, texts: Texts, generation: int, stem: str) -> frozenset[str]:
    """Return the words of a few chunks that hold a stem: the words it was made from are among them."""
    sql = f"SELECT doc FROM {_view(execute, generation, 'instance')} WHERE term = ? LIMIT {_SAMPLES}"
    chunks = sorted({chunk for (chunk,) in list(execute(sql, (stem,)))})
    return frozenset(word for _, held in words(execute, texts, generation, chunks) for word in held)


def counts(execute: Execute, generation: int) -> Iterable[tuple[str, int, int]]:
    """Return (stem, number of chunks that hold it, how often it stands in them) of all stems, in order."""
    return execute(f"SELECT term, doc, cnt FROM {_view(execute, generation, 'row')} ORDER BY term", ())


def _view(execute: Execute, generation: int, kind: str) -> str:
    name = f"temp.words_{kind}_{generation}"
    list(
        execute(
            f"CREATE VIRTUAL TABLE IF NOT EXISTS {name} USING fts5vocab('main', 'chunk_fts_{generation}', {kind})", ()
        )
    )
    return name
