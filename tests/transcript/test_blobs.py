import pytest
from hypothesis import given
from hypothesis import strategies as st

from transcript.blobs import INLINE_BYTES, BlobStore, externalise, is_reference, references, remove, resolve
from transcript.canonical import canonical, sha256_hex
from transcript.errors import RecordError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec=None), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "blob", "size", "json"]), inner),
    max_leaves=8,
)


@pytest.fixture
def store(tmp_path):
    return BlobStore(tmp_path / "blobs")


def moved(body, store):
    return externalise(body, canonical(body), store)


@pytest.mark.parametrize(
    ("text", "leaves"),
    [
        ("x" * INLINE_BYTES, False),
        ("x" * (INLINE_BYTES + 1), True),
        ("é" * (INLINE_BYTES // 2), False),
        ("é" * (INLINE_BYTES // 2 + 1), True),
        ("\x00" * INLINE_BYTES, False),
        ("\udce9" * INLINE_BYTES, True),
    ],
    ids=["at", "over", "at in utf-8", "over in utf-8", "escapes", "surrogates"],
)
def test_texts_over_32_kib_of_utf8_leave(store, text, leaves):
    body, packed = moved({"text": text}, store)

    assert is_reference(body["text"]) == leaves
    assert packed == canonical(body)
    assert resolve(body, store) == {"text": text}


def test_one_blob_for_equal_texts(store):
    body, _ = moved({"a": "x" * 40_000, "b": ["x" * 40_000]}, store)

    assert store.names() == [sha256_hex(b"x" * 40_000)]
    assert references(body) == [store.names()[0]] * 2


@given(value=JSON)
def test_every_body_comes_back_as_it_was(tmp_path_factory, value):
    store = BlobStore(tmp_path_factory.mktemp("b"))
    for body in ({"v": value}, {"v": value, "long": "x" * 40_000}):
        assert resolve(moved(body, store)[0], store) == body


def test_body_of_many_short_texts_leaves_as_json(store):
    body = {"input": {"edits": ["x" * 30_000] * 50}, "tool": "Edit"}

    short, packed = moved(body, store)

    assert len(packed) < 1000
    assert short["input"]["json"] is True
    assert resolve(short, store) == body


def test_media_count_as_references_and_are_not_opened_as_text(store):
    sha = store.put(b"\x89PNG")
    body = {"text": "", "media": [{"blob": sha, "mime": "image/png"}]}

    assert references(body) == [sha]
    assert resolve(body, store) == body
    assert store.get(sha) == b"\x89PNG"


def test_missing_and_damaged_blobs_say_so(store):
    sha = store.put(b"x" * 100)
    assert sha in store
    store.path(sha).write_bytes(b"junk")
    with pytest.raises(RecordError, match=f"blob {sha[:12]} is damaged"):
        store.get(sha)
    remove(store, sha)
    with pytest.raises(RecordError, match=f"blob {sha[:12]} is missing"):
        store.get(sha)
    assert sha not in store


@pytest.mark.parametrize("name", ["", "../" * 20, "A" * 64, "a" * 63])
def test_names_that_are_no_hash_are_refused(store, name):
    with pytest.raises(ValueError, match="SHA-256"):
        store.path(name)
