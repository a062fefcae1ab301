"""What the index makes of memory events: passages in the places of their sources, flags, intervals, weights."""

import pytest
from support.embedder import StubEmbedder
from support.record import NOW, make_draft
from support.remembered import AT, DAY, make_remembered

from indexer import standing, writer
from indexer.contents import contents
from indexer.exchange import seconds
from indexer.forget import forget
from indexer.rebuild import rebuild
from indexer.rows import MEMORY, PRIVATE, PROJECT_FILE, SUMMARY, SUPERSEDED, WISH
from indexer.settings import IndexSettings
from indexer.standing import Weighed
from indexer.store import Store
from transcript import memory_drafts as drafts
from transcript.canonical import b32id, sha256_hex
from transcript.memories import Span
from transcript.memory_told import Told


def index(held):
    store = Store.open(held.log.workspace.index_path, "w")
    writer.index(held.log.workspace, store, IndexSettings(), now=NOW, embedder=StubEmbedder())
    return store


def pointers(store, event):
    chunks = store.chunks_of(event)
    rows = store.passages(chunks)
    return [p for chunk in chunks for p in rows[chunk].pointers if p.event_id == event]


def whole(memory):
    return Span(memory.id, 0, len(memory.text))


@pytest.fixture
def held(tmp_path):
    return make_remembered(tmp_path)


def test_a_memory_stands_where_and_when_its_words_were_said(held):
    said = held.say("The wagtail service listens on port 8443.", day=3)
    memory = held.remember(held.candidate("The wagtail service listens on port 8443.", said, day=3))

    with index(held) as store:
        (at,) = pointers(store, memory.id)
        (source,) = pointers(store, said.event)
        row = store.standing([memory.id])[memory.id]

    assert (at.kind, at.session, at.seq) == (MEMORY, source.session, source.seq)
    assert at.ts == source.ts == seconds(DAY.format(3))
    assert (row.label, row.quotes) == ("claim", f"{said.event}#0-41")
    assert (row.valid_from, row.valid_to, row.recorded) == (seconds(DAY.format(3)), None, seconds(AT.ts))


def test_a_memory_stays_out_of_every_session_that_has_its_words_before_it(held):
    """Also of one that goes on from that session later."""
    said = held.say("The wagtail service listens on port 8443.", day=3)
    memory = held.remember(held.candidate("The wagtail service listens on port 8443.", said, day=3))
    with index(held) as store:
        chunks = store.chunks_of(memory.id)
        assert store.passages(chunks, session="session-1") == {}
        assert list(store.passages(chunks, session="session-2")) == chunks

        body = {"of": said.event, "record": "r1", "file": "b.jsonl"}
        held.log.append([make_draft("again", "sighting", session="session-2", body=body)], now=NOW)
        writer.index(held.log.workspace, store, IndexSettings(), now=NOW, embedder=StubEmbedder())

        assert store.passages(chunks, session="session-2") == {}
        assert list(store.passages(chunks, session="session-3")) == chunks


def test_a_memory_without_a_source_stands_by_itself(held):
    candidate = held.candidate("The wagtail service listens on port 8443.")
    memory = held.remember(candidate, sources=())

    with index(held) as store:
        (at,) = pointers(store, memory.id)

    assert (at.session, at.kind) == ("recall:consolidation", MEMORY)


def test_a_chain_of_memories_leaves_the_last_and_closes_the_others(held):
    first, second, third = (
        held.remember(held.candidate(f"The wagtail service listens on port {port}.", day=day))
        for day, port in enumerate((8080, 8443, 9000), start=1)
    )
    for old, new, day in ((first, second, 2), (second, third, 3)):
        since = DAY.format(day)
        held.append([drafts.superseded(AT, whole(old), whole(new), reason="contradiction", since=since)])

    with index(held) as store:
        barred = [bool(pointers(store, m.id)[0].flags & SUPERSEDED) for m in (first, second, third)]
        ends = [store.standing([m.id])[m.id].valid_to for m in (first, second, third)]
        replaced = {event: {one.by for one in by} for event, by in store.corrections([first.id, second.id]).items()}

    assert barred == [True, True, False]
    assert ends == [seconds(DAY.format(2)), seconds(DAY.format(3)), None]
    assert replaced == {first.id: {second.id, third.id}, second.id: {third.id}}


