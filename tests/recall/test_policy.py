"""What must never be shown, whatever its score."""

import random
from dataclasses import replace

import pytest
from support.book import DAY, NOW, by_bytes

from indexer.rows import RowFilter
from recall.candidates import Found
from recall.cues import read_cues
from recall.engine import features, render, select
from recall.ledger import Circumstances, draft
from recall.policy import forbidden, with_secrets
from recall.query import Query
from recall.selection import POLICY, Scored
from recall.settings import GateSettings, Settings
from recall.turn import Candidate, Pointer, Ranked, Standing, Turn
from scoring.score import score
from scoring.weights import Weights
from transcript.canonical import b32id

AT = int(NOW.timestamp())
WORD = "zebra-4711"


def item(number: int = 1, *, text: str = f"kestrel {WORD}", said: int = AT - DAY, **standing: object) -> Candidate:
    at = Pointer(b32id("policy", str(number)), 0, len(text), "s", said, "memory")
    found = Standing(**standing)  # type: ignore[arg-type]
    return Candidate(number, text, (at,), evidence=1.2, relevance=1.2, cosine=0.9, standing=found)


def reason(candidate: Candidate, query: Query | None = None, allowed: RowFilter | None = None, prompt: str = "") -> str:
    return forbidden(candidate, query or Query("kestrel"), now=NOW, allowed=allowed, prompt=prompt)


@pytest.mark.parametrize(
    ("standing", "query", "expected"),
    [
        ({}, {}, ""),
        ({"private": True}, {}, "private"),
        ({"private": True}, {"audience": "public"}, "private"),
        ({"private": True}, {"audience": "private"}, ""),
        ({"superseded": True}, {}, "superseded"),
        ({"superseded": True}, {"history": True}, ""),
        ({"valid_from": AT + 1}, {}, "invalid"),
        ({"valid_from": AT}, {}, ""),
        ({"valid_to": AT}, {}, "invalid"),
        ({"valid_to": AT + 1}, {}, ""),
        ({"valid_to": AT - 5}, {"history": True}, ""),
        ({}, {"as_of": NOW.replace(year=2025)}, "after_as_of"),
    ],
)
def test_governed_items_are_held_to_their_standing(
    standing: dict[str, object], query: dict[str, object], expected: str
) -> None:
    assert reason(item(**standing), Query("kestrel", **query)) == expected  # type: ignore[arg-type]


def test_what_the_scan_was_not_allowed_to_find_stays_out() -> None:
    assert reason(item(7), allowed=RowFilter(None, frozenset({7}))) == "own_session"
    assert reason(item(7), allowed=RowFilter(frozenset({8}))) == "own_session"
    assert reason(item(7), allowed=RowFilter(frozenset({7}))) == ""


def test_a_credential_in_text_or_heading_is_found_in_the_whole_pool() -> None:
    clean, bad_text = item(1), item(2, text="key AKIAABCDEFGHIJKLMNOP")
    bad_head = replace(item(3), head="with AKIAABCDEFGHIJKLMNOP")
    marked = item(4, text="key [secret:aws-key-id:a1b2c3]")

    assert with_secrets([clean, marked]) == set()
    assert with_secrets([clean, bad_text, bad_head, marked]) == {2, 3}


@pytest.mark.parametrize("seed", range(40))
def test_no_weighting_and_no_score_lets_a_forbidden_item_out(seed: int) -> None:
    """LCA 5.2.6-06 and 5.3-03: not in the block, not in the ledger, not in what is kept for explanation."""
    rng = random.Random(seed)
    bad: list[dict[str, object]] = [
        {"private": True}, {"superseded": True}, {"valid_to": AT - 1}, {"valid_from": AT + 99},
        {"private": True, "raw_experience": 1e9},
    ]  # fmt: skip
    pool = [item(i, text=f"kestrel {WORD} number {i}", **rng.choice(bad)) for i in range(rng.randrange(1, 8))]
    pool += [item(50 + i, text=f"kestrel fine fact number {i} of many, subject{i}") for i in range(rng.randrange(0, 8))]
    settings = Settings(
        gate=GateSettings(item=False, evidence=False, margin=False),
        weights=Weights(*(rng.uniform(0.01, 1) for _ in range(6))),
    )
    scored = [Scored(c, score(features(c, NOW), settings.weights, settings.scales)) for c in pool]
    query = Query("kestrel", session="live")
    found = Found(tuple(pool), None, {"kestrel": 3}, 100)

    ranked, why, _ = select(scored, found, read_cues("kestrel"), query, settings, now=NOW)
    ranked, block = render(ranked, query, settings, now=NOW, found=found, count_tokens=by_bytes)
    turn = Turn(block.block, tuple(ranked), why, candidates=len(pool))
    event = draft(query, turn, settings, Circumstances("warm", 1.0, call="c"), now=NOW)

    assert WORD not in block.block
    assert WORD not in repr(ranked)
    assert WORD not in repr(event)
    assert {r.verdict for r in ranked if r.candidate.chunk < 50} <= POLICY
    assert len(ranked) == len(pool)


def test_the_output_asks_again_when_selection_let_something_through() -> None:
    bad = item(private=True)
    settings = Settings()
    made = Ranked(bad, score(features(bad, NOW), settings.weights), "shown")
    found = Found((bad,), None, {}, 10)

    ranked, block = render([made], Query("kestrel"), settings, now=NOW, found=found, count_tokens=by_bytes)

    assert block.block == ""
    assert ranked[0].verdict == "private"
    assert ranked[0].candidate.text == ""
