"""Fills the table of words of a generation from its passages."""

from collections.abc import Iterable

from indexer.passage_text import Execute, Texts
from indexer.passage_words import words
from indexer.schema import create_fts, merge_words


def refill(
    execute: Execute,
    texts: Texts,
    generation: int,
    *,
    accents: bool = False,
    given: Iterable[tuple[int, list[str]]] | None = None,
) -> None:
    """Make the table of words anew, inside the caller's transaction: no byte of the old one stays in use.

    `given` are other (chunk, words) than those of the passages; with accents they make other words.
    """
    table = f"chunk_fts_{generation}"
    execute(f"DROP TABLE IF EXISTS {table}", ())
    create_fts(execute, generation, accents=accents)
    for number, held in words(execute, texts, generation) if given is None else given:
        execute(f"INSERT INTO {table} (rowid, tokens) VALUES (?, ?)", (number, " ".join(held)))
    merge_words(execute, generation)
