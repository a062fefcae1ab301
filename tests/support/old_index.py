"""An index as an older version of the schema has it, made of a new one."""

from indexer.passage_words import words
from indexer.store import Store

_CHUNK = """
CREATE TABLE chunk_{g} (
    id INTEGER PRIMARY KEY, key BLOB NOT NULL CHECK (length(key) = 16), source_class INTEGER NOT NULL,
    role INTEGER NOT NULL, n_tokens INTEGER NOT NULL, text TEXT NOT NULL, tokens TEXT NOT NULL
)
"""
_FTS = (
    "CREATE VIRTUAL TABLE chunk_fts_{g} USING fts5(tokens, content='chunk_{g}', content_rowid='id',"
    " tokenize='porter unicode61')"
)


def as_schema_4(store: Store) -> None:
    """Bring an index back, inside the caller's transaction: texts plain, their words beside them."""
    g = store.generation
    held = list(store.run(f"SELECT id, key, source_class, role, n_tokens, plain_text(text) FROM chunk_{g} ORDER BY id"))
    cut = {number: " ".join(found) for number, found in words(store.run, store.packing, g)}
    for statement in (
        f"DROP TABLE chunk_fts_{g}",
        f"DROP TABLE chunk_{g}",
        _CHUNK.format(g=g),
        f"CREATE UNIQUE INDEX chunk_key_{g} ON chunk_{g} (key)",
        _FTS.format(g=g),
        f"DROP INDEX pointer_exchange_{g}",
        f"CREATE INDEX pointer_exchange_{g} ON pointer_{g} (exchange, kind)",
        "DROP TABLE dictionary",
        "ALTER TABLE index_writers DROP COLUMN host",
        "DELETE FROM migration WHERE id > 4",
        "UPDATE meta SET value = '4' WHERE key = 'schema'",
    ):
        store.run(statement)
    for row in held:
        store.run(
            f"INSERT INTO chunk_{g} VALUES (?, ?, ?, ?, ?, ?, ?)", (row[0], row[1] + bytes(4), *row[2:], cut[row[0]])
        )
    store.run(f"INSERT INTO chunk_fts_{g} (chunk_fts_{g}) VALUES ('rebuild')")
