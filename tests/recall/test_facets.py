"""What the turn is about besides its words: role, project, channel, task, command and skill."""

import json
import random
from dataclasses import replace

import pytest
from support.embedder import StubEmbedder
from support.record import NOW
from support.remembered import make_remembered

from indexer import writer
from indexer.settings import IndexSettings
from indexer.store import Store
from indexer.tokens import TokenCounter
from recall.audiences import AUDIENCES
from recall.engine import recall
from recall.facets import NOTHING, Facets, load
from recall.governance_settings import AudienceSettings
from recall.harness import recognise
from recall.hook_turn import HookTurn, Means
from recall.query import Query
from recall.selection import POLICY
from recall.settings import GateSettings, SelectionSettings, Settings
from scoring.weights import Weights
from transcript import grants
from transcript.canonical import b32id
from transcript.memories import fold_memories
from transcript.projections import facets as projection
from transcript.projections.views import folded, project

OPEN = Settings(
    gate=GateSettings(item=False, evidence=False, margin=False),
    selection=SelectionSettings(near_copy=1.0),
)
SAID_ON = "2026-03-01T12:00:00.000Z"


@pytest.fixture
def held(tmp_path):
    return make_remembered(tmp_path)


def facets_of(held):
    return Facets(projection.render(fold_memories(held.log), folded(held.log)[0]))


def ask(held, prompt, *, settings=OPEN, facets=None, **fields):
    held_facets = facets_of(held) if facets is None else facets
    with Store.open(held.log.workspace.index_path, "w") as store:
        writer.index(held.log.workspace, store, IndexSettings(), now=NOW, embedder=StubEmbedder())
        query = Query(prompt, **{"audience": "private", **fields})
        return recall(query, store, None, settings, now=NOW, count_tokens=TokenCounter(), facets=held_facets)


def remembered(held, text, **fields):
    memory_type = fields.pop("memory_type", "project_fact")
    source = held.say(f"As agreed in point {held.said}.", day=3)
    return held.remember(held.candidate(text, source, memory_type=memory_type, day=3), **{"why": "", **fields})


def order(turn):
    """The memories in the order of the list, by id."""
    return [r.candidate.pointer.event for r in turn.ranked if r.candidate.source in ("memory", "inference")]


FACETS = {
    "project": ({"project": "shop"}, {"projects": ("shop",)}, {"projects": ("crm",)}),
    "role": ({"role": "reviewer"}, {"roles": ("reviewer",)}, {"roles": ("writer",)}),
    "channel": ({"channel": "ops"}, {"tags": ("channel:ops",)}, {"tags": ("channel:sales",)}),
    "task": ({"task": "T2"}, {"tags": ("task:T2",)}, {"tags": ("task:T7",)}),
    "command": ({"command": "deploy"}, {"tags": ("deploy",)}, {"tags": ("command:rollback",)}),
    "skill": ({"skill": "triage"}, {"tags": ("skill:triage",)}, {"tags": ("skill:review",)}),
}


@pytest.mark.parametrize("facet", FACETS)
def test_of_equal_words_those_of_the_facet_come_first(held, facet):
    """LCA-5.2.5-01, LCA-5.2.5-02, LCA-5.2.5-03, LCA-5.2.5-04, LCA-5.2.5-05."""
    cue, of_it, of_another = FACETS[facet]
    here = remembered(held, "The wagtail restarts with plan alpha.", **of_it)
    there = remembered(held, "The wagtail restarts with plan gamma.", **of_another)
    plain = remembered(held, "The wagtail restarts with plan delta.")

    known = {r.candidate.pointer.event: r for r in ask(held, "wagtail restarts plan", **cue).ranked}
    value = {one: known[one.id].score.value("Q") for one in (here, there, plain)}

    assert value[here] > value[plain] == 0.5 > value[there]
    assert known[here.id].score.total > known[plain.id].score.total > known[there.id].score.total
    assert {r.score.value("Q") for r in ask(held, "wagtail restarts plan").ranked} == {0.5}


