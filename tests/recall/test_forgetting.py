"""Forgetting with everything derived: words, vectors, pages and logs of the index, turn states, views; crashes too."""

import json
import os
import shutil
import signal
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
import zstandard
from click.testing import CliRunner
from support.capture import NOW, Project
from support.embedder import StubEmbedder
from support.erase_driver import POINTS

from indexer import audit, queue, writer
from indexer.settings import IndexSettings
from indexer.sidefile import SideFile
from indexer.store import Store
from recall import forgetting
from recall.cli.app import App
from recall.cli.group import cli
from recall.turnstate import TurnState
from transcript.canonical import b32id
from transcript.event import Draft
from transcript.log import Log
from transcript.native import NativeStore
from transcript.projections import coord_files
from transcript.redaction import unfinished
from transcript.redaction_plan import plan_text
from transcript.verify import verify

TESTS = Path(__file__).resolve().parents[1]
SECRET, PHONE, KEPT = "phoenix-3333", "555-0100", "finch-3434"


def holding(workspace, *texts):
    """Return the files of a workspace in which one of the texts stands, compressed ones opened."""
    found = set()
    for path in sorted(path for path in workspace.home.rglob("*") if path.is_file()):
        parts = [path.read_bytes()]
        if path.suffix == ".zst" and path.parent.parent.name == "native":
            store = NativeStore(workspace)
            parts += [data for _, _, data in store.read(path.parent.name, path.stem)]
        elif path.suffix == ".zst":
            parts.append(zstandard.ZstdDecompressor().decompress(parts[0], max_output_size=1 << 28))
        elif path.parent.name == "capture":
            parts.append(zlib.decompress(parts[0]))
        if any(text.encode() in data for text in texts for data in parts):
            found.add(str(path.relative_to(workspace.home)))
    return sorted(found)


def made(base):
    """A project with the case's session and more of it: a long result, a ledger row, an index with vectors."""
    project = Project(base)
    session = project.session()
    session.user(f"Customer contact for the pilot is Robin Example, phone {PHONE}, marker {SECRET}.")
    session.assistant(f"Saved: Robin Example, {PHONE}, {SECRET}.")
    session.user(f"The pilot runs until July, marker {KEPT}.")
    session.assistant("Noted.")
    session.tool("t1", "Bash", {"command": "cat log"}, "line of output\n" * 4000 + f"contact {SECRET} {PHONE}\n")
    session.write(project.config)
    project.sync()
    row = {"prompt": f"who is {SECRET}", "mode": "tool", "block": PHONE, "items": []}
    draft = Draft(
        "recall", b32id("row"), "", "capture", "s", "claude-code", "system", "internal", {"harness": "recall"}, row
    )
    Log(project.workspace).append([draft], now=NOW)
    index(project)
    state = TurnState(project.workspace.run_dir, session.session)
    state.begin(f"who is {SECRET}", now=NOW)
    state.settle([event.id for event in project.events("conversation_turn")])
    return project


def index(project):
    embedder = StubEmbedder()
    with Store.open(project.workspace.index_path, "w") as store:
        writer.index(project.workspace, store, IndexSettings(), now=NOW, embedder=embedder)
        queue.embed(store, embedder, IndexSettings())


def hits(project, words):
    """Return what stands in the index for words, by words and by vector."""
    with Store.open(project.workspace.index_path) as store:
        g = store.generation
        texts = dict(store.run(f"SELECT id, text FROM chunk_{g}"))
        lexical = [number for number, _ in store.lexical(tuple(words.lower().split()), limit=20).hits]
        near = [hit.chunk_id for hit in store.nearest(StubEmbedder().vector(words), 20)]
        return [texts[number] for number in dict.fromkeys([*lexical, *near])]


def forget(project, text=SECRET):
    return forgetting.erase(project.workspace, lambda: plan_text(project.workspace, text), now=NOW)


def test_forgotten_words_are_in_no_file_and_no_answer(tmp_path):
    """LCA-12.2-04."""
    project = made(tmp_path)
    workspace = project.workspace
    assert {"log/activity.jsonl", "index.sqlite"} <= set(holding(workspace, SECRET))
    with Store.open(workspace.index_path) as store:
        SideFile(workspace.run_dir / "vectors").refresh(store)
        before = len(store.vectors.ids())

    report = forget(project)

    assert holding(workspace, SECRET, PHONE) == []
    assert holding(workspace, KEPT) != []
    assert verify(workspace).problems == []
    assert not any(SECRET in text or PHONE in text for text in hits(project, f"{SECRET} customer contact pilot"))
    assert any(KEPT in text for text in hits(project, "pilot runs until July"))
    with Store.open(workspace.index_path) as store:
        agreement = audit.agreement(store)
        assert (agreement.orphan_vectors, agreement.orphan_pointers) == (0, 0)
        assert (agreement.words_missing, agreement.words_extra) == (0, 0)
        assert len(store.vectors.ids()) < before
        heads = [row[0] for row in store.run(f"SELECT prompt_head FROM exchange_{store.generation}")]
        assert any(KEPT in head for head in heads)
        assert len([head for head in heads if not head]) == 1
    assert not list((workspace.run_dir / "vectors").glob("*"))
    assert (report.types["recall"], report.types["tool_result"]) == (1, 1)
    assert report.counts["chunks"] >= 3
    assert any("own file" in place for place in report.unreachable)


