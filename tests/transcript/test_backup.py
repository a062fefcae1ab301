"""A backup is whole while others write, costs its new bytes, loses what was forgotten, and survives being killed."""

import errno
import json
import os
import shutil
import subprocess
import sys
import threading

import pytest
from support.backups import KEPT, SECRET, Killed, add, holding, killing, tree
from support.capture import NOW
from support.record import make_turns

from transcript import backup_files
from transcript.backup import MANIFEST, backup, backups, check, laid_out, read_manifest
from transcript.backup_files import FILES, Mirror
from transcript.backup_places import known, out_of_reach
from transcript.errors import BackupError, BackupNewer, LockBusy
from transcript.lock import FileLock
from transcript.log import Log
from transcript.native import NativeStore
from transcript.redaction import JOURNAL, erase
from transcript.redaction_plan import plan_text
from transcript.spool import spool
from transcript.verify import verify


def ids(log):
    return [event.id for event in log.read()]


def copied_ids(place):
    with laid_out(place, read_manifest(place)) as workspace:
        return ids(Log(workspace))


def place_of(here):
    return here[1] / here[0].workspace.id


def test_a_backup_holds_the_record_byte_by_byte_with_key_and_a_persons_files(here):
    project, place = here[0], place_of(here)

    with laid_out(place, read_manifest(place)) as workspace:
        for path in sorted(project.workspace.log_dir.rglob("*")):
            if path.is_file():
                assert (workspace.home / path.relative_to(project.workspace.home)).read_bytes() == path.read_bytes()
        assert workspace.key_path.read_bytes() == project.workspace.key_path.read_bytes()
        assert verify(workspace).ok
    named = {one.path for one in read_manifest(place).files}
    assert {"data/config.toml", "project/config.toml", "project/identity/identity.md"} <= named
    assert not any("index" in name or "run" in name or "keys" in name for name in named)
    assert read_manifest(place).verified
    assert check(place).wrong == ()


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_what_a_backup_writes_is_its_owners_alone(here):
    place = place_of(here)
    for path in (place, *place.rglob("*")):
        assert path.stat().st_mode & 0o077 == 0


def test_a_second_backup_writes_only_new_bytes(here):
    project, disk = here
    assert backup(project.workspace, disk, now=NOW).written == 0
    length = project.workspace.activity.stat().st_size
    add(project, "a")
    grown = project.workspace.activity.stat().st_size - length
    source = NativeStore(project.workspace).path("claude-code", "ab" * 8).stat().st_size

    done = backup(project.workspace, disk, now=NOW)

    assert done.written == grown + source
    assert done.removed == 0
    assert copied_ids(done.folder) == ids(Log(project.workspace))


def test_a_segment_that_was_sealed_since_is_not_copied_again(here):
    project, disk = here
    Log(project.workspace).seal_open(2, now=NOW)
    Log(project.workspace).append(make_turns(1, id="z" * 26), now=NOW)

    done = backup(project.workspace, disk, now=NOW)

    assert done.written == project.workspace.activity.stat().st_size
    assert copied_ids(done.folder) == ids(Log(project.workspace))


def test_writers_that_go_on_in_every_step_leave_a_whole_copy_of_a_beginning(here, monkeypatch):
    """Between any two files somebody appends, keeps source bytes and seals: the copy ends at the head it began with."""
    project, disk = here
    before = ids(Log(project.workspace))
    take, number = Mirror.take, iter(range(10_000))

    def busy(self, wanted):
        turn = next(number)
        add(project, f"meanwhile {turn}")
        if turn == 1:
            Log(project.workspace).seal_open(2, now=NOW)
        return take(self, wanted)

    monkeypatch.setattr(Mirror, "take", busy)

    done = backup(project.workspace, disk, now=NOW)

    assert next(number) > 3
    assert copied_ids(done.folder) == before
    assert check(done.folder).wrong == ()
    monkeypatch.undo()
    assert copied_ids(backup(project.workspace, disk, now=NOW).folder) == ids(Log(project.workspace))


def test_three_writers_at_once_do_not_disturb_it(here):
    project, disk = here
    began = len(ids(Log(project.workspace)))

    def write(who):
        for number in range(8):
            add(project, f"{who} {number}")

    writers = [threading.Thread(target=write, args=(who,)) for who in range(3)]
    for writer in writers:
        writer.start()
    places = [backup(project.workspace, disk / str(number), now=NOW).folder for number in range(2)]
    for writer in writers:
        writer.join()

    whole = ids(Log(project.workspace))
    assert len(whole) == began + 24
    for place in places:
        found = copied_ids(place)
        assert len(found) >= began
        assert found == whole[: len(found)]
        assert check(place).wrong == ()


def test_what_waits_in_the_spool_is_taken_along(here):
    project, disk = here
    [draft] = make_turns(1, id="y" * 26)
    spool(project.workspace.run_dir, draft)

    done = backup(project.workspace, disk, now=NOW)

    assert "y" * 26 in copied_ids(done.folder)


