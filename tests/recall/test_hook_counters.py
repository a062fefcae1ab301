"""Counters of hook failures: appended without a lock, folded without a loss."""

import subprocess
import sys
from pathlib import Path

import pytest
from support.hooks import SITE

from recall.hook_client import COUNTERS
from recall.hook_counters import FOLDED, Count, add, compact, read
from transcript.lock import FileLock


def test_lines_become_sums_most_frequent_first(tmp_path):
    (tmp_path / "hook-counters.log").write_text(
        "100\tclaude-code\tpayload_empty\n300\tclaude-code\tdeadline:stdin\n200\tclaude-code\tdeadline:stdin\n"
    )

    assert read(tmp_path) == [
        Count("claude-code", "deadline:stdin", 2, 300),
        Count("claude-code", "payload_empty", 1, 100),
    ]


def test_old_kinds_can_be_left_out(tmp_path):
    (tmp_path / "hook-counters.log").write_text("100\ta\told\n300\ta\tnew\n")

    assert [count.kind for count in read(tmp_path, since=200)] == ["new"]


def test_nothing_counted_is_an_empty_list(tmp_path):
    assert read(tmp_path) == []
    assert not list(tmp_path.iterdir())


def test_a_broken_line_and_a_broken_sum_are_passed_over(tmp_path):
    (tmp_path / "hook-counters.log").write_bytes(b"\xff\xfe\nno tabs\n1\t2\nx\ty\tz\n7\ta\tgood\n")
    (tmp_path / FOLDED).write_text("{broken")

    assert read(tmp_path) == [Count("a", "good", 1, 7)]


def test_folding_keeps_every_count_and_may_be_repeated(tmp_path):
    for number in range(20):
        add(tmp_path, "claude-code", f"kind{number % 3}")
    before = read(tmp_path)

    assert compact(tmp_path, largest=10)
    assert read(tmp_path) == before
    assert not compact(tmp_path, largest=10)

    add(tmp_path, "claude-code", "kind0")
    assert compact(tmp_path, largest=10)
    assert sum(count.times for count in read(tmp_path)) == 21


def test_of_two_that_fold_at_once_one_does(tmp_path):
    """Both would take the same lines aside into the sums."""
    for number in range(20):
        add(tmp_path, "claude-code", f"kind{number % 3}")
    before = read(tmp_path)

    with FileLock(tmp_path / "run" / "counters.lock"):
        assert not compact(tmp_path, largest=10)
    assert read(tmp_path) == before
    assert compact(tmp_path, largest=10)
    assert read(tmp_path) == before


def test_a_short_log_is_not_folded(tmp_path):
    add(tmp_path, "a", "b")

    assert not compact(tmp_path)


def test_many_processes_lose_no_line(tmp_path):
    code = (
        "import sys; sys.path.append(sys.argv[1]); from pathlib import Path; from recall.hook_counters import add\n"
        "for _ in range(200): add(Path(sys.argv[2]), 'claude-code', 'payload_empty')"
    )
    words = [sys.executable, "-I", "-c", code, str(SITE), str(tmp_path)]
    for process in [subprocess.Popen(words) for _ in range(4)]:
        assert process.wait() == 0

    assert [count.times for count in read(tmp_path)] == [800]


def test_a_folder_that_cannot_be_written_is_no_failure(tmp_path):
    add(Path(tmp_path / "not" / "there"), "a", "b")


@pytest.mark.parametrize("cut", range(len("1796103100\tclaude-code\tservice_late:receive")))
def test_a_line_that_a_full_disk_tore_takes_no_other_with_it_and_is_no_kind_of_its_own(tmp_path, cut):
    torn, whole = "1796103100\tclaude-code\tservice_late:receive"[:cut], "1796103146\tclaude-code\tno_service"
    (tmp_path / COUNTERS).write_text(f"{torn}{whole}\n")

    assert [(one.kind, one.times, one.last) for one in read(tmp_path)] == [("no_service", 1, 1796103146)]
