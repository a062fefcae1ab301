"""Planted candidates about real messages: what the computed checks, and a reviewer behind them, let through."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support import planted
from support.planted import CLASSES, digest, messages, paraphrases, text_of
from support.remembered import AT, Remembered, make_remembered

from consolidation.model import Candidate, Verdict
from consolidation.neighbours import touched
from consolidation.verify import verify
from transcript import memory_drafts as drafts
from transcript.event import Draft, moment, stamp
from transcript.memories import Link, span_of_body

pytestmark = pytest.mark.real_data
OUTCOMES = ("accepted", "inference", "refuted", "parked")
FALSE = tuple(kind for kind in CLASSES if kind != "supported")


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return planted.rows()


@pytest.fixture(scope="module")
def said(real_sessions: Path, rows: list[dict[str, Any]]) -> dict[str, Draft]:
    return messages(real_sessions, rows)


@pytest.fixture(scope="module")
def world(said: dict[str, Draft], rows: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Remembered:
    """A record of the real messages in which the true sentences of `world` and `named` are remembered."""
    kept = make_remembered(tmp_path_factory.mktemp("planted"))
    kept.append(list(said.values()))
    for row in rows:
        if row["class"] in ("world", "named"):
            kept.remember(_candidate(kept, row, text_of(row["parts"], said)))
    return kept


def _candidate(kept: Remembered, row: dict[str, Any], text: str) -> Candidate:
    place = kept.place(*row["source"][:3])
    assert place.sha256 == row["source"][3]
    return replace(kept.candidate(text, place), said_at=kept.log.get(place.event).ts)


def _outcome(verdict: Verdict) -> str:
    if verdict.verdict in ("not_refuted", "supersede", "downgrade"):
        return "accepted" if verdict.label == "claim" else "inference"
    return "refuted" if verdict.verdict == "refuted" else "parked"


def _verdict(kept: Remembered, row: dict[str, Any], text: str, said: dict[str, Draft]) -> Verdict:
    """The verdict on one row, beside the newer memory or link that the row brings along."""
    state, links = kept.state, list(kept.state.links)
    candidate = _candidate(kept, row, text)
    if "newer" in row:
        later = stamp(moment(candidate.said_at).replace(year=2027))
        newer = replace(candidate, text=text_of(row["newer"], said), said_at=later)
        memory = next(iter(state.memories.values()))
        memory = replace(memory, id=newer.id, candidate=newer.id, statement=newer.text, said_at=later, valid_from=later)
        state = replace(state, memories=state.memories | {memory.id: memory})
    if row.get("retired"):
        other = kept.place(*next(r for r in planted.rows() if r["class"] == "world")["source"][:3])
        at = drafts.superseded(AT, candidate.sources[0], other, reason="retired", since="2027-01-01T00:00:00.000Z")
        links.append(_link(at))
    return verify(candidate, kept.log, touched(candidate, state), key=kept.key, links=links)


def _link(draft: Draft) -> Link:
    return Link(span_of_body(draft.body["of"]), span_of_body(draft.body["by"]), "retired", draft.body["at"], draft.id)


def test_none_of_the_false_is_accepted_and_the_true_are(
    world: Remembered, rows: list[dict[str, Any]], said: dict[str, Draft], capsys: pytest.CaptureFixture[str]
) -> None:
    table: dict[str, Counter[str]] = {kind: Counter() for kind in CLASSES}
    for row in rows:
        if row["class"] in CLASSES:
            text = text_of(row["parts"], said)
            assert digest(text) == row["sha256"]
            table[row["class"]][_outcome(_verdict(world, row, text, said))] += 1

    with capsys.disabled():
        print("\n" + "\n".join(_line(kind, table[kind]) for kind in CLASSES))
    accepted = sum(count["accepted"] for count in table.values())
    assert all(sum(count.values()) == planted.EACH for count in table.values())
    assert {kind: table[kind]["accepted"] for kind in FALSE} == dict.fromkeys(FALSE, 0)
    assert table["supported"]["accepted"] / accepted >= 0.9
    assert table["supported"]["accepted"] / planted.EACH >= 0.9


def _line(kind: str, count: Counter[str]) -> str:
    return f"{kind:14}" + "".join(f"{name} {count[name]:3}   " for name in OUTCOMES)


def test_no_contradiction_in_other_words_is_accepted(
    world: Remembered, said: dict[str, Draft], capsys: pytest.CaptureFixture[str]
) -> None:
    count: Counter[str] = Counter()
    for row in paraphrases():
        count[_outcome(_verdict(world, row, row["text"], said))] += 1

    with capsys.disabled():
        print("\n" + _line("paraphrased", count) + f" left unverified {count['parked'] / count.total():.3f}")
    assert count.total() == planted.EACH
    assert count["accepted"] == 0
