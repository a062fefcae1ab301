"""Embedders of the optional extras: any sentence-transformers model, OpenVINO for bulk work. Heavy imports inside."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from indexer.embedder import Vectors
from transcript.errors import EmbedderUnavailable


class SentenceTransformerEmbedder:
    """A model that the library sentence-transformers loads, from a folder or from its cache; nothing is downloaded."""

    def __init__(self, name: str) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise EmbedderUnavailable(
                "sentence-transformers is not installed; run pip install 'lca-recall[sentence-transformers]'"
            ) from error
        try:
            model: Any = SentenceTransformer(name, local_files_only=True)
        except (OSError, ValueError, RuntimeError) as error:
            raise EmbedderUnavailable(
                f"sentence-transformers cannot load '{name}' ({str(error).splitlines()[0][:80]});"
                " give a folder that holds the model"
            ) from error
        self._model = model
        self.id = f"sentence-transformers:{name}"
        self.revision = _revision(self._model, name)
        size = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
        self.dimension = int(size())
        self.max_tokens = int(self._model.max_seq_length or 256)

    def count(self, text: str) -> int:
        """Return the tokens of text by the model's own tokenizer, special tokens included."""
        return len(self._model.tokenizer(text, truncation=False)["input_ids"])

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one unit row for each text."""
        rows = self._model.encode(
            list(texts), batch_size=16, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        )
        vectors: Vectors = np.asarray(rows, dtype=np.float32)
        return vectors


class OpenVinoEmbedder:
    """all-MiniLM-L6-v2 run by OpenVINO from an ONNX file, about twice as fast where the CPU has bf16."""

    dimension = 384

    def __init__(self, path: str, *, threads: int = 0) -> None:
        from indexer.embed_onnx import MAX_TOKENS, tokenizer

        try:
            import openvino
        except ImportError as error:
            raise EmbedderUnavailable("openvino is not installed; run pip install 'lca-recall[openvino]'") from error
        model = _model_file(path)
        core = openvino.Core()
        options = {"PERFORMANCE_HINT": "THROUGHPUT"} | ({"INFERENCE_NUM_THREADS": threads} if threads else {})
        try:
            self._compiled: Any = core.compile_model(str(model), "CPU", options)
        except RuntimeError as error:
            raise EmbedderUnavailable(f"OpenVINO cannot load {model} ({error})") from error
        self._tokenizer = tokenizer()
        self.id = f"openvino:{model.stem}"
        self.revision = hashlib.sha256(model.read_bytes()).hexdigest()[:16]
        self.max_tokens = MAX_TOKENS

    def count(self, text: str) -> int:
        """Return the tokens of text by the model's own tokenizer, special tokens included."""
        return self._tokenizer.count(text)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one unit row for each text: the mean of the last hidden state over its tokens."""
        tokens = self._tokenizer.ids(texts)
        ids = np.zeros((len(tokens), max(map(len, tokens))), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, held in enumerate(tokens):
            ids[row, : len(held)] = held
            mask[row, : len(held)] = 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = self._compiled(inputs)[0]
        weights = mask[:, :, None].astype(np.float32)
        mean = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
        vectors: Vectors = (mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-12)).astype(np.float32)
        return vectors


def _model_file(path: str) -> Path:
    if path:
        if not Path(path).is_file():
            raise EmbedderUnavailable(f"no model file at {path}; name an .onnx or .xml file of all-MiniLM-L6-v2")
        return Path(path)
    from indexer.embed_onnx import checked_model

    return checked_model()


def _revision(model: Any, name: str) -> str:
    """Return what tells two states of a model apart: the hub's commit, else a hash of the folder's weights."""
    commit = getattr(getattr(model[0], "auto_model", None), "config", None)
    known = getattr(commit, "_commit_hash", None)
    if known:
        return str(known)[:16]
    folder = Path(name)
    weights = sorted(folder.glob("*.safetensors")) + sorted(folder.glob("*.bin")) if folder.is_dir() else []
    if not weights:
        return "unknown"
    digest = hashlib.sha256()
    for path in weights:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]
