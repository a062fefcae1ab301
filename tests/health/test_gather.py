"""The facts of a real workspace with faults put in by hand: every counter shows exactly what was put in."""

import json
import os
import socket
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import apsw
import pytest
from support.claude import ClaudeSession
from support.embedder import StubEmbedder
from support.gemini import GeminiSession, register
from support.opencode import OpenCodeSession, database
from support.record import make_turns

from health import index_cache, line_places, series
from health.gather import gather
from health.report import assess
from health.signal import Level
from indexer.queue import embed
from indexer.settings import IndexSettings
from indexer.store import Store
from indexer.writer import index
from recall import calibration
from recall.calibration import Calibration
from recall.hook_client import ADDRESS
from transcript.capture import sync
from transcript.errors import EmbedderUnavailable
from transcript.kept_out import OPTED_OUT, keep_out
from transcript.log import Log
from transcript.paths import secure_dir
from transcript.projections import views
from transcript.workspace import exclude, open_workspace

NOW = datetime(2026, 6, 16, 12, 0, tzinfo=UTC)
SETTINGS = IndexSettings()


class Cutting(StubEmbedder):
    """Counts more tokens than the limit for texts that say so, as a tokenizer that changed would."""

    def count(self, text):
        return 999 if "overlong" in text else super().count(text)


class Place:
    """One project with its data folder and the harness's folder."""

    def __init__(self, root):
        self.project, self.data, self.home = root / "shop", root / "data", root / "home"
        self.config = self.home / ".claude"
        for folder in (self.project, self.home):
            folder.mkdir(parents=True)
        self.env = {"HOME": str(self.home), "RECALL_HOME": str(self.data)}
        self.workspace = open_workspace(self.project, self.data, create="init")
        self.embedder = Cutting()

    def session(self, *said, seed="one"):
        session = ClaudeSession(cwd=str(self.project), seed=seed)
        for prompt, answer in said:
            session.user(prompt)
            session.assistant(answer)
        return session

    def sync(self):
        return sync(self.workspace, self.data, self.env, now=NOW)

    def index(self):
        with Store.open(self.workspace.index_path, "w") as store:
            index(self.workspace, store, SETTINGS, now=NOW, embedder=StubEmbedder(), record=False)
            return embed(store, self.embedder, SETTINGS)

    def facts(self, now=NOW, load=None, settings=SETTINGS, **options):
        return gather(
            self.workspace,
            self.data,
            self.env,
            now=now,
            settings=settings,
            load=load or (lambda: self.embedder),
            **options,
        )

    def signal(self, id, **arguments):
        return next(s for s in assess(self.facts(**arguments)).signals if s.id == id)

    def run(self, sql):
        connection = apsw.Connection(str(self.workspace.index_path))
        connection.execute(sql)
        connection.close()


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


@pytest.fixture
def filled(place):
    place.session(("Which port does the importer use?", "Port 8080, it stands in config.toml.")).write(place.config)
    place.sync()
    place.index()
    return place


def test_an_empty_workspace_fails(place):
    report = assess(place.facts())

    assert report.exit_code == 2
    assert "nothing is stored" in report.to_text()


def test_a_filled_workspace_has_only_its_hook_missing(filled):
    report = assess(filled.facts())

    assert [(s.id, s.level) for s in report.signals if s.level] == [("hook_installed.claude-code", Level.WARN)]


def test_pages_of_the_index_are_counted_and_free_ones_with_them(filled):
    """LCA-5.4-09."""
    before = filled.facts().index
    with Store.open(filled.workspace.index_path, "w") as store:
        store.run("CREATE TABLE large (x)")
        store.run("INSERT INTO large VALUES (zeroblob(1000000))")
        store.run("DROP TABLE large")

    after = filled.facts().index

    assert before.pages > before.free_pages
    assert after.free_pages - before.free_pages == after.pages - before.pages > 100


