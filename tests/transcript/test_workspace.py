import hashlib
import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from support.record import NOW, make_draft

from transcript.errors import WorkspaceError
from transcript.log import Log
from transcript.roots import read_table
from transcript.verify import verify
from transcript.workspace import (
    adopt,
    exclude,
    excluded,
    init,
    locate,
    open_workspace,
    owner_root,
    user_workspace,
    workspaces,
)

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git builds the fixtures")


def git(*args, cwd):
    command = ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always", *args]
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def data(tmp_path):
    return tmp_path / "data"


@pytest.fixture
def repo(tmp_path):
    """A repository with one commit."""
    folder = tmp_path / "repo"
    folder.mkdir()
    git("init", "-q", cwd=folder)
    (folder / "a.txt").write_text("a")
    git("add", ".", cwd=folder)
    git("commit", "-q", "-m", "a", cwd=folder)
    return folder


@pytest.fixture
def plain(tmp_path):
    """A project without git."""
    folder = tmp_path / "plain"
    folder.mkdir()
    return folder


def tree(*folders):
    """Return the bytes of every file below folders."""
    return {path: path.read_bytes() for folder in folders for path in sorted(Path(folder).rglob("*")) if path.is_file()}


def remember(workspace, name="x"):
    Log(workspace).append([make_draft(name)], now=NOW)


# -- init ----------------------------------------------------------------------------------


def test_init_prepares_an_empty_workspace_and_a_second_changes_no_byte(repo, data):
    """ESAA-11."""
    workspace = init(repo, data)
    before = tree(repo, data)

    assert workspace.activity.read_bytes() == b""
    assert (repo / ".recall" / "config.toml").read_text().endswith(f'[workspace]\nid = "{workspace.id}"\n')
    assert (repo / ".git" / "recall-id").read_text() == workspace.id + "\n"
    assert init(repo, data) == workspace
    assert tree(repo, data) == before


def test_git_sees_nothing_of_ours_and_clean_loses_nothing(repo, data):
    """ESAA-36: nothing shows in git status, and git clean -fdx keeps the record."""
    workspace = init(repo, data)
    (repo / ".coord").mkdir()
    (repo / ".coord" / "memory.yml").write_text("- {}\n")
    remember(workspace)
    record = tree(data)

    assert git("status", "--porcelain", cwd=repo) == ""
    git("clean", "-fdxq", cwd=repo)

    assert not (repo / ".recall").exists()
    assert tree(data) == record
    assert locate(repo, data) == workspace
    assert verify(workspace).ok


def test_data_is_closed_to_others(repo, data):
    workspace = init(repo, data)
    remember(workspace)

    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in [data, *data.rglob("*")]}

    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}


def test_users_own_exclude_lines_and_config_stay(repo, data):
    (repo / ".git" / "info" / "exclude").write_text("*.swp")
    (repo / ".recall").mkdir()
    (repo / ".recall" / "config.toml").write_text('[recall]\nitems = 3\n[workspace] # mine\nname = "n"\n')

    workspace = init(repo, data)

    assert (repo / ".git" / "info" / "exclude").read_text() == "*.swp\n.recall/\n.coord/\n"
    assert (repo / ".recall" / "config.toml").read_text() == (
        f'[recall]\nitems = 3\n[workspace] # mine\nid = "{workspace.id}"\nname = "n"\n'
    )


def test_capture_lists_the_root_and_leaves_the_project_alone(repo, data):
    before = tree(repo)

    workspace = open_workspace(repo, data, create="capture")

    assert tree(repo) == before
    assert read_table(data)[workspace.id].roots == [str(repo)]
    assert locate(repo / ".." / "repo", data) == workspace


def test_init_after_capture_keeps_the_workspace(repo, data):
    first = open_workspace(repo, data, create="capture")

    assert init(repo, data) == first


def test_opening_without_a_workspace_says_what_to_run(repo, data):
    with pytest.raises(WorkspaceError, match=r"no workspace for .*repo; run 'recall init' first"):
        open_workspace(repo, data)
    assert not data.exists()


def test_project_that_cannot_be_written_is_one_line(plain, data):
    if os.geteuid() == 0:
        (plain / ".recall").write_text("a file in the way")
    else:
        plain.chmod(0o500)

    with pytest.raises(WorkspaceError, match=r"cannot write .*; mend that, then run 'recall init'"):
        init(plain, data)


# -- locate --------------------------------------------------------------------------------


def test_locate_writes_nothing(repo, plain, data):
    init(repo, data)
    before = tree(data, repo, plain)

    assert locate(plain, data) is None
    assert locate(repo, data) is not None
    assert tree(data, repo, plain) == before


