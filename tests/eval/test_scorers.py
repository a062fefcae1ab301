"""Other scorers through the same pipeline: worked by hand, and asked over a real record's shape."""

import pytest
from support.embedder import StubEmbedder
from support.talk import NOW, Talk, indexed, recorded

from eval.scorers import activation, actr, genagents
from indexer.tokens import TokenCounter
from recall.engine import features, recall
from recall.query import Query
from recall.settings import Settings
from recall.vector_search import vector_search
from scoring.score import Features, score_all
from scoring.weights import Weights


def test_generative_agents_scale_over_the_candidates():
    """Relevances 0.2, 0.4, 0.6 become 0, 1/2, 1; of ages 0 and two of 10 days the youngest is 1, the others 0."""
    scores = genagents([Features(0.2, 0.0), Features(0.4, 10.0), Features(0.6, 10.0)], Weights())

    assert [score.value("S") for score in scores] == pytest.approx([0.0, 0.5, 1.0])
    assert [score.value("T") for score in scores] == pytest.approx([1.0, 0.0, 0.0])
    assert [score.total for score in scores] == pytest.approx([2.0, 1.5, 2.0])


def test_activation_is_odds_of_the_root_of_the_hours():
    """One hour: 1/(1+1); four hours: (1/2)/(3/2); a hundred: (1/10)/(11/10)."""
    assert activation(0.0) == activation(1 / 24) == pytest.approx(0.5)
    assert activation(4 / 24) == pytest.approx(1 / 3)
    assert activation(100 / 24) == pytest.approx(1 / 11)


def test_each_session_that_cited_it_is_a_presentation_more():
    """Three presentations of a hundred hours: 3 * 1/10 as odds are 3/13."""
    (found,) = actr([Features(0.5, 100 / 24, hits=2)], Weights())

    assert found.value("E") == activation(100 / 24, 3) == pytest.approx(3 / 13)


def test_actr_changes_nothing_but_e():
    features = [Features(0.5, 1.0, source="prompt"), Features(0.4, 30.0)]
    ours, theirs = score_all(features, Weights()), actr(features, Weights())

    for a, b, f in zip(ours, theirs, features, strict=True):
        assert b.value("E") == activation(f.age_days)
        assert {**a.terms(), "E": 0} == {**b.terms(), "E": 0}
        assert b.total > a.total


def test_generative_agents_rank_the_same_candidates_by_their_own_score_in_the_same_pipeline(tmp_path):
    old, third, new = Talk("old"), Talk("third"), Talk("new")
    old.reply("The retention of sessions is thirty days and the nightly job removes them.")
    third.reply("The nightly build takes an hour.")
    recent = new.reply("Sessions of thirty days: retention.", ts="2026-06-19T10:00:00.000Z")
    with indexed(recorded(tmp_path, old, third, new), StubEmbedder()) as store:

        def ranked(scorer):
            vectors = vector_search(store, StubEmbedder(), 50)
            query = Query("retention of sessions thirty days nightly", as_of=NOW)
            return recall(query, store, vectors, Settings(), now=NOW, count_tokens=TokenCounter(), scorer=scorer).ranked

        ours, theirs = ranked(score_all), ranked(genagents)

    expected = genagents([features(r.candidate, NOW) for r in ours], Weights())
    wanted = {r.candidate.pointer.event: score.total for r, score in zip(ours, expected, strict=True)}

    assert {r.candidate.pointer.event: r.score.total for r in theirs} == wanted
    assert [r.score.total for r in theirs] == sorted(wanted.values(), reverse=True)
    assert theirs[0].candidate.pointer.event == recent
