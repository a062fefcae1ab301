"""Files of the project in the record: which are taken, when they are written anew, and what a turn makes of them."""

import subprocess

import pytest
from support.embedder import StubEmbedder
from support.record import NOW, make_log
from support.remembered import AT

from indexer import writer
from indexer.settings import IndexSettings
from indexer.store import Store
from indexer.tokens import TokenCounter
from recall.engine import recall
from recall.project_files import MOST_FILES, changed
from recall.query import Query
from recall.settings import GateSettings, Settings
from transcript.memories import fold_memories

PATTERNS = ("README.md", "docs/**/*.md")


@pytest.fixture
def log(tmp_path):
    return make_log(tmp_path)


def put(log, name, text):
    path = log.workspace.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(text, bytes):
        path.write_bytes(text)
    else:
        path.write_text(text, encoding="utf-8")


def take(log, patterns=PATTERNS):
    """Write what is new and return its paths."""
    drafts = changed(log.workspace, patterns, fold_memories(log).project_files, AT)
    log.append(drafts, now=NOW)
    return [draft.body["path"] for draft in drafts]


def test_files_that_the_patterns_name_are_taken_once(log):
    put(log, "README.md", "# Shop")
    put(log, "docs/a/setup.md", "Run make.")
    put(log, "src/notes.md", "not named")

    assert take(log) == ["README.md", "docs/a/setup.md"]
    assert take(log) == []


def test_a_file_is_written_anew_whenever_it_is_another_even_the_same_as_once_before(log):
    """Switching branches to and fro."""
    said = []
    for text in ("one", "two", "one", "two"):
        put(log, "README.md", text)
        take(log)
        event, _ = fold_memories(log).project_files["README.md"]
        said.append(log.text(log.get(event)))

    assert said == ["one", "two", "one", "two"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("docs/long.md", "x" * 70_000),
        ("docs/binary.md", b"\xff\xfe\x00"),
        ("docs/empty.md", " \n"),
        ("docs/.hidden/a.md", "hidden"),
        ("docs/node_modules/a/README.md", "theirs"),
    ],
    ids=["long", "binary", "empty", "hidden", "packages"],
)
def test_what_is_no_text_of_the_project_is_left_out(log, name, text):
    put(log, name, text)

    assert take(log) == []


def test_nothing_outside_the_project_is_read(log, tmp_path):
    (tmp_path / "outside.md").write_text("secret plans", encoding="utf-8")
    (log.workspace.root / "docs").mkdir()
    (log.workspace.root / "docs" / "link.md").symlink_to(tmp_path / "outside.md")

    assert take(log, [*PATTERNS, "../*.md", str(tmp_path / "*.md")]) == []


@pytest.mark.parametrize("version", ["2", "4"])
def test_what_git_does_not_track_is_left_out(log, version):
    put(log, "README.md", "# Shop")
    put(log, "docs/draft.md", "ignored")
    git = ["git", "-C", str(log.workspace.root)]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "README.md"], check=True)
    subprocess.run([*git, "update-index", "--index-version", version], check=True)

    assert take(log) == ["README.md"]


def test_of_many_files_the_first_are_taken(log):
    for number in range(MOST_FILES + 5):
        put(log, f"docs/{number:04}.md", f"page {number}")

    assert take(log) == [f"docs/{number:04}.md" for number in range(MOST_FILES)]


def test_credentials_are_masked(log):
    put(log, "README.md", "token: ghp_16C7e42F292c6912E7710c838347Ae178B4a")
    take(log)
    event, _ = fold_memories(log).project_files["README.md"]

    assert "ghp_" not in log.text(log.get(event))
    assert "[secret:" in log.text(log.get(event))


def test_a_turn_finds_what_a_file_says_now_and_nothing_of_one_that_is_gone(log):
    put(log, "README.md", "The wagtail service listens on port 8080.")
    put(log, "docs/old.md", "The wagtail service listens on a socket.")
    take(log)
    put(log, "README.md", "The wagtail service listens on port 8443.")
    (log.workspace.root / "docs" / "old.md").unlink()
    assert take(log) == ["README.md", "docs/old.md"]

    with Store.open(log.workspace.index_path, "w") as store:
        writer.index(log.workspace, store, IndexSettings(), now=NOW, embedder=StubEmbedder())
        settings = Settings(gate=GateSettings(item=False, evidence=False, margin=False))
        query = Query("Which port does the wagtail service listen on?", root=str(log.workspace.root))
        found = recall(query, store, None, settings, now=NOW, count_tokens=TokenCounter())

    assert [r.candidate.text for r in found.items] == ["The wagtail service listens on port 8443."]
    assert [r.verdict for r in found.left_out] == ["superseded", "superseded"]
    assert "project file" in found.block
