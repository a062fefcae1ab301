import numpy as np

from eval.vector_cache import CachedEmbedder


class Counting:
    id, revision, dimension, max_tokens = "m", "1", 4, 16

    def __init__(self):
        self.seen = []

    def count(self, text):
        return len(text.split())

    def encode(self, texts):
        self.seen += texts
        return np.array([[len(t), 1, 0, 0] for t in texts], dtype=np.float32)


def test_a_text_reaches_the_model_once(tmp_path):
    model = Counting()
    cache = CachedEmbedder(model, tmp_path)

    first = cache.encode(["a", "bb", "a"])
    second = cache.encode(["bb", "ccc"])

    assert model.seen == ["a", "bb", "ccc"]
    assert first[:, 0].tolist() == [1, 2, 1]
    assert second[:, 0].tolist() == [2, 3]


def test_vectors_survive_the_process(tmp_path):
    CachedEmbedder(Counting(), tmp_path).encode(["a", "bb"])
    model = Counting()

    rows = CachedEmbedder(model, tmp_path).encode(["bb", "a"])

    assert model.seen == []
    assert rows[:, 0].tolist() == [2, 1]


def test_another_revision_shares_nothing(tmp_path):
    CachedEmbedder(Counting(), tmp_path).encode(["a"])
    model = Counting()
    model.revision = "2"

    CachedEmbedder(model, tmp_path).encode(["a"])

    assert model.seen == ["a"]


def test_a_half_written_row_is_cut_off(tmp_path):
    CachedEmbedder(Counting(), tmp_path).encode(["a", "bb"])
    (rows,) = tmp_path.glob("*.f32")
    with rows.open("ab") as file:
        file.write(b"\x01\x02\x03")
    (keys,) = tmp_path.glob("*.keys")
    with keys.open("ab") as file:
        file.write(b"k" * 16)

    cache = CachedEmbedder(Counting(), tmp_path)
    cache.encode(["ccc"])

    assert cache.encode(["a", "ccc", "bb"])[:, 0].tolist() == [1, 3, 2]


def test_no_texts_give_no_rows(tmp_path):
    assert CachedEmbedder(Counting(), tmp_path).encode([]).shape == (0, 4)


def test_two_runs_share_one_cache(tmp_path):
    """Each has read the files before the other wrote: no row may end up under another text's key."""
    first, second = CachedEmbedder(Counting(), tmp_path), CachedEmbedder(Counting(), tmp_path)

    first.encode(["a", "bb"])
    second.encode(["ccc", "a"])
    first.encode(["dddd"])

    fresh = CachedEmbedder(Counting(), tmp_path)
    assert fresh.encode(["a", "bb", "ccc", "dddd"])[:, 0].tolist() == [1, 2, 3, 4]
    assert fresh.encoded == 0
