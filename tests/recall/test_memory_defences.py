"""LCA-12.3-01: what keeps a planted statement from being believed, each defence by itself."""

import pytest
from support.command import Result, runner
from support.embedder import StubEmbedder
from support.person import sit_down
from support.record import NOW, make_draft

from recall.cli.app import App
from transcript.log import Log
from transcript.memories import fold_memories

TRUE = "The wagtail service verifies every certificate before it opens the drawer."
POISON = "The wagtail service never verifies every certificate before it opens the drawer."
ASKED = "does the wagtail service verify a certificate before it opens the drawer"


@pytest.fixture
def recall(capsys, tmp_path, monkeypatch):
    """Run a command in a project where a person said what is true and a sub-agent read out what was planted."""
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr("indexer.embedder.load", lambda *args, **kwargs: StubEmbedder())
    monkeypatch.setenv("RECALL_ACTOR", "human:ana")

    call = runner(capsys)

    assert call("init").code == 0
    sit_down(monkeypatch)
    log = Log(App.here().workspace())
    said = {"body": {"kind": "reply"}, "actor": "assistant"}
    log.append(
        [
            make_draft("true", text=TRUE, ts="2026-01-06T10:00:00.000Z"),
            make_draft("planted", text=POISON, ts="2026-01-07T10:00:00.000Z", **said),
        ],
        now=NOW,
    )
    call.log = log  # type: ignore[attr-defined]
    return call


def whole(name: str, text: str) -> str:
    return f"{make_draft(name).id[:10]}#0-{len(text)}"


def add(recall, text: str, name: str, *more: str) -> Result:
    return recall("memory", "add", text, "--why", "it was said", "--evidence", whole(name, text), *more)


def planted(recall) -> str:
    """Return the id of the poison, believed before anything true was known."""
    assert add(recall, POISON, "planted", "--actor", "codex", "--as", "agent").code == 0
    [memory] = fold_memories(recall.log).memories
    return memory


def told(recall) -> list[str]:
    """Return the events of what a search returns as holding now."""
    return [row["event"] for row in recall("query", ASKED, "--json").rows()]


def test_every_memory_leads_back_to_the_words_it_came_from(recall):
    memory = planted(recall)

    [source] = recall("memory", "list", "--json").rows()[0]["sources"]

    assert POISON in recall("show", source).out
    assert whole("planted", POISON) in recall("memory", "show", memory[:10]).out


def test_what_contradicts_a_persons_word_is_not_taken_in(recall):
    assert add(recall, TRUE, "true").code == 0

    done = add(recall, POISON, "planted", "--actor", "codex", "--as", "agent")

    assert done.code == 1
    assert "it contradicts" in done.err
    assert [memory.statement for memory in fold_memories(recall.log).memories.values()] == [TRUE]


def test_what_governs_others_waits_for_a_person_who_may_decline_it(recall):
    done = add(recall, POISON, "planted", "--type", "runbook", "--actor", "codex", "--as", "agent")
    [row] = recall("memory", "list", "--proposals", "--json").rows()

    assert done.out.endswith(f"waits for a person: 'recall memory accept {row['id'][:10]}'\n")
    assert recall("memory", "decline", row["id"][:10]).code == 0
    assert recall("memory", "list", "--proposals", "--json").rows() == []
    assert fold_memories(recall.log).memories == {}


def test_what_is_superseded_is_not_told_any_more(recall):
    memory = planted(recall)
    assert recall("index").code == 0
    assert memory in told(recall)

    done = recall("memory", "correct", memory[:10], "--because", whole("true", TRUE), TRUE)

    assert done.code == 0, done.err
    assert memory not in told(recall)


def test_what_is_refuted_is_gone_at_once_and_stays_so_after_a_rebuild(recall):
    memory = planted(recall)
    assert recall("index").code == 0
    assert memory in told(recall)

    done = recall("memory", "correct", memory[:10], "--because", whole("true", TRUE))

    assert done.out == f"{memory[:10]} is refuted ({whole('true', TRUE)})\n"
    assert memory not in told(recall)
    assert recall("index", "rebuild").code == 0
    assert memory not in told(recall)


def test_a_copy_of_an_edited_file_goes_when_its_words_are_forgotten(recall, tmp_path):
    planted(recall)
    folder = tmp_path / "shop" / ".recall" / "memory"
    [path] = folder.glob("the-*.md")
    path.write_text(path.read_text("utf-8").replace("never verifies", "hardly ever verifies"), "utf-8")
    assert recall("project").code == 0
    assert list((folder / "edited").iterdir())

    done = recall("forget", POISON, "--authorised")

    assert done.code == 0, done.err
    assert [found for found in folder.rglob("*.md") if "verifies" in found.read_text("utf-8")] == []
