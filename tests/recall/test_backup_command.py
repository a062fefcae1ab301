"""`recall backup` and `recall restore` as a user types them, and health before and after."""

import errno
import json
import os
import shutil
from pathlib import Path

import pytest
from support.backups import SECRET, holding, tree
from support.command import runner
from support.embedder import StubEmbedder
from support.project import exchanges, git_project, take_in

from transcript import backup_files

TALK = [
    ("Which port does the pilot use?", "Port 8080, it is in deploy.toml."),
    (f"The contact for the pilot is Robin, marker {SECRET}.", "Noted, Robin it is."),
    ("Why is the queue so slow at night?", "The backup of the warehouse holds the table lock."),
]
# What is of a time, of the harness's own files, or of what only this machine did.
OF_HERE = {
    "capture_lag",
    "file_modes",
    "recall_latency",
    "versions",
    "sources_uncaptured",
    "sources_missing",
    "near_retention",
    "harness_deletes",
    "backup_age",
    "code_edited",
    "disk_free",
    "index_share",
    "index_write_hold",
}


@pytest.fixture
def recall(capsys):
    return runner(capsys)


@pytest.fixture
def project(tmp_path, monkeypatch, capsys):
    folder = git_project(tmp_path / "shop")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("RECALL_INDEX_MODEL", "none:at-all")  # a test that wants a model says which
    take_in(folder, [exchanges(TALK)], words_only=True)
    capsys.readouterr()
    return folder


def health(recall):
    found = json.loads(recall("health", "--json").out)["signals"]
    return {one["id"]: (one["level"], one["value"]) for one in found if one["id"] not in OF_HERE}


def test_a_project_moves_to_another_machine(project, tmp_path, recall, monkeypatch):
    before, disk = health(recall), tmp_path / "disk"
    made = recall("backup", str(disk))
    assert (made.code, made.out.count("verified")) == (0, 1)
    [age] = [one for one in json.loads(recall("health", "--json").out)["signals"] if one["id"] == "backup_age"]
    assert (age["level"], age["details"]) == ("ok", [str(next(disk.iterdir()))])
    other = git_project(tmp_path / "other")
    monkeypatch.chdir(other)
    monkeypatch.setenv("RECALL_HOME", str(tmp_path / "new"))

    done = recall("restore", str(disk), "--project", str(other), "--json")

    assert done.code == 0
    assert json.loads(done.out)["root"] == str(other)
    assert recall("verify").code == 0
    after = health(recall)
    assert after["stored"] == (before["stored"][0], before["stored"][1] + 1)  # indexing it left a note in the record
    differ = {name for name, pair in after.items() if before.get(name) != pair}
    assert differ <= {"stored", "chain", "sizes", "session_growth", "index_writers"}  # the last: when it last ran
    assert {name: level for name, (level, _) in after.items()} == {name: level for name, (level, _) in before.items()}
    assert before.keys() == after.keys()
    assert "8080" in recall("query", "port of the pilot").out


def test_what_is_forgotten_does_not_come_back_with_a_backup(project, tmp_path, recall):
    """priv-forget-everywhere, 5 and 6: named while the backup has it, gone from the restored record and its index."""
    disk = tmp_path / "disk"
    assert recall("backup", str(disk)).code == 0
    forgotten = recall("forget", SECRET, "--authorised")
    assert f"out of reach: the backup in {disk}" in forgotten.out

    done = recall("restore", str(disk), "--replace")

    assert done.code == 0
    assert "erased again" in done.out
    [home] = [path for path in Path(tree_root()).iterdir() if ".before-" not in path.name]
    assert holding(home, SECRET) == []
    assert SECRET not in recall("query", "contact for the pilot").out
    assert "8080" in recall("query", "port of the pilot").out
    assert recall("backup", str(disk)).code == 0
    assert holding(disk, SECRET) == []


def tree_root():
    return f"{os.environ['RECALL_HOME']}/workspaces"


def test_a_record_here_is_not_replaced_unasked(project, tmp_path, recall):
    disk = tmp_path / "disk"
    recall("backup", str(disk))
    held = tree(Path(tree_root()))

    refused = recall("restore", str(disk))

    assert refused.code == 1
    assert "--replace sets the one here aside" in refused.err
    looked = recall("restore", str(disk), "--replace", "--dry-run")
    assert (looked.code, "would be set aside" in looked.out) == (0, True)
    assert tree(Path(tree_root())) == held