def test_what_is_forgotten_leaves_the_next_backup_to_its_last_byte(here):
    project, disk = here
    assert holding(disk, SECRET)
    erase(project.workspace, lambda: plan_text(project.workspace, SECRET), now=NOW)

    done = backup(project.workspace, disk, now=NOW)

    assert holding(disk, SECRET) == []
    assert holding(disk, KEPT)
    assert done.removed > 0
    assert check(done.folder).extra == 0


def test_an_erasure_says_which_backups_still_hold_the_words(here):
    project, disk = here
    row = f"the backup in {place_of(here)}, until the next 'recall backup {disk}'"
    backup(project.workspace, disk, now=NOW)

    assert row in plan_text(project.workspace, SECRET).unreachable
    assert [one["events"] for one in known(project.data, project.workspace.id) if one["path"] == str(place_of(here))]
    shutil.rmtree(disk)
    assert row not in out_of_reach(project.workspace)


def test_a_backup_killed_at_any_step_leaves_the_old_or_the_new_one_whole(here, tmp_path, monkeypatch):
    project, disk = here
    erase(project.workspace, lambda: plan_text(project.workspace, SECRET), now=NOW)
    add(project, "after")
    old, new = read_manifest(place_of(here)).head.seq, Log(project.workspace).head().seq
    seen, step = set(), 0
    while True:
        killed = tmp_path / f"killed {step}"
        shutil.copytree(disk, killed)
        with monkeypatch.context() as patch:
            killing(patch, step)
            try:
                backup(project.workspace, killed, now=NOW)
            except Killed:
                done = False
            else:
                done = True
        found = check(killed / project.workspace.id)
        assert found.wrong == ()
        seen.add(found.manifest.head.seq)
        if done:
            break
        again = backup(project.workspace, killed, now=NOW)
        assert again.manifest.head.seq == new
        assert check(again.folder).extra == 0
        assert holding(killed, SECRET) == []
        step += 1

    assert step > 5
    assert seen == {old, new}


