import hashlib
import random

import pytest

from transcript.canonical import b32id, canonical, event_key, prefix_bits, utf8


def test_canonical_bytes_have_sorted_keys_and_no_blanks():
    assert canonical({"b": [1, "é"], "a": None}) == b'{"a":null,"b":[1,"\\u00e9"]}'


def test_lone_surrogates_survive_as_escapes():
    assert canonical("a\udce9") == b'"a\\udce9"'
    assert utf8("\udce9").decode("utf-8", "surrogatepass") == "\udce9"


def test_nan_is_refused():
    with pytest.raises(ValueError, match="JSON"):
        canonical({"a": float("nan")})


def test_an_id_is_the_first_130_bits_of_a_hash():
    digest = hashlib.sha256(b"claude-code\x1fr1\x1f0").digest()

    name = b32id("claude-code", "r1", "0")

    assert len(name) == 26
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz234567")
    assert event_key(name) == digest[:16]


def test_parts_do_not_run_into_each_other():
    assert b32id("ab", "c") != b32id("a", "bc")


@pytest.mark.parametrize("seed", range(20))
def test_prefix_bits_are_the_first_bits_of_the_key(seed):
    name = b32id(str(seed))
    length = random.Random(seed).randint(1, 25)

    assert prefix_bits(name[:length]) == int.from_bytes(event_key(name), "big") >> (128 - 5 * length)


@pytest.mark.parametrize(
    "name", ["", "abc", "A" * 26, "0" * 26, "a" * 27], ids=["empty", "short", "upper", "digit", "long"]
)
def test_what_is_no_id_is_refused(name):
    with pytest.raises(ValueError, match="event id"):
        event_key(name)