def test_of_what_was_said_only_the_passages_that_hold_the_words_are_superseded(held):
    """The rest of the message stays."""
    old, rest = "Deploys go through the Jenkins job ship-it.", "The staging database is refilled every night. " * 20
    said = held.say(f"{old}\n\n{rest}")
    memory = held.remember(held.candidate("Deploys go through the release workflow.", day=9))
    place = held.place(said.event, 0, len(old))
    held.append([drafts.superseded(AT, place, whole(memory), reason="retired", since=DAY.format(9))])

    with index(held) as store:
        flagged = {p.start: bool(p.flags & SUPERSEDED) for p in pointers(store, said.event)}
        (noted,) = store.corrections([said.event])[said.event]

    assert flagged.pop(0)
    assert flagged
    assert not any(flagged.values())
    assert (noted.by, noted.start, noted.end) == (memory.id, 0, len(old))


@pytest.mark.parametrize("archived_twice", [False, True], ids=["archived", "archived and superseded"])
def test_a_restored_memory_holds_again_unless_something_else_bars_it(held, archived_twice):
    memory = held.remember(held.candidate("The wagtail service listens on port 8080."))
    other = held.remember(held.candidate("The wagtail service listens on port 8443.", day=2))
    held.append([drafts.archived(AT, memory.id, reason="old", actor="ana")])
    if archived_twice:
        held.append([drafts.superseded(AT, whole(memory), whole(other), reason="edit", since=DAY.format(2))])
    with index(held) as store:
        assert pointers(store, memory.id)[0].flags & SUPERSEDED
        held.append([drafts.restored(AT, memory.id, reason="needed", actor="ana")])
        writer.index(held.log.workspace, store, IndexSettings(), now=NOW, embedder=StubEmbedder())

        assert bool(pointers(store, memory.id)[0].flags & SUPERSEDED) == archived_twice


def test_a_refuted_memory_does_not_hold(held):
    memory = held.remember(held.candidate("The wagtail service listens on port 8080."))
    said = held.say("That is wrong.", by="user", day=2)
    held.append([drafts.refuted(AT, memory.id, because=said.pointer, reason="wrong", actor="ana")])

    with index(held) as store:
        assert pointers(store, memory.id)[0].flags & SUPERSEDED


def retire(held, words, by, *, how="retired"):
    """Let a memory take the place of words that somebody said; returns the memory."""
    memory = held.remember(held.candidate(by, day=9))
    held.append([drafts.superseded(AT, words, whole(memory), reason=how, since=DAY.format(9))])
    return memory


def refute(held, *wrong):
    said = held.say("That is wrong.", by="user", day=10)
    held.append([drafts.refuted(AT, m.id, because=said.pointer, reason="wrong", actor="ana") for m in wrong])


def is_out(held, store, words):
    """Whether words of the transcript are out, as the index has it and as the fold has it; both must agree."""
    writer.index(held.log.workspace, store, IndexSettings(), now=NOW, embedder=StubEmbedder())
    (flags,) = [p.flags for p in pointers(store, words.event) if p.start < words.end and words.start < p.end]
    linked = any(link.of.event == words.event and link.of.start == words.start for link in held.state.links)
    assert bool(flags & SUPERSEDED) == linked == (words.event in store.corrections([words.event]))
    return linked


def test_words_whose_replacement_was_wrong_hold_again(held):
    """The words of a transcript that a wrong memory had retired; a rebuild comes to the same."""
    words = held.say("Deploys go through the Jenkins job ship-it.")
    wrong = retire(held, words, "Deploys go through the release workflow.")
    with index(held) as store:
        before = is_out(held, store, words)
        refute(held, wrong)

        assert (before, is_out(held, store, words)) == (True, False)
        parts = contents(store)
        rebuild(held.log.workspace, store, IndexSettings(), now=NOW, embedder=StubEmbedder())
        assert contents(store) == parts


