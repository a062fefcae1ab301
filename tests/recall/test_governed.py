"""Memories in a turn: intervals, labels, risks, evidence, their sources, and files of the project."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from support.embedder import StubEmbedder
from support.record import NOW
from support.remembered import AT, DAY, make_remembered
from support.story import ANA

from indexer import standing, writer
from indexer.settings import IndexSettings
from indexer.standing import Weighed
from indexer.store import Store
from indexer.tokens import TokenCounter
from recall.engine import recall
from recall.injection import header_line
from recall.query import Query
from recall.settings import GateSettings, SelectionSettings, Settings
from scoring.authority import AUTHORITY
from scoring.weights import Weights
from transcript import memory_drafts as drafts
from transcript.canonical import sha256_hex
from transcript.curation import Setting, decision
from transcript.memories import Span
from transcript.memory_told import Told

OPEN = Settings(gate=GateSettings(item=False, evidence=False, margin=False))
PORT = "The wagtail service listens on port 8443."
ASKED = "Which port does the wagtail service listen on?"


@pytest.fixture
def held(tmp_path):
    return make_remembered(tmp_path)


def opened(held):
    store = Store.open(held.log.workspace.index_path, "w")
    writer.index(held.log.workspace, store, IndexSettings(), now=NOW, embedder=StubEmbedder())
    return store


def ask(store, prompt=ASKED, *, now=NOW, settings=OPEN, already=frozenset(), **fields):
    return recall(Query(prompt, **fields), store, None, settings, now=now, count_tokens=TokenCounter(), already=already)


def verdicts(turn):
    """Event -> (verdict, source) of everything considered."""
    return {r.candidate.pointer.event: (r.verdict, r.candidate.source) for r in turn.ranked}


def item(turn, memory):
    return next(r for r in turn.ranked if any(p.event == memory.id for p in r.candidate.pointers))


def header(turn, memory):
    return header_line(item(turn, memory).candidate)


def whole(memory):
    return Span(memory.id, 0, len(memory.text))


@pytest.mark.parametrize(
    ("now", "shown"),
    [("2026-02-09", "invalid"), ("2026-02-10", "shown"), ("2026-02-19", "shown"), ("2026-02-20", "invalid")],
    ids=["before", "at its begin", "inside", "at its end"],
)
def test_a_memory_is_current_inside_its_interval_alone(held, now, shown):
    """LCA-6.3-06."""
    candidate = held.candidate(PORT, day=3)
    memory = held.remember(
        candidate, valid_from="2026-02-10T00:00:00.000Z", valid_to="2026-02-20T00:00:00.000Z", sources=()
    )

    with opened(held) as store:
        found = ask(store, now=datetime.fromisoformat(now).replace(tzinfo=UTC))

    assert verdicts(found)[memory.id][0] == shown


def test_of_two_memories_in_the_same_words_the_one_that_holds_speaks(held):
    old = held.remember(held.candidate(PORT, day=3), valid_to=DAY.format(9), sources=(), why="it was so")
    new = held.remember(held.candidate(PORT, day=20), sources=(), why="it was so")
    held.append([drafts.amended(AT, old.id, {"valid_from": DAY.format(2)}, because="", actor="ana")])

    with opened(held) as store:
        before = ask(store, now=datetime(2026, 1, 5, tzinfo=UTC))
        after = ask(store, now=NOW)

    assert verdicts(before)[old.id][0] == "shown"
    assert verdicts(after)[new.id][0] == "shown"


def test_an_expired_memory_of_full_weight_is_never_current(held):
    """LCA-12.3-02: whatever it has earned."""
    expired = held.remember(held.candidate(PORT, day=3), valid_to=DAY.format(9))
    with opened(held) as store:
        standing.write(store, {expired.id: Weighed(approved=True, raw=1e9, hits=1000, applied=2_000_000_000)})
        now, history = ask(store), ask(store, history=True)

    assert item(now, expired).score.value("E") == 1.0
    assert item(now, expired).verdict == "invalid"
    assert PORT not in now.block.replace("\n", " ") or expired.id[:10] not in now.block
    assert "until 2026-01-09" in header(history, expired)


@pytest.mark.parametrize(
    ("prompt", "mode", "shown"),
    [
        ("Which port did the wagtail service listen on in 2025?", "turn", True),
        ("Which port did the wagtail service listen on before we moved it?", "turn", True),
        ("Which port did the wagtail service used to listen on?", "turn", True),
        ("wagtail service port previously", "tool", True),
        (ASKED, "turn", False),
        ("Which port will the wagtail service listen on in 2027?", "turn", False),
    ],
)
def test_a_question_about_what_was_is_answered_by_what_no_longer_holds(held, prompt, mode, shown):
    past = held.remember(
        held.candidate("The wagtail service listens on port 8080.", day=3), valid_to=DAY.format(5), sources=()
    )
    with opened(held) as store:
        turn = ask(store, prompt, mode=mode)

    assert item(turn, past).shown is shown
    assert ("until 2026-01-0" in turn.block) is shown


def test_a_superseded_memory_is_not_shown_and_history_says_what_took_its_place(held):
    old = held.remember(held.candidate("The wagtail service listens on port 8080.", day=3), sources=())
    new = held.remember(held.candidate(PORT, day=9), sources=())
    held.append([drafts.superseded(AT, whole(old), whole(new), reason="contradiction", since=DAY.format(9))])

    with opened(held) as store:
        now, history = ask(store), ask(store, history=True)

    assert verdicts(now)[old.id][0] == "superseded"
    assert verdicts(now)[new.id][0] == "shown"
    assert item(history, old).shown
    assert "replaced by a memory on 2026-01-09" in history.block


@pytest.mark.parametrize(
    ("weighed", "fields", "source", "says"),
    [
        (Weighed(), {}, "memory", "memory | {at} | verified, not approved, authority 0.75"),
        (Weighed(approved=True), {}, "curated", "memory | {at} | approved by a person, authority 1.00"),
        (Weighed(), {"label": "inference"}, "inference", "memory, inference | {at} | not borne out by its sources"),
        (Weighed(approved=True), {"label": "inference"}, "curated", "memory, inference | {at} | approved by a person"),
        (Weighed(risks=("conflict",)), {}, "memory", "conflict open!"),
        (Weighed(risks=("stale",)), {}, "memory", "stale!"),
    ],
    ids=["verified", "approved", "inference", "approved inference", "conflict", "stale"],
)
def test_the_header_says_what_a_memory_is(held, weighed, fields, source, says):
    """LCA-5.2.4-05, LCA-5.2.6-03, LCA-5.2.4-03: inference, open conflict and staleness are said, and they cost."""
    memory = held.remember(held.candidate(PORT), **fields)
    with opened(held) as store:
        apart = replace(OPEN, selection=SelectionSettings(same_source=False))
        plain = item(ask(store, settings=apart), memory).score
        standing.write(store, {memory.id: weighed})
        found = ask(store, settings=apart)

    ranked = item(found, memory)
    at = f"{memory.id[:10]}#0-{len(memory.text)}"
    assert says.format(at=at) in header(found, memory)
    assert ranked.score.value("A") == AUTHORITY[source]
    assert (ranked.score.value("K") > 0) == bool(weighed.risks)
    assert (ranked.score.total < plain.total) == bool(weighed.risks)


def test_an_approved_memory_stands_above_a_fragment_by_authority(held):
    """LCA-5.2.4-01."""
    memory = held.remember(held.candidate(PORT), sources=())
    with opened(held) as store:
        standing.write(store, {memory.id: Weighed(approved=True)})
        ranked = ask(store).ranked

    values = {r.candidate.source: r.score.value("A") for r in ranked}
    assert values["memory"] == 1.0
    assert values["memory"] > max(value for source, value in values.items() if source != "memory")


def test_a_sub_agents_word_stays_one_and_a_peers_stays_below_ours(held):
    said = held.say(PORT, worker="a1")
    of_worker = held.remember(held.candidate(PORT, said))
    told = held.candidate("The wagtail service has two ports.", peer="rex")
    of_peer = drafts.written(
        replace(AT, origin="external"), told.id, told.memory_type, told.text, sources=(), said_at=told.said_at, why="x"
    )
    held.append([of_peer])

    with opened(held) as store:
        found = ask(store)

    assert "memory of sub-agent a1 |" in header(found, of_worker)
    assert verdicts(found)[of_peer.id][1] == "external"


def test_a_memory_and_the_passage_that_it_quotes_are_one_item(held):
    said = held.say(PORT, day=3)
    memory = held.remember(held.candidate(PORT, said, day=3), why="the proxy expects it")

    with opened(held) as store:
        one, two = ask(store), ask(store, settings=replace(OPEN, selection=SelectionSettings(same_source=False)))

    assert verdicts(one) == {memory.id: ("shown", "memory"), said.event: ("same_source", "final")}
    assert {p.event for p in item(one, memory).candidate.pointers} == {memory.id, said.event}
    assert [verdict for verdict, _ in verdicts(two).values()] == ["shown", "shown"]


def test_a_passage_that_says_far_more_speaks_for_the_memory_that_quotes_a_part_of_it(held):
    """It ranks higher: the memory adds nothing but its pointer."""
    more = "Which port the wagtail service does listen on is set in wagtail.toml: the wagtail service port, 8443."
    said = held.say(f"Ports are odd here. {more} The wagtail proxy expects that port of the wagtail service.", day=3)
    memory = held.remember(held.candidate("Ports are odd here.", held.place(said.event, 0, 19), day=3))

    with opened(held) as store:
        found = ask(store)

    assert verdicts(found)[said.event][0] == "shown"
    assert verdicts(found)[memory.id][0] == "same_source"
    assert {p.event for p in item(found, memory).candidate.pointers} >= {memory.id}


@pytest.mark.parametrize(("label", "speaks"), [("claim", "memory"), ("inference", "final")])
def test_an_inference_does_not_speak_for_the_words_that_it_rests_on(held, label, speaks):
    """The passage ranks higher in both cases: it is shorter."""
    said = held.say(PORT, day=3)
    held.remember(held.candidate(PORT, said, day=3), label=label, why="so it was read out of much else that was said")

    with opened(held) as store:
        (shown,) = ask(store).items

    assert shown.candidate.source == speaks


def test_what_a_memory_risks_holds_for_the_words_that_it_quotes(held):
    """A file that it speaks of has changed: the passage does not stand there as if it had not (LCA-5.2.4-03)."""
    said = held.say(PORT, day=3)
    memory = held.remember(held.candidate(PORT, said, day=3))
    other = held.say("The wagtail service was moved to another rack last week, with its port.", day=2)
    with opened(held) as store:
        before = [r.candidate.pointer.event for r in ask(store).items]
        standing.write(store, {memory.id: Weighed(risks=("stale",))})
        after = ask(store)

    assert before == [memory.id, other.event]
    assert [r.candidate.pointer.event for r in after.items] == [other.event, memory.id]
    assert "stale!" in after.block


def test_a_memory_whose_words_were_injected_is_not_injected_again(held):
    said = held.say(PORT)
    memory = held.remember(held.candidate(PORT, said))

    with opened(held) as store:
        found = ask(store, already=frozenset({said.event}))

    assert verdicts(found)[memory.id][0] == "already_injected"


def test_a_memory_stays_out_of_the_session_that_said_it(held):
    memory = held.remember(held.candidate(PORT))

    with opened(held) as store:
        same, other = ask(store, session="session-1"), ask(store, session="session-9")

    assert memory.id not in verdicts(same)
    assert verdicts(other)[memory.id][0] == "shown"


def test_as_of_a_time_before_it_was_written_down_a_memory_is_not_known(held):
    """Its words are: they stand in the transcript."""
    said = held.say(PORT, day=3)
    memory = held.remember(held.candidate(PORT, said, day=3))

    with opened(held) as store:
        found = ask(store, as_of=datetime(2026, 2, 1, tzinfo=UTC))

    assert verdicts(found)[memory.id][0] == "after_as_of"
    assert verdicts(found)[said.event][0] == "shown"


@pytest.mark.parametrize(
    ("day", "shown"), [(5, "8080"), (20, "8443")], ids=["before it was replaced", "after it was replaced"]
)
def test_as_of_a_time_what_held_then_is_shown(held, day, shown):
    texts = [f"The wagtail service listens on port {port}." for port in (8080, 8443)]
    said = held.say(texts[0], day=3)
    new = held.remember(held.candidate(texts[1], day=9))
    held.append([drafts.superseded(AT, said, whole(new), reason="retired", since=DAY.format(9))])

    with opened(held) as store:
        found = ask(store, as_of=datetime(2026, 1, day, 12, tzinfo=UTC))

    assert [port for port in ("8080", "8443") if port in found.block] == [shown]
    assert not any("superseded" in r.candidate.standing.risks for r in found.items)


@pytest.mark.parametrize("raw", [0.0, 10.0, 1e12], ids=["none", "some", "poisoned"])
def test_a_wrong_weight_only_misorders_within_its_bound(held, raw):
    """LCA-5.2.2-17: E and through it T move a total by at most beta + gamma; neither gate nor policy asks for them."""
    poor = held.remember(held.candidate("The wagtail team meets on Mondays.", day=2))
    held.remember(held.candidate(PORT, day=3))
    with opened(held) as store:
        plain, before = item(ask(store), poor), ask(store, settings=Settings())
        standing.write(store, {poor.id: Weighed(raw=raw, hits=10**6, applied=0)})
        poisoned = item(ask(store), poor)
        after = ask(store, settings=Settings())

    weights = Weights()
    assert 0.0 <= poisoned.score.total - plain.score.total <= weights.beta + weights.gamma + 1e-12
    assert poisoned.score.value("S") == plain.score.value("S")
    assert verdicts(after) == verdicts(before)


def test_a_role_adds_its_own_share(held):
    memory = held.remember(held.candidate(PORT))
    with opened(held) as store:
        standing.write(store, {memory.id: Weighed(raw=1.0, roles={"reviewer": 4.0})})
        anyone, reviewer = (item(ask(store, role=role), memory) for role in (None, "reviewer"))

    assert anyone.candidate.standing.raw_experience == 1.0
    assert reviewer.candidate.standing.raw_experience == 5.0
    assert reviewer.score.value("E") > anyone.score.value("E")


def test_being_used_keeps_a_memory_young(held):
    memory = held.remember(held.candidate(PORT, day=3))
    with opened(held) as store:
        old = item(ask(store), memory).score.value("T")
        standing.write(store, {memory.id: Weighed(applied=int(NOW.timestamp()))})

        assert item(ask(store), memory).score.value("T") == 1.0 > old


def test_transcript_that_was_cited_has_its_evidence_too(held):
    said = held.say(PORT)
    with opened(held) as store:
        standing.write(store, {said.event: Weighed(raw=10.0, hits=2)})
        found = ask(store)

    (ranked,) = found.ranked
    assert ranked.candidate.standing.raw_experience == 10.0
    assert ranked.candidate.standing.valid_from is None


def test_all_four_kinds_of_source_are_among_the_candidates(held):
    """LCA-5.1-01, LCA-4.4-01: memories, transcript, summaries and files of the project."""
    for number in range(50):
        held.say(f"Turn {number} speaks of the wagtail port and of nothing else.", day=1 + number % 20)
    planted = {}
    planted["memory"] = held.remember(held.candidate("The heron cache is warmed at six.", day=2), sources=()).id
    told = held.candidate("In that session the heron cache was sized at 2 GB.", covers=("session-1", 1, 2), day=3)
    covers = {"kind": "summary", "covers": ("session-1", 1, 2)}
    planted["summary"] = held.remember(replace(told, kind="summary"), **covers).id
    text = "# Heron\n\nThe heron cache is switched off with HERON=0."
    file = drafts.source(Told(DAY.format(4)), "docs/heron.md", sha256_hex(text.encode()), text)
    planted["project"] = file.id
    held.append([file])
    planted["final"] = held.say("The heron cache keeps entries for a day.", day=5).event

    with opened(held) as store:
        found = ask(store, "What do we know of the heron cache?")
        by_class = {name for (name,) in store.run("SELECT DISTINCT source_class FROM chunk_1")}

    assert found.candidates <= 50
    found_at = verdicts(found)
    assert {source: found_at[event][1] for source, event in planted.items()} == {s: s for s in planted}
    assert len(by_class) == 4
    assert "project file | " in found.block
    assert "summary of session session- | " in found.block


TOPICS = ("port", "cache", "queue", "retry limit", "log format", "backup time", "search index", "cookie lifetime")


@pytest.mark.parametrize("topic", TOPICS)
def test_a_stale_summary_stands_below_a_newer_decision(held, topic):
    """LCA-6.1-05: in every query, though the summary shares more words with it."""
    old = f"Summary: the {topic} of the wagtail service, the wagtail {topic}, was kept at the wagtail default."
    told = held.candidate(old, covers=("session-1", 1, 2), day=2)
    summary = held.remember(replace(told, kind="summary"), kind="summary", covers=("session-1", 1, 2), sources=())
    new = f"The {topic} of wagtail is set by the platform team"
    made = decision(ANA, Setting(DAY.format(25), "session-2", "key", {}), new)
    held.append([made])

    with opened(held) as store:
        for prompt in (
            f"What is the {topic} of the wagtail service?",
            f"Tell me about the wagtail {topic}",
            f"wagtail service {topic} default",
        ):
            order = [r.candidate.pointer.event for r in ask(store, prompt).ranked]
            assert order.index(made.id) < order.index(summary.id), prompt


def test_what_the_ledger_keeps_of_a_memory_can_be_read_back(held):
    """Risks and label reach no field that JSON cannot hold."""
    memory = held.remember(held.candidate(PORT))
    with opened(held) as store:
        standing.write(store, {memory.id: Weighed(risks=("stale", "conflict"))})
        ranked = item(ask(store), memory)

    assert json.loads(json.dumps(ranked.candidate.demoted)) == ["conflict", "stale"]
