"""`recall doctor`: a signal explained, the safe remedies run after a yes, everything else left to a person."""

import io
import json
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import apsw
import click
import pytest
from support import health_cases
from support.claude import ClaudeSession
from support.command import runner

from health.doctor import ailing
from health.report import assess
from recall.cli import doctor, group

DAY_S = 86_400


@pytest.fixture
def well(indexed, monkeypatch, capsys) -> Path:
    """Make a project that is well: sessions taken in, indexed, with hooks, in which the test then runs."""
    folder = indexed()
    said(folder, "which port has the wagtail", "one")
    for words in (["sync"], ["index"], ["project"]):
        assert group.run(words) == 0
    capsys.readouterr()
    return folder


@pytest.fixture
def recall(capsys):
    return runner(capsys)


def said(folder: Path, prompt: str, seed: str, *, days_old: int = 0) -> None:
    session = ClaudeSession(cwd=str(folder), seed=seed)
    session.user(prompt)
    session.assistant(f"answer to {prompt}")
    file = session.write(Path(os.environ["HOME"]) / ".claude")
    if days_old:
        at = file.stat().st_mtime - days_old * DAY_S
        os.utime(file, (at, at))


def store(change: str) -> None:
    """Change the index behind recall's back."""
    (path,) = Path(os.environ["RECALL_HOME"]).glob("workspaces/*/index.sqlite")
    held = apsw.Connection(str(path))
    generation = held.execute("SELECT max(id) FROM generation").get
    held.execute(change.replace("{g}", str(generation)))
    held.close()


def level(recall, id: str) -> str:
    signals = {one["id"]: one for one in json.loads(recall("health", "--json").out)["signals"]}
    return signals[id]["level"]


def words_lost(folder: Path) -> None:
    store("INSERT INTO chunk_fts_{g}(chunk_fts_{g}) VALUES('delete-all');")


def pointer_to_no_row(folder: Path) -> None:
    store("UPDATE pointer_{g} SET chunk_id = chunk_id + 9000 WHERE chunk_id = (SELECT max(chunk_id) FROM pointer_{g});")


def no_index(folder: Path) -> None:
    for file in Path(os.environ["RECALL_HOME"]).glob("workspaces/*/index.sqlite*"):
        file.unlink()


def session_not_taken_in(folder: Path) -> None:
    said(folder, "which key has the plover's cache", "two", days_old=3)


def views_behind(folder: Path) -> None:
    views = folder / ".recall" / "views"
    old = {file: file.read_bytes() for file in views.iterdir()}
    assert group.run(["task", "add", "feed it", "--actor", "ana", "--as", "human"]) == 0
    for file, data in old.items():
        file.write_bytes(data)


def hooks_gone(folder: Path) -> None:
    assert group.run(["enable-hooks", "claude-code", "--remove", "--yes"]) == 0


FAULTS = {
    "word_index": words_lost,
    "orphan_pointers": pointer_to_no_row,
    "index": no_index,
    "capture_lag": session_not_taken_in,
    "projection_lag": views_behind,
    "hook_installed.claude-code": hooks_gone,
}


@pytest.mark.parametrize("id", FAULTS)
def test_a_planted_fault_is_mended(well, recall, capsys, id):
    FAULTS[id](well)
    capsys.readouterr()
    assert level(recall, id) in ("warn", "fail")
    told = recall("doctor", id, "--fix", "--yes")
    assert told.code == 0, told.out + told.err
    assert f"{id}: " in told.out.splitlines()[-1]
    assert told.out.splitlines()[-1].endswith("-> ok")
    assert level(recall, id) == "ok"


def test_nothing_runs_without_a_yes(well, recall, monkeypatch):
    words_lost(well)
    for typed in ("n\n", ""):
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        told = recall("doctor", "word_index", "--fix")
        assert told.code == 2
        assert "Run 'recall index rebuild'" in told.err or "use --yes" in told.err
    assert level(recall, "word_index") == "fail"


def test_a_yes_from_a_pipe_runs_it(well, recall, monkeypatch):
    words_lost(well)
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert recall("doctor", "word_index", "--fix").code == 0


def test_what_only_a_person_may_do_is_printed_and_not_run(well, recall, monkeypatch):
    """A record that ends before its head says is never mended by a program."""
    (log,) = Path(os.environ["RECALL_HOME"]).glob("workspaces/*/log/activity.jsonl")
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-1]))
    before = log.read_bytes()
    ran: list[list[str]] = []
    monkeypatch.setattr(group, "run", lambda words: ran.append(words) or 0)
    from click.testing import CliRunner

    told = CliRunner().invoke(group.cli, ["doctor", "head", "--fix", "--yes"])
    assert told.exit_code == 2
    assert "1 signal needs a person" in told.output
    assert ran == []
    assert log.read_bytes() == before


def test_a_remedy_that_does_not_mend_is_run_once(well, recall, monkeypatch):
    words_lost(well)
    ran: list[list[str]] = []
    monkeypatch.setattr(group, "run", lambda words: ran.append(words) or 1)
    from click.testing import CliRunner

    told = CliRunner().invoke(group.cli, ["doctor", "word_index", "--fix", "--yes", "--json"])
    assert told.exit_code == 2
    assert len(ran) == 1
    printed = json.loads(told.stdout)
    assert printed["ran"] == {"recall index rebuild": 1}
    assert printed["changed"] == {}


