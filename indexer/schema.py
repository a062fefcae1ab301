"""The tables of the index. Migrations are numbered; each is applied in one transaction with the row that records it.

Any SQLite from 3.35 can read the file: stock FTS5 options, no STRICT tables, no JSONB. What a generation holds stands
in tables with its number as suffix, so that a rebuild fills new ones beside those that serve.
"""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import apsw

from indexer import dictionary
from indexer.connection import connect, translated
from indexer.passage_text import Texts
from indexer.reader import SCHEMA_VERSION
from indexer.replacements import LINKED_CLASSES, replacements
from indexer.rows import (
    ENDS,
    EXTERNAL,
    FROM_WORKER,
    KEY_BYTES,
    KIND_NAMES,
    PROMPT,
    ROLES,
    SOURCE_CLASSES,
    TALK,
    TOOL_CALL,
    TOOL_IDS,
    WISH,
)
from indexer.rules import Rules, add_rule, rules_sql
from indexer.wishes import is_wish
from transcript.errors import IndexNewer

Execute = Callable[..., Iterable[tuple[Any, ...]]]

_FIRST = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE migration (id INTEGER PRIMARY KEY, applied_at TEXT NOT NULL);
CREATE TABLE generation (
    id INTEGER PRIMARY KEY,
    state TEXT NOT NULL CHECK (state IN ('building', 'serving', 'retired')),
    model TEXT NOT NULL,
    revision TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    max_tokens INTEGER NOT NULL,
    config_hash TEXT NOT NULL,
    segmentation INTEGER NOT NULL,
    watermark TEXT NOT NULL DEFAULT '',
    n_chunks INTEGER NOT NULL DEFAULT 0,
    n_vectors INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE index_writers (
    name TEXT PRIMARY KEY,
    version TEXT NOT NULL,
    first_seen TEXT NOT NULL,
    last_seen TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE run (id INTEGER PRIMARY KEY, started_at TEXT NOT NULL, kind TEXT NOT NULL, report TEXT NOT NULL);
INSERT INTO meta VALUES ('schema', '1'), ('generation', '0'), ('data_version', '0');
"""
_GENERATION = f"""
CREATE TABLE chunk_{{g}} (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL CHECK (length(key) >= {KEY_BYTES}),
    source_class INTEGER NOT NULL CHECK (source_class BETWEEN 0 AND {len(SOURCE_CLASSES) - 1}),
    role INTEGER NOT NULL CHECK (role BETWEEN 0 AND {len(ROLES) - 1}),
    n_tokens INTEGER NOT NULL,
    text BLOB NOT NULL
);
CREATE UNIQUE INDEX chunk_key_{{g}} ON chunk_{{g}} (key);
CREATE TABLE event_{{g}} (id INTEGER PRIMARY KEY, event TEXT NOT NULL, message TEXT NOT NULL DEFAULT '',
    boundary INTEGER NOT NULL DEFAULT 0);
CREATE UNIQUE INDEX event_event_{{g}} ON event_{{g}} (event);
CREATE TABLE session_{{g}} (
    id INTEGER PRIMARY KEY,
    session TEXT NOT NULL UNIQUE,
    cwd TEXT NOT NULL DEFAULT '',
    last_ts INTEGER NOT NULL DEFAULT 0,
    exchanges INTEGER NOT NULL DEFAULT 0,
    compaction_seq INTEGER NOT NULL DEFAULT 0,
    exchange INTEGER NOT NULL DEFAULT 0,
    final_message TEXT NOT NULL DEFAULT ''
);
CREATE TABLE exchange_{{g}} (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    worker TEXT NOT NULL DEFAULT '',
    ts INTEGER NOT NULL,
    prompt_head TEXT NOT NULL
);
CREATE INDEX exchange_worker_{{g}} ON exchange_{{g}} (session, worker) WHERE worker <> '';
CREATE TABLE pointer_{{g}} (
    chunk_id INTEGER NOT NULL,
    event INTEGER NOT NULL,
    start INTEGER NOT NULL,
    session INTEGER NOT NULL,
    end INTEGER NOT NULL CHECK (end > start),
    exchange INTEGER NOT NULL,
    ts INTEGER NOT NULL,
    kind INTEGER NOT NULL CHECK (kind BETWEEN 0 AND {len(KIND_NAMES) - 1}),
    seq INTEGER NOT NULL,
    flags INTEGER NOT NULL DEFAULT 0,
    worker TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (chunk_id, event, start, session)
) WITHOUT ROWID;
CREATE INDEX pointer_exchange_{{g}} ON pointer_{{g}} (exchange, kind) WHERE {ENDS};
CREATE INDEX pointer_event_{{g}} ON pointer_{{g}} (event);
CREATE INDEX pointer_session_{{g}} ON pointer_{{g}} (session, seq);
CREATE TABLE vector_{{g}} (id INTEGER PRIMARY KEY, embedding BLOB NOT NULL);
CREATE TABLE embed_state_{{g}} (
    id INTEGER PRIMARY KEY,
    attempts INTEGER NOT NULL DEFAULT 0,
    crashes INTEGER NOT NULL DEFAULT 0,
    in_flight INTEGER NOT NULL DEFAULT 0,
    truncated INTEGER NOT NULL DEFAULT 0,
    error TEXT NOT NULL DEFAULT ''
);
"""
_LINKS = """
CREATE TABLE replaced_{g} (
    old TEXT NOT NULL,
    new TEXT NOT NULL,
    chunk_id INTEGER NOT NULL,
    PRIMARY KEY (old, new, chunk_id)
) WITHOUT ROWID;
CREATE INDEX replaced_chunk_{g} ON replaced_{g} (chunk_id);
CREATE TABLE corrected_{g} (event TEXT NOT NULL, by TEXT NOT NULL, PRIMARY KEY (event, by)) WITHOUT ROWID;
"""
_PROPOSED = """
CREATE TABLE proposed_{g} (
    one TEXT NOT NULL,
    one_chunk INTEGER NOT NULL,
    other TEXT NOT NULL,
    other_chunk INTEGER NOT NULL,
    PRIMARY KEY (one_chunk, other_chunk, one, other)
) WITHOUT ROWID;
"""
_FTS = "CREATE VIRTUAL TABLE chunk_fts_{g} USING fts5(tokens, content='', tokenize='porter unicode61')"
_STANDING = """
CREATE TABLE standing_{g} (
    event TEXT PRIMARY KEY,
    valid_from INTEGER,
    valid_to INTEGER,
    label TEXT NOT NULL DEFAULT '',
    recorded INTEGER NOT NULL DEFAULT 0,
    barred INTEGER NOT NULL DEFAULT 0,
    quotes TEXT NOT NULL DEFAULT '',
    path TEXT NOT NULL DEFAULT '',
    approved INTEGER NOT NULL DEFAULT 0,
    raw REAL NOT NULL DEFAULT 0,
    hits INTEGER NOT NULL DEFAULT 0,
    applied INTEGER NOT NULL DEFAULT 0,
    roles TEXT NOT NULL DEFAULT '',
    risks TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
"""
MARKS = 1  # of a generation whose corrections and replacements are all noted (`indexer.marks`)
_LINK_TABLES = ("replaced", "corrected", "proposed")
TABLES = ("chunk", "event", "session", "exchange", "pointer", "vector", "embed_state", *_LINK_TABLES, "standing")


def _add_links(execute: Execute) -> None:
    """Give every generation its tables of links; those between names are found in the passages it holds."""
    for (g,) in list(execute("SELECT id FROM generation")):
        for statement in _statements(_LINKS.replace("{g}", str(g))):
            execute(statement)
        classes = ", ".join(str(SOURCE_CLASSES.index(name)) for name in LINKED_CLASSES)
        for chunk_id, text in list(execute(f"SELECT id, text FROM chunk_{g} WHERE source_class IN ({classes})")):
            for old, new in replacements(text):
                execute(f"INSERT OR IGNORE INTO replaced_{g} VALUES (?, ?, ?)", (old, new, chunk_id))


def _add_marks(execute: Execute) -> None:
    """Flag the standing wishes of every generation and find what their values differ in.

    What the record alone can tell, `indexer.marks` catches up with: `marks` is 0 until then.
    """
    execute("ALTER TABLE generation ADD COLUMN marks INTEGER NOT NULL DEFAULT 0")
    barred = EXTERNAL | FROM_WORKER | TALK
    for (g,) in list(execute("SELECT id FROM generation")):
        for statement in _statements(_PROPOSED.replace("{g}", str(g))):
            execute(statement)
        said = f"chunk_id < {TOOL_IDS} AND kind = {PROMPT} AND NOT flags & {barred}"
        held = execute(f"SELECT id, text FROM chunk_{g} WHERE id IN (SELECT chunk_id FROM pointer_{g} WHERE {said})")
        wishes = json.dumps([chunk_id for chunk_id, text in list(held) if is_wish(text)])
        sql = f"UPDATE pointer_{g} SET flags = flags | {WISH} WHERE {said}"
        execute(f"{sql} AND chunk_id IN (SELECT value FROM json_each(?))", (wishes,))
        rules: Rules = {}
        for chunk_id, text in list(execute(rules_sql(g))):
            add_rule(execute, g, rules, chunk_id, text)


def _add_standing(execute: Execute) -> None:
    """Give every generation the table of how memories stand; no version before this one could store a memory."""
    for (g,) in list(execute("SELECT id FROM generation")):
        for statement in _statements(_STANDING.replace("{g}", str(g))):
            execute(statement)


def _pack(execute: Execute) -> None:
    """Drop the second copy of each passage, cut into words, and pack the first; FTS5 never reads what it indexes."""
    execute("CREATE TABLE dictionary (id INTEGER PRIMARY KEY, chunks INTEGER NOT NULL, bytes BLOB NOT NULL)")
    has_fts = bool(list(execute("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'")))
    for (g,) in list(execute("SELECT id FROM generation")):
        if has_fts and list(execute("SELECT 1 FROM sqlite_master WHERE name = ?", (f"chunk_fts_{g}",))):
            execute(f"DROP TABLE chunk_fts_{g}")
            create_fts(execute, g)
            execute(f"INSERT INTO chunk_fts_{g} (rowid, tokens) SELECT id, tokens FROM chunk_{g} ORDER BY id")
        _copy_chunks(execute, g)
        execute(f"DROP INDEX IF EXISTS pointer_exchange_{g}")
        execute(f"CREATE INDEX pointer_exchange_{g} ON pointer_{g} (exchange, kind) WHERE {ENDS}")
    dictionary.renew(execute, Texts(execute))


def _trim(execute: Execute) -> None:
    """Cut keys to the bytes that tell passages apart, drop messages that nobody asks for, merge the words."""
    has_fts = bool(list(execute("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'")))
    for (g,) in list(execute("SELECT id FROM generation")):
        _copy_chunks(execute, g)
        called = f"SELECT event FROM pointer_{g} WHERE kind = {TOOL_CALL}"
        execute(f"UPDATE event_{g} SET message = '' WHERE message <> '' AND id IN ({called})")
        if has_fts and list(execute("SELECT 1 FROM sqlite_master WHERE name = ?", (f"chunk_fts_{g}",))):
            merge_words(execute, g)


def _copy_chunks(execute: Execute, g: int) -> None:
    """Write a generation's chunks into a table of today's form."""
    keyed = list(execute("SELECT 1 FROM sqlite_master WHERE name = ?", (f"chunk_key_{g}",)))
    execute(f"ALTER TABLE chunk_{g} RENAME TO chunk_old_{g}")
    execute(_statements(_GENERATION.replace("{g}", str(g)))[0])
    columns = "source_class, role, n_tokens, text"
    execute(
        f"INSERT INTO chunk_{g} (id, key, {columns})"
        f" SELECT id, substr(key, 1, {KEY_BYTES}), {columns} FROM chunk_old_{g} ORDER BY id"
    )
    execute(f"DROP TABLE chunk_old_{g}")
    if keyed:  # where another program took it away there may be copies, for `recall index compact` to merge
        execute(f"CREATE UNIQUE INDEX chunk_key_{g} ON chunk_{g} (key)")


MIGRATIONS: tuple[tuple[int, str | Callable[[Execute], None]], ...] = (
    (1, _FIRST),
    (2, _add_links),
    (3, _add_marks),
    (4, _add_standing),
    (5, _pack),
    (6, _trim),
    (7, "ALTER TABLE index_writers ADD COLUMN host TEXT NOT NULL DEFAULT ''"),
)
REWRITES = 6  # the last step that writes tables anew


def migrate(execute: Execute, *, now: str) -> bool:
    """Bring the file to the newest schema; IndexNewer when it is from a newer version.

    Returns whether an older file was rewritten, so that it holds free pages.
    """
    held = version(execute)
    if held > SCHEMA_VERSION:
        raise IndexNewer(
            f"the index has schema {held}, this version writes {SCHEMA_VERSION}; upgrade recall"
            " or delete the index and run 'recall index rebuild'"
        )
    for number, step in MIGRATIONS:
        if number <= held:
            continue
        execute("BEGIN IMMEDIATE")
        if version(execute) < number:  # another process may have been first
            if isinstance(step, str):
                for statement in _statements(step):
                    execute(statement)
            else:
                step(execute)
            execute("INSERT INTO migration VALUES (?, ?)", (number, now))
            execute("UPDATE meta SET value = ? WHERE key = 'schema'", (str(number),))
        execute("COMMIT")
    return 0 < held < REWRITES


def held(path: Path) -> int | None:
    """Return the schema version of an index file, older or newer than this program's; None where it is no index.

    StoreError or LockBusy where nobody can tell: SQLite may not open it, as on a full or read-only disk.
    """
    try:
        connection = connect(path, writable=False, busy_ms=1000)
        try:
            return version(connection.execute)
        finally:
            connection.close()
    except (apsw.NotADBError, apsw.CorruptError, apsw.SQLError, ValueError):
        return None
    except apsw.Error as error:
        raise translated(error, path) from error


def version(execute: Execute) -> int:
    """Return the schema version of the file, 0 when it is empty."""
    if not list(execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'")):
        return 0
    for (value,) in execute("SELECT value FROM meta WHERE key = 'schema'"):
        return int(value)
    return 0


def create_generation(execute: Execute, generation: int, *, fts: bool) -> None:
    """Create the tables of a generation, inside the caller's transaction."""
    for statement in _statements((_GENERATION + _LINKS + _PROPOSED + _STANDING).replace("{g}", str(generation))):
        execute(statement)
    if fts:
        create_fts(execute, generation)


def create_fts(execute: Execute, generation: int, *, accents: bool = False) -> None:
    """Create the table of words; the caller fills it. With accents they make other words."""
    made = _FTS.replace("{g}", str(generation))
    execute(made.replace("unicode61", "unicode61 remove_diacritics 0") if accents else made)


def merge_words(execute: Execute, generation: int) -> None:
    """Write the table of words as one piece: it is smaller and quicker so, until words come in."""
    execute(f"INSERT INTO chunk_fts_{generation} (chunk_fts_{generation}) VALUES ('optimize')")


def drop_generation(execute: Execute, generation: int) -> None:
    """Drop a generation's tables and its row; a vector table whose extension is missing stays and is noted."""
    for name in ("fts", "vec"):
        table = f"chunk_{name}_{generation}"
        if not list(execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,))):
            continue
        if name == "vec" and not list(execute("SELECT 1 FROM pragma_module_list WHERE name = 'vec0'")):
            left = _left_over(execute)
            execute("INSERT OR REPLACE INTO meta VALUES ('left_over', ?)", (json.dumps(sorted({*left, generation})),))
            continue
        execute(f"DROP TABLE {table}")
    for table in TABLES:
        execute(f"DROP TABLE IF EXISTS {table}_{generation}")
    execute("DELETE FROM generation WHERE id = ?", (generation,))


def drop_retired(execute: Execute) -> None:
    """Drop generations that a rebuild has replaced, should it have been killed before it could."""
    for (generation,) in list(execute("SELECT id FROM generation WHERE state = 'retired'")):
        drop_generation(execute, generation)


def drop_left_over(execute: Execute) -> None:
    """Drop vector tables that an earlier process, without the extension, had to leave behind."""
    for generation in _left_over(execute):
        execute(f"DROP TABLE IF EXISTS chunk_vec_{generation}")
    execute("DELETE FROM meta WHERE key = 'left_over'")


def _left_over(execute: Execute) -> list[int]:
    for (value,) in execute("SELECT value FROM meta WHERE key = 'left_over'"):
        return [int(item) for item in json.loads(value)]
    return []


def _statements(script: str) -> list[str]:
    return [statement.strip() for statement in script.split(";\n") if statement.strip()]
