"""Whether the words that a claim rests on say it."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consolidation.align import tokens
from consolidation.claims import claims
from consolidation.support import support

SOURCE = (
    "I looked into the import. The nightly import failed because `load_rows` held the lock on orders.db for 40 s, and "
    "the retry never ran. Uploads above 25 MB are rejected with status 413, but only by the gateway. "
    "I don't think the cache is shared between workers. If the flag `new_checkout` is set, the old basket is skipped. "
    "Does the gateway retry failed uploads? The **thumbnail** cache lives in `var/thumbs`."
)


@pytest.mark.parametrize(
    ("claim", "kind"),
    [
        ("The thumbnail cache lives in var/thumbs.", "quoted"),
        ("the thumbnail cache lives in `var/thumbs`", "quoted"),
        ("I looked into the import. The nightly import failed because `load_rows` held the lock on orders.db for 40 s, "
         "and the retry never ran.", "quoted"),
        ("The nightly import failed because `load_rows` held the lock on orders.db for 40 s.", "covered"),
        ("The old basket is skipped.", "partial"),
        ("The cache is shared between workers.", "partial"),
        ("Uploads above 25 MB are rejected with status 413.", "partial"),
        ("The nightly import failed because `load_rows` held the lock on orders.db for 41 s.", "none"),
        ("The nightly import failed because `load_Rows` held the lock on orders.db for 40 s.", "none"),
        ("The nightly import failed because orders.db held the lock on `load_rows` for 40 s.", "partial"),
        ("The retry ran.", "none"),
        ("The thumbnail cache does not live in `var/thumbs`.", "none"),
        ("Thumbnails are kept in a folder of their own.", "none"),
        ("Does the gateway retry failed uploads?", "none"),
        ("The gateway retry failed uploads.", "partial"),
        ("", "none"),
    ],
    ids=[
        "marks do not count", "code marks do not count", "two sentences", "a clause", "under a condition", "doubted",
        "restricted behind it", "another number", "another name by a letter's case", "names exchanged",
        "denied in the source", "denied in the claim", "in other words", "a question", "a question is no source",
        "nothing",
    ],
)  # fmt: skip
def test_a_claim_is_held_by_its_source_only_as_it_stands_there(claim: str, kind: str) -> None:
    assert support(claim, [SOURCE]).kind == kind


def test_the_best_source_is_named_and_so_is_what_all_lack() -> None:
    found = support("Sessions stay in Redis.", ["We met on Monday.", "Sessions stay in Redis."])
    lost = support("Sessions stay in `redis7` for 30 days.", ["Sessions stay in `redis6` for 30 days."])

    assert (found.kind, found.source) == ("quoted", 1)
    assert (lost.kind, lost.missing) == ("none", ("redis7",))


def test_the_reason_of_a_decision_is_a_sentence_of_its_own() -> None:
    assert support("The port is 8443", ["The port is 8443\nWhy: 8080 is taken"]).kind == "quoted"
    assert support("8080 is taken", ["The port is 8443\nWhy: 8080 is taken"]).kind != "quoted"


def test_every_word_of_a_text_stands_in_a_claim() -> None:
    text = "# Deploys\n\n- Use `make ship`.\n- Never on Friday\n\n```\nrm -rf build\n```\n\n| port | 8080 |\n\nWhy? So."

    assert [c.text for c in claims(text)] == [
        "Deploys", "Use `make ship`.", "Never on Friday", "rm -rf build", "port | 8080 |", "Why?", "So.",
    ]  # fmt: skip
    assert all(text[c.start : c.end] == c.text for c in claims(text))


WORDS = ("the import", "`load_rows`", "port 8080", "not", "if", "never", "fails", "e.g. 5 %", "C++", "--force", "über")
PIECES = st.lists(st.sampled_from((*WORDS, ",", ".", ";", "?", "\n", "**", "(", "—", "- ")), min_size=4, max_size=40)


@given(PIECES)
def test_claims_are_pieces_of_the_text_in_order_and_leave_no_word_out(pieces: list[str]) -> None:
    text = " ".join(pieces)
    found = claims(text)

    assert all(text[c.start : c.end] == c.text for c in found)
    assert all(a.end <= b.start for a, b in pairwise(found))
    gaps = zip([0, *(c.end for c in found)], [*(c.start for c in found), len(text)], strict=True)
    assert not re.search(r"\w", " ".join(text[a:b] for a, b in gaps))


@given(PIECES, st.integers(0, 40), st.sampled_from(("not", "never", "9", "`other_name`", "only", "without")))
def test_a_word_that_turns_a_claim_is_never_overlooked(pieces: list[str], place: int, word: str) -> None:
    source = " ".join(pieces)
    for claim in claims(source):
        words = claim.text.split()
        turned = " ".join([*words[: place % (len(words) + 1)], word, *words[place % (len(words) + 1) :]])
        held = support(turned, [source]).kind in ("quoted", "covered")
        assert not held or turned_stands(turned, source)


def turned_stands(turned: str, source: str) -> bool:
    """Whether the source itself has these very words in a row, so that nothing was turned."""
    return " ".join(t.text for t in tokens(turned)) in " ".join(t.text for t in tokens(source))


def test_a_word_stands_where_its_text_does_whatever_nobody_sees_in_it():
    text = "The ga\u200bteway lis\u00adtens"

    assert [text[one.start : one.end] for one in tokens(text)] == ["ga\u200bteway", "lis\u00adtens"]
    assert [one.text for one in tokens(text)] == ["gateway", "listens"]