def test_erased_vectors_leave_no_bytes(tmp_path):
    project = made(tmp_path)
    with Store.open(project.workspace.index_path) as store:
        table = f"chunk_vec_{store.generation}"
        [(number,)] = list(store.run(f"SELECT id FROM chunk_{store.generation} WHERE text LIKE 'Saved%'"))
        [(chunk, slot)] = list(
            store.run(f"SELECT chunk_id, chunk_offset FROM {table}_rowids WHERE rowid = ?", (number * 4,))
        )

    def held():
        with Store.open(project.workspace.index_path) as store:
            [(blob,)] = list(store.run(f"SELECT vectors FROM {table}_vector_chunks00 WHERE rowid = ?", (chunk,)))
            [(free,)] = list(store.run("PRAGMA freelist_count"))
            return any(np.frombuffer(blob, "<f4")[slot * 64 : slot * 64 + 64]), free

    assert held()[0]
    forget(project)

    assert held() == (False, 0)
    wal = project.workspace.index_path.with_name("index.sqlite-wal")
    assert not wal.exists() or wal.stat().st_size == 0


def test_nothing_comes_back_with_sync_reindex_and_rebuild(tmp_path):
    from indexer.rebuild import rebuild

    project = made(tmp_path)
    forget(project)

    report = project.sync(full=True)
    index(project)
    with Store.open(project.workspace.index_path, "w") as store:
        rebuild(project.workspace, store, IndexSettings(), now=NOW, embedder=StubEmbedder())

    assert (report.added, report.sightings) == (0, 0)
    assert holding(project.workspace, SECRET, PHONE) == []
    assert not any(PHONE in text for text in hits(project, "customer contact phone"))


def test_the_index_reads_on_from_a_place_before_the_erasure(tmp_path):
    project = made(tmp_path)
    forget(project)
    session = project.session("later")
    session.user("A question of later, marker heron-7777.")
    session.write(project.config)

    project.sync()
    index(project)

    assert any("heron-7777" in text for text in hits(project, "heron-7777 question later"))


def test_turn_states_keep_what_is_not_erased(tmp_path):
    project = made(tmp_path)
    [path] = (project.workspace.run_dir / "turns").glob("*.json")
    kept = {event.id for event in project.events("conversation_turn") if SECRET not in event.body["text"]}

    forget(project)

    state = json.loads(path.read_bytes())
    assert (set(state["injected"]), state["claims"]) == (kept, {})