def test_known_project_opens_from_a_read_only_copy_of_the_data(plain, data):
    workspace = init(plain, data)
    before = {path: path.stat().st_mtime_ns for path in data.rglob("*")}
    (data / "roots.lock").unlink()
    del before[data / "roots.lock"]

    assert open_workspace(plain, data) == workspace
    assert {path: path.stat().st_mtime_ns for path in data.rglob("*")} == before


def test_folder_that_was_there_before_keeps_its_mode(plain, tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o755)

    workspace = init(plain, shared)

    assert stat.S_IMODE(shared.stat().st_mode) == 0o755
    assert stat.S_IMODE(workspace.home.parent.stat().st_mode) == 0o700


def test_subfolders_belong_to_their_project(repo, plain, data):
    (repo / "src" / "deep").mkdir(parents=True)
    (plain / "src").mkdir()

    assert init(repo / "src" / "deep", data).root == repo
    assert locate(repo / "src", data) == init(repo, data)
    assert init(plain, data) == locate(plain / "src", data)


def test_all_worktrees_share_one_workspace(repo, data, tmp_path):
    git("worktree", "add", "-q", str(tmp_path / "side"), cwd=repo)

    first, second = init(repo, data), init(tmp_path / "side", data)

    assert first.id == second.id
    assert second.root == tmp_path / "side"
    assert git("status", "--porcelain", cwd=tmp_path / "side") == ""
    assert locate(tmp_path / "side", data) == second


def test_nested_repository_and_submodule_are_their_own_workspaces(repo, data, tmp_path):
    nested = repo / "vendor"
    nested.mkdir()
    git("init", "-q", cwd=nested)
    git("clone", "-q", str(repo), str(tmp_path / "lib"), cwd=tmp_path)
    git("submodule", "add", "-q", str(tmp_path / "lib"), "lib", cwd=repo)

    outer = init(repo, data)

    assert locate(nested, data) is None
    assert locate(repo / "lib", data) is None
    ids = {outer.id, init(nested, data).id, init(repo / "lib", data).id}
    assert len(ids) == 3
    assert locate(repo / "lib", data) == init(repo / "lib", data)


def test_home_and_root_contain_no_other_project(data, monkeypatch, tmp_path):
    home = tmp_path / "home"
    (home / "work").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    git("init", "-q", cwd=home)

    dotfiles = init(home, data)

    assert locate(home, data) == dotfiles
    assert locate(home / "work", data) is None
    assert init(home / "work", data).id != dotfiles.id
    assert owner_root(home / "gone", data) == (None, "root_gone")


def test_symlinked_project_is_the_same_project(plain, data, tmp_path):
    (tmp_path / "link").symlink_to(plain)

    assert init(tmp_path / "link", data) == init(plain, data)
    assert len(read_table(data)) == 1


def test_user_is_a_workspace_of_its_own_and_no_project_can_claim_it(repo, data):
    (repo / ".git" / "recall-id").write_text("user\n")

    assert user_workspace(data).home == data / "workspaces" / "user"
    assert locate(repo, data) is None
    assert init(repo, data).id != "user"


@pytest.mark.parametrize("name", ["../../etc", "user", "x" * 36, ""])
def test_forged_ids_in_config_are_no_ids(plain, data, name):
    (plain / ".recall").mkdir()
    (plain / ".recall" / "config.toml").write_text(f'[workspace]\nid = "{name}"\n')

    assert locate(plain, data) is None


@pytest.mark.parametrize("damage", ["{", "[" * 100_000, "null"], ids=["cut", "deep", "no object"])
def test_damaged_table_is_one_line(damage, repo, data):
    init(repo, data)
    (data / "roots.json").write_text(damage)

    with pytest.raises(WorkspaceError, match=r"roots\.json is damaged; restore or remove"):
        locate(repo, data)


def test_lost_table_is_found_again_through_git(repo, data):
    workspace = init(repo, data)
    (data / "roots.json").unlink()

    assert locate(repo, data) == workspace
    assert open_workspace(repo, data) == workspace
    assert read_table(data)[workspace.id].roots == [str(repo)]


# -- moved, copied, adopted ----------------------------------------------------------------


@pytest.mark.parametrize("kind", ["repo", "plain"])
def test_moved_project_is_followed_with_a_notice(kind, request, data, tmp_path):
    folder = request.getfixturevalue(kind)
    workspace = init(folder, data)
    remember(workspace)
    folder.rename(tmp_path / "moved")
    told = []

    assert locate(tmp_path / "moved", data).id == workspace.id
    opened = open_workspace(tmp_path / "moved", data, notice=told.append)

    assert opened.id == workspace.id
    assert told == [f"the project moved to {tmp_path / 'moved'}; its record follows"]
    entry = read_table(data)[workspace.id]
    assert (entry.roots, entry.former) == ([str(tmp_path / "moved")], [str(folder)])
    open_workspace(tmp_path / "moved", data, notice=told.append)
    assert len(told) == 1
    assert owner_root(folder, data)[0].id == workspace.id


