import os
import stat
import tempfile
from pathlib import Path

import pytest

from transcript.errors import WorkspaceError
from transcript.paths import (
    NotPlainError,
    append_line,
    data_home,
    open_plain,
    owned_dir,
    read_derived,
    read_file,
    runtime_dir,
    secure_dir,
    user_path,
    write_atomic,
    write_once,
)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_recall_home_moves_the_data_and_the_user_folder_is_the_default(tmp_path):
    assert data_home({"RECALL_HOME": str(tmp_path / "x")}) == tmp_path / "x"
    assert data_home({}).name == "recall"


@pytest.mark.parametrize(("named", "meant"), [(".", ""), ("./", ""), ("x", "x"), ("./~x", "~x")])
def test_recall_home_may_be_named_from_the_folder_one_is_in(tmp_path, monkeypatch, named, meant):
    monkeypatch.chdir(tmp_path)

    assert data_home({"RECALL_HOME": named}) == tmp_path / meant


@pytest.mark.parametrize("home", ["~/x", "~", ""])
def test_where_no_home_is_known_that_is_said_and_nothing_is_made_here(home, monkeypatch):
    nobody = pytest.importorskip("pwd", reason="users have entries elsewhere")
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(nobody, "getpwuid", {}.__getitem__)

    with pytest.raises(WorkspaceError, match=r"home.*set.* whole path"):
        data_home({"RECALL_HOME": home})


@pytest.mark.skipif(os.name != "posix", reason="homes are named by users here")
def test_the_home_of_somebody_unknown_is_no_folder_here():
    with pytest.raises(WorkspaceError, match="'~nobody-at-all/x', and no such home is known"):
        data_home({"RECALL_HOME": "~nobody-at-all/x"})
    assert user_path("~nobody-at-all/x") == Path("~nobody-at-all/x")


def test_folders_are_0700_and_files_0600_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        secure_dir(tmp_path / "a" / "b")
        write_atomic(tmp_path / "a" / "b" / "f", b"x")
        write_once(tmp_path / "a" / "b" / "g", b"y")
        append_line(tmp_path / "a" / "b" / "h", "z")
    finally:
        os.umask(before)

    assert [mode(tmp_path / "a"), mode(tmp_path / "a" / "b")] == [0o700, 0o700]
    assert [mode(tmp_path / "a" / "b" / name) for name in "fgh"] == [0o600] * 3


def test_folder_that_is_open_to_others_is_closed(tmp_path):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o755)

    assert mode(secure_dir(tmp_path / "open")) == 0o700


def test_failed_replacement_leaves_the_old_file_and_no_litter(tmp_path, monkeypatch):
    write_atomic(tmp_path / "f", b"old")
    monkeypatch.setattr(os, "fsync", lambda descriptor: (_ for _ in ()).throw(OSError(28, "No space left on device")))

    with pytest.raises(OSError, match="No space"):
        write_atomic(tmp_path / "f", b"new")

    assert [path.name for path in tmp_path.iterdir()] == ["f"]
    assert (tmp_path / "f").read_bytes() == b"old"


@pytest.mark.parametrize(("held", "closed"), [(b"", b""), (b"one\n", b"one\n"), (b"one\ntor", b"one\ntor\n")])
def test_a_line_is_added_to_what_is_there_and_closes_one_left_open(tmp_path, held, closed):
    (tmp_path / "f").write_bytes(held)
    append_line(tmp_path / "f", "zw\u00f6lf")

    assert (tmp_path / "f").read_bytes() == closed + "zw\u00f6lf\n".encode()


def test_write_once_keeps_the_first(tmp_path):
    assert write_once(tmp_path / "k", b"first") == b"first"
    assert write_once(tmp_path / "k", b"second") == b"first"


