"""No test is about how long something took: a busy machine would fail it, and `recall eval` measures speed."""

import ast
from pathlib import Path

import pytest

CLOCKS = {"monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time", "thread_time"}
# They end what hangs, or choose a moment at which a process is killed.
ALLOWED = [
    "tests/conftest.py",
    "tests/consolidation/test_overlap.py",
    "tests/e2e/test_kill.py",
    "tests/e2e/test_kill_consolidation.py",
    "tests/support/hooks.py",
]


def reads_a_clock(source: str) -> bool:
    if not any(name in source for name in CLOCKS):
        return False
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return any(getattr(call.func, "attr", getattr(call.func, "id", "")) in CLOCKS for call in calls)


def test_no_test_reads_a_clock_to_judge_by_it(root: Path):
    found = [
        str(path.relative_to(root))
        for path in (root / "tests").rglob("*.py")
        if reads_a_clock(path.read_text(encoding="utf-8"))
    ]

    assert sorted(found) == ALLOWED


@pytest.mark.parametrize("source", ["import time\ntime.monotonic()", "from time import perf_counter\nperf_counter()"])
def test_the_look_out_sees_each_way_to_read_one(source):
    assert reads_a_clock(source)