def test_moved_project_keeps_its_record_and_its_work_trees(repo, data, tmp_path):
    """The other work tree stays in its place and carries the id: that makes the moved one no copy."""
    linked = tmp_path / "linked"
    git("worktree", "add", "-q", str(linked), cwd=repo)
    workspace = init(repo, data)
    assert init(linked, data).id == workspace.id
    repo.rename(tmp_path / "moved")
    told = []

    assert open_workspace(tmp_path / "moved", data, notice=told.append).id == workspace.id
    assert told == [f"the project moved to {tmp_path / 'moved'}; its record follows"]
    assert locate(linked, data).id == workspace.id


@pytest.mark.parametrize("kind", ["repo", "plain"])
def test_copied_project_gets_an_id_of_its_own_with_a_notice(kind, request, data, tmp_path):
    folder = request.getfixturevalue(kind)
    original = init(folder, data)
    shutil.copytree(folder, tmp_path / "copy")
    told = []

    assert locate(tmp_path / "copy", data) is None
    copy = open_workspace(tmp_path / "copy", data, create="capture", notice=told.append)

    assert copy.id != original.id
    assert told == [
        f"{tmp_path / 'copy'} is a copy of a project that is still in its place; it gets a workspace of its own"
    ]
    assert locate(folder, data) == original
    assert locate(tmp_path / "copy", data) == copy
    assert open_workspace(tmp_path / "copy", data, notice=told.append) == copy
    assert len(told) == 1


def test_copy_that_drops_git_does_not_take_the_record(repo, data, tmp_path):
    init(repo, data)
    shutil.copytree(repo, tmp_path / "copy", ignore=shutil.ignore_patterns(".git"))

    assert locate(tmp_path / "copy", data) is None


def test_foreign_git_folder_cannot_be_claimed(repo, data, tmp_path):
    """A `.git` file or link that points at another project's folder does not open its record."""
    init(repo, data)
    for name, make in {
        "file": lambda folder: (folder / ".git").write_text(f"gitdir: {repo / '.git'}\n"),
        "dots": lambda folder: (folder / ".git").write_text("gitdir: ../repo/.git\n"),
        "link": lambda folder: (folder / ".git").symlink_to(repo / ".git"),
    }.items():
        folder = tmp_path / name
        folder.mkdir()
        make(folder)
        assert locate(folder, data) is None, name
        assert init(folder, data).id != locate(repo, data).id


def test_forged_worktree_cannot_claim_a_repository(repo, data, tmp_path):
    init(repo, data)
    fake = tmp_path / "fake"
    (fake / "gd").mkdir(parents=True)
    (fake / ".git").write_text("gitdir: gd\n")
    (fake / "gd" / "HEAD").write_text("ref: refs/heads/main\n")
    (fake / "gd" / "commondir").write_text(f"{repo / '.git'}\n")
    (fake / "gd" / "gitdir").write_text(f"{fake / '.git'}\n")

    assert locate(fake, data) is None


def test_two_clones_with_one_committed_id_are_two_workspaces(tmp_path, data):
    for name in ("one", "two"):
        (tmp_path / name / ".recall").mkdir(parents=True)
        (tmp_path / name / ".recall" / "config.toml").write_text(
            '[workspace]\nid = "11111111-2222-4333-8444-555555555555"\n'
        )

    assert init(tmp_path / "one", data).id != init(tmp_path / "two", data).id


def test_adopt_joins_a_folder_to_the_workspace_of_a_root_that_is_gone(plain, data, tmp_path):
    workspace = open_workspace(plain, data, create="capture")
    remember(workspace)
    plain.rename(tmp_path / "new")
    assert locate(tmp_path / "new", data) is None

    joined = adopt([plain], tmp_path / "new", data)

    assert joined.id == workspace.id
    assert locate(tmp_path / "new", data) == joined
    assert owner_root(str(plain / "src"), data)[0].id == workspace.id
    assert verify(joined).counts["events"] == 1


def test_adopt_gives_sessions_of_an_unknown_folder_to_this_project(plain, data):
    workspace = init(plain, data)
    assert owner_root("/gone/app", data) == (None, "root_gone")

    adopt([Path("/gone/app")], plain, data)

    assert owner_root("/gone/app/src", data)[0].id == workspace.id


