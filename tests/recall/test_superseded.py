"""A labelled set of decisions and those that replaced them: what is replaced is never told as if it held.

The older wording shares more words with most prompts, so that relevance alone would bring it up first.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.embedder import StubEmbedder
from support.record import NOW, make_draft, make_log
from support.story import ANA

from indexer import writer
from indexer.settings import IndexSettings
from indexer.store import Store
from indexer.tokens import TokenCounter
from recall.engine import recall
from recall.query import Query
from recall.settings import GateSettings, Settings
from recall.turn import Turn
from scoring.weights import Weights
from transcript.curation import Setting, decision
from transcript.event import Draft

SET = json.loads((Path(__file__).parents[1] / "data" / "superseded.json").read_text(encoding="utf-8"))
PAIRS = SET["pairs"]
OPEN = Settings(gate=GateSettings(item=False, evidence=False, margin=False))


def at(day: int) -> Setting:
    return Setting(f"2026-01-{day + 1:02}T10:00:00.000Z", f"s{day}", "key", {})


def drafts(olds: list[Draft]) -> list[Draft]:
    """The record of the set, in which `olds` were replaced."""
    others = [decision(ANA, at(23), text) for text in SET["others"]]
    news = [decision(ANA, at(24), pair["new"], supersedes=old.id) for pair, old in zip(PAIRS, olds, strict=True)]
    return [*olds, *others, *news]


def indexed(folder: Path, olds: list[Draft]) -> Iterator[Store]:
    log = make_log(folder, drafts(olds))
    with Store.open(log.workspace.index_path, "w") as store:
        writer.index(log.workspace, store, IndexSettings(), now=NOW, embedder=StubEmbedder())
        yield store


@pytest.fixture(scope="module")
def decided(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The older ones are decisions."""
    olds = [decision(ANA, at(n), pair["old"]) for n, pair in enumerate(PAIRS)]
    yield from indexed(tmp_path_factory.mktemp("decided"), olds)


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The older ones were said in a session."""
    olds = [
        make_draft(f"old {n}", text=pair["old"], session=f"s{n}", ts=f"2026-01-{n + 1:02}T10:00:00.000Z")
        for n, pair in enumerate(PAIRS)
    ]
    yield from indexed(tmp_path_factory.mktemp("said"), olds)


def ask(store: Store, prompt: str, settings: Settings = OPEN) -> Turn:
    return recall(Query(prompt), store, None, settings, now=NOW, count_tokens=TokenCounter())


def place(turn: Turn, text: str) -> int | None:
    """Where the ranked list has the passage with this text; a withheld one has none, and is not there."""
    return next((n for n, ranked in enumerate(turn.ranked) if ranked.candidate.text == text), None)


def shown(turn: Turn) -> list[str]:
    return [item.candidate.text for item in turn.items]


def above(store: Store, settings: Settings) -> tuple[int, int]:
    """For questions about history: how often both were found, and how often the replaced one stands above."""
    both = over = 0
    for pair in PAIRS:
        turn = ask(store, pair["before"], settings)
        old, new = place(turn, pair["old"]), place(turn, pair["new"])
        if old is not None and new is not None:
            both, over = both + 1, over + (old < new)
    return both, over


def test_a_superseded_decision_ranks_below_its_successor_in_every_query(decided: Store) -> None:
    """LCA-5.2.6-02: by K, for nothing else tells them apart in a question about history."""
    without = replace(OPEN, weights=replace(Weights(), lambda_=0.0))

    assert len(PAIRS) >= 20
    both, over = above(decided, OPEN)
    assert (both >= 20, over) == (True, 0)
    assert above(decided, without)[1] >= 10


def test_no_superseded_decision_is_injected_unless_history_is_asked_for(decided: Store) -> None:
    """LCA-7.2-09: the share of prompts with a superseded item injected is 0."""
    now = [ask(decided, pair["now"]) for pair in PAIRS]
    before = [ask(decided, pair["before"]) for pair in PAIRS]

    assert sum(pair["old"] in shown(turn) for pair, turn in zip(PAIRS, now, strict=True)) == 0
    assert not any("superseded" in item.candidate.standing.risks for turn in now for item in turn.items)
    assert sum(pair["old"] in shown(turn) for pair, turn in zip(PAIRS, before, strict=True)) >= 20


def test_replaced_words_of_a_session_are_never_injected_without_what_replaced_them(said: Store) -> None:
    """LCA-7.2-09 for what was merely said: with the note always, and behind the newer one wherever both are shown."""
    told = 0
    for pair in PAIRS:
        turn = ask(said, pair["now"])
        old, new = place(turn, pair["old"]), place(turn, pair["new"])
        if old is None:
            continue
        told += turn.ranked[old].shown
        (note,) = turn.ranked[old].candidate.notes
        assert pair["new"] in note
        assert new is None or new < old
        if turn.ranked[old].shown:
            assert " ".join(note.split()) in " ".join(turn.block.split())

    assert told >= 20
