"""`recall checkpoint` and `recall consolidate` as a person and as cron type them."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.claude import ClaudeSession
from support.running import CAUSE, make_running, talk_of_causes

from recall.cli.app import App
from recall.cli.group import cli
from transcript.lock import FileLock
from transcript.log import Log

ENV = {"RECALL_INDEX_MODEL": "none:at-all", "RECALL_ACTOR": "human:ana"}


@pytest.fixture
def app(tmp_path: Path) -> App:
    make_running(tmp_path, talk_of_causes(CAUSE))
    return App(ENV, tmp_path / "project", tmp_path / "data")


def typed(app: App, *words: str, exits: int = 0) -> str:
    done = CliRunner().invoke(cli, [*words], obj=App(app.env, app.cwd, app.data))
    assert done.exit_code == exits, (words, done.output, done.exception)
    return done.stdout


def checkpoints(app: App) -> list[dict[str, Any]]:
    return [event.body for event in Log(app.workspace()).read() if event.type == "checkpoint"]


def test_a_checkpoint_says_what_it_made_and_the_next_one_that_nothing_is_new(app: App) -> None:
    first = typed(app, "checkpoint")
    again = typed(app, "checkpoint")

    assert first.splitlines()[0].endswith("complete: 1 candidate, 1 memory")
    assert [line.split()[0] for line in first.splitlines()[1:]] == [
        "find", "search", "draft", "verify", "write", "archive", "standing", "index", "check", "handoff", "procedures",
    ]  # fmt: skip
    assert again.startswith("nothing new since checkpoint ")


def test_a_checkpoint_after_a_task_or_a_mistake_carries_the_link(app: App) -> None:
    """LCA-4.6-05."""
    typed(app, "task", "add", "Run the hook in the repository")
    typed(app, "checkpoint", "--task", "t1")
    typed(app, "correct", Log(app.workspace()).find(checkpoint_source(app)).id, "It runs in the repository now")
    correction = next(e.id for e in Log(app.workspace()).read() if e.type == "correction")
    typed(app, "checkpoint", "--because", correction[:10])

    task = next(e.id for e in Log(app.workspace()).read() if e.type == "task")
    assert [(c["trigger"], c["link"], c["elected"]) for c in checkpoints(app)] == [
        ("task", task, True), ("mistake", correction, True),
    ]  # fmt: skip


def checkpoint_source(app: App) -> str:
    """The event that the first memory quotes."""
    return next(e.body["sources"][0]["event"] for e in Log(app.workspace()).read() if e.type == "memory.written")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--trigger", "task"], "--task T"),
        (["--trigger", "session-end", "--because", "abcdefghij"], "--because POINTER"),
        (["--task", "T1", "--because", "abcdefghij"], "one occasion"),
    ],
)
def test_an_occasion_without_its_event_is_wrong_usage(app: App, words: list[str], said: str) -> None:
    done = CliRunner().invoke(cli, ["checkpoint", *words], obj=app)

    assert done.exit_code == 2
    assert said in done.output


def test_a_hosts_triggers_can_be_given_by_hand(app: App) -> None:
    """LCA-4.6-01, LCA-4.6-02: the same checkpoint, recorded as what it is."""
    typed(app, "checkpoint", "--trigger", "pre-compact")

    assert [(c["trigger"], c["elected"]) for c in checkpoints(app)] == [("pre_compact", False)]
    assert checkpoints(app)[0]["artifacts"]["handoff"]["sha256"]  # LCA-4.6-07


def test_a_dry_run_lists_every_event_and_writes_none(app: App) -> None:
    before = app.workspace().activity.read_bytes()

    said = typed(app, "consolidate", "--dry-run")
    held = json.loads(typed(app, "consolidate", "--nightly", "--dry-run", "--json"))

    assert "would write memory.written" in " ".join(said.split())
    assert [one["type"] for one in held["consolidation"]["would_write"]][-1] == "checkpoint"
    assert app.workspace().activity.read_bytes() == before


def test_the_night_prints_a_table_and_cron_gets_its_exit_code(app: App) -> None:
    """CARD-10."""
    said = typed(app, "consolidate", "--nightly")
    lock = FileLock(app.workspace().run_dir / "consolidation.lock")
    assert lock.acquire()
    busy = typed(app, "consolidate", "--nightly")
    lock.release()
    (app.cwd / ".recall" / "config.toml").write_text("[reviewer]\nkind = 'command'\n")
    broken = CliRunner().invoke(cli, ["consolidate", "--nightly"], obj=App(app.env, app.cwd, app.data))

    assert [line[:12].strip() for line in said.splitlines()] == [
        "capture", "index", "consolidate", "verify", "project", "compact", "quality", "health", "self test",
    ]  # fmt: skip
    assert busy == ""
    assert broken.exit_code == 1


def test_the_night_keeps_its_report_and_the_next_says_what_is_new_and_what_is_mended(app: App) -> None:
    """LCA-14-07. A day keeps one report, so both later nights are held against the first."""

    def told() -> str:
        parts = json.loads(typed(app, "consolidate", "--nightly", "--json"))["parts"]
        return next(str(part["note"]) for part in parts if part["name"] == "health")

    notes = [told()]
    app.workspace().activity.chmod(0o644)
    notes.append(told())
    app.workspace().activity.chmod(0o600)
    notes.append(told())

    kept = [event for event in Log(app.workspace()).read() if event.type == "health"]
    assert [event.body["level"] for event in kept] == [notes[0].partition(";")[0]]
    assert ["new since the last night: file_modes" in note for note in notes] == [False, True, False]
    assert ["file_modes" in note for note in notes] == [False, True, False]


def test_a_record_that_holds_nothing_keeps_no_report_and_stays_broken(app: App, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    empty = App(app.env, tmp_path / "empty", tmp_path / "elsewhere")
    typed(empty, "init")

    for _ in range(2):
        typed(empty, "consolidate", "--nightly")

    assert list(Log(empty.workspace()).read()) == []
    assert "nothing is stored" in typed(empty, "health", exits=2)


def test_a_part_of_the_night_that_fails_is_exit_code_1(app: App) -> None:
    typed(app, "checkpoint")
    record = app.workspace().activity
    record.write_bytes(record.read_bytes().replace(b"IsGitHookInstalled", b"IsSvnHookInstalled", 1))

    held = json.loads(typed(app, "consolidate", "--nightly", "--full", "--json", exits=1))

    assert [part["name"] for part in held["parts"] if part["state"] == "failed"] == ["verify"]
    assert held["state"] == "failed"


def test_stats_and_status_count_what_was_decided_and_what_waits(app: App) -> None:
    """LCA-14-02."""
    typed(app, "checkpoint")

    found = json.loads(typed(app, "consolidate", "stats", "--json"))
    later = json.loads(typed(app, "consolidate", "stats", "--since", "2999-01-01", "--json"))
    status = json.loads(typed(app, "consolidate", "status", "--json"))

    assert (found["ends"]["accepted"], found["reasons"], found["finders"]) == (1, {"accepted": 1}, {"cause": 1})
    assert found["reviewers"] == {"recall-checks/1": 1}
    assert sum(later["ends"].values()) == 0
    assert (status["elected"], status["fixed"], status["waiting"], status["due"]) == (1, 0, [], [])
    assert "accepted 1" in typed(app, "consolidate", "stats")
    assert "checkpoints: 1 elected, 0 by a trigger" in typed(app, "consolidate", "status")


@pytest.mark.parametrize("command", [("checkpoint",), ("consolidate",), ("memory", "list", "--proposals")])
def test_an_edited_file_that_cannot_be_read_is_named_by_every_command_that_looks(
    app: App, command: tuple[str, ...]
) -> None:
    typed(app, "checkpoint")
    [path] = [one for one in (app.cwd / ".recall" / "memory").glob("*.md") if one.name != "MEMORY.md"]
    path.write_text(path.read_text("utf-8").replace("type: known_failure", "type: fault"), "utf-8")

    done = CliRunner().invoke(cli, [*command], obj=App(app.env, app.cwd, app.data))

    assert done.exit_code == 0
    assert f".recall/memory/{path.name} was changed by hand and cannot be read: unknown type 'fault'" in done.stderr


@pytest.mark.parametrize("command", [("consolidate",), ("consolidate", "--nightly"), ("checkpoint",)])
def test_a_dry_run_names_files_and_sessions_that_it_would_take_in_with_what_they_bring(
    app: App, tmp_path: Path, command: tuple[str, ...]
) -> None:
    typed(app, "checkpoint")
    known = [event for event in Log(app.workspace()).read() if event.type.startswith("memory.")]
    (app.cwd / "README.md").write_text("Run the tests with make check.\n", "utf-8")
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "one.md").write_text("---\ntype: project\n---\n\nThe pilot runs on the old host.\n", "utf-8")
    talk = ClaudeSession(cwd=str(app.cwd))
    talk.user("From now on, always run `make check` before you push to `main`.")
    talk.assistant("Understood.")
    talk.write(tmp_path / ".claude")
    env = {"RECALL_MEMORY_FOLDERS": str(folder), "CLAUDE_CONFIG_DIR": str(tmp_path / ".claude")}
    app = App({**app.env, **env}, app.cwd, app.data)
    data = {path: path.read_bytes() for path in app.data.rglob("*") if path.is_file() and "sqlite" not in path.name}

    shown = typed(app, *command, "--dry-run")

    assert data == {p: p.read_bytes() for p in app.data.rglob("*") if p.is_file() and "sqlite" not in p.name}
    rows = [line.split(maxsplit=4) for line in shown.splitlines() if line.startswith("  would write ")]
    assert ["memory.source", "README.md"] in [[row[2], row[4]] for row in rows]
    typed(app, *command)
    taken = [event for event in Log(app.workspace()).read() if event.session == talk.session]
    assert [row[3:] for row in rows if row[2] == "session"] == [[talk.session[:10], f"{len(taken)} events"]]
    wrote = {event.id[:10]: event.type for event in Log(app.workspace()).read() if event.type.startswith("memory.")}
    foretold = {row[3]: row[2] for row in rows if row[2].startswith("memory.")}
    assert {event.body.get("statement") for event in Log(app.workspace()).read()} >= {
        "The pilot runs on the old host.",
        "From now on, always run `make check` before you push to `main`.",
    }
    assert foretold.items() <= wrote.items()
    assert len(foretold) == len(wrote) - len(known)