def test_words_that_two_memories_replaced_hold_again_once_both_were_wrong(held):
    words = held.say("Deploys go through the Jenkins job ship-it.")
    one = retire(held, words, "Deploys go through the release workflow.")
    other = retire(held, words, "Nobody deploys by hand.", how="replacement")
    with index(held) as store:
        refute(held, one)
        first = is_out(held, store, words)
        refute(held, other)

        assert (first, is_out(held, store, words)) == (True, False)


@pytest.mark.parametrize("both", [False, True], ids=["the older", "both"])
def test_words_stay_out_for_as_long_as_what_replaced_their_replacement_stands(held, both):
    words = held.say("Deploys go through the Jenkins job ship-it.")
    older = retire(held, words, "Deploys go through the release workflow.")
    newer = retire(held, whole(older), "Deploys go through the nightly workflow.", how="update")
    with index(held) as store:
        refute(held, older, *[newer] * both)

        assert is_out(held, store, words) != both


def test_what_else_bars_the_words_bars_them_still(held):
    """A recorded decision that a later one replaced, and that a memory had retired as well."""
    decided = make_draft("d1", "decision", body={"text": "Deploys go through the job ship-it.", "kind": "decision"})
    later = make_draft("d2", "decision", body={"text": "Deploy by hand.", "kind": "decision", "supersedes": decided.id})
    held.log.append([decided, later], now=NOW)
    words = held.place(decided.id, 0, 35)
    wrong = retire(held, words, "Deploys go through the release workflow.")
    refute(held, wrong)

    with index(held) as store:
        assert [bool(p.flags & SUPERSEDED) for p in pointers(store, decided.id)] == [True]
        assert [bool(p.flags & SUPERSEDED) for p in pointers(store, later.id)] == [False]


def test_only_the_passages_of_the_words_come_back(held):
    old, rest = "Deploys go through the Jenkins job ship-it.", "The staging database is refilled every night. " * 20
    other = "The staging bucket is emptied by hand on Fridays."
    said = held.say(f"{old}\n\n{rest}\n\n{other}")
    at = len(old) + len(rest) + 4
    wrong = retire(held, held.place(said.event, 0, len(old)), "Deploys go through the release workflow.")
    retire(held, held.place(said.event, at, at + len(other)), "A job empties the bucket.")
    with index(held) as store:
        before = {p.start for p in pointers(store, said.event) if p.flags & SUPERSEDED}
        refute(held, wrong)
        writer.index(held.log.workspace, store, IndexSettings(), now=NOW, embedder=StubEmbedder())
        after = {p.start for p in pointers(store, said.event) if p.flags & SUPERSEDED}

    assert before - after == {0}
    assert len(after) == 1


def test_an_amendment_moves_the_interval_and_the_privacy(held):
    memory = held.remember(held.candidate("The wagtail service listens on port 8080."))
    new = {"valid_from": DAY.format(5), "valid_to": DAY.format(8), "privacy": "private"}
    held.append([drafts.amended(AT, memory.id, new, because="", actor="ana")])

    with index(held) as store:
        row = store.standing([memory.id])[memory.id]
        private = pointers(store, memory.id)[0].flags & PRIVATE
        held.append([drafts.amended(AT, memory.id, {"privacy": "shared", "valid_to": ""}, because="", actor="ana")])
        writer.index(held.log.workspace, store, IndexSettings(), now=NOW, embedder=StubEmbedder())
        later = store.standing([memory.id])[memory.id]

        assert (row.valid_from, row.valid_to, bool(private)) == (seconds(DAY.format(5)), seconds(DAY.format(8)), True)
        assert (later.valid_from, later.valid_to) == (seconds(DAY.format(5)), None)
        assert not pointers(store, memory.id)[0].flags & PRIVATE