def test_ctrl_c_in_one_remedy_ends_them_all(well, recall, monkeypatch):
    words_lost(well)
    session_not_taken_in(well)
    begun: list[str] = []

    def interrupted(name):
        def raises(*given, **more):
            begun.append(name)
            raise KeyboardInterrupt

        return raises

    monkeypatch.setattr("recall.cli.sync.command.callback", interrupted("sync"))
    monkeypatch.setattr("recall.cli.index.rebuild.callback", interrupted("index rebuild"))

    told = recall("doctor", "--fix", "--yes")

    assert (told.code, begun) == (130, ["sync"])


def test_the_evidence_is_shown(well, recall):
    words_lost(well)
    told = recall("doctor", "word_index")
    assert told.code == 2
    for part in ("read from index.sqlite", "fails: > 0", "-> run 'recall index rebuild'", "doctor word_index --fix"):
        assert part in told.out


def test_without_a_name_all_that_ails_worst_first(well, recall, capsys):
    words_lost(well)
    views_behind(well)
    capsys.readouterr()
    levels = [line.split()[0] for line in recall("doctor").out.splitlines() if line and not line.startswith(" ")]
    assert levels == sorted(levels, key=["fail", "warn", "ok"].index)
    assert levels[0] == "fail"
    assert "warn" in levels


def test_a_name_nobody_knows_names_its_neighbours(well, recall):
    told = recall("doctor", "word_indx")
    assert told.code == 64
    assert "word_index" in told.err


def test_the_beginning_of_a_name_stands_for_each_harness(well, recall):
    told = recall("doctor", "hook_installed")
    assert "hook_installed.claude-code" in told.out


def test_outside_a_project_it_is_broken(tmp_path, monkeypatch, recall):
    monkeypatch.chdir(tmp_path)
    assert recall("doctor").code == 2


@pytest.mark.parametrize(
    ("name", "value", "unit", "said"),
    [
        ("age_seconds", 172_800, "count", "age 2.0 days"),
        ("at", 1_779_989_200.0, "state", "at 2026-05-28 17:26Z"),
        ("index", 53_000_000, "bytes", "index 53.0 MB"),
        ("bytes", 40_000, "count", "bytes 40.0 KB"),
        ("words", 0.6, "share", "words 60%"),
        ("passages", 1, "share", "passages 1"),
        ("kept_out_share", 0.5, "ratio", "kept out share 50%"),
        ("margin", -545_000, "tokens", "margin -545,000"),
        ("p95", 1001.5, "ms", "p95 1,001.5"),
        ("failed", ["sync", "verify"], "state", "failed sync, verify"),
        ("known", True, "tokens", "known yes"),
        ("behind", None, "version", "behind unknown"),
        ("refused", {}, "state", "refused none"),
        ("failed_step", "", "state", "failed step none"),
        (
            "writers",
            [{"writer": "a", "host": ""}, {"writer": "b", "host": "desk"}],
            "names",
            "writers writer a, host none, writer b, host desk",
        ),
        ("refused", {"used": 2}, "state", "refused used 2"),
    ],
)
def test_a_value_is_told_in_words(name, value, unit, said):
    assert doctor._part(name, value, unit) == said


def test_it_says_why_a_signal_never_fails(well, recall):
    views_behind(well)
    assert "warns: > 0; never fails (views are made anew from the record)" in recall("doctor", "projection_lag").out
    assert "a figure, never wrong (the growth and the free disk" in recall("doctor", "sizes").out
    (one,) = json.loads(recall("doctor", "sizes", "--json").out)["signals"]
    assert one["why_never"]


def every_action() -> Iterator[tuple[str, str, str]]:
    """Return each case of each signal that asks for something: its id, the level's name, what is to be done."""
    for id, case in health_cases.cases().items():
        for name in ("warn", "fail"):
            for signal in assess(getattr(case, name)).signals:
                if signal.level and (signal.id == id or signal.id.startswith(id.removesuffix("*"))):
                    yield id, name, signal.action


def test_every_command_that_a_signal_names_is_one():
    """What a person is told to type exists, with its options."""
    named = [(id, line) for id, _, action in every_action() for line in re.findall(r"'recall ([^']+)'", action)]
    assert len(named) > 100
    for id, line in named:
        group_, words, context = group.cli, shlex.split(line), click.Context(group.cli)
        while isinstance(group_, click.Group) and words and not words[0].startswith("-"):
            found = group_.get_command(context, words[0])
            assert found is not None, (id, line)
            group_, words, context = found, words[1:], click.Context(found, parent=context)
            if not isinstance(group_, click.Group):
                break
        known = {option for one in group_.params for option in (*one.opts, *one.secondary_opts)}
        assert {word.partition("=")[0] for word in words if word.startswith("--")} <= known, (id, line)


@pytest.mark.parametrize("id", ["schemas", "index", "token_estimates", "hook_last_fired.*"])
def test_nothing_is_run_where_a_person_has_to_do_something_first(id):
    """A newer file is read by no migration of this version, and a command cannot reinstall what it needs."""
    report = assess(health_cases.cases()[id].fail)
    (named,) = [one for one in ailing(report) if one.signal.id.startswith(id.removesuffix("*"))]
    assert (named.safe, named.can_run) == (True, False)
    assert f"then run '{named.command}'" in named.signal.action