def test_each_of_the_five_cues_alone_changes_what_comes_first(held):
    """LCA-5.1-02: one fixture, and queries in which only one of them is another."""
    of = {
        "role": {"roles": ("reviewer",)},
        "project": {"projects": ("shop",)},
        "channel": {"tags": ("channel:ops",)},
        "task": {"tags": ("task:T2",)},
        "prompt": {},
    }
    words = dict(zip(of, ("alpha", "gamma", "delta", "kappa", "sigma"), strict=True))
    made = {cue: remembered(held, f"The wagtail restarts with plan {words[cue]}.", **of[cue]) for cue in of}
    base = {"prompt": "wagtail restarts plan"}
    cues = {"prompt": "wagtail restarts plan sigma", "role": "reviewer", "project": "shop", "channel": "ops"}
    cues["task"] = "T2"

    tops = {cue: order(ask(held, **{**base, cue: value}))[0] for cue, value in cues.items()}

    assert tops == {cue: memory.id for cue, memory in made.items()}
    assert len(set(tops.values())) == len(cues)


def test_a_payload_that_differs_in_one_cue_brings_another_item_first(held):
    """LCA-5.1-02: what a harness sends, from its bytes to the block."""
    asked = {"hook_event_name": "UserPromptSubmit", "prompt": "wagtail restarts plan", "cwd": "/srv/none"}
    cues = {
        "role": "reviewer",
        "channel": "ops",
        "task": "T2",
        "cwd": "/srv/shop",
        "prompt": "wagtail restarts plan sigma",
    }
    of: list[dict[str, tuple[str, ...]]] = [{"roles": ("reviewer",)}, {"tags": ("channel:ops",)}]
    of += [{"tags": ("task:T2",)}, {"projects": ("shop",)}, {}]
    words = ("alpha", "gamma", "delta", "kappa", "sigma")
    made = {
        cue: remembered(held, f"The wagtail restarts with plan {word}.", **more)
        for cue, word, more in zip(cues, words, of, strict=True)
    }
    project(held.log.workspace)
    ask(held, "so that it is indexed")

    tops = {}
    for cue, value in cues.items():
        payload = recognise("pi", json.dumps({**asked, "harness": "pi", "session_id": cue, cue: value}).encode())
        turn = HookTurn(payload, held.log.workspace.data, mode="warm", call=cue, now=NOW, started=0.0)
        turn.workspace = held.log.workspace
        with Store.open(held.log.workspace.index_path) as store:
            block = turn.answer(Means(store, TokenCounter(), meta=store.meta(), audience=AudienceSettings()), OPEN)
        shown = {one: at for one, memory in made.items() if (at := block.find(memory.id[:10].encode())) >= 0}
        tops[cue] = min(shown, key=shown.__getitem__)

    assert tops == {cue: cue for cue in cues}


def test_two_roles_have_another_top_item_for_the_same_words(held):
    mine = remembered(held, "The wagtail restarts with plan alpha.", roles=("reviewer",))
    theirs = remembered(held, "The wagtail restarts with plan gamma.", roles=("writer",))

    tops = {role: order(ask(held, "wagtail restarts plan", role=role))[0] for role in ("reviewer", "writer")}

    assert tops == {"reviewer": mine.id, "writer": theirs.id}


def test_what_lies_outside_the_roles_authority_loses_and_says_so(held):
    """LCA-5.2.6-04."""
    inside = remembered(held, "The wagtail restarts with plan alpha.", tags=("reviews",))
    outside = remembered(held, "The wagtail restarts with plan gamma.", tags=("billing",))
    held.append([grants.role_taken(SAID_ON, "reviewer", actor="ana", authority=("reviews", "lesson"))])

    without = {r.candidate.pointer.event: r for r in ask(held, "wagtail restarts plan").ranked}
    turn = ask(held, "wagtail restarts plan", role="reviewer")
    within = {r.candidate.pointer.event: r for r in turn.ranked}

    assert within[outside.id].score.value("K") == pytest.approx(0.6)
    assert within[inside.id].score.value("K") == without[outside.id].score.value("K") == 0.0
    assert "outside the role's authority!" in turn.block
    assert order(turn)[0] == inside.id


def test_a_role_without_authority_speaks_of_anything(held):
    memory = remembered(held, "The wagtail restarts with plan alpha.", tags=("billing",))
    held.append([grants.role_taken(SAID_ON, "reviewer", actor="ana")])

    (found,) = ask(held, "wagtail restarts", role="reviewer").items

    assert found.candidate.pointer.event == memory.id
    assert found.score.value("K") == 0.0


def test_a_recorded_decision_belongs_to_its_task():
    facets = Facets({"version": 1, "tasks": {"e" * 26: "T2"}})

    assert facets.matches("e" * 26, Query("x", task="T2")) == (("task", True),)
    assert facets.matches("e" * 26, Query("x", task="T3")) == (("task", False),)
    assert facets.matches("e" * 26, Query("x")) == ()