def test_where_no_harness_is_meant_to_call_hooks_are_not_missing(filled):
    facts = gather(
        filled.workspace,
        filled.data,
        filled.env,
        now=NOW,
        settings=SETTINGS,
        load=lambda: filled.embedder,
        hooked=False,
    )

    assert assess(facts).exit_code == 0
    assert "hook_" not in assess(facts).to_text(every=True)


def test_an_excluded_project_is_no_longer_well(filled):
    assert filled.signal("project_excluded").level == Level.OK

    exclude(filled.project.parent, filled.data)

    signal = filled.signal("project_excluded")
    assert (signal.level, signal.value, signal.text) == (Level.WARN, True, "this project is excluded")
    assert "recall exclude PATH --remove" in signal.action


def test_a_session_that_opted_out_is_not_behind(filled):
    session = filled.session(("more", "and more"))
    keep_out(str(filled.data), session.session.encode(), OPTED_OUT)
    session.user("still more")
    session.write(filled.config)

    assert filled.facts().capture.behind == 0


def test_looking_changes_nothing(filled):
    def state():
        return {
            str(path): path.read_bytes()
            for path in filled.data.rglob("*")
            if path.is_file()
            and not path.name.endswith(("-shm", "-wal"))
            and path.name not in (index_cache.FILE, line_places.FILE)
        }

    before = state()
    filled.facts()

    assert state() == before


@pytest.mark.parametrize("fault", [PermissionError("/etc/shadow"), AttributeError("of ours")])
def test_a_source_that_cannot_be_read_is_named_and_the_rest_is_told(filled, monkeypatch, fault):
    """By group and kind, without the words of the error."""

    def breaks(*_args, **_options):
        raise fault

    monkeypatch.setattr("health.gather.turn_facts", breaks)

    found = filled.signal("unreadable")

    assert (found.level, found.details) == (Level.FAIL, (f"turns: {type(fault).__name__}",))
    assert filled.signal("stored").level is Level.OK


def test_figures_of_the_index_are_counted_again_once_anybody_wrote_to_it(filled):
    """What was kept is made to differ, so that it shows who is asked; a foreign writer is noticed without a word."""
    rows = filled.facts().index.rows
    path = filled.workspace.run_dir / index_cache.FILE
    path.write_text(json.dumps({**json.loads(path.read_text()), "rows": 999}))

    kept, counted = filled.facts().index.rows, filled.facts(recount=True).index.rows
    path.write_text(json.dumps({**json.loads(path.read_text()), "rows": 999}))
    filled.run("INSERT INTO chunk_1 SELECT id + 1000, randomblob(12), source_class, role, n_tokens, text"
               " FROM chunk_1 LIMIT 1")  # fmt: skip
    other = filled.facts(settings=replace(SETTINGS, embed_tools=not SETTINGS.embed_tools)).index
    path.write_text(json.dumps({**json.loads(path.read_text()), "made_of": [0, "another version's"], "rows": 999}))

    assert index_cache.kept(filled.workspace) is None
    assert (kept, counted) == (999, rows)
    assert filled.facts().index.rows == rows + 1
    assert filled.signal("duplicate_rows").value == 1
    assert other.rows == rows + 1


def test_a_batch_of_64_with_one_failure_and_two_cut_texts(place):
    """LCA-D-02H: the counters equal the faults that were put in."""
    said = [(f"question number {n} about widget {n}", f"answer {n}: the widget is {n * 7}") for n in range(29)]
    said += [("the poisoned question", "a plain answer"), ("an overlong question", "an overlong answer")]
    said += [("the last question", "the last answer")]
    place.embedder = Cutting(failures={"poisoned": "zero"})
    place.session(*said).write(place.config)
    place.sync()
    place.index()

    index = place.facts().index

    assert index.rows == 64
    assert (index.failed, index.truncated, index.stale) == (1, 2, 0)
    assert index.vectors == 63
    assert index.pending == 1
    assert "zero" in index.failures[0]


