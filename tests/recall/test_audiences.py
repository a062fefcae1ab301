"""Who may see what: privacy classes, audiences, and grants of single items."""

import itertools
import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from support.embedder import StubEmbedder
from support.record import NOW
from support.remembered import AT, make_remembered

from indexer import writer
from indexer.settings import IndexSettings
from indexer.store import Store
from indexer.tokens import TokenCounter
from recall.audiences import AUDIENCES, UNKNOWN, may_see, wide, widest
from recall.engine import recall
from recall.facets import load
from recall.governance_settings import AudienceSettings
from recall.harness import Payload, Refused, recognise
from recall.query import Query
from recall.session_state import Cue, of, written
from recall.settings import GateSettings, SelectionSettings, Settings
from recall.turn_query import NOT_READ, query_of, reading
from transcript import grants
from transcript import memory_drafts as drafts
from transcript.event import stamp
from transcript.memories import Span
from transcript.memory_words import MEMORY_TYPES, PRIVACY
from transcript.projections.views import refresh

OPEN = Settings(gate=GateSettings(item=False, evidence=False, margin=False), selection=SelectionSettings(near_copy=1.0))
ASKED = "wagtail restarts plan"
TO_ALL = {"private": PRIVACY, "project": ("project", "shared"), "shared": ("shared",), "peer": ("shared",)}


@pytest.fixture
def held(tmp_path):
    return make_remembered(tmp_path)


def remembered(held, word, **fields):
    source = held.say(f"As agreed in point {held.said}.", day=3)
    memory_type = fields.pop("memory_type", "project_fact")
    text = f"The wagtail restarts with plan {word}."
    return held.remember(held.candidate(text, source, memory_type=memory_type, day=3), **{"why": "", **fields})


@pytest.fixture
def index(held):
    """Return what brings index and facets up to the record."""

    def bring_up():
        refresh(held.log.workspace)
        with Store.open(held.log.workspace.index_path, "w") as store:
            writer.index(held.log.workspace, store, IndexSettings(), now=NOW, embedder=StubEmbedder())

    return bring_up


def shown(held, prompt=ASKED, *, now=NOW, settings=OPEN, **fields):
    """Return the ids of the events that a turn shows, and its block."""
    with Store.open(held.log.workspace.index_path) as store:
        facets = load(held.log.workspace.run_dir)
        query = Query(prompt, **fields)
        turn = recall(query, store, None, settings, now=now, count_tokens=TokenCounter(), facets=facets)
    return {p.event for r in turn.items for p in r.candidate.pointers}, turn.block


def granted(held, item, audience, **fields):
    given = {"actor": "ana", "reason": "asked for", **fields}
    held.append([grants.granted(stamp(NOW), item, audience, **given)])


@pytest.mark.parametrize(("privacy", "audience"), list(itertools.product(PRIVACY, AUDIENCES)))
def test_a_class_is_seen_by_its_audiences_and_a_preference_by_no_peer(privacy, audience):
    for memory_type in ("", *MEMORY_TYPES):
        expected = privacy in TO_ALL[audience] and not (audience == "peer" and memory_type == "user_preference")
        assert may_see(privacy, memory_type, audience) is expected
        assert may_see(privacy, memory_type, audience, granted=True)


@pytest.mark.parametrize("audience", ["public", "", None, UNKNOWN, "PRIVATE"])
def test_an_audience_that_nobody_knows_is_the_narrowest(audience):
    seen = {(p, t) for p in PRIVACY for t in MEMORY_TYPES if may_see(p, t, audience)}

    assert seen == {("shared", t) for t in MEMORY_TYPES if t != "user_preference"}
    assert wide(audience)
    assert widest("private", audience or "nobody") == UNKNOWN


def test_every_type_of_memory_reaches_each_audience_by_its_class_alone(held, index):
    """LCA-12.2-06, LCA-12.6-01, LCA-5.2.6-01: over all types, classes and audiences, in real turns."""
    made = {
        (kind, privacy): remembered(held, f"{kind}-{privacy}", memory_type=kind, privacy=privacy)
        for kind in MEMORY_TYPES
        for privacy in PRIVACY
    }
    index()
    everything = replace(OPEN, budget=replace(OPEN.budget, items=100, tokens=90_000, chars=400_000, bytes=400_000))

    for audience in AUDIENCES:
        found, block = shown(held, audience=audience, settings=everything)
        for (kind, privacy), memory in made.items():
            expected = may_see(privacy, kind, audience)
            assert (memory.id in found) is expected, (kind, privacy, audience)
            assert (f"{kind}-{privacy}." in block) is expected