def test_a_dry_run_refuses_what_the_backup_would(project, tmp_path, recall):
    for words in (("--dry-run",), ()):
        refused = recall("backup", str(project / "copy"), *words)
        assert (refused.code, "lies in the project" in refused.err) == (1, True)
    assert not (project / "copy").exists()
    assert recall("backup", str(tmp_path / "disk"), "--dry-run").code == 0
    assert not (tmp_path / "disk").exists()


def test_damage_is_found_by_verify_only(project, tmp_path, recall):
    disk = tmp_path / "disk"
    recall("backup", str(disk))
    assert json.loads(recall("backup", str(disk), "--verify-only", "--json").out)["ok"] is True
    [key] = disk.glob("*/files/id.key")
    key.write_bytes(b"x" * 32)
    held = tree(disk)

    found = recall("backup", str(disk), "--verify-only")

    assert found.code == 1
    assert "damaged" in found.out
    assert "id.key was changed or cut" in found.out
    assert tree(disk) == held
    assert recall("backup", str(tmp_path / "empty"), "--verify-only").code == 1


def test_all_projects_have_a_folder_each_and_this_ones_is_found(project, tmp_path, recall, monkeypatch):
    second = git_project(tmp_path / "second")
    monkeypatch.chdir(second)
    recall("init")
    disk = tmp_path / "disk"
    planned = recall("backup", str(disk), "--all-projects", "--dry-run", "--json").rows()
    assert {row["root"] for row in planned[0]["backups"]} == {str(project), str(second)}
    assert not disk.exists()

    made = recall("backup", str(disk), "--all-projects", "--json").rows()[0]

    assert made["ok"] is True
    assert len(made["backups"]) == len(list(disk.iterdir())) == 2
    monkeypatch.chdir(project)
    mine = json.loads(recall("restore", str(disk), "--dry-run", "--replace", "--json").out)
    assert mine["root"] == str(project)
    monkeypatch.chdir(tmp_path)
    refused = recall("restore", str(disk))
    assert "name one of its folders" in refused.err
    assert refused.code == 1


def test_a_folder_that_cannot_be_used_keeps_no_other_project_from_its_backup(project, tmp_path, recall, monkeypatch):
    second = git_project(tmp_path / "second")
    monkeypatch.chdir(second)
    recall("init")
    made = recall("backup", str(tmp_path / "disk"), "--all-projects", "--json").rows()[0]
    [place] = [Path(row["folder"]) for row in made["backups"] if row["events"]]
    (place / "lock").unlink()
    (place / "lock").mkdir()

    done = recall("backup", str(tmp_path / "disk"), "--all-projects", "--json")

    rows = {row["workspace"]: row for row in done.rows()[0]["backups"]}
    assert done.code == 1
    assert rows.pop(place.name)["error"] == f"cannot use {place / 'lock'} (Is a directory); mend that first"
    assert [row["ok"] for row in rows.values()] == [True]
    assert str(project) in done.err


def test_a_backup_from_a_full_disk_is_whole_and_says_that_it_could_not_be_noted(project, tmp_path, recall, monkeypatch):
    def full(*given, **more):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("transcript.backup_places.write_atomic", full)

    done = recall("backup", str(tmp_path / "disk"), "--json")

    [row] = done.rows()[0]["backups"]
    assert (done.code, row["verified"], row["noted"]) == (0, True, False)
    assert "takes no note of it" in done.err
    assert recall("backup", str(tmp_path / "disk"), "--verify-only").code == 0


def test_another_data_folder_is_written_on_request(project, tmp_path, recall):
    recall("backup", str(tmp_path / "disk"))

    done = recall("restore", str(tmp_path / "disk"), "--into", str(tmp_path / "second data"))

    assert done.code == 0
    assert len(list((tmp_path / "second data" / "workspaces").glob("*/index.sqlite"))) == 1


def restored(tmp_path, recall, monkeypatch, *options):
    """Back the project up and restore it as another one with a data folder of its own."""
    recall("backup", str(tmp_path / "disk"))
    other = git_project(tmp_path / "other")
    monkeypatch.chdir(other)
    monkeypatch.setenv("RECALL_HOME", str(tmp_path / "new"))
    return recall("restore", str(tmp_path / "disk"), "--project", str(other), *options)