def test_views_are_written_anew(tmp_path):
    from transcript.projections import views

    project = made(tmp_path)
    views.project(project.workspace)
    folder = views.folder_of(project.root)

    forget(project)

    assert not any(SECRET.encode() in path.read_bytes() for path in folder.iterdir())
    faults = []
    views.check(project.workspace, lambda code, file: faults.append((code, file)))
    assert faults == []


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A project to copy from."""
    return made(tmp_path_factory.mktemp("whole"))


@pytest.mark.parametrize("point", POINTS)
def test_an_erasure_killed_anywhere_is_finished_by_the_next_command(whole, tmp_path, point):
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)])}
    project = copied(whole, tmp_path)
    driver = [sys.executable, str(TESTS / "support" / "erase_driver.py")]
    command = [*driver, str(project.data), str(project.root), SECRET, point]

    died = subprocess.run(command, env=env, capture_output=True, text=True, check=False)

    assert died.returncode == -signal.SIGKILL, died.stderr
    workspace = project.workspace
    assert unfinished(workspace)
    assert SECRET not in (workspace.run_dir / "redaction.json").read_text()
    assert [p for p in verify(workspace, blobs=False).problems if p.code != "torn_tail"] == []
    App(project.env, project.root, project.data).writable_workspace()
    assert not unfinished(workspace)
    assert holding(workspace, SECRET, PHONE) == []
    assert holding(workspace, KEPT) != []
    assert verify(workspace).problems == []
    assert [event.body.get("done", False) for event in project.events("redaction")] == [False, True]
    assert project.sync(full=True).added == 0
    assert forget(project) is None
    assert not list(workspace.home.rglob(".redaction-*"))


def copied(whole, base):
    """A project of its own with the data of another: the table of roots names the new folder."""
    shutil.copytree(whole.base, base, dirs_exist_ok=True)
    table = base / "data" / "roots.json"
    table.write_text(table.read_text().replace(str(whole.base), str(base)))
    state = base / "data" / "workspaces" / whole.workspace.id / "run" / "capture.json"
    state.write_text(state.read_text().replace(str(whole.base), str(base)))
    return Project(base)


def run(project, *arguments, given=None):
    app = App(project.env, project.root, project.data)
    return CliRunner().invoke(cli, list(arguments), obj=app, input=given)


def test_the_command_shows_its_plan_first_and_erases_only_with_authority(tmp_path):
    project = made(tmp_path)

    shown = run(project, "forget", SECRET)
    tried = run(project, "forget", SECRET, "--dry-run", "--json")

    assert (shown.exit_code, tried.exit_code) == (1, 0)
    assert "nothing was erased" in shown.stderr
    assert SECRET not in tried.stdout
    assert holding(project.workspace, SECRET) != []

    done = run(
        project, "forget", "-", "--authorised", "--reason", "asked to", "--by", "dana", "--json", given=SECRET + "\n"
    )

    assert done.exit_code == 0
    assert json.loads(done.stdout)["counts"]["events"] == json.loads(tried.stdout)["counts"]["events"]
    assert holding(project.workspace, SECRET) == []
    assert run(project, "forget", SECRET, "--authorised").stdout.startswith("nothing to erase")
    noted = project.events("redaction")[0].body
    assert (noted["reason"], noted["by"]) == ("asked to", "dana")


def test_a_pointer_stands_for_its_words(tmp_path):
    project = made(tmp_path)
    event = project.events("conversation_turn")[0]
    start = event.body["text"].index(SECRET)

    done = run(project, "forget", f"{event.pointer}#{start}-{start + len(SECRET)}", "--authorised", "--json")

    assert json.loads(done.stdout)["counts"]["events"] == 4
    assert holding(project.workspace, SECRET) == []
    assert run(project, "forget", "abc").exit_code == 1 or run(project, "forget", "abc").exception is not None


def test_redact_empties_one_event_and_names_what_still_holds_the_words(tmp_path):
    """LCA-12.2-02."""
    project = made(tmp_path)
    prompt = project.events("conversation_turn")[0]

    tried = run(project, "redact", prompt.pointer)
    done = run(project, "redact", prompt.pointer, "--authorised", "--json")

    assert tried.exit_code == 1
    assert json.loads(done.stdout)["counts"]["events"] == 1
    assert holding(project.workspace, "Customer contact for the pilot") == []
    assert run(project, "show", prompt.pointer).stdout.splitlines()[1] == "[redacted]"
    again = run(project, "redact", prompt.pointer, "--authorised").stdout
    assert again == "nothing to erase: what these events said is gone already\n"
    assert verify(project.workspace).problems == []
    assert Log(project.workspace).get(prompt.id).body == {}


def test_retention_says_that_nothing_is_old_enough(tmp_path):
    said = run(made(tmp_path), "retention", "--older-than", "90y").stdout

    assert said == "nothing to erase: no session event is older than 90y\n"


def test_retention_needs_a_decision_and_does_what_its_dry_run_said(tmp_path):
    """LCA-12.2-01."""
    project = made(tmp_path)
    app = App(project.env, project.root, project.data)
    app.now = lambda: NOW.replace(year=2028)

    def run(*arguments):
        return CliRunner().invoke(cli, ["retention", "--older-than", "1y", *arguments], obj=app)

    tried = run("--dry-run", "--json")
    asked = run()
    done = run("--authorised", "--json")

    planned, erased = json.loads(tried.stdout)["counts"], json.loads(done.stdout)["counts"]
    assert asked.exit_code == 1
    assert planned == {name: erased[name] for name in planned}
    assert planned["events"] > 5
    assert holding(project.workspace, SECRET, KEPT) == []
    assert verify(project.workspace).problems == []


@pytest.mark.real_data
def test_case_priv_forget_everywhere(shared, tmp_path):
    case = shared / "cases" / "priv-forget-everywhere" / "input" / "claude"
    project = Project(tmp_path)
    project.sync(sources=case, all_roots=True)
    index(project)

    report = forget(project)
    project.sync(sources=case, all_roots=True, full=True)
    index(project)

    assert report.counts["events"] == 2
    assert holding(project.workspace, SECRET, PHONE) == []
    assert project.texts() == ["", "", f"The pilot runs until July, marker {KEPT}."]
    assert [text for text in hits(project, "customer contact Robin") if "Robin" in text] == []
    assert verify(project.workspace).problems == []


def test_a_proposal_that_nobody_took_in_yet_goes_with_the_words(tmp_path):
    """priv-forget-everywhere: a file below `.coord/` that an agent wrote by hand."""
    project = made(tmp_path)
    root = coord_files.coord_root(project.workspace)
    action = {"operation": "add", "target_ref": None, "summary": f"Ask {SECRET}.", "evidence_refs": ["a.md"]}
    document = {
        "schema_version": 1, "proposal_id": "5b0c54a8-6d43-4c5e-9f5e-3a4c6f5f1c11", "source_task": "T1",
        "action": action, "state": "proposed", "created_at": "2026-03-01T12:00:00Z", "decision": None,
    }  # fmt: skip
    path = coord_files.write_document(root, document)

    done = run(project, "forget", SECRET, "--authorised")

    assert "1 proposal or item below .coord/" in done.stdout
    assert not path.exists()
    assert holding(project.workspace, SECRET) == []
