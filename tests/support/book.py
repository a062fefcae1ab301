"""A small index in memory, written by hand through the real schema and read by the real reader."""

import hashlib
import sqlite3
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from indexer.reader import Reader
from indexer.rows import KEY_BYTES, KIND_NAMES, ROLES, SOURCE_CLASSES, RowFilter
from indexer.schema import create_generation, migrate
from indexer.segment import segment
from transcript.canonical import b32id

NOW = datetime(2026, 6, 20, 12, tzinfo=UTC)
DAY = 86_400
_CLASS = {"tool_call": "tool", "tool_result": "tool", "summary": "summary", "reasoning": "reasoning"}
_CLASS |= {"curated": "curated", "memory": "memory"}


@dataclass
class Book:
    """Sessions of exchanges; `cosine[text]` is what the vector search says of a passage."""

    cosine: dict[str, float] = field(default_factory=dict)
    words_only: bool = False

    def __post_init__(self) -> None:
        self.db = sqlite3.connect(":memory:", check_same_thread=False)
        migrate(self._run, now="2026-01-01T00:00:00Z")
        create_generation(self._run, 1, fts=True)
        self._run(
            "INSERT INTO generation VALUES (1, 'serving', 'hand', '1', 8, 256, 'hand', 1, '', 0, 0, 1)",
        )
        self._run("UPDATE meta SET value = '1' WHERE key = 'generation'")
        self.db.commit()
        self._count = 0
        self._seq = 0

    def _run(self, sql: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        return self.db.execute(sql, values).fetchall()

    @property
    def reader(self) -> Reader:
        return Reader(self._run)

    def say(self, session: str, prompt: str, *answers: str, days: float = 1.0, kinds: str = "", **more: Any) -> int:
        """Add an exchange `days` before NOW; the last answer closes it, the ones before are narration."""
        number = self._session(session)
        ts = int(NOW.timestamp() - days * DAY)
        (ordinal,) = self._run("SELECT exchanges FROM session_1 WHERE id = ?", (number,))[0]
        self._run(
            "INSERT INTO exchange_1 (session, ordinal, ts, prompt_head) VALUES (?, ?, ?, ?)",
            (number, ordinal, ts, prompt[:300]),
        )
        (exchange,) = self._run("SELECT max(id) FROM exchange_1")[0]
        self._run("UPDATE session_1 SET exchanges = exchanges + 1, last_ts = ? WHERE id = ?", (ts, number))
        if prompt:
            self.add(prompt, "prompt", session=session, exchange=exchange, ts=ts, **more)
        named = kinds.split() or ["narration"] * (len(answers) - 1) + ["final"]
        for text, kind in zip(answers, named, strict=True):
            self.add(text, kind, session=session, exchange=exchange, ts=ts + 1, **more)
        return int(exchange)

    def add(
        self, text: str, kind: str, *, session: str = "old", exchange: int = 0, ts: int | None = None,
        days: float = 1.0, event: str = "", flags: int = 0, start: int = 0, cosine: float | None = None,
    ) -> str:  # fmt: skip
        """Add one passage and return the id of its event."""
        self._count += 1
        self._seq += 1
        number = self._session(session)
        event = event or b32id("book", str(self._count))
        role = ROLES.index("user" if kind == "prompt" else "tool" if kind.startswith("tool") else "assistant")
        source = SOURCE_CLASSES.index(_CLASS.get(kind, "conversation"))
        key = hashlib.sha256(f"{source}\x1f{role}\x1f{text}".encode("utf-8", "surrogatepass")).digest()[:KEY_BYTES]
        held = self._run("SELECT id FROM chunk_1 WHERE key = ?", (key,))
        if held:
            chunk = held[0][0]
        else:
            tokens = " ".join(segment(text))
            self._run(
                "INSERT INTO chunk_1 (key, source_class, role, n_tokens, text) VALUES (?, ?, ?, ?, ?)",
                (key, source, role, len(text) // 4, text),
            )
            (chunk,) = self._run("SELECT max(id) FROM chunk_1")[0]
            self._run("INSERT INTO chunk_fts_1 (rowid, tokens) VALUES (?, ?)", (chunk, tokens))
        self._run("INSERT OR IGNORE INTO event_1 (event) VALUES (?)", (event,))
        (event_id,) = self._run("SELECT id FROM event_1 WHERE event = ?", (event,))[0]
        at = int(NOW.timestamp() - days * DAY) if ts is None else ts
        self._run(
            "INSERT INTO pointer_1 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '')",
            (chunk, event_id, start, number, start + len(text), exchange, at, KIND_NAMES.index(kind), self._seq, flags),
        )
        self._run("UPDATE generation SET n_chunks = (SELECT count(*) FROM chunk_1)")
        if cosine is not None:
            self.cosine[text] = cosine
        return event

    def compact(self, session: str) -> None:
        """A compaction of a session: what it said before is no longer in its context."""
        self._run("UPDATE session_1 SET compaction_seq = ? WHERE session = ?", (self._seq, session))

    def vectors(self, prompt: str, allowed: RowFilter | None) -> list[tuple[int, float]] | None:
        """What a vector search would return, from `cosine`."""
        if self.words_only:
            return None
        rows = self._run("SELECT id, text FROM chunk_1")
        hits = [(i, self.cosine[t]) for i, t in rows if t in self.cosine and (allowed is None or i in allowed)]
        return sorted(hits, key=lambda hit: (-hit[1], hit[0]))

    def _session(self, name: str) -> int:
        self._run("INSERT OR IGNORE INTO session_1 (session) VALUES (?)", (name,))
        return int(self._run("SELECT id FROM session_1 WHERE session = ?", (name,))[0][0])


def by_bytes(text: str) -> int:
    """Tokens as the words path counts them."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // 3)
