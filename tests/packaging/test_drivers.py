"""One process, one SQLite library: who may import which driver.

Closing a file with the standard `sqlite3` drops the POSIX locks that APSW holds on it in the same process.
"""

import ast
from pathlib import Path

import pytest

STANDARD = {"recall/hook_words.py"}
APSW = "indexer/"


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in {
            "import_module",
            "__import__",
        }:
            names |= {str(arg.value).split(".")[0] for arg in node.args if isinstance(arg, ast.Constant)}
    return names


def sources(root: Path, *folders: str) -> list[tuple[str, set[str]]]:
    return [
        (str(path.relative_to(root)), imported(path)) for folder in folders for path in (root / folder).rglob("*.py")
    ]


def test_only_the_hooks_fallback_imports_the_standard_driver(root: Path):
    ours = sources(root, "transcript", "indexer", "scoring", "recall", "consolidation", "health", "eval")

    assert {name for name, modules in ours if "sqlite3" in modules} <= STANDARD


def test_only_the_indexer_imports_apsw(root: Path):
    ours = sources(root, "transcript", "scoring", "recall", "consolidation", "health", "eval")

    assert [name for name, modules in ours if "apsw" in modules] == []


def test_no_test_module_imports_the_standard_driver(root: Path):
    """A test that must read the index with it starts a process of its own."""
    assert [name for name, modules in sources(root, "tests") if "sqlite3" in modules] == []


@pytest.mark.parametrize("source", ["import sqlite3", "from sqlite3 import connect", "__import__('sqlite3')"])
def test_the_look_out_sees_each_way_to_import(tmp_path: Path, source):
    path = tmp_path / "m.py"
    path.write_text(source, encoding="utf-8")

    assert "sqlite3" in imported(path)
