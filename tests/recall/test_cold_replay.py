"""A cold replay: views and index from a copy of the record alone, compared part by part with those at hand."""

import json
import os
import random
import shutil

import apsw
import pytest
from support.embedder import StubEmbedder
from support.memory_events import candidate, written
from support.story import ANA, at, story
from support.talk import NOW, Talk, run_embed

from indexer import standing
from indexer.rebuild import rebuild
from indexer.settings import IndexSettings
from indexer.store import Store
from indexer.writer import index
from recall import cold_replay, forgetting
from recall.cli.group import run
from recall.cold_replay import ABSENT, DIFFERS, EQUAL, Replay, replay
from transcript.curation import decision
from transcript.errors import LockBusy, RecordError
from transcript.lock import FileLock
from transcript.log import Log
from transcript.projections import views
from transcript.redaction_plan import plan_events
from transcript.workspace import init

INDEX = ("passages", "places", "exchanges", "standing", "sessions", "words")
KEY = "AKIAIOSFODNN7EXAMPLF"


def talk() -> Talk:
    """Everything that makes a rebuild take another way than many small runs: sightings, marks, workers, compactions."""
    made = Talk()
    rng = random.Random(7)
    for n in range(12):
        asked = made.prompt(f"question {n}: which {rng.choice(['pool', 'lock', 'cache'])} does unit{n} use? " * 9)
        made.reply(f"first a look at unit{n}", f"n{n}")
        made.call("Read", {"file_path": f"unit{n}.py"})
        made.result(f"unit{n} = caracal-{1700 + n}\n" * (4000 if n == 3 else 1))
        told = made.reply(f"the answer {n}: caracal-{1700 + n} holds it", f"a{n}")
        if n == 4:
            made.compact()
            made.summary("the units were looked at")
        if n == 6:
            made.sighting(asked, session="two")
            made.sighting(told, session="two")
            made.prompt("and the next?", session="two")
        if n == 8:
            made.mark("abandoned", [asked])
            made.prompt("Look into unit8.", worker="w1")
            made.reply("unit8 is idle.", worker="w1")
    made.reply(f"the deploy key is {KEY}, keep it")
    return made


@pytest.fixture
def place(tmp_path):
    """A project whose record was indexed in three runs and whose views were written on the way."""
    (tmp_path / "shop").mkdir()
    workspace = init(tmp_path / "shop", tmp_path / "data")
    log = Log(workspace, segment_bytes=15_000)
    drafts = [*talk().drafts, *story(), decision(ANA, at(40), "Ship on Friday")]
    with Store.open(workspace.index_path, "w") as store:
        for first in range(0, len(drafts), 29):
            log.append(drafts[first : first + 29], now=NOW)
            index(workspace, store, IndexSettings(), now=NOW, embedder=StubEmbedder())
            views.refresh(workspace)
        run_embed(store, StubEmbedder())
    assert log.head().segment > 1
    return workspace


def cold(workspace, **options) -> Replay:
    return replay(workspace, IndexSettings(), StubEmbedder(), now=NOW, **options)


def states(done: Replay) -> dict[str, str]:
    return {part.name: part.state for part in (*done.views, *done.index)}


def test_everything_built_from_the_log_alone_is_equal(place):
    """ESAA-48."""
    before = {path: path.read_bytes() for path in (place.root / ".recall" / "views").iterdir()}

    done = cold(place, vectors=True)

    assert states(done) == dict.fromkeys((*views.NAMES, *INDEX, "vectors"), EQUAL)
    assert done.equal
    assert done.events == Log(place).head().seq
    assert {path: path.read_bytes() for path in before} == before
    assert not (place.run_dir / cold_replay.FOLDER).exists()