def test_a_full_disk_leaves_the_old_backup(here, monkeypatch):
    project, disk = here
    add(project, "a")
    held = read_manifest(place_of(here))

    def full(descriptor, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(backup_files, "write_all", full)

    with pytest.raises(OSError, match="No space") as raised:
        backup(project.workspace, disk, now=NOW)

    assert str(raised.value.filename).startswith(str(disk))
    assert read_manifest(place_of(here)) == held
    assert check(place_of(here)).wrong == ()


def test_a_record_on_a_disk_that_became_read_only_can_still_be_saved(here, tmp_path, monkeypatch):
    project, _ = here
    opened = os.open

    def read_only(path, flags, *more, **options):
        if flags & (os.O_WRONLY | os.O_RDWR) and str(project.data) in str(path):
            raise OSError(errno.EROFS, "Read-only file system", str(path))
        return opened(path, flags, *more, **options)

    monkeypatch.setattr(os, "open", read_only)

    done = backup(project.workspace, tmp_path / "rescue", now=NOW)

    assert (done.manifest.verified, done.noted) == (True, False)
    assert copied_ids(done.folder) == ids(Log(project.workspace))


def test_a_copy_that_rotted_is_written_anew(here):
    project, disk = here
    path = place_of(here) / FILES / "id.key"
    path.write_bytes(b"x" * 32)
    assert check(place_of(here)).wrong == ("id.key was changed or cut",)

    done = backup(project.workspace, disk, now=NOW)

    assert done.written == 32
    assert check(done.folder).wrong == ()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with a name here")
@pytest.mark.parametrize("put", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/etc/passwd")])
def test_what_is_no_file_in_a_backup_is_neither_waited_for_nor_followed(here, put):
    project, disk = here
    path = place_of(here) / FILES / "id.key"
    path.unlink()
    put(path)

    assert check(place_of(here)).wrong == ("id.key is a link or no file",)
    done = backup(project.workspace, disk, now=NOW)

    assert check(done.folder).wrong == ()
    assert not os.path.lexists(path)


def test_a_damaged_record_does_not_replace_a_good_backup(here):
    project, disk = here
    add(project, "a")
    held = tree(place_of(here))
    data = bytearray(project.workspace.activity.read_bytes())
    at = data.rindex(b'"text":"turn 0"') + 9
    data[at : at + 1] = b"T"
    project.workspace.activity.write_bytes(bytes(data))

    with pytest.raises(BackupError, match=r"not whole .commit_mismatch.: the backup of 2026-12-01"):
        backup(project.workspace, disk, now=NOW)

    assert check(place_of(here)).wrong == ()
    assert tree(place_of(here))[MANIFEST] == held[MANIFEST]
    with pytest.raises(BackupError, match="kept, marked as not verified"):
        backup(project.workspace, disk / "other", now=NOW)
    assert not read_manifest(disk / "other" / project.workspace.id).verified
    assert [row["path"] for row in known(project.data, project.workspace.id)].count(str(disk / "other")) == 0


@pytest.mark.parametrize("events", [0, 2, 40])
def test_a_record_that_was_lost_and_begun_anew_does_not_replace_the_backup_of_the_old_one(here, events):
    project, disk = here
    held = tree(place_of(here))
    shutil.rmtree(project.workspace.log_dir)
    shutil.rmtree(project.workspace.run_dir)
    if events:
        Log(project.workspace).append(make_turns(events), now=NOW)

    with pytest.raises(BackupError, match=r"does not go on from; nothing was changed\. 'recall restore'"):
        backup(project.workspace, disk, now=NOW)

    assert tree(place_of(here)) == held


def test_a_record_put_back_from_an_older_copy_does_not_replace_the_newer_backup(here, tmp_path):
    project, disk = here
    older = shutil.copytree(project.workspace.home, tmp_path / "older")
    add(project, "a", "b")
    backup(project.workspace, disk, now=NOW)
    held = tree(place_of(here))
    shutil.rmtree(project.workspace.home)
    older.rename(project.workspace.home)
    add(project, "c", "d", "e")

    with pytest.raises(BackupError, match="does not go on from"):
        backup(project.workspace, disk, now=NOW)

    assert tree(place_of(here)) == held
    assert backup(project.workspace, tmp_path / "second", now=NOW).manifest.verified


def test_erasures_wait_for_a_backup_and_a_backup_for_an_unfinished_erasure(here, monkeypatch):
    project, disk = here
    monkeypatch.setattr("transcript.backup_wanted.LOCK_SECONDS", 0.0)
    with FileLock(project.workspace.run_dir / "redaction.lock"), pytest.raises(LockBusy):
        backup(project.workspace, disk, now=NOW)
    (project.workspace.run_dir / JOURNAL).write_bytes(b"{}")

    with pytest.raises(BackupError, match="an erasure was interrupted"):
        backup(project.workspace, disk, now=NOW)


def test_nothing_is_written_where_something_else_stands(here, tmp_path):
    project = here[0]
    other = tmp_path / "other" / project.workspace.id
    other.mkdir(parents=True)
    (other / "letter.txt").write_text("mine", encoding="utf-8")

    with pytest.raises(BackupError, match="is no backup of recall"):
        backup(project.workspace, tmp_path / "other", now=NOW)
    with pytest.raises(BackupError, match="lies in the data folder"):
        backup(project.workspace, project.data / "backups", now=NOW)

    assert tree(other) == {"letter.txt": b"mine"}


def test_the_project_itself_gets_no_copy_of_every_word(here):
    project, _ = here
    (project.root / "link").symlink_to(project.root / "docs")
    for target in (project.root, project.root / "docs" / "backup", project.root / "link"):
        with pytest.raises(BackupError, match="lies in the project"):
            backup(project.workspace, target, now=NOW)
    assert not (project.root / "docs").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no such files here")
def test_a_manifest_that_is_no_file_is_none(here):
    (place_of(here) / MANIFEST).unlink()
    os.mkfifo(place_of(here) / MANIFEST)

    with pytest.raises(BackupError, match=r"manifest\.json is missing"):
        check(place_of(here))


def test_a_newer_versions_backup_is_not_touched(here):
    project, disk = here
    path = place_of(here) / MANIFEST
    path.write_bytes(path.read_bytes().replace(b'"schema_version":1', b'"schema_version":2'))
    held = tree(place_of(here))

    with pytest.raises(BackupNewer, match="version 2, this program reads 1"):
        backup(project.workspace, disk, now=NOW)

    assert tree(place_of(here)) == held


def test_backups_are_found_in_a_folder_or_as_the_folder_itself(here, tmp_path):
    assert backups(here[1]) == backups(place_of(here)) == [place_of(here)]
    assert backups(tmp_path / "nowhere") == []
    assert json.loads((place_of(here) / MANIFEST).read_bytes())["schema_version"] == 1


@pytest.mark.skipif(os.name != "posix", reason="tells living processes from ended ones by POSIX's means")
def test_what_a_killed_check_left_in_the_temporary_folder_goes_with_the_next(here, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left, used = tmp_path / f"recall-check-{ended.pid}-x", tmp_path / f"recall-check-{os.getpid()}-x"
    left.mkdir()
    used.mkdir()

    assert check(place_of(here)).wrong == ()

    assert not left.exists()
    assert used.exists()


def test_a_list_of_backups_that_is_damaged_is_an_empty_one(here):
    project, _ = here
    assert len(known(project.data, project.workspace.id)) == 1
    path = project.data / "run" / "backups.json"

    undated = b'{"%s": [{"path": "/x", "at": "yesterday", "files": 1, "bytes": 1, "events": 1}]}'
    for held in (b"[", b"[]", b'{"%s": 3}', b'{"%s": [{"path": "/x"}]}', undated):
        path.write_bytes(held.replace(b"%s", project.workspace.id.encode()))
        assert known(project.data, project.workspace.id) == []
