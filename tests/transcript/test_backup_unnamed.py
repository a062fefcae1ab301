"""A backup's folder whose manifest cannot be read: nothing in it goes before another backup there is whole."""

import shutil

import pytest
from support.backups import SECRET, Killed, add, holding, killing, talked, tree
from support.capture import NOW
from support.record import make_turns

from transcript import backup_files
from transcript.backup import MANIFEST, backup, check
from transcript.backup_files import FILES
from transcript.errors import BackupError, LockBusy
from transcript.log import Log
from transcript.redaction import erase
from transcript.redaction_plan import plan_text


def place_of(here):
    return here[1] / here[0].workspace.id


def damage(place):
    """Flip a byte of a backup's manifest and return the bytes that are there then."""
    data = bytearray((place / MANIFEST).read_bytes())
    data[len(data) // 2] ^= 1
    (place / MANIFEST).write_bytes(bytes(data))
    return bytes(data)


def held_still(place, before):
    """Say whether each file still begins with the bytes that it had."""
    now = tree(place)
    return all(now.get(name, b"").startswith(data) for name, data in before.items())


def test_a_backup_with_a_damaged_manifest_loses_no_byte_before_the_next_one_is_whole(here, tmp_path, monkeypatch):
    """Its files may be the only copy of a record whose own disk fails while the next backup is made."""
    project, disk = here
    damage(place_of(here))
    erase(project.workspace, lambda: plan_text(project.workspace, SECRET), now=NOW)
    add(project, "after")
    step, before = 0, tree(place_of(here) / FILES)
    while True:
        killed = tmp_path / f"killed {step}"
        shutil.copytree(disk, killed)
        place = killed / project.workspace.id
        with monkeypatch.context() as patch:
            killing(patch, step)
            try:
                backup(project.workspace, killed, now=NOW)
            except Killed:
                done = False
            else:
                done = True
        try:
            assert check(place).wrong == ()
        except BackupError:
            assert held_still(place / FILES, before)
        if done:
            break
        again = backup(project.workspace, killed, now=NOW)
        assert check(again.folder).extra == 0
        assert holding(killed, SECRET) == []
        step += 1

    assert step > 5


def test_a_damaged_manifest_costs_only_new_bytes(here):
    project, disk = here
    size = check(place_of(here)).manifest.size
    damage(place_of(here))
    add(project, "new")

    made = backup(project.workspace, disk, now=NOW)

    assert made.manifest.verified
    assert 0 < made.written < size / 3
    assert check(made.folder).wrong == ()


def test_a_first_backup_that_was_killed_is_gone_on_with(here, tmp_path, monkeypatch):
    project = here[0]
    whole = backup(project.workspace, tmp_path / "other", now=NOW).written
    with monkeypatch.context() as patch:
        patch.setattr("transcript.backup.write_atomic", killed_before)
        with pytest.raises(Killed):
            backup(project.workspace, tmp_path / "first", now=NOW)

    made = backup(project.workspace, tmp_path / "first", now=NOW)

    assert made.written < whole / 10
    assert (check(made.folder).wrong, check(made.folder).extra) == ((), 0)


def killed_before(*_args):
    raise Killed


def test_a_damaged_record_leaves_a_backup_with_a_damaged_manifest_as_it_is(here):
    project, disk = here
    manifest, before = damage(place_of(here)), tree(place_of(here) / FILES)
    add(project, "a")
    good = project.workspace.activity.read_bytes()
    at = good.rindex(b'"text":"turn 0"') + 9
    project.workspace.activity.write_bytes(good[:at] + b"T" + good[at + 1 :])

    with pytest.raises(BackupError, match=r"not whole .commit_mismatch.: what lies in .* stays"):
        backup(project.workspace, disk, now=NOW)

    assert (place_of(here) / MANIFEST).read_bytes() == manifest
    assert set(tree(place_of(here) / FILES)) == set(before)
    assert held_still(place_of(here) / FILES, before)
    project.workspace.activity.write_bytes(good)
    assert backup(project.workspace, disk, now=NOW).manifest.verified


@pytest.mark.parametrize("what", ["damaged", "missing"])
def test_a_record_begun_anew_does_not_replace_a_backup_whose_manifest_cannot_be_read(here, what):
    project, disk = here
    damage(place_of(here)) if what == "damaged" else (place_of(here) / MANIFEST).unlink()
    held = tree(place_of(here))
    shutil.rmtree(project.workspace.log_dir)
    shutil.rmtree(project.workspace.run_dir)
    Log(project.workspace).append(make_turns(40), now=NOW)

    with pytest.raises(BackupError, match=r"does not go on from; nothing was changed\. Its manifest"):
        backup(project.workspace, disk, now=NOW)

    assert tree(place_of(here)) == held


def test_what_an_unverified_backup_does_not_name_stays_until_one_is_verified(here):
    """A damaged record beside a lost manifest: the marked copy of the one takes nothing of the other away."""
    project, disk = here
    (place_of(here) / MANIFEST).unlink()
    before = tree(place_of(here) / FILES)
    good = project.workspace.activity.read_bytes()
    at = good.rindex(b'"text":"turn 0"') + 9
    project.workspace.activity.write_bytes(good[:at] + b"T" + good[at + 1 :])

    for kept in ("it was kept, marked as not verified", "the backup of .* stays"):
        with pytest.raises(BackupError, match=kept):
            backup(project.workspace, disk, now=NOW)
        assert held_still(place_of(here) / FILES, before)

    project.workspace.activity.write_bytes(good)
    made = backup(project.workspace, disk, now=NOW)
    assert (made.manifest.verified, check(made.folder).extra) == (True, 0)


def test_another_workspaces_backup_is_not_written_over(here, tmp_path):
    project, disk = here
    other = talked(tmp_path / "there")
    place_of(here).rename(disk / other.workspace.id)
    held = tree(disk)

    with pytest.raises(BackupError, match=f"holds the backup of workspace {project.workspace.id}; name another folder"):
        backup(other.workspace, disk, now=NOW)

    assert tree(disk) == held


def test_nobody_begins_a_backup_while_another_removes_old_files(here, monkeypatch):
    """It would take the files of the one that began for old ones of its own."""
    project, disk = here
    monkeypatch.setattr("transcript.backup.LOCK_SECONDS", 0.0)
    real, met = backup_files.purge, []

    def meeting(files, kept):
        with pytest.raises(LockBusy):
            backup(project.workspace, disk, now=NOW)
        met.append(1)
        return real(files, kept)

    monkeypatch.setattr("transcript.backup.purge", meeting)
    backup(project.workspace, disk, now=NOW)

    assert len(met) == 2
