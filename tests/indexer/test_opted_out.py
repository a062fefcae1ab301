"""A prompt that begins with `!norecall` stays out of the index with all that follows, up to the next prompt."""

from datetime import timedelta

import pytest
from support.embedder import StubEmbedder
from support.talk import NOW, START, Talk, indexed, keys_and_pointers, record, recorded, rows, run_index

from indexer.rebuild import backfill, rebuild
from indexer.settings import IndexSettings
from indexer.store import Store
from indexer.vocabulary import counts
from transcript.event import stamp
from transcript.log import Log

OUT = "!norecall the secret plan"


def texts(store: Store, session: str = "one") -> list[str]:
    sql = (
        "SELECT c.text FROM pointer_{g} p JOIN chunk_{g} c ON c.id = p.chunk_id JOIN session_{g} s ON s.id = p.session"
        f" WHERE s.session = '{session}' ORDER BY p.seq, p.start"
    )
    return [text for (text,) in rows(store, sql)]


def everything(store: Store) -> str:
    told = rows(store, "SELECT plain_text(text) FROM chunk_{g}"), rows(store, "SELECT * FROM exchange_{g}")
    return repr((*told, list(counts(store.run, store.generation))))


def told() -> Talk:
    talk = Talk()
    talk.prompt("first question")
    talk.reply("first answer")
    talk.prompt(OUT)
    talk.reply("plan on the way", "m1")
    talk.call("Bash", {"command": "cat plan.txt"})
    talk.result("plan in full")
    talk.reply("plan at the end", "m2")
    talk.prompt("second question")
    talk.reply("second answer")
    return talk


SEEN = ["first question", "first answer", "second question", "second answer"]


def test_nothing_of_the_turn_is_indexed_and_all_of_it_stands_in_the_record(tmp_path):
    workspace = recorded(tmp_path, told())

    with indexed(workspace, StubEmbedder()) as store:
        assert texts(store) == SEEN
        assert "plan" not in everything(store)
        assert rows(store, "SELECT count(*) FROM chunk_{g}") == [(4,)]
    assert sum("plan" in str(event.body) for event in Log(workspace).read()) == 5


def test_its_events_are_counted_as_skipped(tmp_path):
    workspace = recorded(tmp_path, told())

    with Store.open(workspace.index_path, "w") as store:
        report = run_index(workspace, store)

    assert (report.indexed, report.skipped["opted_out"], report.failed) == (4, 5, [])
    assert report.exchanges == 2


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_runs_that_stop_in_the_middle_of_the_turn_agree_with_one_run(size, tmp_path):
    talk = told()
    workspace = recorded(tmp_path)
    for at in range(0, len(talk.drafts), size):
        Log(workspace).append(talk.drafts[at : at + size], now=NOW)
        with Store.open(workspace.index_path, "w") as store:
            run_index(workspace, store)

    with Store.open(workspace.index_path, "w") as store:
        step_by_step, plain = keys_and_pointers(store), texts(store)
        rebuild(workspace, store, IndexSettings(), now=NOW, record=False)
        assert keys_and_pointers(store) == step_by_step
        assert plain == SEEN
        found = backfill(workspace, store, IndexSettings(), since=START - timedelta(days=1), now=NOW, record=False)
        assert keys_and_pointers(store) == step_by_step
        assert (found.scanned, found.inserted, found.deduped) == (9, 0, 9)


def test_a_backfill_that_finds_the_turn_missing_leaves_it_out(tmp_path):
    """Rows of events that a run had to pass over are gone; their prompt is known."""
    workspace = recorded(tmp_path, told())
    with indexed(workspace) as store:
        with store.transaction():
            gone = "(SELECT id FROM event_{g} WHERE boundary < 0 ORDER BY id LIMIT 10 OFFSET 1)"
            store.run(f"DELETE FROM event_{{g}} WHERE id IN {gone}".replace("{g}", str(store.generation)))

        found = backfill(workspace, store, IndexSettings(), since=START - timedelta(days=1), now=NOW, record=False)

        assert texts(store) == SEEN
        assert (found.inserted, found.deduped) == (0, 9)


def test_a_second_block_of_the_same_message_stays_out_too(tmp_path):
    talk = Talk()
    talk.prompt(OUT)
    talk.prompt("what was pasted behind it")
    talk.prompt("another message")
    native = {"harness": "claude-code", "version": "2", "adapter": "1", "source": ""}
    for draft, (name, part) in zip(talk.drafts, [("r1", 0), ("r1", 1), ("r2", 0)], strict=True):
        draft.native.update(native, id=name, part=part)

    with indexed(recorded(tmp_path, talk)) as store:
        assert texts(store) == ["another message"]


