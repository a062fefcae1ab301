"""Builds a made-up workspace of any size, to time turns at sizes that nobody's sessions have.

Rows go through the shipped store. Words follow a rank-frequency law like real text, vectors are random directions:
the time of a search does not depend on their values.
"""

import hashlib
import random
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path

from indexer.embedder import Embedder
from indexer.rows import FINAL, NARRATION, PROMPT, ROLES, SOURCE_CLASSES
from indexer.sample import add_random_vectors
from indexer.segment import segment
from indexer.settings import IndexSettings
from indexer.store import Store
from indexer.store_write import NewChunk, Place, Rows
from indexer.writer import shape_of
from transcript.canonical import b32id
from transcript.workspace import Workspace, open_workspace

VOCABULARY = 60_000
WORDS_A_CHUNK = 60
CHUNKS_A_SESSION = 200
CHUNKS_AN_EXCHANGE = 8
BATCH = 2000
FIRST_SECOND = 1_735_689_600  # 2025-01-01
SECONDS_A_CHUNK = 30
CONVERSATION = SOURCE_CLASSES.index("conversation")
_SYLLABLES = ("ba", "ce", "di", "fo", "gu", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "xo", "kra", "sti", "plo")


def build(
    data: Path,
    *,
    chunks: int,
    vectors: int,
    embedder: Embedder,
    settings: IndexSettings,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Workspace:
    """Return a workspace under data with this many chunks, the newest `vectors` of them with a vector.

    The vectors carry the embedder's name, so that the service compares them with real prompts.
    """
    if not 0 <= vectors <= chunks:
        raise ValueError(f"vectors is {vectors}, must lie between 0 and {chunks}")
    tell = progress or (lambda _: None)
    project = data / "project"
    project.mkdir(parents=True, exist_ok=True)
    workspace = open_workspace(project, data, create="capture")
    with Store.open(workspace.index_path, "w") as store:
        store.ensure_generation(shape_of(settings, embedder))
        rows = Rows(store, store.generation, store.backend.fts5)
        texts = made_texts(chunks, seed)
        for first in range(0, chunks, BATCH):
            with store.transaction():
                _write(rows, texts, range(first, min(first + BATCH, chunks)))
            tell(f"{min(first + BATCH, chunks):,} of {chunks:,} chunks")
        add_random_vectors(store, range(chunks - vectors + 1, chunks + 1), seed=seed)
        store.checkpoint()
    return workspace


def made_texts(chunks: int, seed: int) -> Iterator[str]:
    """Yield distinct texts of made-up words, the n-th most frequent word about n times rarer than the first."""
    rng = random.Random(seed)
    words = made_words(seed)
    weights = list(accumulate(1.0 / (rank + 2.7) for rank in range(len(words))))
    for number in range(chunks):
        yield " ".join(rng.choices(words, cum_weights=weights, k=WORDS_A_CHUNK)) + f" n{number}"


def made_words(seed: int) -> list[str]:
    """Return a vocabulary, the most frequent word first."""
    rng = random.Random(f"words {seed}")
    found: dict[str, None] = {}
    while len(found) < VOCABULARY:
        found["".join(rng.choices(_SYLLABLES, k=rng.randint(2, 5)))] = None
    return list(found)


def made_prompts(n: int, seed: int = 0) -> list[str]:
    """Return prompts of eight words each: frequent, middling and rare ones, as a person's prompt has them."""
    rng = random.Random(f"prompts {seed}")
    words = made_words(seed)
    bands = ((0, 200), (200, 5000), (200, 5000), (5000, 20_000), (5000, 20_000), (20_000, VOCABULARY))
    return [
        " ".join([words[rng.randrange(*band)] for band in bands] + rng.choices(words[:5000], k=2)) for _ in range(n)
    ]


def _write(rows: Rows, texts: Iterator[str], numbers: range) -> None:
    exchange = 0
    for number in numbers:
        text = next(texts)
        session = rows.session(f"made-up-{number // CHUNKS_A_SESSION}")
        ts = FIRST_SECOND + SECONDS_A_CHUNK * number
        session.last_ts = ts
        at = number % CHUNKS_AN_EXCHANGE
        if at == 0 or exchange == 0:
            exchange = rows.open_exchange(session.id, session.exchanges, ts, text[:200])
            session.exchanges += 1
        kind = PROMPT if at == 0 else FINAL if at == CHUNKS_AN_EXCHANGE - 1 else NARRATION
        role = ROLES.index("user" if kind == PROMPT else "assistant")
        key = hashlib.sha256(text.encode()).digest()[:16]
        chunk = NewChunk(key, CONVERSATION, role, text, " ".join(segment(text)), WORDS_A_CHUNK * 2)
        chunk_id, _ = rows.chunk(chunk)
        event = rows.event(b32id("made-up", str(number)))
        rows.pointer(chunk_id, 0, len(text), Place(event, session.id, exchange, ts, kind, number + 1, 0, ""))
    rows.flush()
    rows.commit_counts()
