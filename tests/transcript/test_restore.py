"""A backup is put back as it was, wholly or not at all, and what was forgotten since stays forgotten."""

import errno
import json
import os
import shutil
from pathlib import Path

import pytest
from support.backups import KEPT, SECRET, add, holding, talked, tree
from support.capture import NOW, Project

from transcript import restore as restore_module
from transcript.backup import MANIFEST, backup, check, read_manifest
from transcript.backup_files import FILES
from transcript.backup_places import out_of_reach, set_aside
from transcript.canonical import canonical, sha256_hex
from transcript.errors import BackupError, LockBusy, WorkspaceError
from transcript.kept_out import keep_out, kept_out
from transcript.log import Log
from transcript.redaction import erase
from transcript.redaction_plan import plan_events, plan_retention, plan_text
from transcript.restore import restore
from transcript.roots import exclude, excluded_roots
from transcript.tombstones import FILE as TOMBSTONES
from transcript.verify import verify
from transcript.workspace import Workspace, locate


@pytest.fixture
def here(tmp_path):
    """A project and the folder of its backup."""
    project = talked(tmp_path / "here")
    return project, backup(project.workspace, tmp_path / "disk", now=NOW).folder


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A backup that nobody changes."""
    base = tmp_path_factory.mktemp("made")
    return backup(talked(base / "here").workspace, base / "disk", now=NOW).folder


@pytest.fixture
def place(made, tmp_path):
    """A copy of a backup, to be broken."""
    return shutil.copytree(made, tmp_path / "disk" / made.name)


def ids(workspace):
    return [event.id for event in Log(workspace).read()]


def elsewhere(tmp_path):
    """A folder for the project and a data folder, as on a new machine."""
    (tmp_path / "there" / "shop").mkdir(parents=True)
    return tmp_path / "there" / "shop", tmp_path / "there" / "data"


def test_a_record_is_whole_and_the_projects_in_another_place(here, tmp_path):
    project, place = here
    root, data = elsewhere(tmp_path)

    done = restore(place, data, project=root, now=NOW)

    assert locate(root, data) == done.workspace
    assert done.workspace.id == project.workspace.id
    held = {name: data for name, data in tree(project.workspace.log_dir).items() if "quarantine" not in name}
    assert tree(done.workspace.log_dir) == held
    assert verify(done.workspace).ok
    assert (root / ".recall" / "identity" / "identity.md").read_text(encoding="utf-8") == "You are the shop's agent.\n"
    assert (data / "config.toml").read_text(encoding="utf-8") == "[budget]\n"
    assert (done.erased, done.aside, done.here, done.kept) == (0, None, None, [])


def test_the_restored_record_goes_on(here, tmp_path):
    root, data = elsewhere(tmp_path)
    workspace = restore(here[1], data, project=root, now=NOW).workspace
    there = Project.__new__(Project)
    there.workspace = workspace

    add(there, "next")

    assert ids(workspace)[:-1] == ids(here[0].workspace)
    assert verify(workspace).ok


def rewritten(place, **changes):
    """Write the manifest anew with other fields, its own sum right."""
    fields = json.loads((place / MANIFEST).read_bytes())
    del fields["check"]
    fields.update(changes)
    (place / MANIFEST).write_bytes(canonical({**fields, "check": sha256_hex(canonical(fields))}) + b"\n")


def files_with(place, index, **changes):
    files = json.loads((place / MANIFEST).read_bytes())["files"]
    files[index] = {**files[index], **changes}
    return files


def head_with(place, **changes):
    return {**json.loads((place / MANIFEST).read_bytes())["head"], **changes}


def flip(place):
    path = place / FILES / "log" / "activity.000001.jsonl"
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(bytes(data))


def cut(place):
    path = place / FILES / "log" / "activity.jsonl"
    path.write_bytes(path.read_bytes()[:-1])


def link(place):
    path = place / FILES / "id.key"
    path.rename(place.parent / "id.key")
    path.symlink_to(place.parent / "id.key")


def linked_folder(place):
    path = place / FILES / "log" / "blobs"
    path.rename(place.parent / "blobs")
    path.symlink_to(place.parent / "blobs")


BROKEN = {
    "a bit flipped": (flip, "activity.000001.jsonl was changed or cut"),
    "a byte cut off": (cut, "activity.jsonl was changed or cut"),
    "a file missing": (lambda place: (place / FILES / "id.key").unlink(), "id.key is missing"),
    "a link": (link, "id.key is a link"),
    "a folder that is a link": (linked_folder, "is a link"),
    "a path outside": (lambda p: rewritten(p, files=files_with(p, 0, path="../../x")), "outside of the backup"),
    "an absolute path": (lambda p: rewritten(p, files=files_with(p, 0, path="/etc/x")), "outside of the backup"),
    "bytes from outside": (lambda p: rewritten(p, files=files_with(p, 0, stored="../lock")), "outside of the backup"),
    "half a character": (
        lambda p: rewritten(p, files=files_with(p, 0, stored="log/\ud800")),
        "outside of the backup",
    ),
    "a file we never write": (lambda p: rewritten(p, files=files_with(p, 0, path="keys/x")), "that no backup holds"),
    "a place twice": (lambda p: rewritten(p, files=files_with(p, 0, path="id.key")), "that no backup holds"),
    "another workspace's name": (lambda p: rewritten(p, workspace="../x"), "whose workspace"),
    "a workspace that is a number": (lambda p: rewritten(p, workspace=-1), "whose workspace"),
    "another workspace's record": (
        lambda p: rewritten(p, workspace="00000000-0000-4000-8000-000000000000"),
        "foreign_workspace",
    ),
    "a manifest cut": (lambda p: (p / MANIFEST).write_bytes(b'{"files":'), "cannot be read"),
    "a manifest edited": (
        lambda p: (p / MANIFEST).write_bytes((p / MANIFEST).read_bytes().replace(b'"seq":', b'"seq":1')),
        "was changed or damaged",
    ),
    "no time": (lambda p: rewritten(p, at=None), "was changed or damaged"),
    "no moment": (lambda p: rewritten(p, at="9999-99-99T00:00:00Z"), "was changed or damaged"),
    "sizes that are words": (lambda p: rewritten(p, files=files_with(p, 0, size="7")), "was changed or damaged"),
    "less than nothing": (lambda p: rewritten(p, files=files_with(p, 0, size=-1)), "was changed or damaged"),
    "more than any disk": (lambda p: rewritten(p, files=files_with(p, 0, size=10**30)), "was changed or damaged"),
    "names that are none": (lambda p: rewritten(p, files=files_with(p, 0, stored=[1])), "was changed or damaged"),
    "an end that is none": (lambda p: rewritten(p, head=head_with(p, segment="1")), "was changed or damaged"),
    "segments that it lacks": (lambda p: rewritten(p, head=head_with(p, segment=10**9)), "was changed or damaged"),
    "an end nobody reaches": (lambda p: rewritten(p, head=head_with(p, segment=10**30)), "was changed or damaged"),
    "no manifest": (lambda place: (place / MANIFEST).unlink(), "holds no backup"),
    "a newer version": (
        lambda p: (p / MANIFEST).write_bytes(
            (p / MANIFEST).read_bytes().replace(b'"schema_version":1', b'"schema_version":2')
        ),
        "version 2, this program reads 1",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_not_whole_is_refused_before_a_byte_is_written(place, tmp_path, name):
    root, data = elsewhere(tmp_path)
    breaks, says = BROKEN[name]
    breaks(place)
    held = tree(place)

    with pytest.raises(BackupError, match=says):
        restore(place, data, project=root, now=NOW)

    assert not data.exists()
    assert tree(root) == {}
    assert tree(place) == held


@pytest.mark.skipif(os.name != "posix", reason="names that only some systems take")
def test_a_persons_files_of_any_name_come_back_and_a_link_is_named(tmp_path):
    project, (root, data) = talked(tmp_path / "here"), elsewhere(tmp_path)
    own = project.root / ".recall" / "identity"
    for name in (b"two\nlines.md", b"no\xffword.md", "a\u200d\U0001f469.md".encode()):
        (own / os.fsdecode(name)).write_bytes(name)
    (own / "elsewhere.md").symlink_to("/etc/hostname")
    (own / "C:x.md").write_text("a drive, where drives have letters")

    made = backup(project.workspace, tmp_path / "disk", now=NOW)

    assert made.untaken == (str(own / "C:x.md"), str(own / "elsewhere.md"))
    restore(made.folder, data, project=root, now=NOW)
    assert tree(root / ".recall" / "identity") == {
        name: held for name, held in tree(own).items() if name not in ("C:x.md", "elsewhere.md")
    }


def test_two_records_set_aside_within_one_second_are_both_kept(here, tmp_path):
    root, data = elsewhere(tmp_path)
    restore(here[1], data, project=root, now=NOW)

    aside = [restore(here[1], data, project=root, replace=True, now=NOW).aside for _ in range(2)]

    assert aside[0] != aside[1]
    assert all(verify(Workspace(here[1].name, path)).ok for path in aside)
    assert set(set_aside(data, here[1].name)) == set(aside)


def test_what_a_killed_backup_left_is_not_restored(here, tmp_path):
    root, data = elsewhere(tmp_path)
    (here[1] / FILES / "log" / "blobs" / "unknown").write_bytes(b"left over")
    with (here[1] / FILES / "log" / "activity.jsonl").open("ab") as file:
        file.write(b"half a line")

    workspace = restore(here[1], data, project=root, now=NOW).workspace

    assert check(here[1]).extra == 1
    assert ids(workspace) == ids(here[0].workspace)
    assert verify(workspace).ok


def test_a_record_that_is_here_stays_until_it_may_be_set_aside(here):
    project, place = here
    add(project, "since")
    held = tree(project.data)

    with pytest.raises(BackupError, match=r"a record of .* events is here.*--replace"):
        restore(place, project.data, now=NOW)
    assert restore(place, project.data, replace=True, dry_run=True, now=NOW).here == Log(project.workspace).head().seq
    assert tree(project.data) == held

    older, newer = read_manifest(place).head.seq, ids(project.workspace)
    done = restore(place, project.data, replace=True, now=NOW)

    assert Log(done.workspace).head().seq == older
    assert done.aside == set_aside(project.data, project.workspace.id)[0]
    assert (done.aside / "log" / "activity.jsonl").read_bytes() == held[
        f"workspaces/{project.workspace.id}/log/activity.jsonl"
    ]
    assert ids(done.workspace) == newer[:older]
    assert any(str(done.aside) in line for line in out_of_reach(done.workspace))


def forgotten_by(how):
    def text(workspace):
        return plan_text(workspace, SECRET)

    def events(workspace):
        return plan_events(
            workspace, {event.id for event in Log(workspace).read() if SECRET in Log(workspace).text(event)}
        )

    def retention(workspace):
        return plan_retention(workspace, NOW)

    return {"forget": text, "redact": events, "retention": retention}[how]


@pytest.mark.parametrize("how", ["forget", "redact", "retention"])
def test_what_was_erased_after_the_backup_is_erased_in_it_before_it_is_put_in_place(here, how):
    """priv-forget-everywhere, 5."""
    project, place = here
    assert holding(place, SECRET)
    erase(project.workspace, lambda: forgotten_by(how)(project.workspace), now=NOW)
    emptied = [event.id for event in Log(project.workspace).read() if not event.body]

    done = restore(place, project.data, replace=True, now=NOW)

    assert done.erased >= len(emptied) > 0
    assert holding(done.workspace.home, SECRET) == []
    assert (holding(done.workspace.home, KEPT) == []) == (how == "retention")
    assert {event.id for event in Log(done.workspace).read() if not event.body} >= set(emptied)
    assert verify(done.workspace).ok
    again = project.sync(workspace=done.workspace)
    assert again is not None
    assert holding(done.workspace.log_dir, SECRET) == []


def test_hashes_alone_are_enough_where_the_record_here_is_lost(here):
    project, place = here
    erase(project.workspace, lambda: plan_text(project.workspace, SECRET), now=NOW)
    for path in project.workspace.log_dir.rglob("*"):
        if path.is_file() and path.name != TOMBSTONES:
            path.unlink()

    done = restore(place, project.data, replace=True, now=NOW)

    assert done.erased > 0
    assert holding(done.workspace.home, SECRET) == []
    assert holding(done.workspace.home, KEPT)
    assert verify(done.workspace).ok


def test_a_restoration_cut_off_between_its_two_renames_still_forgets_when_it_is_run_again(here, monkeypatch):
    project, place = here
    erase(project.workspace, lambda: plan_text(project.workspace, SECRET), now=NOW)
    project.workspace.home.rename(project.workspace.home.with_name(f"{project.workspace.id}.before-20261201T120000Z"))

    done = restore(place, project.data, now=NOW)

    assert holding(done.workspace.home, SECRET) == []


def test_hashes_under_another_key_are_not_passed_over(here):
    project, place = here
    erase(project.workspace, lambda: plan_text(project.workspace, SECRET), now=NOW)
    project.workspace.key_path.write_bytes(b"k" * 32)
    held = tree(project.data)

    with pytest.raises(BackupError, match="was made anew from an export"):
        restore(place, project.data, replace=True, now=NOW)

    assert tree(project.data) == held


@pytest.mark.parametrize("at", ["copy", "rename"])
def test_a_full_disk_or_a_failed_rename_leaves_what_is_here(here, monkeypatch, at):
    project, place = here
    held = tree(project.data)
    real = Path.rename

    def full(descriptor, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    def refused(self, target):
        if ".restoring-" in str(self):
            raise OSError(errno.EACCES, "Permission denied")
        return real(self, target)

    if at == "copy":
        monkeypatch.setattr("transcript.backup_files.write_all", full)
    else:
        monkeypatch.setattr(Path, "rename", refused)

    with pytest.raises(OSError, match=r"No space|Permission"):
        restore(place, project.data, replace=True, now=NOW)

    assert tree(project.data) == held


def test_of_two_restorations_at_once_the_second_waits_and_touches_nothing(here, tmp_path, monkeypatch):
    root, data = elsewhere(tmp_path)
    stage, refused = restore_module._stage, []

    def meanwhile(place, manifest, staged):
        stage(place, manifest, staged)
        with pytest.raises(LockBusy) as busy:
            restore(place, data, project=root, now=NOW)
        refused.append(str(busy.value))

    monkeypatch.setattr(restore_module, "_stage", meanwhile)
    monkeypatch.setattr(restore_module, "LOCK_SECONDS", 0.0)

    done = restore(here[1], data, project=root, now=NOW)

    assert len(refused) == 1
    assert refused[0].startswith("restore.lock is held by process")
    assert ids(done.workspace) == ids(here[0].workspace)
    assert verify(done.workspace).ok


def test_a_folder_with_a_record_of_its_own_is_not_taken(here, tmp_path):
    other = talked(tmp_path / "other")
    held = tree(other.data)

    with pytest.raises(WorkspaceError, match="has a record of its own"):
        restore(here[1], other.data, project=other.root, now=NOW)

    assert tree(other.data) == held


def test_without_its_project_a_restoration_asks_for_one(here, tmp_path):
    project, place = here
    shutil.rmtree(project.root)

    with pytest.raises(BackupError, match="--project PATH"):
        restore(place, tmp_path / "data", now=NOW)

    assert not (tmp_path / "data").exists()


def test_a_persons_files_are_given_back_only_where_none_stands(here, tmp_path):
    root, data = elsewhere(tmp_path)
    data.mkdir()
    (data / "config.toml").write_text("# mine\n", encoding="utf-8")

    done = restore(here[1], data, project=root, now=NOW)

    assert (data / "config.toml").read_text(encoding="utf-8") == "# mine\n"
    assert done.kept == [str(data / "config.toml")]
    assert str(root / ".recall" / "identity" / "identity.md") in done.settings


def test_what_was_kept_out_stays_out(tmp_path):
    project = talked(tmp_path / "here")
    exclude(tmp_path / "private", project.data)
    keep_out(str(project.data), b"session-of-before", "opted_out")
    place = backup(project.workspace, tmp_path / "disk", now=NOW).folder
    root, data = elsewhere(tmp_path)
    data.mkdir()
    exclude(tmp_path / "also", data)

    restore(place, data, project=root, now=NOW)

    assert excluded_roots(data) == sorted([str(tmp_path / "also"), str(tmp_path / "private")])
    assert kept_out(data) == {"session-of-before": "opted_out"}
