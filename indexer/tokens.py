"""Counts tokens as cl100k does, offline; marks such as <|endoftext|> are ordinary text."""

import importlib.util
import re
import warnings
from functools import lru_cache
from pathlib import Path
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
                return int(self._encoding.count(_paired(text)))
            except (ValueError, RuntimeError, UnicodeError, TypeError):
                pass
        self.fallbacks += 1
        return estimate(text)


def _paired(text: str) -> str:
    """Return text with each lone surrogate replaced, which no encoder takes."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


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
        return _compiled()
    except (ImportError, OSError, RuntimeError, ValueError, AttributeError):
        return _packaged()


def _compiled() -> Any:
    """Return the encoder of the package's compiled part, loaded by itself: ready in 30 ms.

    Importing the package reads three vocabularies into Python dictionaries first, half a second of every command.
    """
    package = importlib.util.find_spec("bpe_openai")
    if package is None or not package.submodule_search_locations:
        raise ImportError("bpe_openai is not installed")
    for path in sorted(Path(package.submodule_search_locations[0]).glob("_bindings.*")):
        spec = importlib.util.spec_from_file_location("_bindings", path)
        if spec is not None and spec.loader is not None:
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            encoder = module.tokenizer_for_encoding("cl100k_base")
            encoder.count("")
            return encoder
    raise ImportError("bpe_openai has no compiled part")


def _packaged() -> Any:
    """Return the encoder through the package, however it is built; None where it cannot be had."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # bpe-openai reads its tables by an old interface
            import bpe_openai

            return _Counting(bpe_openai.get_encoding("cl100k_base"))
    except (ImportError, OSError, RuntimeError, ValueError):
        return None


class _Counting:
    """The package's encoder with the compiled one's way of counting."""

    def __init__(self, encoding: Any) -> None:
        self._encoding = encoding

    def count(self, text: str) -> int:
        return len(self._encoding.encode_ordinary(text))
