"""Real faults of other tools, from session file to answer: two projects in one folder, a source that is gone."""

import json
import shutil

import pytest
from click.testing import CliRunner
from support.capture import NOW, Project
from support.embedder import StubEmbedder

from indexer import queue, writer
from indexer.rebuild import rebuild
from indexer.settings import IndexSettings
from indexer.store import Store
from indexer.tokens import TokenCounter
from recall.cli.app import App
from recall.cli.group import cli
from recall.engine import recall
from recall.query import Query
from recall.settings import Settings
from scoring.pool import score_pool
from transcript.capture_state import CaptureState

LEDGER = "Which ledger is used here?"


def copied(case, project, *roots):
    """Put a case's session files where the harness keeps them, its folders renamed to those of this test."""
    for path in sorted(case.rglob("*.jsonl")):
        text = path.read_text(encoding="utf-8")
        for name, root in roots:
            text = text.replace(f'"cwd":"{name}"', f'"cwd":"{root}"')
        target = project.config / "projects" / path.parent.name / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return target


def index(project, *, anew=False):
    """Index a project's record, or make a new index of it."""
    with Store.open(project.workspace.index_path, "w") as store:
        writer.index(project.workspace, store, IndexSettings(), now=NOW, embedder=StubEmbedder())
        queue.embed(store, StubEmbedder(), IndexSettings())
        if anew:
            rebuild(project.workspace, store, IndexSettings(), now=NOW, embedder=StubEmbedder())


def found(project, prompt):
    """The passages that a search in a project finds, as one text."""
    with Store.open(project.workspace.index_path) as store:
        turn = recall(
            Query(prompt), store, None, Settings(), now=NOW, count_tokens=TokenCounter(), scorer=score_pool
        )  # fmt: skip
    return "\n".join(ranked.candidate.text for ranked in turn.ranked)


@pytest.mark.real_data
def test_case_log_slug_collision(shared, tmp_path):
    """anthropics/claude-code#70076, #35162, #52513: what is asked in one project finds nothing of the other."""
    dash, slash = Project(tmp_path, "pay-api"), Project(tmp_path, "pay/api")
    roots = (("/home/dev/pay-api", dash.root), ("/home/dev/pay/api", slash.root))
    copied(shared / "cases" / "log-slug-collision" / "input", dash, *roots)
    for project in (dash, slash):
        project.sync()
        index(project)

    answers = [found(project, LEDGER) for project in (dash, slash)]

    assert ["quokka-1101" in answer for answer in answers] == [True, False]
    assert ["numbat-2202" in answer for answer in answers] == [False, True]


@pytest.mark.real_data
def test_case_log_source_deleted(shared, tmp_path):
    """anthropics/claude-code#62476, #90667: what the harness deletes stays recallable, and comes back once."""
    project = Project(tmp_path)
    case = shared / "cases" / "log-source-deleted" / "input"
    path = copied(case, project, ("/home/dev/shop-api", project.root))
    kept = shutil.copy(path, tmp_path / "kept")
    project.sync()
    path.unlink()

    project.sync(full=True)
    index(project, anew=True)
    after = found(project, "Why is the protobuf compiler pinned?")
    missing = CaptureState(project.workspace).missing()
    shutil.copy(kept, path)
    back = project.sync(full=True)

    assert "osprey-7007" in after
    assert missing == [str(path)]
    assert (back.added, back.failed, CaptureState(project.workspace).missing()) == (0, [], [])
    assert sum("osprey-7007" in text for text in project.texts("prompt")) == 1


def test_one_recall_finds_what_was_said_on_both_surfaces_of_a_key(tmp_path):
    """LCA-4.7-01; a page of the talk says on which surface each of it was said."""
    project = Project(tmp_path)
    folder = project.root / "wire"
    folder.mkdir()
    for surface, words in (("cli", "quokka-1101"), ("web", "numbat-2202")):
        head = {"recall_wire": 1, "tool": "loom", "session": f"s-{surface}", "cwd": str(project.root)}
        said = {"type": "prompt", "id": surface, "ts": "2026-03-01T12:00:00Z", "text": f"The ledger here is {words}."}
        lines = [{**head, "surface": surface, "session_key": "desk"}, said]
        (folder / f"{surface}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    project.sync(sources=folder)
    index(project)

    answer = found(project, LEDGER)
    app = App(project.env, project.root, project.data)
    page = CliRunner().invoke(cli, ["context", "--session-key", "desk"], obj=app).stdout
    told = CliRunner().invoke(cli, ["context", "--session-key", "desk", "--json"], obj=app).stdout

    assert ("quokka-1101" in answer, "numbat-2202" in answer) == (True, True)
    assert [line.rsplit(", ", 1)[1] for line in page.splitlines() if " (prompt)" in line] == ["on cli", "on web"]
    turns = [json.loads(line) for line in told.splitlines()][:-1]
    assert [(turn["surface"], turn["session_key"]) for turn in turns] == [("cli", "desk"), ("web", "desk")]


def test_a_message_of_a_channel_is_shown_with_where_it_came_from(tmp_path):
    """LCA-9.3-01: category, channel and privacy come back from the record as they went in."""
    project = Project(tmp_path)
    app = App(project.env, project.root, project.data)
    given = [
        "--channel",
        "synapse",
        "--category",
        "alert",
        "--actor",
        "kite",
        "--as",
        "agent",
        "--ref",
        "m7",
        "--private",
    ]
    CliRunner().invoke(cli, ["observe", "The disk is full.", *given, "--ref", "m7"], obj=app)
    [event] = project.events("observation")

    shown = CliRunner().invoke(cli, ["show", event.pointer], obj=app).stdout
    told = CliRunner().invoke(cli, ["context", "--type", "observation", "--json"], obj=app).stdout

    assert "(alert on synapse by kite, external, private)" in shown
    for part in ('"channel":"synapse"', '"category":"alert"', '"author":"kite"', '"private":true', '"ref":"m7"'):
        assert part in told
