"""Every adapter has a test for each thing an adapter must do: the table of docs/adapter-tests.md has no hole."""

import ast
from pathlib import Path

import pytest
from support import cells

from transcript.adapters.registry import ADAPTERS

HERE = Path(__file__).parent
HARNESSES = sorted(adapter.harness for adapter in ADAPTERS)


def names_in(module: str) -> set[str]:
    """The names of a module's tests that the plain suite runs."""
    tree = ast.parse((HERE / f"{module}.py").read_text(encoding="utf-8"))
    plain = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    return {node.name for node in plain if "real_data" not in "".join(map(ast.unparse, node.decorator_list))}


def test_every_adapter_has_its_row():
    assert sorted(cells.TESTS) == sorted(cells.REAL) == HARNESSES
    assert {len(tests) for tests in cells.TESTS.values()} == {len(cells.CELLS)}
    assert all(real <= set(cells.CELLS) for real in cells.REAL.values())


@pytest.mark.parametrize("harness", HARNESSES)
def test_every_cell_names_a_test_that_the_plain_suite_runs(harness):
    named = [cells.test_of(harness, cell) for cell in cells.CELLS]

    assert [test for module, test in named if test not in names_in(module)] == []