def test_the_newest_state_of_a_project_file_is_current(held):
    texts = ("Port 8080 is the port.", "Port 8443 is the port.")
    states = [
        drafts.source(Told(DAY.format(day)), "README.md", sha256_hex(text.encode()), text)
        for day, text in enumerate(texts, start=1)
    ]
    held.append(states)

    with index(held) as store:
        flags = [pointers(store, state.id)[0].flags for state in states]
        root = store.allowed(root="/anywhere")

        assert [bool(f & SUPERSEDED) for f in flags] == [True, False]
        assert all(f & PROJECT_FILE for f in flags)
        assert root is not None
        assert store.chunks_of(states[1].id)[0] in root


def test_a_summary_is_indexed_as_one_and_a_wish_as_one(held):
    told = held.candidate("Ana asked for ports; they are 8443 now.", kind="summary", covers=("session-1", 1, 2))
    summary = held.remember(told, kind="summary", covers=("session-1", 1, 2))
    liked = held.candidate("Always use pnpm, never npm.", by="user", memory_type="user_preference")
    wish = held.remember(liked)

    with index(held) as store:
        assert pointers(store, summary.id)[0].kind == SUMMARY
        assert pointers(store, wish.id)[0].flags & WISH
        assert set(store.chunks_of(wish.id)) <= store.wishes()
        classes = {row.source_class for row in store.passages(store.chunks_of(summary.id)).values()}

    assert classes == {"summary"}


def test_a_very_long_memory_is_indexed_like_any_other(held):
    """LCA-D-02d: its words stand outside the line of the record, and its places are known all the same."""
    said = held.say("The wagtail service listens on port 8443.", day=3)
    text = " ".join(f"Chapter {number} of the wagtail manual." for number in range(8000))
    memory = held.remember(held.candidate(text, said, day=3), privacy="private")

    with index(held) as store:
        places = pointers(store, memory.id)

    assert len(text) > 250_000
    assert len(places) > 500
    assert {(p.session, p.kind, bool(p.flags & PRIVATE)) for p in places} == {("session-1", MEMORY, True)}


def test_a_rebuild_makes_the_same_rows_and_keeps_the_weights(held):
    memory = held.remember(held.candidate("The wagtail service listens on port 8080."))
    newer = held.remember(held.candidate("The wagtail service listens on port 8443.", day=2))
    held.append([drafts.superseded(AT, whole(memory), whole(newer), reason="contradiction", since=DAY.format(2))])
    with index(held) as store:
        standing.write(store, {newer.id: Weighed(True, 4.5, 2, 7, {"reviewer": 2.0}, ("stale",))})
        before, earned = contents(store), standing.weights(store)

        rebuild(held.log.workspace, store, IndexSettings(), now=NOW, embedder=StubEmbedder())

        assert contents(store) == before
        assert before["standing"].rows == 2
        assert standing.weights(store) == earned != {}


def test_weights_are_what_was_last_written_and_nothing_else(held):
    memory = held.remember(held.candidate("The wagtail service listens on port 8080."))
    cited = b32id("an event of a transcript")
    with index(held) as store:
        assert standing.write(store, {memory.id: Weighed(raw=3.0, hits=2), cited: Weighed(raw=1.0, hits=1)}) == 2
        assert store.most_hits() == 2
        assert standing.write(store, {memory.id: Weighed(raw=3.0, hits=2), cited: Weighed(raw=1.0, hits=1)}) == 0

        assert standing.write(store, {memory.id: Weighed(raw=1.0, hits=1)}) == 2

        assert standing.weights(store) == {memory.id: Weighed(raw=1.0, hits=1).row()}
        assert list(store.standing([memory.id, cited])) == [memory.id]
        assert store.standing([memory.id])[memory.id].label == "claim"


def test_forgetting_a_memory_takes_out_how_it_stood(held):
    memory = held.remember(held.candidate("The wagtail service listens on port 8080."))
    with index(held) as store:
        standing.write(store, {memory.id: Weighed(raw=3.0)})

    forget(held.log.workspace, [memory.id])

    with Store.open(held.log.workspace.index_path) as store:
        assert store.standing([memory.id]) == {}
        assert not store.has_standing()