def test_adopt_replaces_an_empty_workspace_but_not_one_with_a_record(plain, data, tmp_path):
    old = open_workspace(plain, data, create="capture")
    remember(old)
    plain.rename(tmp_path / "new")
    empty = init(tmp_path / "new", data)

    assert adopt([plain], tmp_path / "new", data).id == old.id
    assert locate(tmp_path / "new", data).id == old.id
    assert empty.id not in read_table(data)

    (tmp_path / "third").mkdir()
    third = init(tmp_path / "third", data)
    remember(third)
    shutil.rmtree(tmp_path / "new")
    with pytest.raises(WorkspaceError, match="has a record of its own"):
        adopt([tmp_path / "new"], tmp_path / "third", data)


def test_living_project_of_another_workspace_cannot_be_adopted(plain, repo, data):
    init(plain, data)
    init(repo, data)

    with pytest.raises(WorkspaceError, match="cannot be adopted"):
        adopt([plain], repo, data)


# -- owner_root ----------------------------------------------------------------------------


def test_sessions_belong_to_the_folder_they_ran_in_not_to_a_name_derived_from_it(tmp_path, data):
    """Case log-slug-collision (anthropics/claude-code#70076, #35162): `pay-api` and `pay/api` share a folder name."""
    for name in ("pay-api", "pay/api"):
        (tmp_path / name).mkdir(parents=True)
    one, two = init(tmp_path / "pay-api", data), init(tmp_path / "pay" / "api", data)

    assert owner_root(tmp_path / "pay-api", data) == (one, "known")
    assert owner_root(tmp_path / "pay" / "api", data) == (two, "known")
    assert owner_root(tmp_path / "pay", data) == (None, "unknown_root")


@pytest.mark.parametrize("cwd", ["plain", "./plain", "/tmp/../tmp", "/a/..", "/a\0b", ""])
def test_tricks_with_dots_are_refused(cwd, data):
    """ESAA-34."""
    assert owner_root(cwd, data) == (None, "refused")


def test_link_inside_a_project_leads_to_the_project_it_points_at(plain, repo, data):
    """ESAA-34: a link from one project into another does not mix them."""
    init(plain, data)
    other = init(repo, data)
    (plain / "link").symlink_to(repo)

    assert owner_root(plain / "link", data)[0].id == other.id


def test_folder_that_is_gone_matches_the_longest_known_root(plain, data):
    (plain / "sub").mkdir()
    outer, inner = init(plain, data), open_workspace(plain / "sub", data, create="capture")
    assert outer.id == inner.id

    assert owner_root(plain / "deleted" / "x", data)[0].id == outer.id
    assert owner_root(plain.parent / "plainer", data) == (None, "root_gone")


def test_longest_of_nested_roots_wins(plain, data):
    (plain / "sub").mkdir()
    inner = init(plain / "sub", data)
    outer = init(plain, data)

    assert owner_root(plain / "sub" / "gone", data)[0].id == inner.id
    assert owner_root(plain / "gone", data)[0].id == outer.id


def test_excluded_folders_and_all_below_them(plain, data):
    init(plain, data)
    (plain / "secret").mkdir()

    assert exclude(plain / "secret", data) is True
    assert exclude(plain / "secret", data) is False
    assert owner_root(plain / "secret" / "deep", data) == (None, "excluded")
    assert owner_root(plain / "secrets", data)[1] == "known"
    assert excluded(plain / "secret", data)
    assert exclude(plain / "secret", data, remove=True) is True
    assert not excluded(plain / "secret", data)


# -- places --------------------------------------------------------------------------------


def test_workspaces_are_listed(plain, repo, data):
    made = {init(plain, data), init(repo, data)}

    assert set(workspaces(data)) == made


def test_key_is_random_secret_and_stays(plain, repo, data):
    one, two = init(plain, data), init(repo, data)

    assert one.id_key() == one.id_key() != two.id_key()
    assert len(one.id_key()) == 32
    assert one.key_path.parent == one.home
    assert hashlib.sha256(one.id_key()).hexdigest() not in str(tree(one.log_dir))


def test_record_on_a_network_is_warned_of(plain, data, monkeypatch):
    monkeypatch.setattr(
        "transcript.places.mounts_text", lambda: f"/dev/a / ext4 rw 0 0\nsrv:/x {data.parent} nfs4 rw 0 0\n"
    )
    told = []

    init(plain, data, notice=told.append)
    init(plain, data, notice=told.append)

    assert told == [
        "the record lies on a network file system (nfs4): locks may fail there; set RECALL_HOME to a local folder"
    ]
