import json

import pytest
from click.testing import CliRunner
from support.embedder import StubEmbedder
from support.talk import NOW, Talk, indexed, recorded

from eval.lineup import Variant
from eval.self_questions import dataset
from eval.self_report import verdict
from eval.self_run import OtherModel, run
from eval.self_series import Entry, append, read, to_text
from eval.stats import Paired
from eval.vector_cache import CachedEmbedder
from indexer.rebuild import rebuild
from indexer.said import said
from indexer.settings import IndexSettings
from recall.cli.group import cli
from recall.settings import RetrievalSettings, Settings
from transcript.secrets import find

ANSWER = "It was the certificate: the proxy had cached the old chain, so we restart it after each renewal of the key."


def talks():
    """Four sessions: a topic with an answer, the same question later, an error with its fix, a name said once."""
    one = Talk("one")
    one.prompt("why does the staging gateway reject handshakes after the certificate renewal last thursday?")
    asked = one.drafts[0].id
    topic = one.reply(ANSWER)
    two = Talk("two", start=one.start.replace(day=10))
    two.prompt("why does the staging gateway reject handshakes after certificate renewal?")
    two.reply("As before: restart the proxy after the renewal, its cached chain is the old one and clients refuse it.")
    three = Talk("three", start=one.start.replace(day=3))
    three.prompt("run the migration of the ledger tables on the replica please")
    three.call("Bash", {"command": "make migrate"})
    three.result("Traceback\nOperationalError: no such column ledger.balance_cents at line 40\nmake: failed")
    fix = three.reply(
        "The replica lacked the column; the migration of last month is now applied before ours, and it ran."
    )
    four = Talk("four", start=one.start.replace(day=4))
    four.prompt("how long do we keep sessions?")
    named = four.reply(
        "The limit is set by sessionRetentionDays, thirty by default, and nothing else removes them ever."
    )
    return (one, two, three, four), {"topic": topic, "error": fix, "identifier": named, "restated": asked}


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    made, sources = talks()
    workspace = recorded(tmp_path_factory.mktemp("self"), *made)
    with indexed(workspace, StubEmbedder()) as store:
        yield workspace, store, sources


def questions(store, **options):
    return dataset(said(store), **options).questions


def by_kind(store):
    return {
        kind: [q for q in questions(store) if q.type == kind] for kind in ("topic", "restated", "identifier", "error")
    }


def test_each_kind_is_asked_with_its_source(record):
    _, store, sources = record
    found = by_kind(store)

    assert any(sources["topic"] in q.turns for q in found["topic"])
    assert [q.turns for q in found["error"]] == [frozenset({sources["error"]})]
    assert "no such column ledger.balance_cents" in found["error"][0].text
    assert [q.text for q in found["identifier"]] == ["what about sessionRetentionDays?"]
    assert found["identifier"][0].turns == {sources["identifier"]}


def test_a_question_that_was_asked_again_is_typed_in_the_later_session_at_its_time(record):
    _, store, sources = record
    (again,) = by_kind(store)["restated"]

    assert sources["restated"] in again.turns
    assert sources["topic"] in again.turns
    assert (again.session, again.asked_at.day) == ("two", 10)


def test_a_topic_is_not_the_prompt_itself(record):
    _, store, _ = record
    prompts = {s.text for s in said(store)}

    assert all(q.text not in prompts for q in by_kind(store)["topic"])


def test_twice_gives_the_same_questions_even_from_an_index_built_anew(record):
    workspace, store, _ = record
    first = dataset(said(store))
    again = dataset(said(store))
    rebuild(workspace, store, IndexSettings(), now=NOW, embedder=StubEmbedder(), record=False)
    rebuilt = dataset(said(store))

    assert len(first.questions) >= 4
    assert first == again == rebuilt


def test_most_questions_stay_while_the_record_grows(tmp_path):
    made, _ = talks()
    more = Talk("five", start=made[0].start.replace(day=12))
    more.prompt("which colour has the banner of the spring sale on the landing page?")
    more.reply("Green: the designers chose emerald for the banner, and the button keeps its orange of the last season.")
    small, large = recorded(tmp_path / "a", *made), recorded(tmp_path / "b", *made, more)
    with indexed(small) as one, indexed(large) as two:
        before, after = {q.id for q in questions(one)}, {q.id for q in questions(two)}

    assert len(before & after) > len(before) / 2
    assert after - before


def test_at_most_so_many_of_a_kind(record):
    _, store, _ = record
    counts = [q.type for q in questions(store, each=1)]

    assert len(counts) == len(set(counts)) == 4


@pytest.mark.parametrize("flaw", ["worker", "private", "abandoned"])
def test_what_a_turn_never_shows_is_no_source(tmp_path, flaw):
    talk = Talk("one")
    more = {"worker": "w1"} if flaw == "worker" else {"private": True} if flaw == "private" else {}
    talk.prompt("how long do we keep sessions?", **more)
    event = talk.reply(
        "The limit is set by sessionRetentionDays, thirty by default, nothing else removes them.", **more
    )
    if flaw == "abandoned":
        talk.mark("abandoned", [event])
    with indexed(recorded(tmp_path, talk)) as store:
        assert not [q for q in questions(store) if q.type == "identifier"]


