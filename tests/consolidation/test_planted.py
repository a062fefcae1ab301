"""Planted candidates about real messages: what the computed checks, and a reviewer behind them, let through."""

import json
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support import planted
from support.planted import CLASSES, digest, later, messages, paraphrases, text_of
from support.remembered import AT, Remembered, make_remembered

from consolidation.decide import decide
from consolidation.model import Candidate, Reviewer
from consolidation.neighbours import touched
from consolidation.review import review
from consolidation.reviewers import make
from consolidation.settings import Settings
from consolidation.sources import read
from consolidation.verify import verify
from indexer.embedder import Embedder, load
from recall.memory_settings import ReviewerSettings
from transcript import memory_drafts as drafts
from transcript.event import Draft, moment, stamp
from transcript.memories import Link, span_of_body

pytestmark = pytest.mark.real_data
OUTCOMES = ("accepted", "inference", "refuted", "parked")
OUTCOME = {"accepted": "accepted", "duplicate": "accepted", "accepted_inference": "inference"}
SETTINGS = Settings(reviewer=ReviewerSettings(timeout_s=4.0))
SCRIPT = Path(__file__).parents[1] / "support" / "reviewer.py"
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
    return replace(
        kept.candidate(text, place, why="it was said", subject=("it",)), said_at=kept.log.get(place.event).ts
    )


def _judged(
    kept: Remembered,
    row: dict[str, Any],
    text: str,
    said: dict[str, Draft],
    reviewer: Reviewer | None = None,
    embedder: Embedder | None = None,
) -> str:
    """How one row ends, beside the newer memory or the link that it brings along."""
    state, links = kept.state, list(kept.state.links)
    candidate = _candidate(kept, row, text)
    if "newer" in row:
        later = stamp(moment(candidate.said_at).replace(year=2027))
        newer = replace(candidate, text=text_of(row["newer"], said), said_at=later)
        memory = replace(
            next(iter(state.memories.values())), id=newer.id, candidate=newer.id, statement=newer.text, said_at=later
        )
        state = replace(state, memories=state.memories | {memory.id: memory})
    if row.get("retired"):
        other = kept.place(*next(r for r in planted.rows() if r["class"] == "world")["source"][:3])
        event = drafts.superseded(AT, candidate.sources[0], other, reason="retired", since="2027-01-01T00:00:00.000Z")
        links.append(_link(event))
    near = touched(candidate, state, embedder=embedder)
    verdicts = [verify(candidate, kept.log, near, key=kept.key, links=links)]
    if reviewer is not None:
        shown = read(kept.log, candidate.sources, kept.key)
        verdicts += review(candidate, verdicts[0], near, shown, reviewer, SETTINGS.reviewer)
    decision = decide(candidate, verdicts, near, SETTINGS, sessions_of=lambda one: frozenset())
    return OUTCOME.get(decision.reason, "parked" if decision.pending else "refuted")


def _link(draft: Draft) -> Link:
    return Link(span_of_body(draft.body["of"]), span_of_body(draft.body["by"]), "retired", draft.body["at"], draft.id)


def _table(
    kept: Remembered,
    rows: list[dict[str, Any]],
    said: dict[str, Draft],
    reviewer: Reviewer | None = None,
    embedder: Embedder | None = None,
) -> dict[str, Counter[str]]:
    table: dict[str, Counter[str]] = {kind: Counter() for kind in CLASSES}
    for row in rows:
        if row["class"] in CLASSES:
            text = text_of(row["parts"], said)
            assert digest(text) == row["sha256"]
            table[row["class"]][_judged(kept, row, text, said, reviewer, embedder)] += 1
    return table


@pytest.mark.parametrize("model", [False, pytest.param(True, marks=pytest.mark.model)], ids=["words", "model"])
def test_none_of_the_false_is_accepted_and_the_true_are(
    world: Remembered,
    rows: list[dict[str, Any]],
    said: dict[str, Draft],
    model: bool,
    capsys: pytest.CaptureFixture[str],
) -> None:
    table = _table(world, rows, said, embedder=load() if model else None)

    with capsys.disabled():
        print("\n" + "\n".join(_line(kind, table[kind]) for kind in CLASSES))
    accepted = sum(count["accepted"] for count in table.values())
    assert all(sum(count.values()) == planted.EACH for count in table.values())
    assert {kind: table[kind]["accepted"] + table[kind]["inference"] for kind in FALSE} == dict.fromkeys(FALSE, 0)
    assert table["supported"]["accepted"] / accepted >= 0.9
    assert table["supported"]["accepted"] / planted.EACH >= 0.9