def test_every_fault_in_the_tables_is_counted(filled):
    with Store.open(filled.workspace.index_path) as store:
        g = store.generation
    filled.run(f"INSERT INTO vector_{g} VALUES (4000, zeroblob({4 * 64}))")
    filled.run(f"DELETE FROM pointer_{g} WHERE chunk_id = 1")
    filled.run(f"INSERT INTO embed_state_{g} (id, crashes, error) VALUES (2, 2, 'the process died')")

    index = filled.facts().index

    assert (index.orphan_vectors, index.zero, index.orphan_pointers, index.set_aside) == (1, 1, 1, 1)


def test_copies_are_counted_from_the_texts(filled):
    """The keys are made to differ, as they would if the key's function were broken."""
    with Store.open(filled.workspace.index_path) as store:
        g = store.generation
    for n in range(3):
        filled.run(
            f"INSERT INTO chunk_{g} (key, source_class, role, n_tokens, text)"
            f" SELECT randomblob(12), source_class, role, n_tokens, text FROM chunk_{g} WHERE id = {1 + n % 2}"
        )

    index = filled.facts().index

    assert (index.rows, index.distinct, index.most_repeated) == (5, 2, 3)
    assert index.duplicates_by_class == {"conversation": 3}
    assert index.words_missing == 3
    assert index.bytes > index.bytes_needed


def test_near_copies_are_counted_and_kept(place):
    place.session(("StatusUnchanged is returned", "yes"), ("statusUnchanged is returned", "no")).write(place.config)
    place.sync()
    place.index()

    index = place.facts().index

    assert (index.near_copies, index.rows - index.distinct) == (1, 0)


def test_another_model_makes_vectors_stale(filled):
    other = StubEmbedder(revision="2")

    assert filled.signal("embeddings_stale", load=lambda: other).value == 2


def test_a_missing_model_is_named(filled):
    def missing():
        raise EmbedderUnavailable("model.onnx is missing; run 'recall model add FILE'")

    found = filled.signal("embedder", load=missing)

    assert (found.level, found.value) == (Level.FAIL, "down")
    assert "model.onnx is missing" in found.text


def test_an_index_that_cannot_be_read_is_a_fact(filled):
    filled.workspace.index_path.write_bytes(b"no database" * 1000)

    report = assess(filled.facts())

    assert report.exit_code == 2
    assert next(s for s in report.signals if s.id == "index").level is Level.FAIL


def test_events_behind_the_index_are_counted_with_their_age(filled):
    filled.session(("one more question", "one more answer"), seed="two").write(filled.config)
    filled.sync()

    index = filled.facts().index

    assert index.unindexed == 2
    assert index.unindexed_oldest == datetime(2026, 6, 15, 10, 0, tzinfo=UTC).timestamp()


def test_a_transcript_that_grew_is_behind(filled):
    session = filled.session(("Which port does the importer use?", "Port 8080, it stands in config.toml."))
    session.user("and the exporter?")
    path = session.write(filled.config)
    written = NOW.timestamp() - 2 * 3600
    os.utime(path, (written, written))

    found = filled.signal("capture_lag")

    assert (found.value["files"], found.value["age_seconds"], found.level) == (1, 7200, Level.WARN)
    assert found.value["bytes"] == len(session.lines[-1]) + 1


def test_a_database_of_several_sessions_is_behind_by_what_it_shows_alone(filled):
    """Its file is far larger than what was read of it, and holds sessions of other projects."""
    sessions = [OpenCodeSession(str(cwd), seed=str(cwd)) for cwd in (filled.project, filled.project.parent)]
    for session in sessions:
        session.user("Which port?")
    share = filled.home / ".local" / "share" / "opencode"
    database(share, *sessions)
    filled.sync()
    before = filled.signal("capture_lag").value
    sessions[0].assistant("8080.")
    sessions[1].assistant("none of ours")
    database(share, *sessions)

    assert (before["files"], filled.signal("capture_lag").value["files"]) == (0, 1)
    assert filled.signal("near_retention").value == 0


def aged(path, days):
    written = (NOW - timedelta(days=days)).timestamp()
    os.utime(path, (written, written))
    return path


