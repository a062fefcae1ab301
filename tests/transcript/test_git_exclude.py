"""Git's own exclude list: our line in and out again, everything else byte for byte."""

import os

import pytest

from transcript.git_exclude import add, holds, take_out

LISTS = {
    "none": None,
    "empty": b"",
    "lines": b"# theirs\n*.log\n",
    "no line end": b"*.log",
    "CRLF": b"# theirs\r\n*.log\r\n",
    "not UTF-8": b"caf\xe9/\n",
    "separators that are no line ends": b"a\x0cb\x0bc\xe2\x80\xa8d\n",
}


@pytest.mark.parametrize("before", LISTS.values(), ids=LISTS)
def test_a_line_comes_once_and_goes_with_nothing_else(tmp_path, before):
    listed = tmp_path / "info" / "exclude"
    if before is not None:
        listed.parent.mkdir()
        listed.write_bytes(before)

    add(listed, "/.claude/settings.local.json")
    add(listed, "/.claude/settings.local.json")
    held = holds(listed, "/.claude/settings.local.json")
    between = listed.read_bytes()
    take_out(listed, "/.claude/settings.local.json")

    whole = before or b""
    gap = b"" if not whole or whole.endswith(b"\n") else b"\n"
    assert held
    assert between == whole + gap + b"/.claude/settings.local.json\n"
    assert listed.read_bytes() == whole + gap


def test_a_line_counts_with_blanks_and_another_line_end_behind_it(tmp_path):
    listed = tmp_path / "exclude"
    listed.write_bytes(b".recall/ \r\n#.coord/\n")

    assert holds(listed, ".recall/")
    assert not holds(listed, ".coord/")


@pytest.mark.skipif(os.name != "posix", reason="links and modes as on Unix")
def test_a_link_stays_a_link_and_the_mode_stays(tmp_path):
    (tmp_path / "shared").write_bytes(b"*.log\n")
    (tmp_path / "shared").chmod(0o640)
    listed = tmp_path / "exclude"
    listed.symlink_to("shared")

    add(listed, ".recall/")

    assert listed.is_symlink()
    assert (tmp_path / "shared").read_bytes() == b"*.log\n.recall/\n"
    assert (tmp_path / "shared").stat().st_mode & 0o777 == 0o640