@pytest.mark.parametrize("audience", ["shared", "peer"])
def test_a_grant_lets_exactly_its_item_through(held, index, audience):
    """LCA-12.6-01."""
    one = remembered(held, "alpha", privacy="private", memory_type="user_preference")
    other = remembered(held, "gamma", privacy="private", memory_type="user_preference")
    third = remembered(held, "delta")
    granted(held, one.id, audience)
    index()

    found, block = shown(held, audience=audience)
    elsewhere, _ = shown(held, audience={"shared": "peer", "peer": "shared"}[audience])

    assert found == {one.id}
    assert "alpha" in block
    assert not {"gamma", "delta"} & set(block.replace(".", " ").split())
    assert elsewhere == set()
    assert {other.id, third.id} <= shown(held, audience="private")[0]


def test_a_granted_message_leaves_without_the_prompt_that_it_answers(held, index):
    held.say("Where does the secret kestrel nest?", by="user")
    answer = held.say("The wagtail restarts with plan alpha.", by="assistant")
    granted(held, answer.event, "shared")
    index()

    found, block = shown(held, audience="shared")

    assert found == {answer.event}
    assert "kestrel" not in block
    assert "kestrel" in shown(held, audience="project")[1]


def test_nothing_that_was_granted_reaches_an_audience_that_nobody_knows(held, index):
    memory = remembered(held, "alpha", privacy="private")
    granted(held, memory.id, "peer")
    index()

    assert memory.id in shown(held, audience="peer")[0]
    assert memory.id not in shown(held, audience=UNKNOWN)[0]
    assert widest("peer", UNKNOWN) == widest(UNKNOWN, "shared") == widest("public") == UNKNOWN


def test_a_grant_ends_with_its_time_its_channel_and_its_withdrawal(held, index):
    memory = remembered(held, "alpha", privacy="private")
    ends = NOW + timedelta(hours=1)
    granted(held, memory.id, "shared", channel="ops", until=stamp(ends))
    index()

    def leaves(**fields):
        return memory.id in shown(held, **{"audience": "shared", "channel": "ops", **fields})[0]

    assert leaves()
    assert leaves(now=ends - timedelta(seconds=1))
    assert not leaves(now=ends)
    assert not leaves(channel="sales")
    assert not leaves(channel=None)
    assert not leaves(audience="peer")

    granted(held, memory.id, "shared", channel="sales", withdrawn=True)
    index()
    assert leaves()
    granted(held, memory.id, "shared", channel="ops", withdrawn=True)
    index()
    assert not leaves()
    granted(held, memory.id, "shared")
    index()
    assert leaves(channel="sales")


def test_a_note_on_an_item_does_not_carry_the_words_of_another_one(held, index):
    """A correction is quoted under what it corrects: only to those who may see both."""
    old = remembered(held, "alpha", privacy="shared")
    new = held.candidate("The wagtail never restarts, said kestrel.", held.say("Noted."), day=9)
    memory = held.remember(new, why="", privacy="private")
    both = [Span(one.id, 0, len(one.text)) for one in (old, memory)]
    held.append([drafts.superseded(AT, *both, reason="contradiction", since=memory.said_at)])
    index()

    assert "kestrel" in shown(held, audience="private", history=True)[1]
    for audience in ("project", "shared", "peer"):
        found, block = shown(held, audience=audience, history=True)
        assert old.id in found
        assert "kestrel" not in block


def test_an_erased_grant_lets_nothing_through(held):
    memory = remembered(held, "alpha", privacy="private")
    granted(held, memory.id, "shared")
    state, (event,) = grants.empty(), [one for one in held.log.read() if one.type == "grant"]

    grants.take(state, event, {})
    assert grants.grants(state) == []
    grants.take(state, event, held.log.body(event))
    assert [one.item for one in grants.grants(state)] == [memory.id]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"item": "abc"}, "whole id"),
        ({"audience": "project"}, "audience"),
        ({"reason": " "}, "reason"),
        ({"until": "soon"}, "soon"),
    ],
)
def test_what_is_no_grant_is_refused(given, says):
    whole = {"item": "a" * 26, "audience": "shared", "actor": "ana", "reason": "asked", "until": ""}
    fields = {**whole, **given}

    with pytest.raises(ValueError, match=says):
        grants.granted(stamp(NOW), fields.pop("item"), fields.pop("audience"), **fields)


# -- what a payload says ---------------------------------------------------------------------


def neutral(**more: object) -> bytes:
    whole = {"harness": "pi", "session_id": "s1", "hook_event_name": "UserPromptSubmit", "cwd": "/p", "prompt": "go"}
    return json.dumps({**whole, **more}).encode()


def test_a_payload_names_role_channel_audience_command_skill_and_task():
    said = {"role": "reviewer", "channel": "ops", "audience": "shared", "command": "deploy", "skill": "x", "task": "T1"}

    found = recognise("pi", neutral(**said))

    assert isinstance(found, Payload)
    assert found.cue == Cue(**said)
    other = recognise("claude-code", neutral(**said))
    assert isinstance(other, Refused) or other.cue == Cue()


