"""Which paths git tracks, read from every form of index that git writes and held against git's own listing."""

import subprocess
from pathlib import Path

import pytest

from transcript.git_exclude import tracking
from transcript.git_index import tracked_paths

STEPS = {
    "version 2": [],
    "version 3": [["add", "-N", "later.md"]],
    "version 4": [["update-index", "--index-version", "4"]],
    "version 4 with a path to come": [["update-index", "--index-version", "4"], ["add", "-N", "later.md"]],
    "split": [["update-index", "--split-index"]],
    "split and gone on": [
        ["update-index", "--split-index"],
        ["rm", "-q", "--cached", "docs/1/a1.md"],
        ["add", "later.md"],
        ["update-index", "--chmod=+x", "docs/2/a2.md"],
    ],
    "version 4, split and gone on": [
        ["update-index", "--index-version", "4"],
        ["update-index", "--split-index"],
        ["rm", "-q", "--cached", "docs/0/a0.md", "docs/5/a5.md"],
        ["add", "later.md"],
    ],
}


def git(root: Path, *words: str) -> bytes:
    who = ("-c", "user.name=ana", "-c", "user.email=ana@example.org")
    return subprocess.run(["git", "-C", str(root), *who, *words], check=True, capture_output=True).stdout


def listed(root: Path, *more: str) -> frozenset[bytes]:
    return frozenset(name for name in git(root, "ls-files", "-z", *more).split(b"\0") if name)


def repository(root: Path, form: str) -> Path:
    root.mkdir()
    git(root, "init", "-q", f"--object-format={form}")
    for number in range(70):  # more than a word of the bitmap
        path = root / f"docs/{number % 7}/a{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(number))
    (root / "ünï.md").write_text("x")
    git(root, "add", "-A")
    (root / "later.md").write_text("later")
    return root


@pytest.mark.parametrize("form", ["sha1", "sha256"])
@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
def test_an_index_of_any_form_tells_the_paths_that_git_tells(steps: list[list[str]], form: str, tmp_path: Path) -> None:
    root = repository(tmp_path / "r", form)
    for step in steps:
        git(root, *step)

    assert tracked_paths(root / ".git") == listed(root)
    assert tracking(root)(root / "docs/3/a3.md")
    assert not tracking(root)(root / "docs/3/a999.md")


def test_of_a_sparse_index_the_files_that_are_checked_out_count(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", "sha1")
    git(root, "commit", "-qm", "all")
    git(root, "sparse-checkout", "set", "--cone", "--sparse-index", "docs/3")

    whole = listed(root, "--sparse")

    assert any(name.endswith(b"/") for name in whole)
    assert tracked_paths(root / ".git") == {name for name in whole if not name.endswith(b"/")}


@pytest.mark.parametrize(
    "change",
    [lambda data: data[:100], lambda data: b"", lambda data: b"DIRX" + data[4:], lambda data: data[:-30] + b"x" * 30],
    ids=["cut", "empty", "no index", "overwritten"],
)
def test_an_index_that_cannot_be_read_is_named_and_tells_of_no_file(change, tmp_path: Path) -> None:
    root = repository(tmp_path / "r", "sha1")
    index = root / ".git" / "index"
    index.write_bytes(change(index.read_bytes()))

    with pytest.raises(ValueError, match="index is no index that can be read"):
        tracked_paths(root / ".git")
    assert not tracking(root)(root / "docs/3/a3.md")


def test_an_index_whose_other_half_is_gone_tells_of_no_file(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", "sha1")
    git(root, "update-index", "--split-index")
    for shared in (root / ".git").glob("sharedindex.*"):
        shared.unlink()

    assert not tracking(root)(root / "docs/3/a3.md")


def test_before_the_first_file_is_added_nothing_is_tracked(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    git(tmp_path / "r", "init", "-q")

    assert tracked_paths(tmp_path / "r" / ".git") == frozenset()
