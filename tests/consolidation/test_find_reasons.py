"""Reasons in commit messages, what reviews report, and causes said on the way."""

import pytest
from support.dialogue import Dialogue
from support.running import make_running

from consolidation.find import find
from consolidation.sessions import views
from consolidation.span import words
from transcript.memories import MemoryState

REASON = (
    "The importer read the clock once per file, so two files of one run got the same key.\n"
    "The second then silently overwrote the first in `imports.json`."
)
REPORT = "`loadPorts()` reads the file before the lock is taken, causing two servers to get the same port."


def found(talk: Dialogue, folder):
    log = talk.log(folder)
    key = log.workspace.id_key()
    candidates = [one for view in views(log) for one in find(view, MemoryState(), key, lambda text: ())]
    for one in candidates:
        assert words(log, one.sources[0], key) == one.text
    return [(one.found_by, one.text) for one in candidates if one.kind == "statement"]


def commit(body: str) -> str:
    message = f"Fix the importer\n\n{body}\n\nCo-Authored-By: A <a@b.c>"
    return f"git add -A && git commit -m \"$(cat <<'EOF'\n{message}\nEOF\n)\""


def test_paragraph_of_a_commit_that_gives_a_reason_is_one_statement_without_what_was_changed(tmp_path):
    talk = Dialogue()
    talk.bash(commit(f"{REASON} Use a counter instead.\n\n- Add a counter because the clock cannot tell them apart"))

    assert found(talk, tmp_path) == [("commit", REASON)]


@pytest.mark.parametrize(
    "item",
    [
        "Use the `counter` instead of the clock to avoid two files of one run getting the same key",
        "Close `imports.json` before the rename (Windows cannot rename a file that is open)",
        "Reject names with a slash in `readImport()` so an import cannot write outside of its folder",
        "`imports.json` only exists in the folder of the first worktree, not in that of a linked worktree",
    ],
    ids=["to avoid", "in brackets", "so that it cannot", "how it is"],
)
def test_item_of_a_commit_that_says_why_is_a_statement_of_its_own(item, tmp_path):
    talk = Dialogue()
    talk.bash(commit(f"- Add a counter\n- {item}\n- Bump the version"))

    assert found(talk, tmp_path) == [("commit", item)]


def test_commit_about_comments_or_documents_gives_no_reasons(tmp_path):
    talk = Dialogue()
    talk.bash(commit(REASON).replace("Fix the importer", "docs: say how the importer works"))

    assert found(talk, tmp_path) == []


def test_pull_request_is_named_by_its_title(tmp_path):
    talk = Dialogue()
    talk.bash(f'gh pr create --title "Give imports a key" --body "## Summary\n\n{REASON}"')
    project = make_running(tmp_path, talk)

    project.run()

    (memory,) = project.state().memories.values()
    assert memory.why == 'said in the commit "Give imports a key"'


@pytest.mark.parametrize(
    ("body", "fails"),
    [
        (REASON, True),
        ("Add a counter to the importer, which `imports.json` then holds beside the clock of every entry.", False),
        ("Move the counter to `importer.go` to avoid duplicated code in the importer and in the exporter.", False),
        ("Adds `import --watch` with a poller of the folder. Includes a lock file to prevent two pollers.", False),
        ("The suite went from ~209s to ~50s because `imports.json` is read only once for all of its files.", False),
        ("This was silently overwriting what the importer had written to `imports.json` before that.", False),
        ("The importer probably overwrote `imports.json` because two files of one run got the same key.", False),
        ("TestImporter failed because the fixture of `imports.json` had been written by an older version.", False),
    ],
    ids=["commit failed", "what was changed", "tidying", "a feature", "figures", "dangling", "doubted", "a test"],
)
def test_other_words_of_a_commit_are_passed_over(body, fails, tmp_path):
    talk = Dialogue()
    talk.bash(commit(body), fails=fails)

    assert found(talk, tmp_path) == []


def test_reason_of_a_commit_becomes_a_memory(tmp_path):
    talk = Dialogue()
    talk.bash(commit(REASON))
    project = make_running(tmp_path, talk)

    project.run()

    texts = [memory.text for memory in project.state().memories.values()]
    assert texts == [f'{REASON}\nWhy: said in the commit "Fix the importer"']


def test_commit_takes_the_place_of_the_cause_that_names_the_same(tmp_path):
    talk = Dialogue()
    talk.reply("The bug is that `writeImport()` takes its key from the clock, not from the file.")
    talk.edit("src/importer.go")
    talk.bash("go test ./...")
    said = REASON.replace("The second then", "`writeImport()` then")
    talk.bash(commit(said))

    assert found(talk, tmp_path) == [("commit", said)]