@pytest.mark.parametrize(
    "said", [{"audience": 3}, {"audience": ["private"]}, {"audience": "x" * 300}, {"channel": {"name": "dm"}}]
)
def test_a_payload_that_does_not_say_readably_who_reads_along_trusts_nobody(said):
    found = recognise("pi", neutral(**said))

    assert isinstance(found, Payload)
    assert reading(found.cue, AudienceSettings()) == UNKNOWN
    assert not may_see("project", "", reading(found.cue, AudienceSettings()))


@pytest.mark.parametrize(
    ("cue", "settings", "expected"),
    [
        (Cue(), AudienceSettings(), "private"),
        (Cue(), AudienceSettings("project"), "project"),
        (Cue(audience="peer"), AudienceSettings(), "peer"),
        (Cue(channel="ops"), AudienceSettings("private", "ops sales"), "shared"),
        (Cue(channel="dm"), AudienceSettings("private", "ops sales"), "private"),
        (Cue(channel="ops", audience="private"), AudienceSettings("private", "ops"), "shared"),
        (Cue(channel="ops", audience="peer"), AudienceSettings("private", "ops"), "peer"),
        (Cue(channel="anything"), NOT_READ, "shared"),
        (Cue(), NOT_READ, "project"),
        (Cue(audience="private"), NOT_READ, "project"),
        (Cue(audience="private"), AudienceSettings("shared"), "shared"),
        (Cue(audience="peer"), AudienceSettings("project"), "peer"),
    ],
)
def test_who_reads_along_is_who_is_named_and_on_a_shared_channel_others(cue, settings, expected):
    assert reading(cue, settings) == expected


def test_a_payload_wins_over_its_session_and_that_over_the_workspace(held):
    workspace = held.log.workspace
    written(workspace.run_dir, Cue(role="writer", channel="ops", skill="triage"))
    written(workspace.run_dir, Cue(role="reviewer"), "s1")
    payload = recognise("pi", neutral(channel="sales"))
    assert isinstance(payload, Payload)

    query = query_of(payload, workspace, AudienceSettings())

    assert (query.role, query.channel, query.skill) == ("reviewer", "sales", "triage")
    assert query_of(replace(payload, session="s2"), workspace, AudienceSettings()).role == "writer"


@pytest.mark.parametrize("said", [Cue(audience="shared"), Cue(channel="ops")])
def test_no_payload_makes_a_session_more_private_than_it_was_said_to_be(held, said):
    workspace = held.log.workspace
    written(workspace.run_dir, said, "s1")
    payload = recognise("pi", neutral(channel="dm", audience="private"))
    assert isinstance(payload, Payload)

    assert query_of(payload, workspace, AudienceSettings("private", "ops")).audience == "shared"
    assert query_of(replace(payload, session="s2"), workspace, AudienceSettings("private", "ops")).audience == "private"


@pytest.mark.parametrize("value", [["shared"], 3, "x" * 300, {"is": "shared"}])
def test_a_file_of_sessions_that_does_not_say_readably_who_reads_along_trusts_nobody(tmp_path: Path, value):
    (tmp_path / "session.json").write_text(json.dumps({"version": 1, "sessions": {"": {"audience": value}}}))

    assert of(tmp_path, "s1").audience == UNKNOWN


@pytest.mark.parametrize(
    ("prompt", "command"),
    [
        ("/deploy to production", "deploy"),
        ("/my-plugin:deploy", "my-plugin:deploy"),
        ("/srv/shop is broken", None),
        ("deploy /now", None),
        ("/", None),
        ("/7days", None),
    ],
)
def test_a_slash_command_is_the_command_of_its_turn(prompt, command):
    payload = recognise("pi", neutral(prompt=prompt))
    assert isinstance(payload, Payload)

    assert query_of(payload, None, AudienceSettings()).command == command


def test_a_broken_file_of_sessions_trusts_nobody_and_a_missing_one_says_nothing(tmp_path: Path):
    assert of(tmp_path, "s1") == Cue()
    written(tmp_path, Cue(audience="shared"))
    assert of(tmp_path, "s1") == Cue(audience="shared")
    (tmp_path / "session.json").write_bytes(b'{"version":1,"sess')
    assert of(tmp_path, "s1") == Cue(audience=UNKNOWN)
    written(tmp_path, Cue(role="writer"))
    assert of(tmp_path, "s1") == Cue(role="writer")


def test_of_many_sessions_the_newest_and_what_holds_for_all_are_kept(tmp_path: Path):
    written(tmp_path, Cue(role="writer"))
    for number in range(230):
        written(tmp_path, Cue(role="reviewer"), f"s{number}")

    assert of(tmp_path, "s229").role == "reviewer"
    assert of(tmp_path, "s0").role == "writer"
    assert of(tmp_path).role == "writer"
    assert (tmp_path / "session.json").stat().st_size < 20_000
