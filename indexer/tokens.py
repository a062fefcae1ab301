"""Counts tokens as cl100k does, offline; marks such as <|endoftext|> are ordinary text."""

import re
import warnings
from functools import lru_cache
from typing import Any

_WORD = re.compile(r"[A-Za-z]+|\d{1,3}|\s+|[^\sA-Za-z\d]")


class TokenCounter:
    """Counts exactly while the encoder works; where it does not, by an estimate that errs on the high side.

    `fallbacks` says how often the estimate had to stand in; health shows it.
    """

    def __init__(self, encoding: Any = None) -> None:
        self._encoding = encoding if encoding is not None else _encoding()
        self.fallbacks = 0

    def __call__(self, text: str) -> int:
        if self._encoding is not None:
            try:
                return len(self._encoding.encode_ordinary(text))
            except (ValueError, RuntimeError, UnicodeError, TypeError):
                pass
        self.fallbacks += 1
        return estimate(text)


def estimate(text: str) -> int:
    """Return at least as many tokens as cl100k gives for nearly any text: by words, and by bytes where not ASCII."""
    total = 0
    for piece in _WORD.findall(text):
        if piece[0].isascii() and piece[0].isalpha():
            total += 1 + len(piece) // 4
        else:
            total += 1 if piece.isascii() else len(piece.encode("utf-8", "surrogatepass"))
    return total


@lru_cache(maxsize=1)
def _encoding() -> Any:
    """Return the cl100k encoder, None where the package or its tables are missing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # bpe-openai reads its tables by an old interface
            import bpe_openai

            return bpe_openai.get_encoding("cl100k_base")
    except (ImportError, OSError, RuntimeError, ValueError):
        return None