def worker(talk: Talk, minute: float, name: str = "w") -> None:
    """Add a sub-agent that started so many minutes after the session, recorded behind it."""
    moments = [stamp(START + timedelta(minutes=minute + more)) for more in (0.1, 30)]
    task = {"kind": "worker_prompt", "text": f"task {name}"}
    talk.add("conversation_turn", "assistant", task, worker=name, ts=moments[0])
    talk.reply(f"report {name}", worker=name, ts=moments[1])


def test_a_sub_agent_stays_out_with_the_exchange_that_started_it(tmp_path):
    """Its file is taken in after the session's; which exchange it belongs to is a matter of its time."""
    talk = told()
    for minute, name in ((0.5, "before"), (4, "within"), (8, "after")):
        worker(talk, minute, name)
    workspace = recorded(tmp_path, talk)

    with indexed(workspace) as store:
        assert texts(store)[4:] == ["task before", "report before", "task after", "report after"]
        assert "within" not in everything(store).replace("!norecall/within", "")


def test_a_sub_agent_that_goes_on_in_a_later_run_stays_out(tmp_path):
    talk = told()
    worker(talk, 4)
    workspace = recorded(tmp_path)
    Log(workspace).append(talk.drafts[:-1], now=NOW)
    with Store.open(workspace.index_path, "w") as store:
        run_index(workspace, store)
    record(workspace, talk)

    with indexed(workspace) as store:
        assert texts(store) == SEEN


def test_a_summary_that_retells_the_turn_stays_out_and_an_earlier_one_does_not(tmp_path):
    talk = Talk()
    talk.prompt("first question")
    talk.summary("summary of one turn")
    talk.prompt(OUT)
    talk.prompt("second question")
    talk.compact()
    talk.summary("summary with the plan")
    talk.reply("second answer")
    other = Talk("two")
    other.summary("summary of another session")

    with indexed(recorded(tmp_path, talk, other)) as store:
        assert texts(store) == ["first question", "summary of one turn", "second question", "second answer"]
        assert texts(store, "two") == ["summary of another session"]


def test_sightings_and_marks_of_the_turn_add_nothing(tmp_path):
    talk = told()
    events = [draft.id for draft in talk.drafts]
    with indexed(recorded(tmp_path / "a", talk)) as store:
        before = keys_and_pointers(store)
    for event in events[2:7]:
        talk.sighting(event, session="one")
    talk.mark("abandoned", events[2:7])
    workspace = recorded(tmp_path / "b", talk)

    with Store.open(workspace.index_path, "w") as store:
        report = run_index(workspace, store)
        assert keys_and_pointers(store) == before
        assert (report.sightings, report.marks) == (0, 0)


def test_a_fork_goes_on_with_the_turn_until_its_own_next_prompt(tmp_path):
    talk = told()
    events = [draft.id for draft in talk.drafts]
    for event in events[:5]:
        talk.sighting(event, session="fork")
    fork = Talk("fork", start=START + timedelta(hours=1))
    fork.reply("plan, said in the fork")
    fork.prompt("third question")
    fork.reply("third answer")
    workspace = recorded(tmp_path, talk, fork)

    with indexed(workspace) as store:
        assert texts(store, "fork") == ["first question", "first answer", "third question", "third answer"]
        before = keys_and_pointers(store)
        rebuild(workspace, store, IndexSettings(), now=NOW, record=False)
        assert keys_and_pointers(store) == before


def test_sessions_do_not_silence_each_other(tmp_path):
    one, two = Talk("one"), Talk("two")
    one.prompt(OUT)
    two.prompt("a question")
    two.reply("an answer")
    one.reply("the plan")

    with indexed(recorded(tmp_path, one, two)) as store:
        assert texts(store) == []
        assert texts(store, "two") == ["a question", "an answer"]


def test_what_a_person_decided_with_a_command_in_the_turn_counts(tmp_path):
    talk = Talk()
    talk.prompt(OUT)
    talk.add("decision", "human", {"text": "we use sqlite"})

    with indexed(recorded(tmp_path, talk)) as store:
        assert texts(store) == ["we use sqlite"]


def test_a_sub_agent_without_a_time_stays_out_where_its_session_ever_did(tmp_path):
    talk = told()
    talk.add(
        "conversation_turn",
        "assistant",
        {"kind": "worker_prompt", "text": "task w"},
        worker="w",
        ts="1999-01-01T00:00:00.000Z",
    )

    with indexed(recorded(tmp_path, talk)) as store:
        assert texts(store) == SEEN