def test_no_weight_brings_back_what_an_audience_may_not_see(held):
    """Disclosure is no matter of weights: nothing that is withheld appears, whatever the formula says."""
    rng = random.Random(7)
    private = remembered(held, "The wagtail restarts with plan alpha.", privacy="private")
    project = remembered(held, "The wagtail restarts with plan gamma.")
    shared = remembered(held, "The wagtail restarts with plan delta.", privacy="shared")
    held.say("The wagtail restarts with plan omega.", by="user")
    allowed = {
        "private": {private, project, shared},
        "project": {project, shared},
        "shared": {shared},
        "peer": {shared},
    }

    for round_ in range(40):
        audience = AUDIENCES[round_ % 4]
        weights = Weights(*(rng.choice([0.0, rng.random() * 9]) + (name == 0) for name in range(6)))
        turn = ask(held, "wagtail restarts plan alpha", settings=replace(OPEN, weights=weights), audience=audience)
        shown = {memory for memory in (private, project, shared) if memory.statement in turn.block}

        assert shown <= allowed[audience]
        assert not [r for r in turn.ranked if r.verdict in POLICY and r.candidate.text]
        if audience in ("shared", "peer"):
            assert "omega" not in turn.block
    assert shared.statement in ask(held, "wagtail restarts plan", audience="peer").block


def test_a_wide_audience_finds_what_is_shared_below_any_number_of_better_matches(held):
    for number in range(90):
        held.say(f"The wagtail restarts with plan alpha, said {number} times.", by="user")
    shared = remembered(held, "About plan alpha: see the wagtail page.", privacy="shared")

    turn = ask(held, "wagtail restarts plan alpha", audience="shared")

    assert [r.candidate.pointer.event for r in turn.items] == [shared.id]


def test_without_its_file_nothing_is_granted_and_nothing_shared(held):
    memory = remembered(held, "The wagtail restarts with plan alpha.", privacy="shared")

    assert memory.id[:10] in ask(held, "wagtail restarts plan", audience="shared").block
    assert ask(held, "wagtail restarts plan", audience="shared", facets=NOTHING).block == ""
    assert memory.id[:10] in ask(held, "wagtail restarts plan", audience="project", facets=NOTHING).block


def test_the_file_is_read_again_when_it_changed_and_a_damaged_one_says_nothing(tmp_path):
    event, path = b32id("memory"), tmp_path / "facets.json"
    whole = {
        "version": 1,
        "memories": {event: ["lesson", "shared", [], [], []]},
        "tasks": {},
        "grants": {},
        "roles": {},
    }

    def written(data):
        path.with_suffix(".new").write_bytes(data)
        path.with_suffix(".new").replace(path)
        return load(tmp_path)

    assert load(tmp_path) is NOTHING
    first = written(json.dumps(whole).encode())
    assert first.seen(event, "peer", now=NOW)
    assert load(tmp_path).digest == ""
    assert load(tmp_path).seen(event, "peer", now=NOW)
    assert first.digest
    for damaged in (
        b"",
        b"{",
        b"[]",
        b'{"version":2}',
        json.dumps({**whole, "memories": {event: ["lesson"]}}).encode(),
        json.dumps({**whole, "grants": {event: [["peer", "", "tomorrow"]]}}).encode(),
        json.dumps({**whole, "grants": {event: [["peer", ""]]}}).encode(),
        json.dumps({**whole, "grants": [event]}).encode(),
    ):
        found = written(damaged)
        assert not found.seen(event, "peer", now=NOW), damaged
        assert found.digest == ""
    assert written(json.dumps(whole).encode()).seen(event, "peer", now=NOW)


def test_what_is_not_known_of_either_side_leaves_the_order_as_it_was(held):
    """No role, no channel: a file of facets changes nothing of what a turn says."""
    for word in ("alpha", "gamma", "delta"):
        remembered(held, f"The wagtail restarts with plan {word}.", tags=("billing", "channel:ops"), roles=("writer",))
    held.say("The wagtail restarts at noon.", by="user")

    with_file = ask(held, "wagtail restarts plan")
    without = ask(held, "wagtail restarts plan", facets=NOTHING)

    assert with_file.block == without.block != ""
    assert [r.score for r in with_file.ranked] == [r.score for r in without.ranked]