def test_the_folder_it_is_built_in_holds_segments_blobs_and_key_alone(place, monkeypatch):
    """Neither head nor snapshot, index or view: what is equal was not copied."""
    seen: list[set[str]] = []

    def look(log, **options):
        home = log.workspace.home
        seen.append({path.relative_to(home).parts[-1] for path in home.rglob("*") if path.is_file()})
        raise RecordError("enough")

    monkeypatch.setattr(Log, "recover", look)
    with pytest.raises(RecordError, match="enough"):
        cold(place)

    (names,) = seen
    assert {"activity.jsonl", "activity.000001.jsonl", "id.key"} <= names
    assert {name for name in names if not name.startswith("activity")} - {"id.key"} == {
        path.name for path in place.blobs_dir.rglob("*.zst")
    }
    assert any(name.endswith(".zst") for name in names)
    assert not (place.run_dir / cold_replay.FOLDER).exists()


def test_file_of_a_memory_that_was_changed_or_is_gone_is_told(place):
    """LCA-4.3-02: files are a projection."""
    log = Log(place)
    log.append([candidate(), written()], now=NOW)
    views.refresh(place)
    (path,) = (place.root / ".recall" / "memory").glob("ports-*.md")
    assert states(cold(place))["memory"] == EQUAL

    path.write_bytes(path.read_bytes().replace(b"config.toml", b"config.yaml"))
    assert states(cold(place))["memory"] == DIFFERS

    views.refresh(place)
    assert states(cold(place))["memory"] == EQUAL
    path.unlink()
    assert states(cold(place))["memory"] == DIFFERS


def test_what_lies_above_indexing_is_put_into_the_index_made_anew(place):
    """Without it a weight that only consolidation knows would be called a difference, or not be compared at all."""
    sql = "UPDATE chunk_1 SET text = text || '!' WHERE id = 1"
    change(place, sql)

    assert states(cold(place))["passages"] == DIFFERS
    assert states(cold(place, weigh=lambda store: store.run(sql)))["passages"] == EQUAL


def test_what_memories_have_earned_is_compared_with_what_the_record_proves(place):
    def weigh(store: Store) -> int:
        return standing.write(store, {"x" * 26: standing.Weighed(raw=1.5, hits=1)})

    assert states(cold(place, weigh=weigh))["weights"] == DIFFERS
    with Store.open(place.index_path, "w") as store:
        weigh(store)
    assert states(cold(place, weigh=weigh))["weights"] == EQUAL


def change(workspace, sql: str) -> None:
    connection = apsw.Connection(str(workspace.index_path))
    connection.execute(sql)
    connection.close()


@pytest.mark.parametrize(
    ("sql", "part"),
    [
        ("UPDATE chunk_1 SET text = text || '!' WHERE id = 1", "passages"),
        ("UPDATE pointer_1 SET end = end - 1 WHERE chunk_id = 1", "places"),
        ("UPDATE exchange_1 SET prompt_head = 'x' WHERE id = 1", "exchanges"),
        ("UPDATE session_1 SET compaction_seq = 0", "sessions"),
        ("INSERT INTO chunk_fts_1 (rowid, tokens) VALUES (1, 'twice')", "words"),
    ],
)
def test_a_row_of_the_index_that_differs_is_found(place, sql, part):
    change(place, sql)

    done = cold(place)

    assert states(done) == dict.fromkeys((*views.NAMES, *INDEX), EQUAL) | {part: DIFFERS}
    assert not done.equal


def test_a_vector_that_differs_is_found(place):
    with Store.open(place.index_path, "w") as store:
        number = min(store.vectors.ids())
        other = StubEmbedder().vector("quite another text")
        store.vectors.remove([number])
        store.vectors.add([number], other.reshape(1, -1))

    done = cold(place, vectors=True)

    (found,) = [part for part in done.index if part.name == "vectors"]
    assert (found.state, found.note.split()[0]) == (DIFFERS, "1")


def test_a_view_changed_by_hand_is_found(place):
    (place.root / ".recall" / "views" / "decisions.md").write_text("mine")
    (place.root / ".recall" / "views" / "state.md").unlink()

    done = cold(place)

    assert {name for name, state in states(done).items() if state == DIFFERS} == {"decisions.md", "state.md"}


