"""A deterministic embedder for tests: hashed bags of words, with failures on demand."""

import hashlib
import math
import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

_WORD = re.compile(r"\w+|[^\w\s]")
Failure = str | BaseException | Callable[[], None]


class StubEmbedder:
    """Vectors of hashed words: texts that share words are near. Equal arguments give equal vectors everywhere.

    failures maps a piece of text to what happens when a text holds it: "zero", "nan", "inf" and "short" spoil its
    vector, an exception is raised for the whole batch, a callable is called (to raise once, or to kill the process).
    max_text_chars and max_batch_chars raise, as an embedder with limits or a timeout does.
    """

    def __init__(
        self,
        dimension: int = 64,
        id: str = "stub",
        revision: str = "1",
        max_tokens: int = 256,
        failures: Mapping[str, Failure] | None = None,
        max_text_chars: int | None = None,
        max_batch_chars: int | None = None,
    ) -> None:
        self.dimension = dimension
        self.id = id
        self.revision = revision
        self.max_tokens = max_tokens
        self.failures = dict(failures or {})
        self.max_text_chars = max_text_chars
        self.max_batch_chars = max_batch_chars
        self.batches: list[list[str]] = []

    def count(self, text: str) -> int:
        return len(_WORD.findall(text)) + sum(len(word) // 12 for word in text.split()) + 2

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.batches.append(list(texts))
        if self.max_batch_chars is not None and sum(map(len, texts)) > self.max_batch_chars:
            raise TimeoutError("batch takes too long")
        rows: list[list[float]] = []
        for text in texts:
            if self.max_text_chars is not None and len(text) > self.max_text_chars:
                raise ValueError(f"text of {len(text)} characters refused")
            rows.append(self._row(text))
        width = max((len(row) for row in rows), default=self.dimension)
        if any(len(row) != width for row in rows):
            return [np.array(row, dtype=np.float32) for row in rows]  # type: ignore[return-value]
        return np.array(rows, dtype=np.float32).reshape(len(rows), width)

    def vector(self, text: str) -> NDArray[np.float32]:
        """Return the vector of one text, whatever failures are set."""
        return np.array(self._vector(text), dtype=np.float32)

    def _row(self, text: str) -> list[float]:
        row = self._vector(text)
        for piece, failure in self.failures.items():
            if piece not in text:
                continue
            if isinstance(failure, BaseException):
                raise failure
            if callable(failure):
                failure()
                continue
            row = {
                "zero": [0.0] * self.dimension,
                "nan": [math.nan, *row[1:]],
                "inf": [math.inf, *row[1:]],
                "short": row[:-1],
            }[failure]
        return row

    def _vector(self, text: str) -> list[float]:
        row = [0.0] * self.dimension
        for word in _WORD.findall(text.lower()) or [""]:
            seed = f"{self.id}\x1f{self.revision}\x1f{word}".encode("utf-8", "surrogatepass")
            digest = hashlib.sha256(seed).digest()
            for at in range(0, 8, 2):
                row[int.from_bytes(digest[at * 2 : at * 2 + 4], "big") % self.dimension] += (
                    1.0 if digest[20 + at] & 1 else -1.0
                )
        if not any(row):
            row[0] = 1.0
        length = math.sqrt(sum(value * value for value in row))
        return [value / length for value in row]