def test_an_old_transcript_that_was_not_taken_in_fails(filled):
    path = aged(filled.session(("old", "older"), seed="old").write(filled.config), 28)

    assert filled.signal("near_retention").details == (f"{path}: in 2.0 days",)
    assert filled.signal("near_retention").level is Level.FAIL
    assert filled.signal("sources_uncaptured").value == 1
    (filled.config / "settings.json").write_text(json.dumps({"cleanupPeriodDays": 365}))
    assert filled.signal("near_retention").value == 0


def test_an_old_transcript_that_was_taken_in_is_a_note(filled):
    path = aged(filled.session(("old", "older"), seed="old").write(filled.config), 25)
    filled.sync()

    assert filled.signal("near_retention").value == 0
    found = filled.signal("harness_deletes")
    assert (found.value, found.level, found.details) == ({"claude-code": 1}, Level.OK, (f"{path}: in 5.0 days",))


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ({}, {"gemini-cli": 1}),
        ({"maxAge": "8w"}, {}),
        ({"maxAge": "24h"}, {"gemini-cli": 1}),
        ({"enabled": False}, {}),
        ({"maxAge": "soon"}, {}),
    ],
)
def test_gemini_deletes_by_its_own_settings(filled, said, value):
    """Without a setting after 30 days."""
    session = GeminiSession(str(filled.project))
    session.user("Which port?")
    aged(session.write(filled.home, folder="shop"), 26)
    register(filled.home, shop=str(filled.project))
    (filled.home / ".gemini" / "settings.json").write_text(json.dumps({"general": {"sessionRetention": said}}))
    filled.sync()

    assert filled.signal("harness_deletes").value == value


def test_the_project_may_shorten_claudes_period_and_not_lengthen_it(filled):
    """Claude Code cleans up all projects wherever it starts."""
    aged(filled.session(("old", "older"), seed="old").write(filled.config), 10)
    filled.sync()
    settings = filled.project / ".claude" / "settings.json"
    settings.parent.mkdir()

    settings.write_text(json.dumps({"cleanupPeriodDays": 14}))
    assert filled.signal("harness_deletes").value == {"claude-code": 1}
    settings.write_text(json.dumps({"cleanupPeriodDays": 400}))
    assert filled.signal("harness_deletes").value == {}
    settings.write_text("{ not JSON")
    assert filled.signal("harness_deletes").value == {}


def test_a_view_behind_the_record_is_counted(filled):
    """ESAA-33."""
    views.project(filled.workspace)
    assert filled.signal("projection_lag").value == 0
    Log(filled.workspace).append(make_turns(3), now=NOW)

    found = filled.signal("projection_lag")

    assert (found.value, found.level) == (3, Level.WARN)
    assert found.details == ("handoff.md: 3", "state.md: 3")


def test_damaged_lines_are_named_without_their_content(place):
    session = place.session(("a", "b"))
    session.raw(b'{"type":"user","secret":"hunter2-hunter2')
    session.user("c")
    path = session.write(place.config)
    place.sync()
    place.index()

    found = place.signal("damaged_lines")

    assert found.value == 1
    assert found.details[0].startswith(f"{path.name} line 3 byte ")
    assert str(path.parent)[:100] in found.details[0]
    assert "hunter2" not in assess(place.facts()).to_json()


def test_glued_lines_lost_nothing_and_are_no_problem(place):
    session = place.session(("a", "b"))
    path = session.write(place.config)
    path.write_bytes(path.read_bytes().replace(b"}\n{", b"}{", 1))
    place.sync()
    place.index()

    assert place.signal("damaged_lines").value == 0
    assert place.signal("mended_lines").value == 1
    assert place.facts().index.rows == 2


def test_unknown_record_types_are_named(place):
    session = place.session(("a", "b"))
    session.record("brand-new-thing", payload=1)
    session.write(place.config)
    place.sync()
    place.index()

    assert [d for d in place.signal("unknown_types").details if d.startswith("brand-new-thing")]


