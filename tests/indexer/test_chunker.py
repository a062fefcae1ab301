"""Passages are contiguous, rebuild their text, keep structure and never exceed the model's limit."""

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.embedder import StubEmbedder

from indexer.chunker import keep_ends, split, without_unbroken_runs

COUNT = StubEmbedder().count


def passages(text, **options):
    return split(text, **{"max_tokens": 256, "count": COUNT} | options)


@given(st.text(alphabet=st.characters(codec="utf-16", exclude_categories=()), max_size=3000))
@settings(max_examples=100)
def test_passages_rebuild_any_text_exactly(text):
    found = passages(text, target_chars=100, max_tokens=40)

    assert "".join(passage.text for passage in found) == text
    assert all(a.end == b.start for a, b in pairwise(found))
    assert all(COUNT(passage.text) <= 40 or len(passage.text) == 1 for passage in found)


@pytest.mark.parametrize("seed", range(20))
def test_passages_stay_near_the_target_and_within_the_limit(seed):
    rng = random.Random(seed)
    joints = [" ", " ", " ", ". ", "\n", "\n\n", "\n\n## Heading\n\n", "", "。"]
    text = "".join("".join(rng.choices("abcdefé漢", k=rng.randint(1, 14))) + rng.choice(joints) for _ in range(2000))

    found = passages(text)

    assert "".join(passage.text for passage in found) == text
    assert max(len(passage.text) for passage in found) <= 400 * 1.2
    assert sum(len(p.text) for p in found) / len(found) > 200


def test_a_turn_of_200_000_characters_never_exceeds_the_limit():
    """LCA-D-02."""
    rng = random.Random(7)
    text = " ".join("".join(rng.choices("abcdefghij{}();", k=rng.randint(1, 30))) for _ in range(13_000))[:200_000]

    found = passages(text)

    assert "".join(p.text for p in found) == text
    assert all(COUNT(p.text) <= 256 for p in found)


def test_a_text_without_any_blank_is_cut_hard():
    found = passages("x" * 5000)

    assert "".join(p.text for p in found) == "x" * 5000
    assert max(len(p.text) for p in found) <= 480


def test_paragraphs_are_seams_before_sentences_are():
    first, second = "One. " * 60, "Two. " * 30

    found = passages(f"{first}\n\n{second}")

    assert [p.text for p in found] == [f"{first}\n\n", second]


def test_a_heading_goes_with_what_it_heads():
    text = "intro " * 50 + "\n\n## The cause\n\n" + "because of the clock " * 19

    found = passages(text)

    assert any(p.text.startswith("## The cause\n\nbecause") for p in found)


def test_a_smaller_limit_gives_smaller_passages_not_cut_ones():
    text = "word " * 400

    small, large = passages(text, max_tokens=32), passages(text, max_tokens=256)

    assert max(COUNT(p.text) for p in small) <= 32
    assert len(small) > len(large)
    assert "".join(p.text for p in small) == text


def test_long_output_keeps_head_and_tail():
    assert keep_ends(5000, 1200, 400) == [(0, 1200), (4600, 5000)]
    assert keep_ends(1600, 1200, 400) == [(0, 1600)]
    assert keep_ends(0, 1200, 400) == []


def test_an_unbroken_run_keeps_its_ends_and_what_stands_around_it():
    text = "before " + "A" * 60_000 + " after"

    spans = without_unbroken_runs(text, 400)

    assert spans == [(0, 407), (7 + 60_000 - 400, len(text))]


def test_text_of_a_script_without_spaces_is_no_unbroken_run():
    assert without_unbroken_runs("漢" * 5000, 400) == [(0, 5000)]
