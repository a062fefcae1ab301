"""Freshness: an older hook says so, a moved or edited launcher is named, and every file states its schema."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import apsw
import pytest
from support.hooks import SITE, project
from support.payloads import raw
from support.record import NOW
from support.story import story

from health.facts import HookFacts
from health.gather_freshness import edited, freshness_facts
from health.signal import Level
from health.signals.freshness import code_behind, code_edited, code_mixed, hook_version, schemas
from indexer.store import Store
from recall import freshness, launcher
from recall.cli.app import App
from recall.harness import Payload, recognise
from recall.hook_start import HookStart
from recall.version import VERSION
from transcript.log import Log
from transcript.paths import secure_dir
from transcript.workspace import Workspace, init

GIT = shutil.which("git")
needs_git = pytest.mark.skipif(GIT is None, reason="git is not installed")


def copy_of(folder: Path, version: str) -> Path:
    """A folder that holds another version of the program, as far as versions are read."""
    package = folder / "recall"
    package.mkdir(parents=True)
    (package / "version.py").write_text(f'"""The version."""\n\nVERSION = "{version}"\n__version__ = VERSION\n')
    (package / "client.py").write_text("")
    return folder


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    subprocess.run([GIT, "-C", folder, *who, *words], check=True, capture_output=True)


@pytest.fixture
def workspace(data: Path) -> Workspace:
    return init(project(), data)


@pytest.mark.parametrize(
    ("older", "newer"),
    [("0.9", "0.10"), ("1.0", "1.0.1"), ("1.0rc1", "1.0"), ("1.0.dev3", "1.0a1"), ("1.0", "1.0.post1"), ("", "0.1"),
     ("1.0a9", "1.0a10"), ("0.99.99", "v1")],
)  # fmt: skip
def test_versions_sort_as_their_numbers_do(older, newer):
    assert freshness.ordered(older) < freshness.ordered(newer)
    assert freshness.ordered("1.0") == freshness.ordered("1.0.0")


def test_the_newest_copy_that_ran_is_remembered_and_no_older_one_takes_its_place(tmp_path):
    data, new, old = secure_dir(tmp_path / "data"), copy_of(tmp_path / "new", "9.1"), copy_of(tmp_path / "old", "9.0")

    freshness.note_newest(data, version="9.0", site=old)
    freshness.note_newest(data, version="9.1", site=new)
    freshness.note_newest(data, version="9.0", site=old)

    assert freshness.newest(data) == ("9.1", str(new))
    assert freshness.behind(data, version="9.1", site=new) == ""
    assert "9.0" in freshness.behind(data, version="9.0", site=old)


def test_a_copy_that_was_put_back_or_removed_is_no_longer_the_newest(tmp_path):
    data, new, old = secure_dir(tmp_path / "data"), copy_of(tmp_path / "new", "9.1"), copy_of(tmp_path / "old", "9.0")
    freshness.note_newest(data, version="9.1", site=new)

    assert freshness.behind(data, version="9.0", site=new) == ""  # put back in its place
    freshness.note_newest(data, version="9.0", site=new)
    assert freshness.newest(data)[0] == "9.0"

    freshness.note_newest(data, version="9.1", site=new)
    shutil.rmtree(new)
    assert freshness.behind(data, version="9.0", site=old) == ""


@pytest.mark.parametrize("text", ["", "\t\n", "no version\t/", "9.1", "9.1\t/nowhere", "\udcff9.1\t/", "9" * 5000])
def test_a_damaged_note_says_nothing_and_is_replaced(text, tmp_path):
    data = secure_dir(tmp_path / "data")
    (data / freshness.NEWEST).write_text(text, errors="surrogateescape")

    assert freshness.behind(data) == ""
    freshness.note_newest(data)
    assert freshness.newest(data) == (VERSION, str(SITE))


def test_no_folder_is_made_to_remember_a_copy(tmp_path):
    freshness.note_newest(tmp_path / "nowhere")

    assert not (tmp_path / "nowhere").exists()


def test_every_command_notes_the_copy_it_runs_from(data, monkeypatch):
    monkeypatch.setenv("RECALL_HOME", str(data))

    App.here()

    assert freshness.newest(data) == (VERSION, str(SITE))


def begin(workspace: Workspace, data: Path) -> str:
    """What a session that starts is told."""
    given = recognise("claude-code", raw("claude-code", "SessionStart", cwd=str(project())))
    assert isinstance(given, Payload)
    begun = HookStart(given, data, call="", now=NOW, started=0.0)
    found = begun.answer(len, os.environ)
    return json.loads(found)["hookSpecificOutput"]["additionalContext"] if found else ""


def test_a_hook_older_by_one_version_says_so_when_a_session_starts(workspace, data, tmp_path):
    """LCA-D-01."""
    newer = copy_of(tmp_path / "newer", "99.0")
    freshness.note_newest(data, version="99.0", site=newer)

    told = begin(workspace, data)

    assert f"recall {VERSION} in {SITE}, while 99.0 ran from {newer}" in told
    assert "recall enable-hooks" in told


def test_the_newest_hook_says_nothing_of_its_version(workspace, data):
    freshness.note_newest(data)

    assert "old code" not in begin(workspace, data)


# -- the report ----------------------------------------------------------------------------


def test_an_older_launcher_is_behind_and_mixed_with_this_command(workspace, data, tmp_path):
    """LCA-6.1-06, LCA-D-01H: a launcher that is not what this version writes fails."""
    site = copy_of(tmp_path / "old", "0.0.9")
    path = launcher.write(data)
    path.write_text(launcher.render(data, python="/bin/sh", site=site, version="0.0.9"))

    found = freshness_facts(workspace, data, "")

    assert (found.launcher, found.launcher_site, found.behind) == ("0.0.9", str(site), 1)
    assert code_behind(found).level is Level.WARN
    assert hook_version(HookFacts("claude-code", installed=True), found).level is Level.FAIL
    mixed = code_mixed(found)
    assert mixed.level is Level.WARN
    assert "0.0.9" in mixed.text
    assert VERSION in mixed.text


def test_a_launcher_of_a_removed_environment_is_named(workspace, data, tmp_path):
    site = copy_of(tmp_path / "moved", VERSION)
    launcher.write(data).write_text(launcher.render(data, python="/bin/sh", site=site, version=VERSION))
    shutil.rmtree(site)

    found = code_mixed(freshness_facts(workspace, data, ""))

    assert found.level is Level.FAIL
    assert any(str(site) in detail for detail in found.details)


def test_an_edited_launcher_is_seen_and_an_untouched_one_is_not(workspace, data):
    """LCA-6.1-06."""
    path = launcher.write(data)
    assert not freshness_facts(workspace, data, "").launcher_edited

    path.write_text(path.read_text() + "curl example.org\n")

    assert freshness_facts(workspace, data, "").launcher_edited


@pytest.mark.parametrize("windows", [False, True], ids=["sh", "cmd"])
def test_a_launcher_states_what_it_starts(windows, tmp_path, monkeypatch):
    data, site = tmp_path / "my data", tmp_path / "it's 100% here"
    text = launcher.render(data, python="/opt/p y/python", site=site, version="1.2", windows=windows)
    path = launcher.launcher_path(data)
    path.parent.mkdir(parents=True)
    path.write_text(text, newline="")

    found = launcher.stated(data)

    assert found == launcher.Stated("1.2", "/opt/p y/python", str(site / "recall" / "client.py"))
    assert found.site == str(site)


@pytest.mark.parametrize(
    ("text", "behind"),
    [("99.0\n", 1), (f"{VERSION}\n", 0), ('[project]\nname = "x"\nversion = "99.0"\n', 1), ("0.0.1", 0)],
)
def test_a_pinned_version_is_compared_with(text, behind, workspace, data, tmp_path):
    """LCA-10.6-01."""
    pin = tmp_path / "pin"
    pin.write_text(text)

    assert freshness_facts(workspace, data, str(pin)).behind == behind


@pytest.mark.parametrize("canon", ["no/such/ref", "--help", "v9;x", "{pin}", "{absent}"])
def test_an_unknown_canon_is_said_to_be_unknown(canon, workspace, data, tmp_path):
    (tmp_path / "pin").write_text("nothing that is a version\n")
    canon = canon.format(pin=tmp_path / "pin", absent=tmp_path / "absent")

    found = code_behind(freshness_facts(workspace, data, canon))

    assert found.level is Level.OK
    assert (found.value["canonical_version"], found.value["behind"]) == ("unknown", None)
    assert canon in found.text or str(SITE) in found.text


def test_without_a_canon_the_canonical_version_is_unknown(workspace, data):
    """LCA-10.6-01."""
    value = code_behind(freshness_facts(workspace, data, "")).value

    assert value == {"code_version": VERSION, "canonical_version": "unknown", "behind": None}


@needs_git
def test_a_checkout_is_as_many_commits_behind_as_its_ref_is_ahead(workspace, data, tmp_path):
    site = copy_of(tmp_path / "site", VERSION)
    git(site, "init", "-q", "-b", "main")
    for number in range(3):
        (site / "recall" / "one.py").write_text(f"ONE = {number}\n")
        git(site, "add", ".")
        git(site, "commit", "-q", "-m", f"{number}")
    git(site, "update-ref", "refs/remotes/origin/main", "main")
    git(site, "reset", "-q", "--hard", "main~2")

    found = freshness_facts(workspace, data, "origin/main", site=site)

    assert found.behind == 2
    assert "2 commits behind origin/main" in code_behind(found).text


@needs_git
def test_an_edited_checkout_is_named_where_hooks_run_it(workspace, data, tmp_path):
    site = copy_of(tmp_path / "site", VERSION)
    git(site, "init", "-q")
    git(site, "add", ".")
    git(site, "commit", "-q", "-m", "all")
    assert edited(site) == ()

    (site / "recall" / "client.py").write_text("print()\n")

    assert edited(site) == ("recall/client.py",)
    launcher.write(data).write_text(launcher.render(data, python="/bin/sh", site=site, version=VERSION))
    told = code_edited(freshness_facts(workspace, data, ""))
    assert (told.level, told.details) == (Level.WARN, ("recall/client.py",))
    unhooked = code_edited(freshness_facts(workspace, tmp_path / "other", "", site=site))
    assert unhooked.level is Level.OK


def test_a_file_that_is_not_as_the_wheel_brought_it_is_named(tmp_path):
    site = copy_of(tmp_path / "site", VERSION)
    named = site / "lca_recall-0.1.0.dist-info"
    named.mkdir()
    (named / "METADATA").write_text("Metadata-Version: 2.1\nName: lca-recall\nVersion: 0.1.0\n")
    whole = "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"  # of no bytes
    (named / "RECORD").write_text(f"recall/client.py,sha256={whole},0\nrecall/cli/x.py,sha256={whole},0\n")
    (site / "recall" / "cli").mkdir()
    (site / "recall" / "cli" / "x.py").write_text("")
    assert edited(site) == ()

    (site / "recall" / "client.py").write_text("import this\n")
    (site / "recall" / "cli" / "x.py").unlink()

    assert edited(site) == ("recall/client.py", "recall/cli/x.py")


def test_where_neither_git_nor_a_wheel_tells_nothing_is_said_to_be_edited(tmp_path):
    assert edited(copy_of(tmp_path / "site", VERSION)) is None


# -- schemas -------------------------------------------------------------------------------


@pytest.fixture
def held(workspace: Workspace) -> Workspace:
    Log(workspace).append(story(), now=NOW)
    Store.open(workspace.index_path, "w").close()
    return workspace


def read(workspace: Workspace, data: Path) -> tuple[Level, list[str]]:
    found = schemas(freshness_facts(workspace, data, ""))
    return found.level, list(found.value)


def write_record(workspace: Workspace, data: Path, version: int) -> None:
    path = workspace.activity
    path.write_bytes(path.read_bytes()[: -len(b'"v":1}\n')] + f'"v":{version}}}\n'.encode())


def write_index(workspace: Workspace, data: Path, version: int) -> None:
    connection = apsw.Connection(str(workspace.index_path))
    connection.execute("UPDATE meta SET value = ? WHERE key = 'schema'", (str(version),))
    connection.close()


def write_roots(workspace: Workspace, data: Path, version: int) -> None:
    path = data / "roots.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "version": version}))


def test_files_of_this_version_are_well(held, data):
    assert read(held, data) == (Level.OK, [])


@pytest.mark.parametrize(
    ("name", "write"), [("record", write_record), ("index.sqlite", write_index), ("roots.json", write_roots)]
)
def test_a_newer_schema_fails_by_name_and_an_older_one_warns(name, write, held, data):
    write(held, data, 9)
    assert read(held, data) == (Level.FAIL, [name])

    write(held, data, 0)
    assert read(held, data) == (Level.WARN, [name])


@pytest.mark.parametrize("name", ["standing.json", "facets.json", "capture.json", "calibration.json"])
def test_a_derived_file_fails_when_newer_and_is_made_anew_when_older(name, held, data):
    folder = held.home if name == "calibration.json" else secure_dir(held.run_dir)

    (folder / name).write_text('{"version": 99}')
    assert read(held, data) == (Level.FAIL, [name])

    (folder / name).write_text('{"version": -1}')
    assert read(held, data) == (Level.OK, [])


def test_a_memory_of_another_schema_fails_by_name(held, data):
    """LCA-6.1-07."""
    folder = project() / ".recall" / "memory" / "past"
    folder.mkdir(parents=True)
    (folder / "new.md").write_text("---\nschema: recall/memory/2\nid: x\n---\nwords\n")
    (folder / "known.md").write_text("---\nschema: recall/memory/1\nid: y\n---\nwords\n")
    (folder / "foreign.md").write_text("---\nname: theirs\n---\nwords\n")

    assert read(held, data) == (Level.FAIL, ["memory/new.md"])
    (folder / "new.md").write_text("---\nschema: recall/memory/0\nid: x\n---\nwords\n")
    assert read(held, data) == (Level.FAIL, ["memory/new.md"])  # the loader reads none but its own


@pytest.mark.parametrize("text", ["{", "[]", '{"version": "two"}', "[" * 100_000])
def test_a_file_of_no_known_version_fails_by_name(text, held, data):
    (data / "roots.json").write_text(text)

    assert read(held, data) == (Level.FAIL, ["roots.json"])