def test_what_a_person_reports_counts_once_it_was_fixed(tmp_path):
    talk = Dialogue()
    talk.prompt(REPORT)
    talk.edit("src/ports.go")
    talk.bash("go test ./...")
    talk.begin("s2").prompt(REPORT)
    talk.reply("It takes the lock first.")
    talk.prompt("ok, then something else")
    talk.edit("src/ports.go")
    talk.bash("go test ./...")

    assert found(talk, tmp_path) == [("report", REPORT)]


CAUSE = "The issue is that `loadPorts()` reads `config.toml` only after the admin server has bound its port."


def test_cause_on_the_way_needs_the_first_check_to_pass_and_code_to_be_edited(tmp_path):
    failed = Dialogue()
    failed.reply(CAUSE)
    failed.edit("src/ports.go")
    failed.bash("go test ./...", fails=True)
    failed.bash("go test ./...")
    failed.reply("Done.")
    tests = Dialogue()
    tests.reply(CAUSE)
    tests.edit("src/ports_test.go")
    tests.bash("go test ./...")
    tests.reply("Done.")

    assert found(failed, tmp_path / "failed") == []
    assert found(tests, tmp_path / "tests") == []


def test_of_causes_on_the_way_about_one_file_the_last_of_an_exchange_counts(tmp_path):
    later = "The issue is that the admin server keeps its port in `ADMIN_PORT`, which nothing resets between runs."
    talk = Dialogue()
    talk.prompt("the admin port is wrong")
    for said in (CAUSE, later):
        talk.reply(said)
        talk.edit("src/ports.go")
        talk.bash("go test ./...")
    talk.reply("Done.")

    assert found(talk, tmp_path) == [("cause", later)]


@pytest.mark.parametrize(
    "said",
    [
        "The issue is that the integration test sets `ADMIN_PORT` only after the server has started.",
        "The issue was that both of these problems are caused by `loadPorts()` being called too late for it.",
        "**Bug**: The `admin_port` field was not being saved to `config.toml` or to the session state.",
        "The issue is that `loadPorts()` reads Session B's `config.toml` before the admin server has bound.",
        "The issue is that passing this empty string to `loadPorts()` leaves the admin server without a port.",
        "The bug is that `serve --admin` doesn't create it (only the interactive `serve` does it, at its start).",
        "The cause is that `loadPorts()` in `main.go:31` reads the file before the lock is taken.",
        "`loadPorts()` doesn't read more than one file, so the fix is to pass `ADMIN_PORT` along with its default.",
        "The admin server doesn't use `loadPorts()`, so there's no reason to read `config.toml` before it.",
    ],
    ids=["a test", "points", "seen in the code", "numbered", "points at", "pronoun", "line", "the fix", "no need"],
)
def test_cause_that_is_a_tests_points_or_shows_in_the_code_is_passed_over(said, tmp_path):
    talk = Dialogue()
    talk.reply(said)
    talk.edit("src/ports.go")
    talk.bash("go test ./...")

    assert found(talk, tmp_path) == []


def test_build_that_passes_confirms_no_cause_said_on_the_way(tmp_path):
    talk = Dialogue()
    talk.reply(CAUSE)
    talk.edit("src/ports.go")
    talk.bash("go build ./...")
    talk.reply("Done.")

    assert found(talk, tmp_path) == []


def test_number_that_a_list_gave_a_cause_is_left_out(tmp_path):
    said = "`loadPorts()` doesn't wait for the admin server, so `config.toml` is read too early."
    talk = Dialogue()
    talk.prompt("fix all three")
    talk.edit("src/ports.go")
    talk.bash("go test ./...")
    talk.reply(f"Fixed.\n\n- **Task #3**: {said}")

    assert found(talk, tmp_path) == [("cause", said)]


@pytest.mark.parametrize(
    ("above", "expected"),
    [("Found in review:", [("report", REPORT)]), ("Possible causes:", [])],
    ids=["findings", "suppositions"],
)
def test_items_of_a_list_of_suppositions_report_nothing(above, expected, tmp_path):
    talk = Dialogue()
    talk.prompt(f"{above}\n\n- {REPORT}")
    talk.edit("src/ports.go")
    talk.bash("go test ./...")

    assert found(talk, tmp_path) == expected


def test_cause_takes_the_sentence_along_that_says_what_comes_of_it(tmp_path):
    talk = Dialogue()
    talk.reply(f"{CAUSE} This means that two servers share one port.")
    talk.edit("src/ports.go")
    talk.bash("go test ./...")

    assert found(talk, tmp_path) == [("cause", f"{CAUSE} This means that two servers share one port.")]