def test_a_reviewer_that_is_late_or_talks_nonsense_accepts_nothing(
    world: Remembered,
    rows: list[dict[str, Any]],
    said: dict[str, Draft],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A real process that knows the truth; one in ten of its answers is late and one in ten is nonsense."""
    answers: dict[str, Any] = {"*": [{"verdict": "refuted"}]}
    for number, row in enumerate(row for row in rows if row["class"] in CLASSES):
        right = [{"verdict": "not_refuted" if row["class"] == "supported" else "refuted"}]
        answers[text_of(row["parts"], said)] = {3: "late", 7: "nonsense"}.get(number % 10, right)
    (tmp_path / "table.json").write_text(json.dumps(answers))
    command = f"{sys.executable} {SCRIPT} {tmp_path / 'table.json'}"
    reviewer = make(ReviewerSettings(kind="command", command=command, id="scripted", timeout_s=4.0), home=tmp_path)

    table = _table(world, rows, said, reviewer)

    with capsys.disabled():
        print("\n" + "\n".join(_line(kind, table[kind]) for kind in CLASSES))
    assert {kind: table[kind]["accepted"] + table[kind]["inference"] for kind in FALSE} == dict.fromkeys(FALSE, 0)
    assert table["supported"] == {"accepted": 32, "parked": 8}


class _Asleep:
    """A reviewer that finds nothing in anything."""

    kind, id = "command", "asleep"

    def ask(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"protocol": "recall-review/1", "reviewer": "asleep", "verdict": "not_refuted", "findings": []}


def test_a_reviewer_that_sleeps_makes_no_claim_of_what_the_checks_did_not_hold(
    world: Remembered, rows: list[dict[str, Any]], said: dict[str, Draft], capsys: pytest.CaptureFixture[str]
) -> None:
    table = _table(world, rows, said, _Asleep())

    with capsys.disabled():
        print("\n" + "\n".join(_line(kind, table[kind]) for kind in CLASSES))
    assert {kind: table[kind]["accepted"] for kind in FALSE} == dict.fromkeys(FALSE, 0)
    assert table["supported"]["accepted"] == planted.EACH


def _line(kind: str, count: Counter[str]) -> str:
    return f"{kind:14}" + "".join(f"{name} {count[name]:3}   " for name in OUTCOMES)


def test_no_contradiction_in_other_words_is_accepted(
    world: Remembered, said: dict[str, Draft], capsys: pytest.CaptureFixture[str]
) -> None:
    count: Counter[str] = Counter()
    for row in paraphrases():
        count[_judged(world, row, row["text"], said)] += 1

    with capsys.disabled():
        print("\n" + _line("paraphrased", count) + f" left unverified {count['parked'] / count.total():.3f}")
    assert count.total() == planted.EACH
    assert count["accepted"] == 0


@pytest.mark.model
@pytest.mark.parametrize(
    ("which", "least", "most"),
    [("paraphrases", 0, 10), ("contradictions", 0, 9), ("additions", 15, 20)],
    ids=["forty in other words", "twenty later ones", "twenty that only add"],
)
def test_most_contradictions_that_were_really_said_wait_for_somebody(
    world: Remembered, which: str, least: int, most: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same sentences as later messages of their own: true to their source, so that only meaning gives notice.

    Nothing but nearness tells a contradiction in other words from what only adds, of which one in four waits as well.
    """
    embedder, count = load(), Counter[str]()
    for row in paraphrases() if which == "paraphrases" else later()[which]:
        candidate = replace(world.candidate(row["text"], by="user"), said_at="2027-01-01T00:00:00.000Z")
        near = touched(candidate, world.state, embedder=embedder)
        count[verify(candidate, world.log, near, key=world.key).verdict] += 1

    with capsys.disabled():
        print(f"\n{which}, in a message of its own: {dict(count)}")
    assert least <= count["not_refuted"] <= most