def test_a_changed_event_breaks_the_chain(filled):
    path = filled.workspace.activity
    raw = path.read_bytes()
    path.write_bytes(raw.replace(b'"actor":"user"', b'"actor":"tool"', 1))

    found = filled.signal("chain")

    assert found.level is Level.FAIL


def test_a_cut_record_is_seen(filled):
    path = filled.workspace.activity
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)

    assert filled.signal("head").level is Level.FAIL


def spoil_head(workspace):
    workspace.head_file.write_bytes(b"x")


def lose_head(workspace):
    workspace.head_file.unlink()


def lose_segment(workspace):
    workspace.activity.unlink()


def spoil_last_event(workspace):
    raw = workspace.activity.read_bytes()
    workspace.activity.write_bytes(raw[:-90] + b"\xff\x00" + raw[-88:])


@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize(
    ("damage", "names"),
    [(spoil_head, "damaged"), (lose_head, "missing"), (lose_segment, "unreadable"), (spoil_last_event, "unreadable")],
)
def test_of_a_record_that_cannot_be_read_there_is_a_report_that_says_so(filled, damage, names, indexed):
    if not indexed:
        filled.workspace.index_path.unlink()
    damage(filled.workspace)

    signals = {one.id: one for one in assess(filled.facts()).signals}

    assert signals["chain"].level is Level.FAIL
    assert names in signals["chain"].text
    assert signals["stored"].text != "nothing is stored"
    assert signals["index"].level is (Level.OK if indexed else Level.FAIL)


def test_the_chain_is_checked_from_the_first_event(filled):
    record = filled.facts().record

    assert (record.chain_checked_from, record.chain_checked_to) == (1, Log(filled.workspace).head().seq)


def test_files_open_to_others_are_named(filled):
    filled.workspace.activity.chmod(0o644)

    found = filled.signal("file_modes")

    assert found.level is Level.FAIL
    assert found.details[0].endswith("log/activity.jsonl 0644")


def test_withheld_reasoning_is_counted(place):
    session = place.session(("a", "b"))
    session.assistant({"type": "thinking", "thinking": "hm", "signature": "AAAA"})
    session.write(place.config)
    place.sync()

    assert place.facts().record.reasoning_withheld == 1


def test_a_report_kept_while_the_clock_was_ahead_is_no_past(filled):
    facts = filled.facts()
    report = assess(facts)
    for days in (1, 400):
        at = NOW + timedelta(days=days - 2)
        Log(filled.workspace).append([series.draft(facts, report.signals, report.level, at)], now=at)

    assert [point.at for point in filled.facts().series.points] == [(NOW - timedelta(days=1)).timestamp()]


def test_the_gate_is_told_as_its_file_beside_the_index_says(tmp_path):
    place = Place(tmp_path)
    place.session(("why is the kestrel pool small", "the kestrel pool is small for the tests")).write(place.config)
    place.sync()
    place.index()
    before = place.facts().index

    made = Calibration(0.4, None, 700, 600, "m", "x", "2026-06-16T11:00:00.000Z")
    calibration.write(place.workspace.home, made)
    after = place.facts().index

    assert (before.gate_fitted, before.gate_safe) == (None, False)
    assert (after.gate_fitted, after.gate_passages, after.gate_model) == (NOW.timestamp() - 3600, 700, "m")
    assert not after.gate_safe
    calibration.write(place.workspace.home, Calibration(None, 0.3, 700, 0, "", "x", made.made))
    assert place.facts().index.gate_safe


@pytest.mark.skipif(os.name == "nt", reason="no service here")
def test_a_service_that_hangs_is_asked_once_for_the_whole_report(place):
    with closing(socket.socket(socket.AF_UNIX)) as listener:
        listener.bind(str(place.data / "s"))
        listener.listen(8)
        listener.setblocking(False)
        secure_dir(place.data / "run")
        (place.data / ADDRESS).write_bytes(os.fsencode(place.data / "s") + b"\n")

        assert place.signal("service").text == "not running; the next hook starts it"

        listener.accept()[0].close()
        with pytest.raises(BlockingIOError):
            listener.accept()
