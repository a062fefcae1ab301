"""The whole evaluation on a made-up project: two sessions, four queries, a stub model."""

import json
from datetime import UTC, datetime

import pytest
from support.claude import ClaudeSession
from support.embedder import StubEmbedder

from eval.devrecall import run
from indexer.settings import IndexSettings
from recall.settings import Settings


def record(session, number):
    return session.records[number]["uuid"]


def span(session, number, quote):
    return {"file": f"{session.session}.jsonl", "uuid": record(session, number), "line": number + 1, "quote": quote}


@pytest.fixture
def made(tmp_path):
    early = ClaudeSession(seed="early", start=datetime(2026, 1, 5, 9, tzinfo=UTC))
    early.user("Why does the importer stop at 4096 rows of gannets?")
    early.assistant("The cursor page size is 4096 and the loop never asks for the second page of gannets.")
    late = ClaudeSession(seed="late", start=datetime(2026, 1, 9, 9, tzinfo=UTC))
    late.user("Is the gannets importer page loop mended?")
    late.assistant("Yes, the gannets importer now follows next_page until it is empty.")
    transcripts = tmp_path / "transcripts" / "shop"
    transcripts.mkdir(parents=True)
    for session in (early, late):
        (transcripts / f"{session.session}.jsonl").write_bytes(session.to_bytes())
    cause = [span(early, 1, "never asks for the second page")]
    asked = {"query": "gannets importer stops early, what was the cause?", "evidence": cause, "stale": []}
    queries = [
        {"id": "q1", "type": "bug_cause_fix", "now": "2026-01-20T00:00:00Z", "session": None, **asked},
        {"id": "q2", "type": "bug_cause_fix", "now": "2026-01-07T00:00:00Z", "session": None, **asked},
        {
            "id": "q3",
            "type": "bug_cause_fix",
            "now": "2026-01-10T00:00:00Z",
            "session": f"{late.session}.jsonl",
            **asked,
        },
        {
            "id": "q4",
            "type": "abstention",
            "query": "when does the ferry to Bornholm leave?",
            "now": "2026-01-20T00:00:00Z",
            "session": None,
            "evidence": [],
        },
    ]
    (tmp_path / "queries.jsonl").write_text("".join(json.dumps(query) + "\n" for query in queries))
    return tmp_path


def evaluate(made, **arguments):
    arguments = {"embedder": StubEmbedder(), "settings": Settings(), "samples": 50} | arguments
    return run(made, made / "transcripts", made / "cache", index_settings=IndexSettings(), **arguments)


def outcome(line, query):
    return next(o for o in line.result.ranked if o.query == query)


def test_the_shipped_engine_finds_the_evidence_and_leaks_nothing(made):
    report = evaluate(made)

    ours = report.ours
    assert ours.ranked.overall["recall@6"].value == 1.0
    assert all(line.ranked.leaks == 0 for line in report.lines)
    assert report.setting.missing_evidence == ()
    assert (report.setting.queries, report.setting.answerable) == (4, 3)


def test_every_baseline_runs_beside_it(made):
    names = [line.result.name for line in evaluate(made).lines]

    assert names == [
        "recall",
        "recall, words only",
        "FTS5",
        "FTS5, all text",
        "latest messages",
        "vectors",
        "fusion (RRF)",
        "generative agents",
    ]


def test_what_was_said_later_or_in_the_own_session_is_not_found(made):
    """Both sessions hold the words; q2 is asked before the second one, q3 inside it."""
    report = evaluate(made)

    for line in report.lines:
        assert len(outcome(line, "q2").hits) <= 2, line.result.name
        assert len(outcome(line, "q3").hits) <= 2, line.result.name
    assert len(outcome(report.ours, "q1").hits) > len(outcome(report.ours, "q2").hits)


def test_a_second_run_takes_nothing_in_and_says_the_same(made):
    told = []
    first = evaluate(made)
    second = evaluate(made, progress=told.append)

    assert any(line.startswith("0 new events") for line in told)
    assert any(line.startswith("0 new chunks") for line in told)
    assert [line.result.ranked for line in first.lines] == [line.result.ranked for line in second.lines]


def test_without_a_model_words_are_measured(made):
    report = evaluate(made, embedder=None)

    assert "vectors" not in [line.result.name for line in report.lines]
    assert report.setting.vectors == 0
    assert report.ours.ranked.overall["recall@6"].value == 1.0


def test_only_some_queries(made):
    assert evaluate(made, only=frozenset({"q1", "abstention"})).setting.queries == 2


def test_other_chunk_settings_build_the_index_anew(made):
    first = evaluate(made)

    report = run(
        made,
        made / "transcripts",
        made / "cache",
        embedder=StubEmbedder(),
        index_settings=IndexSettings(chunk_chars=80),
        settings=Settings(),
        baselines=False,
        samples=0,
    )

    assert report.setting.index_config != first.setting.index_config
    assert report.setting.chunks == report.setting.vectors == 4


def test_missing_transcripts_are_named(made):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        run(
            made,
            made / "nowhere",
            made / "cache",
            embedder=None,
            index_settings=IndexSettings(),
            settings=Settings(),
        )