def test_runtime_folder_prefers_xdg_then_data_then_tmp(tmp_path):
    deep = tmp_path / ("d" * 80)

    with tempfile.TemporaryDirectory(dir="/tmp") as name:  # short enough for a socket, which tmp_path may not be
        short = Path(name)
        assert runtime_dir(short / "data", {"XDG_RUNTIME_DIR": name}) == short / "recall"
        assert mode(short / "recall") == 0o700
        assert runtime_dir(short / "data", {"XDG_RUNTIME_DIR": str(short / "missing")}) == short / "data" / "run"
        assert runtime_dir(deep, {"XDG_RUNTIME_DIR": str(deep)}) == Path(f"/tmp/recall-{os.getuid()}")
    assert runtime_dir(deep, {}) == Path(f"/tmp/recall-{os.getuid()}")
    assert runtime_dir(Path("/tmp/two\nlines"), {}) == Path(f"/tmp/recall-{os.getuid()}")


def test_link_in_place_of_the_runtime_folder_is_refused(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "recall-1").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(WorkspaceError, match="belongs to somebody else"):
        owned_dir(tmp_path / "recall-1")


@pytest.mark.parametrize(
    "data",
    [
        *(None, b"", b"{", b"[1]", b"\xff", b"[" * 100_000, b'{"version": 2, "a": 1}', b'{"a": 1}'),
        *(b'{"version": 1, "a": %s}' % number for number in (b"NaN", b"Infinity", b"-Infinity", b"1e999")),
    ],
)
def test_a_derived_file_that_is_missing_damaged_or_of_another_version_says_nothing(tmp_path, data):
    if data is not None:
        (tmp_path / "f.json").write_bytes(data)

    assert read_derived(tmp_path / "f.json", version=1) == {}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with a name here")
@pytest.mark.parametrize("put", [os.mkfifo, os.mkdir, lambda path: path.symlink_to(path)])
def test_what_is_no_file_is_not_waited_for_as_a_derived_one(tmp_path, put):
    put(tmp_path / "f.json")

    assert read_derived(tmp_path / "f.json") == {}
    with pytest.raises(OSError, match=r"no plain file|symbolic links|Is a directory"):
        read_file(tmp_path / "f.json")


@pytest.mark.skipif(os.name != "posix", reason="links are for administrators here")
def test_a_link_to_a_file_is_read(tmp_path):
    (tmp_path / "there").write_bytes(b"{}")
    (tmp_path / "here").symlink_to("there")

    assert read_file(tmp_path / "here") == b"{}"


def test_a_derived_file_says_what_was_written(tmp_path):
    (tmp_path / "f.json").write_bytes(b'{"version": 1, "a": 2.5}')

    assert read_derived(tmp_path / "f.json", version=1) == {"version": 1, "a": 2.5}
    assert read_derived(tmp_path / "f.json") == {"version": 1, "a": 2.5}


@pytest.mark.skipif(os.name != "posix", reason="links and pipes are POSIX")
@pytest.mark.parametrize("what", ["link", "dangling", "folder", "pipe"])
def test_what_is_no_plain_file_is_not_opened_to_be_read_or_made(tmp_path, what):
    path = tmp_path / "f"
    (tmp_path / "other").write_text("secret")
    match what:
        case "link":
            path.symlink_to(tmp_path / "other")
        case "dangling":
            path.symlink_to(tmp_path / "nowhere")
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)

    for flags in (os.O_RDONLY, os.O_WRONLY | os.O_CREAT | os.O_APPEND):
        with pytest.raises(NotPlainError):
            open_plain(path, flags)
    assert not (tmp_path / "nowhere").exists()


def test_a_plain_file_is_opened_and_one_that_is_made_is_its_owners(tmp_path):
    os.close(open_plain(tmp_path / "f", os.O_WRONLY | os.O_CREAT))

    with open(open_plain(tmp_path / "f"), "rb") as handle:
        assert handle.read() == b""
    assert mode(tmp_path / "f") == 0o600
    with pytest.raises(FileNotFoundError):
        open_plain(tmp_path / "none")


@pytest.mark.skipif(os.name != "posix", reason="no such devices here")
def test_a_file_that_is_masked_is_empty_and_other_devices_are_no_files(tmp_path):
    (tmp_path / "masked").symlink_to(os.devnull)
    (tmp_path / "endless").symlink_to("/dev/zero")

    assert read_file(tmp_path / "masked") == b""
    with pytest.raises(NotPlainError):
        read_file(tmp_path / "endless")