def test_an_index_behind_the_record_says_so(place):
    Log(place).append([decision(ANA, at(50), "Ship on Monday")], now=NOW)
    views.refresh(place)

    (part,) = cold(place).index

    assert (part.state, part.note) == (DIFFERS, "it is 1 event behind the record; run 'recall index' first")


def test_an_index_made_with_other_settings_says_so(place):
    done = replay(place, IndexSettings(chunk_chars=300), StubEmbedder(), now=NOW)

    assert [part.state for part in done.index] == [DIFFERS]
    assert "run 'recall index rebuild'" in done.index[0].note


def test_a_record_whose_head_is_lost_is_replayed_by_its_chain(place):
    place.head_file.unlink()
    shutil.rmtree(place.run_dir)
    for path in place.home.glob("index.sqlite*"):
        path.unlink()

    done = cold(place)

    assert states(done) == dict.fromkeys(views.NAMES, EQUAL) | {"index": ABSENT}
    assert done.equal


def test_what_is_torn_at_the_end_is_no_part_of_it(place):
    with place.activity.open("ab") as handle:
        handle.write(b'{"half a line')

    assert cold(place).equal
    assert place.activity.read_bytes().endswith(b"half a line")


def test_two_at_a_time_are_refused(place):
    with FileLock(place.run_dir / "cold.lock", timeout=1.0), pytest.raises(LockBusy):
        cold(place)


def test_what_a_killed_replay_left_goes_with_the_next_erasure(place):
    """It holds words of the record."""
    left = place.run_dir / cold_replay.FOLDER / "log"
    left.mkdir(parents=True)
    shutil.copy(place.activity, left)
    target = next(event for event in Log(place).read() if event.body.get("text", "").startswith("the answer 2"))

    forgetting.erase(place, lambda: plan_events(place, {target.id}), now=NOW)

    assert not left.parent.exists()


def test_after_an_erasure_a_rebuild_makes_the_parts_equal_that_say_so(place):
    """The turn before an erased answer becomes its exchange's answer, which the index at hand cannot know."""
    target = next(event for event in Log(place).read() if event.body.get("text", "").startswith("the answer 2"))
    forgetting.erase(place, lambda: plan_events(place, {target.id}), now=NOW)

    done = cold(place)
    differ = [part for part in done.index if part.state == DIFFERS]
    assert [part.name for part in differ] == ["places"]
    assert "turns were erased, whose exchanges a rebuild cuts anew" in differ[0].note

    with Store.open(place.index_path, "w") as store:
        rebuild(place, store, IndexSettings(), now=NOW, embedder=StubEmbedder())
    assert cold(place, vectors=True).equal


def test_the_command_says_equal_or_not_and_exits_by_it(place, monkeypatch, capsys):
    """ESAA-48."""
    monkeypatch.setenv("RECALL_HOME", str(place.home.parents[1]))
    monkeypatch.chdir(place.root)
    monkeypatch.setattr("indexer.embedder.load", lambda *args, **kwargs: StubEmbedder())

    assert run(["replay", "--cold"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[:-1]] == [["equal", name] for name in (*views.NAMES, *INDEX, "weights")]
    assert lines[-1] == "equal"

    change(place, "UPDATE exchange_1 SET prompt_head = 'x' WHERE id = 1")
    assert run(["replay", "--cold", "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert (said["equal"], said["index"]["exchanges"]["state"]) == (False, "differs")
    assert said["views"] == dict.fromkeys(views.NAMES, "equal")


@pytest.mark.skipif(os.name != "posix", reason="modes as on Unix")
def test_the_copy_is_its_owners_alone(place, monkeypatch):
    """The segments and the key are copied with the mode they have, not with what the umask leaves."""
    monkeypatch.setattr(cold_replay, "clear", lambda workspace: None)

    replay(place, IndexSettings(), None, now=NOW)

    copied = [path for path in (place.run_dir / cold_replay.FOLDER).rglob("*") if path.is_file()]
    assert {place.key_path.name, "activity.jsonl"} <= {path.name for path in copied}
    assert [path.name for path in copied if path.stat().st_mode & 0o077] == []