def test_a_persons_files_that_cannot_be_written_are_named_and_the_rest_is_restored(project, tmp_path, recall):
    """The record is in its place by then: its index is made, whatever the project's folder takes."""
    identity = project / ".recall" / "identity"
    for name in ("identity.md", "role.md"):
        identity.mkdir(parents=True, exist_ok=True)
        (identity / name).write_text(f"# {name}\n", encoding="utf-8")
    (project / ".recall" / "config.toml").write_text("[budget]\n", encoding="utf-8")
    recall("backup", str(tmp_path / "disk"))
    shutil.rmtree(project / ".recall")
    (project / ".recall").mkdir()
    identity.write_text("a file in a folder's place\n", encoding="utf-8")

    done = recall("restore", str(tmp_path / "disk"), "--replace")

    assert done.code == 1
    copies = list((tmp_path / "disk").rglob("identity.md*")) + list((tmp_path / "disk").rglob("role.md*"))
    for name, copy in zip(("identity.md", "role.md"), copies, strict=True):
        assert f"  not written: {identity / name} ({identity}: Not a directory); its copy is {copy}\n" in done.out
    assert "next: mend what keeps those from being written, then copy each to its place" in done.out
    assert (project / ".recall" / "config.toml").read_text(encoding="utf-8").startswith("[budget]\n")
    assert "8080" in recall("query", "port of the pilot", "--words-only").out
    assert recall("verify").code == 0


def test_a_full_disk_leaves_no_half_of_a_persons_file(project, tmp_path, recall, monkeypatch):
    identity = project / ".recall" / "identity" / "identity.md"
    identity.parent.mkdir(parents=True)
    identity.write_text("You are the shop's agent.\n", encoding="utf-8")
    recall("backup", str(tmp_path / "disk"))
    identity.unlink()

    def fills(source, one, descriptor):
        os.write(descriptor, b"You ")
        if one.path.endswith("identity.md"):
            raise OSError(errno.ENOSPC, "No space left on device")
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        copied(source, one, descriptor)

    copied = backup_files._copied
    monkeypatch.setattr(backup_files, "_copied", fills)
    done = recall("restore", str(tmp_path / "disk"), "--replace", "--json")

    [missed] = json.loads(done.out)["unwritten"]
    assert (done.code, missed["path"], missed["why"]) == (1, str(identity), f"{identity}: No space left on device")
    assert not identity.exists()


def vectors(recall):
    held = json.loads(recall("index", "status", "--json").out)
    return held["vectors"], held["vectors_wanted"]


def test_a_restoration_makes_the_vectors_where_the_model_is(project, tmp_path, recall, monkeypatch):
    monkeypatch.setattr("indexer.embedder.load", lambda *_, **__: StubEmbedder())

    done = restored(tmp_path, recall, monkeypatch)

    have, wanted = vectors(recall)
    assert (done.code, have) == (0, wanted)
    assert f"vectors: {wanted} passages have one, none is missing" in done.out
    assert "recall index" not in done.out


def test_a_restoration_without_the_model_says_what_is_missing_and_what_makes_it(project, tmp_path, recall, monkeypatch):
    done = restored(tmp_path, recall, monkeypatch)

    have, wanted = vectors(recall)
    assert (done.code, have) == (0, 0)
    assert f"vectors: {wanted} passages have none (the model is not at hand, as said above)" in done.out
    assert "until 'recall index' makes them" in done.out
    assert "words only: " in done.err


def test_vectors_are_left_for_later_on_request(project, tmp_path, recall, monkeypatch):
    monkeypatch.delenv("RECALL_INDEX_MODEL")
    monkeypatch.setattr("indexer.embedder.load", lambda *_, **__: pytest.fail("no model is needed"))

    done = restored(tmp_path, recall, monkeypatch, "--words-only", "--json")

    missing = json.loads(done.out)["vectors"]
    assert missing == {"made": 0, "missing": vectors(recall)[1], "why": "--words-only"}
    assert "8080" in recall("query", "port of the pilot", "--words-only").out


def test_ctrl_c_while_vectors_are_made_leaves_a_restored_record_that_is_gone_on_with(
    project, tmp_path, recall, monkeypatch
):
    interrupted = StubEmbedder(failures={"Robin": KeyboardInterrupt()})
    monkeypatch.setattr("indexer.embedder.load", lambda *_, **__: interrupted)

    done = restored(tmp_path, recall, monkeypatch, "--json")

    assert (done.code, json.loads(done.out)["restored"]) == (130, True)
    assert "restored and in its place; 'recall index' goes on" in done.err
    assert recall("verify").code == 0
    assert "8080" in recall("query", "port of the pilot", "--words-only").out
    monkeypatch.setattr("indexer.embedder.load", lambda *_, **__: StubEmbedder())
    assert recall("index").code == 0
    have, wanted = vectors(recall)
    assert have == wanted