def test_a_name_that_stands_in_two_places_is_not_asked_for(tmp_path):
    talk = Talk("one")
    talk.prompt("what is sessionRetentionDays?")
    talk.reply("The limit that removes sessions: sessionRetentionDays is thirty days unless somebody sets it.")
    with indexed(recorded(tmp_path, talk)) as store:
        assert not [q for q in questions(store) if q.type == "identifier"]


def test_no_question_holds_a_credential(tmp_path):
    talk = Talk("one")
    talk.prompt(
        "the deployment token ghp_0123456789abcdefghijklmnopqrstuvwxyz fails on the registry of the staging cluster"
    )
    talk.reply(
        "It has expired: make a new one in the settings of the organisation and store it in the vault, as before."
    )
    with indexed(recorded(tmp_path, talk)) as store:
        asked = questions(store)

        assert asked
        assert all(not find(q.text) for q in asked)


def test_a_setting_that_breaks_the_ranking_is_told_from_one_that_changes_nothing(record):
    _, store, _ = record
    broken = Settings(retrieval=RetrievalSettings(arm=1, k=1, lexical_limit=1, vector_limit=1, dense_weight=0.0))
    tried = {"recall": Settings(), "same": Settings(), "broken": broken}
    variants = {name: Variant(settings) for name, settings in tried.items()}
    held = run(dataset(said(store)), store, said(store), lambda k: None, variants, baselines=False)
    found = {name: sum(bool(r.ranked) for r in replies) for name, replies in held.replies.items()}
    lengths = {name: [len(r.ranked) for r in replies] for name, replies in held.replies.items()}

    assert found["recall"] >= 4
    assert lengths["recall"] == lengths["same"]
    assert max(lengths["broken"]) <= 1 < max(lengths["recall"])


def test_another_model_searches_the_same_passages(record, tmp_path):
    _, store, _ = record
    other = CachedEmbedder(StubEmbedder(dimension=32, id="other"), tmp_path)
    near = OtherModel(store, other).search(3)
    found = near("sessionRetentionDays thirty by default", None)

    assert len(found) == 3
    assert [likeness for _, likeness in found] == sorted((likeness for _, likeness in found), reverse=True)
    assert "sessionRetentionDays" in store.passages([found[0][0]])[found[0][0]].text


def test_a_model_cannot_be_compared_where_there_are_no_vectors(tmp_path):
    with (
        indexed(recorded(tmp_path, talks()[0][0])) as store,
        pytest.raises(ValueError, match="no vectors yet"),
    ):
        OtherModel(store, StubEmbedder())


@pytest.mark.parametrize(("low", "high", "word"), [(0.1, 0.3, "better"), (-0.3, -0.1, "worse"), (-0.1, 0.1, "no diff")])
def test_a_verdict_needs_an_interval_without_zero(low, high, word):
    assert verdict(Paired((low + high) / 2, low, high, 10, 1, 1)).startswith(word)


def test_the_series_compares_each_run_with_the_one_before_over_the_questions_of_both(tmp_path):
    file = tmp_path / "run" / "series.jsonl"
    append(file, entry("2026-05-01", {"a": 1.0, "b": 0.0}))
    with file.open("a") as out:
        out.write('{"at": "torn')
    append(file, entry("2026-05-02", {"a": 1.0, "b": 1.0, "c": 0.0}))
    entries = read(file)

    assert [e.at for e in entries] == ["2026-05-01", "2026-05-02"]
    assert "+50.0" in to_text(entries)


def entry(at, ranks):
    return Entry(at, "c", "s", "m", "q", {"turn MRR": 0.5}, ranks)


@pytest.fixture
def project(tmp_path, monkeypatch):
    workspace = recorded(tmp_path, *talks()[0])
    with indexed(workspace):
        pass
    monkeypatch.chdir(workspace.root)
    monkeypatch.setenv("RECALL_HOME", str(tmp_path / "data"))
    return workspace


def ask(*words):
    return CliRunner().invoke(cli, ["eval", "self", *words], catch_exceptions=False)


def test_the_command_asks_compares_and_keeps_figures_but_no_words(project):
    first = ask("--set", "retrieval.link=0", "--json")
    ask("--no-baselines")
    held = json.loads(first.stdout)
    series = (project.run_dir / "eval-self.jsonl").read_text()

    assert held["set"] == "self"
    assert set(held["changes"]) == {"retrieval.link=0"}
    assert {"recall", "FTS5", "latest messages"} <= set(held["engines"])
    assert len(series.splitlines()) == 2
    assert (project.run_dir / "eval-self.jsonl").stat().st_mode & 0o077 == 0  # or the report of health fails by it
    assert "certificate" not in series
    assert "sessionRetentionDays" not in series


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--set", "gate.treshold=1"], "did you mean gate.threshold"),
        (["--set", "gate.threshold"], "has no value"),
        (["--set", "index.chunk_chars=300"], "no setting of a search"),
        (["--model", "onnx:nope"], "no ONNX model is called 'nope'"),
    ],
)
def test_what_cannot_be_tried_is_said(project, words, says):
    done = CliRunner().invoke(cli, ["eval", "self", *words])

    assert done.exit_code != 0
    assert says in (done.output + str(done.exception))
