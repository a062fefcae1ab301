"""What a person retires in older words, what they leave alone, and what accepting it does to a turn."""

from dataclasses import replace

import pytest
from support.dialogue import Dialogue
from support.embedder import StubEmbedder
from support.record import NOW

from consolidation import find_retired
from consolidation.candidates import outcome_drafts
from consolidation.model import Decision
from consolidation.sessions import views
from consolidation.span import words
from indexer import writer
from indexer.rebuild import rebuild
from indexer.settings import IndexSettings
from indexer.store import Store
from indexer.tokens import TokenCounter
from recall.engine import recall
from recall.query import Query
from recall.settings import GateSettings, Settings
from transcript.memories import fold_memories
from transcript.memory_drafts import candidate as told
from transcript.memory_drafts import written_id
from transcript.memory_told import Told

OLD = "Deploys go through the Jenkins job ship-it (oriole-1515)."
OTHER = "Deploys are announced in the channel of the release team."
NEW = "We no longer use Jenkins. From today deploys go through the release workflow, oriole-1616."
AT = Told("2026-03-01T18:00:00.000Z")


@pytest.fixture
def talk():
    talk = Dialogue()
    talk.prompt("How are deploys done?")
    talk.reply(f"{OLD} {OTHER}")
    talk.begin("s2")
    return talk


def indexed(log):
    store = Store.open(log.workspace.index_path, "w")
    writer.index(log.workspace, store, IndexSettings(), now=NOW, embedder=StubEmbedder())
    return store


def proposals(talk, folder):
    log = talk.log(folder)
    key = log.workspace.id_key()
    with indexed(log) as store:
        found = [one for view in views(log) for one in find_retired.find(view, log, store, key)]
    return log, [(one.text, words(log, one.supersedes, key)) for one in found]


def test_older_words_about_what_a_person_retired_are_proposed_to_be_superseded(talk, tmp_path):
    talk.prompt(NEW)

    _, found = proposals(talk, tmp_path)

    assert found == [(NEW, OLD)]


@pytest.mark.parametrize(
    "said",
    [
        "Jenkins is retired, deploys go elsewhere now.",
        "We stopped using Jenkins. Deploys go through the release workflow.",
        "don't use Jenkins anymore. Use the release workflow and go through it for deploys.",
        "From now on deploys go through the release workflow instead of Jenkins.",
        "Wir verwenden Jenkins nicht mehr. Ab jetzt go deploys oriole through the workflow.",
    ],
)
def test_a_person_may_say_it_in_several_ways(talk, tmp_path, said):
    talk.prompt(said)

    _, found = proposals(talk, tmp_path)

    assert [old for _, old in found] == [OLD]


@pytest.mark.parametrize(
    "said",
    [
        "Deploys go through the release workflow, oriole-1616.",
        "Should we say that Jenkins is retired? Deploys go through it.",
        "If we no longer use Jenkins, deploys go through the release workflow.",
        "We no longer use Travis. From today deploys go through the release workflow.",
        "We no longer use Jenkins.",
        "We no longer use the file. Deploys go through it.",
    ],
    ids=["nothing retired", "question", "supposition", "another name", "nothing in common", "no name"],
)
def test_what_is_not_retired_is_left_alone(talk, tmp_path, said):
    """A newer statement about deploys retires nothing by itself."""
    talk.prompt(said)

    assert proposals(talk, tmp_path)[1] == []


def test_an_agents_word_and_what_was_said_later_are_left_alone(talk, tmp_path):
    talk.reply(NEW)
    talk.begin("s3")
    talk.prompt(NEW)
    talk.begin("s4")
    talk.reply("Deploys through the Jenkins job go on as before with oriole.")

    _, found = proposals(talk, tmp_path)

    assert found == [(NEW, OLD)]


def test_two_rules_that_differ_in_a_value_are_proposed(tmp_path):
    talk = Dialogue()
    talk.prompt("Always use a timeout of 30s for the importer.")
    talk.begin("s2")
    talk.prompt("From now on use a timeout of 60s for the importer.")
    log = talk.log(tmp_path)
    key = log.workspace.id_key()

    with indexed(log) as store:
        (one,) = find_retired.differing(log, store, key)

    assert (one.found_by, one.text) == ("value_link", "From now on use a timeout of 60s for the importer.")
    assert words(log, one.supersedes, key) == "Always use a timeout of 30s for the importer."


def test_one_statement_over_two_older_ones_makes_two_candidates(talk, tmp_path):
    talk.reply("The Jenkins deploys go through oriole twice a day.")
    talk.begin("s3")
    talk.prompt(NEW)
    log = talk.log(tmp_path)
    with indexed(log) as store:
        found = [one for v in views(log) for one in find_retired.find(v, log, store, log.workspace.id_key())]

    assert len({one.id for one in found}) == len(found) == 2
    assert replace(found[0], supersedes=found[1].supersedes).id == found[1].id


def ask(store, **fields):
    settings = Settings(gate=GateSettings(item=False, evidence=False, margin=False))
    return recall(
        Query("How do I deploy this service?", **fields), store, None, settings, now=NOW, count_tokens=TokenCounter()
    )


def test_accepted_it_hides_the_older_words_and_nothing_else_also_after_a_rebuild(talk, tmp_path):
    talk.prompt(NEW)
    log = talk.log(tmp_path)
    key = log.workspace.id_key()
    with indexed(log) as store:
        (one,) = [one for view in views(log) for one in find_retired.find(view, log, store, key)]
        before = ask(store)
        decision = Decision(one.id, "memory", "accepted", memory=written_id(one.id))
        ends = outcome_drafts(AT, one, [], decision, fold_memories(log), root=None, by="ana", actor_kind="human")
        log.append([told(AT, one.body()), *ends], now=NOW)
        writer.index(log.workspace, store, IndexSettings(), now=NOW, embedder=StubEmbedder())
        after, history = ask(store), ask(store, history=True)
        rebuild(log.workspace, store, IndexSettings(), now=NOW, embedder=StubEmbedder())
        again = ask(store)

    assert OLD in before.block
    assert [event.type for event in ends] == ["memory.decided", "memory.written", "memory.superseded"]
    assert OLD not in after.block
    assert NEW in after.block
    assert OLD in history.block
    assert "replaced by a memory" in history.block
    assert again.block == after.block
