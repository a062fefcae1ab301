import json

import pytest

from eval.labels import load

LINE = {
    "id": "q1",
    "query": "why?",
    "type": "decision_why",
    "now": "2026-01-17T01:00:00Z",
    "session": "aaa.jsonl",
    "evidence": [{"file": "bbb.jsonl", "uuid": "u1", "line": 3, "quote": "because"}],
    "stale": [],
    "note": "n",
}


def write(folder, *lines):
    (folder / "queries.jsonl").write_text("\n".join(json.dumps(line) for line in lines) + "\n", encoding="utf-8")
    return folder


def test_a_query_is_read_with_its_spans(tmp_path):
    labels = load(write(tmp_path, LINE))

    (query,) = labels.queries
    assert (query.id, query.session, query.now.isoformat()) == ("q1", "aaa", "2026-01-17T01:00:00+00:00")
    assert (query.evidence[0].file, query.evidence[0].uuid, query.evidence[0].quote) == ("bbb", "u1", "because")


def test_the_hash_changes_with_the_file(tmp_path):
    first = load(write(tmp_path, LINE)).sha256
    second = load(write(tmp_path, LINE | {"note": "other"})).sha256

    assert first != second


@pytest.mark.parametrize("bad", [{"now": "2026-01-17T01:00:00"}, {"evidence": "u1"}, {"evidence": [{"file": "x"}]}])
def test_a_malformed_line_is_named(tmp_path, bad):
    with pytest.raises(ValueError, match="line 2"):
        load(write(tmp_path, LINE, LINE | bad))


@pytest.mark.real_data
def test_the_real_set_has_its_58_queries(shared):
    labels = load(shared / "devrecall")

    assert len(labels.queries) == 58
    assert sum(bool(q.evidence) for q in labels.queries) == 49
