"""The read side of the index, the same for both SQLite libraries: standard library only, SQL through one callable."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from indexer import lexical, vocabulary
from indexer.passage_text import Texts
from indexer.rows import (
    ENDS,
    FINAL,
    PRIVATE,
    PROJECT_FILE,
    PROMPT,
    ROLES,
    SOURCE_CLASSES,
    TOOL_IDS,
    WISH,
    Correction,
    ExchangeRow,
    IndexMeta,
    LexicalResult,
    PassageRow,
    PointerRow,
    RowFilter,
    StandingRow,
)
from transcript.canonical import ID_LENGTH
from transcript.errors import IndexMissing, IndexNewer, IndexUnreadable

SCHEMA_VERSION = 7
Execute = Callable[[str, tuple[Any, ...]], Iterable[tuple[Any, ...]]]
_MANY = 500  # bound parameters of one statement


class Reader:
    """Reads one index. It takes no lock, writes nothing and works with the standard `sqlite3` as with APSW."""

    def __init__(self, execute: Execute, *, cut: lexical.Cut | None = None, packing: Texts | None = None) -> None:
        self._execute = execute
        self._cut = cut or lexical.Cut()
        self._linked: set[str] = set()
        self.packing = packing or Texts(execute)
        self.generation = self._serving_generation()

    def meta(self) -> IndexMeta:
        """Return what the index says about itself and its serving generation."""
        found = self._facts(self.generation)
        if found is None:  # another process has built a new one meanwhile
            self.refresh()
            found = self._facts(self.generation)
        if found is None:
            raise IndexUnreadable(f"the index names generation {self.generation}, which it does not hold; rebuild it")
        return found

    def _facts(self, generation: int) -> IndexMeta | None:
        schema = self._number("schema")
        rows = self._execute(
            "SELECT model, revision, dimension, max_tokens, config_hash, segmentation, watermark, n_chunks, n_vectors"
            " FROM generation WHERE id = ?",
            (generation,),
        )
        for row in rows:
            values: list[Any] = [schema, generation, *row, self._number("data_version")]
            return IndexMeta(*values)
        return None

    def refresh(self) -> None:
        """Look again which generation serves (another process may have flipped it)."""
        self.generation = self._serving_generation()

    def lexical(
        self,
        terms: Sequence[str],
        *,
        limit: int,
        allowed: lexical.Allowed = None,
        cut: lexical.Cut | None = None,
        besides: frozenset[int] = frozenset(),
    ) -> LexicalResult:
        """Return up to limit allowed chunks that hold one of terms (from `query_terms`), scored by BM25.

        The inverse document frequency is ours, over max(N, 2000) chunks, so that a score means the same in a small
        store as in a large one. The best of the chunks `besides` are returned even beyond the limit.
        """
        return lexical.search(self._execute, self.generation, terms, limit, allowed, cut or self._cut, besides)

    def unheld(self, terms: Sequence[str]) -> list[str]:
        """Return the terms that no chunk holds, in their order."""
        return vocabulary.unheld(self._execute, self.generation, terms)

    def stems(self, prefix: str, shortest: int, longest: int) -> list[tuple[str, int]]:
        """Return the stems that begin with prefix and are so long, each with the number of chunks that hold it."""
        return vocabulary.stems(self._execute, self.generation, prefix, shortest, longest)

    def words_with(self, stem: str) -> frozenset[str]:
        """Return the words of a few chunks that hold a stem."""
        return vocabulary.words_with(self._execute, self.packing, self.generation, stem)

    def has_few_vectors(self) -> bool:
        """Whether vectors are still being made: fewer than half of the passages that were said have one.

        Ids rise by one, so that the last one below those of tools counts them, what was forgotten since included.
        """
        vectors = self.meta().n_vectors
        said = f"SELECT coalesce(max(id), 0) FROM chunk_{self.generation} WHERE id < {TOOL_IDS}"
        return vectors > 0 and 2 * vectors < self._one(said)

    def wishes(self) -> frozenset[int]:
        """Return the chunks in which a person laid down how work is to be done."""
        sql = f"SELECT chunk_id FROM pointer_{self.generation} WHERE chunk_id < {TOOL_IDS} AND flags & {WISH}"
        return frozenset(row[0] for row in self._execute(sql, ()))

    def has_replacements(self) -> bool:
        """Whether any passage says that one name replaced another."""
        return self._links("replaced") and self._one(f"SELECT EXISTS (SELECT 1 FROM replaced_{self.generation})") > 0

    def replacements(self, olds: Iterable[str] | None = None) -> list[tuple[str, str, int]]:
        """Return (old name, new name, chunk that says so) of these old names, or of all."""
        if not self._links("replaced"):
            return []
        sql = f"SELECT old, new, chunk_id FROM replaced_{self.generation}"
        if olds is None:
            return list(self._execute(f"{sql} ORDER BY chunk_id, old, new", ()))
        return sorted(self._batched(f"{sql} WHERE old IN (%s)", sorted(olds)))

    def proposed(self) -> list[tuple[str, int, str, int]]:
        """Return (value, chunk, other value, its chunk) of each two rules that may differ about one thing."""
        if not self._links("proposed"):
            return []
        return list(self._execute(f"SELECT one, one_chunk, other, other_chunk FROM proposed_{self.generation}", ()))

    def corrections(self, events: Iterable[str]) -> dict[str, list[Correction]]:
        """Return event -> what corrects or replaces it, for those of these events of which something does."""
        found: dict[str, list[Correction]] = {}
        if self._links("corrected"):
            # An event may stand there with a span, so that its id is the beginning; people write few corrections.
            sql = f"SELECT event, by FROM corrected_{self.generation} WHERE substr(event, 1, {ID_LENGTH}) IN (%s)"
            for pointer, by in sorted(self._batched(sql, sorted(events))):
                event, _, span = pointer.partition("#")
                start, _, end = span.partition("-")
                found.setdefault(event, []).append(Correction(by, int(start or 0), int(end or 0)))
        return found

    def has_standing(self) -> bool:
        """Whether anything is known of any event besides its words: there are memories, or something was cited."""
        return self._links("standing") and self._one(f"SELECT EXISTS (SELECT 1 FROM standing_{self.generation})") > 0

    def standing(self, events: Iterable[str]) -> dict[str, StandingRow]:
        """Return what is known of these events besides their words, for those of which anything is."""
        if not self.has_standing():
            return {}
        sql = f"SELECT {', '.join(StandingRow._fields)} FROM standing_{self.generation} WHERE event IN (%s)"
        return {row[0]: StandingRow(*row) for row in self._batched(sql, list(events))}

    def most_hits(self) -> int:
        """Return in how many sessions that was cited which was cited in most."""
        return self._one(f"SELECT max(hits) FROM standing_{self.generation}") if self.has_standing() else 0

    def chunks_of(self, *events: str) -> list[int]:
        """Return the chunks of events, each event's in the order of its text."""
        g = self.generation
        sql = f"SELECT p.chunk_id FROM pointer_{g} p JOIN event_{g} v ON v.id = p.event"
        sql += " WHERE v.event IN (%s) ORDER BY v.id, p.start"
        return list(dict.fromkeys(row[0] for row in self._batched(sql, events)))

    def indexed(self, events: Iterable[str]) -> frozenset[str]:
        """Return those of these events of which a passage can be found."""
        g = self.generation
        sql = f"SELECT v.event FROM event_{g} v WHERE v.event IN (%s)"
        sql += f" AND EXISTS (SELECT 1 FROM pointer_{g} p WHERE p.event = v.id)"
        return frozenset(row[0] for row in self._batched(sql, list(dict.fromkeys(events))))

    def kept_out(self, events: Iterable[str]) -> frozenset[str]:
        """Return those of these events that the index has read and that stay out because a person said so."""
        sql = f"SELECT event FROM event_{self.generation} WHERE event IN (%s) AND boundary < 0"
        return frozenset(row[0] for row in self._batched(sql, list(dict.fromkeys(events))))

    def holding(self, word: str, most: int) -> list[int]:
        """Return up to most chunks of what was said that hold a word of `segment`."""
        table = f"chunk_fts_{self.generation}"
        sql = f"SELECT rowid FROM {table} WHERE {table} MATCH ? AND rowid < {TOOL_IDS} LIMIT {most:d}"
        return [row[0] for row in self._execute(sql, (lexical.quoted(word),))]

    def _links(self, name: str) -> bool:
        """Whether the generation has this table: an index of schema 1 that nobody has written to since has not."""
        table = f"{name}_{self.generation}"
        if table not in self._linked and list(self._execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,))):
            self._linked.add(table)
        return table in self._linked

    def passages(
        self, chunk_ids: Iterable[int], *, as_of: int | None = None, session: str | None = None
    ) -> dict[int, PassageRow]:
        """Return the chunks of these ids that may be seen, each with its pointers up to as_of (seconds).

        A chunk is missing when no pointer of it passes, or when it stands in the running session after that
        session's last compaction.
        """
        ids = list(dict.fromkeys(chunk_ids))
        places = self.places(ids, as_of=as_of, session=session)
        found = {}
        g = self.generation
        sql = f"SELECT id, hex(key), text, source_class, role, n_tokens FROM chunk_{g} WHERE id IN (%s)"
        for chunk_id, key, text, source_class, role, tokens in self._batched(sql, list(places)):
            plain, of = self.packing.plain(text), SOURCE_CLASSES[source_class]
            found[chunk_id] = PassageRow(chunk_id, key.lower(), plain, of, ROLES[role], tokens, places[chunk_id])
        return {chunk_id: found[chunk_id] for chunk_id in ids if chunk_id in found}

    def places(
        self, chunk_ids: Iterable[int], *, as_of: int | None = None, session: str | None = None
    ) -> dict[int, tuple[PointerRow, ...]]:
        """Return where the chunks of these ids that may be seen were said, each the newest first; as `passages`."""
        ids = list(dict.fromkeys(chunk_ids))
        hidden = self._hidden(session, as_of) if session else frozenset()
        found: dict[int, list[PointerRow]] = {}
        for chunk_id, *row in self._pointer_rows(ids, as_of):
            if chunk_id not in hidden:
                found.setdefault(chunk_id, []).append(PointerRow._make(row))
        for rows in found.values():
            if len(rows) > 1:
                rows.sort(key=lambda p: (-p.ts, -p.seq, p.event_id, p.start))
        return {chunk_id: tuple(found[chunk_id]) for chunk_id in ids if chunk_id in found}

    def texts(self, chunk_ids: Iterable[int]) -> dict[int, str]:
        """Return the texts of these chunks."""
        sql = f"SELECT id, text FROM chunk_{self.generation} WHERE id IN (%s)"
        return {number: self.packing.plain(held) for number, held in self._batched(sql, list(chunk_ids))}

    def exchange(self, ids: Iterable[int]) -> dict[int, ExchangeRow]:
        """Return the exchanges of these ids with the chunks of their prompt and of their final answer."""
        wanted = [i for i in dict.fromkeys(ids) if i]
        g = self.generation
        chunks: dict[tuple[int, int], dict[int, None]] = {}  # in order, each once
        sql = (
            f"SELECT exchange, kind, chunk_id FROM pointer_{g} WHERE exchange IN (%s) AND {ENDS} ORDER BY event, start"
        )
        for exchange, kind, chunk_id in self._batched(sql, wanted):
            chunks.setdefault((exchange, kind), {})[chunk_id] = None
        sql = (
            f"SELECT e.id, s.session, e.ordinal, e.prompt_head, e.ts FROM exchange_{g} e"
            f" JOIN session_{g} s ON s.id = e.session WHERE e.id IN (%s)"
        )
        found = {
            i: ExchangeRow(
                i, session, ordinal, head, tuple(chunks.get((i, PROMPT), ())), tuple(chunks.get((i, FINAL), ())), ts
            )
            for i, session, ordinal, head, ts in self._batched(sql, wanted)
        }
        return {i: found[i] for i in wanted if i in found}

    def prompts(self, exchanges: Iterable[int]) -> dict[int, tuple[str, int, int, int]]:
        """Return where the prompt of each exchange begins: event, start and end of its first passage, time in s."""
        g = self.generation
        sql = (
            f"SELECT p.exchange, v.event, p.start, p.end, p.ts FROM pointer_{g} p JOIN event_{g} v ON v.id = p.event"
            f" WHERE p.exchange IN (%s) AND {ENDS} AND p.kind = {PROMPT} AND p.flags & {PRIVATE} = 0"
            " ORDER BY p.seq, p.start"
        )
        found: dict[int, tuple[str, int, int, int]] = {}
        for exchange, *place in self._batched(sql, [i for i in dict.fromkeys(exchanges) if i]):
            found.setdefault(exchange, tuple(place))
        return found

    def allowed(
        self,
        session: str | None = None,
        as_of: int | None = None,
        root: str | None = None,
        *,
        pruned: frozenset[str] = frozenset(),
    ) -> RowFilter | None:
        """Return which chunks may be found, for both scans; None when all may.

        session hides what stands in the running session after its last compaction, but for what was said only in the
        pruned events of it; as_of keeps what had been said by then; root keeps what was said in sessions of that folder
        or below it, and files of the project. One sighting that passes as_of and root is enough.
        """
        excluded = self._hidden(session, as_of, pruned) if session else frozenset()
        if as_of is None and root is None:
            return RowFilter(None, excluded) if excluded else None
        g = self.generation
        sql = f"SELECT DISTINCT p.chunk_id FROM pointer_{g} p"
        where, values = [], []
        if root is not None:
            folder = root.rstrip("/\\") or root
            sql += f" JOIN session_{g} s ON s.id = p.session"
            where.append(f"(s.cwd = ? OR substr(s.cwd, 1, ?) IN (?, ?) OR p.flags & {PROJECT_FILE})")
            values += [folder, len(folder) + 1, folder + "/", folder + "\\"]
        if as_of is not None:
            where.append("p.ts <= ?")
            values.append(as_of)
        rows = self._execute(f"{sql} WHERE {' AND '.join(where)}", tuple(values))
        return RowFilter(frozenset(row[0] for row in rows) - excluded)

    def sessions(self) -> int:
        """Return how many sessions the serving generation knows; commands run outside any session are none."""
        return self._one(f"SELECT count(*) FROM session_{self.generation} WHERE session NOT LIKE 'recall:%'")

    def _hidden(self, session: str, as_of: int | None = None, pruned: frozenset[str] = frozenset()) -> frozenset[int]:
        """Return the chunks that stand in the running session after its last compaction, outside the pruned events.

        Asked as of an earlier time, all of the session: its last compaction may have come later.
        """
        g = self.generation
        compaction = " AND p.seq > s.compaction_seq" if as_of is None else ""
        rows = self._execute(
            f"SELECT DISTINCT p.chunk_id, {'v.event' if pruned else 'NULL'} FROM pointer_{g} p"
            f" JOIN session_{g} s ON s.id = p.session"
            f"{f' JOIN event_{g} v ON v.id = p.event' if pruned else ''} WHERE s.session = ?{compaction}",
            (session,),
        )
        return frozenset(chunk for chunk, event in rows if event not in pruned)

    def _pointer_rows(self, ids: list[int], as_of: int | None) -> Iterator[tuple[Any, ...]]:
        g = self.generation
        limit = "" if as_of is None else f" AND p.ts <= {int(as_of)}"
        return self._batched(
            "SELECT p.chunk_id, v.event, p.start, p.end, s.session, p.exchange, p.ts, p.kind,"
            " CASE WHEN o.exchanges > 1 AND x.id IS NOT NULL"
            " THEN min(1.0, max(0.0, CAST(x.ordinal AS REAL) / (o.exchanges - 1))) ELSE 1.0 END,"
            " p.seq, p.flags, p.worker"
            f" FROM pointer_{g} p JOIN event_{g} v ON v.id = p.event JOIN session_{g} s ON s.id = p.session"
            f" LEFT JOIN exchange_{g} x ON x.id = p.exchange LEFT JOIN session_{g} o ON o.id = x.session"
            f" WHERE p.chunk_id IN (%s){limit}",
            ids,
        )

    def _batched(self, sql: str, ids: Sequence[int | str]) -> Iterator[tuple[Any, ...]]:
        """Run sql, whose %s stands for a list of parameters, over ids in statements of bounded length."""
        for at in range(0, len(ids), _MANY):
            part = tuple(ids[at : at + _MANY])
            yield from self._execute(sql % ",".join("?" * len(part)), part)

    def _serving_generation(self) -> int:
        if not list(self._execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'", ())):
            raise IndexMissing("no index for this workspace; run 'recall index' first")
        schema = self._number("schema")
        if schema > SCHEMA_VERSION:
            raise IndexNewer(
                f"the index has schema {schema}, this version reads {SCHEMA_VERSION}; upgrade recall"
                " or run 'recall index rebuild'"
            )
        generation = self._number("generation")
        if generation == 0:
            raise IndexMissing("nothing is indexed in this workspace yet; run 'recall index' first")
        return generation

    def _number(self, key: str) -> int:
        for (value,) in self._execute("SELECT value FROM meta WHERE key = ?", (key,)):
            return int(value)
        return 0

    def _one(self, sql: str, values: tuple[Any, ...] = ()) -> int:
        for (value,) in self._execute(sql, values):
            return int(value or 0)
        return 0
