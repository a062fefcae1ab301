"""One process, one SQLite library: who may import which driver.

Closing a file with the standard `sqlite3` drops the POSIX locks that APSW holds on it in the same process.
"""

import ast
import functools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.claude import ClaudeSession

STANDARD = {"recall/hook_words.py"}
APSW = "indexer/"
SQL = re.compile(r"\bSELECT \w|\bINSERT (?:OR \w+ )?INTO |\bUPDATE \w+ SET |\bDELETE FROM ")
# The index is the indexer's; opencode's database is another program's file, read and never written.
FOREIGN = ["transcript/adapters/opencode_store.py"]


@functools.cache
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


def test_only_the_indexer_and_the_reader_of_a_foreign_database_import_apsw(root: Path):
    ours = sources(root, "transcript", "scoring", "recall", "consolidation", "health", "eval")

    assert [name for name, modules in ours if "apsw" in modules] == FOREIGN


def test_sql_stands_in_the_indexer_alone(root: Path):
    """The FTS5 baseline keeps a statement of its own, so that it shares no ranking code with what it measures."""
    folders = ("transcript", "scoring", "recall", "consolidation", "health", "eval")
    found = [
        str(path.relative_to(root))
        for folder in folders
        for path in (root / folder).rglob("*.py")
        if SQL.search(path.read_text(encoding="utf-8"))
    ]

    assert found == [*FOREIGN, "eval/baselines.py"]


def test_tests_open_nothing_but_memory_with_the_standard_driver(root: Path):
    """A test that must read the index with it starts a process of its own; tests/conftest.py holds this at run time."""
    for name, modules in sources(root, "tests"):
        if "sqlite3" in modules and name not in ("tests/conftest.py",):
            calls = [node for node in ast.walk(ast.parse((root / name).read_text())) if isinstance(node, ast.Call)]
            opened = [ast.unparse(call.args[0]) for call in calls if ast.unparse(call.func) == "sqlite3.connect"]
            assert set(opened) == {"':memory:'"}, name


def test_a_process_of_the_command_never_loads_the_standard_driver(tmp_path: Path):
    """Every command that touches the index, one after the other in one process."""
    session = ClaudeSession(cwd=str(tmp_path))
    session.user("Which port does the wagtail service listen on?")
    session.assistant("The wagtail service listens on port 8443.")
    session.write(Path(os.environ["HOME"]) / ".claude")
    code = (
        "import sys\n"
        "from recall.cli.group import run\n"
        "for line in ('init', 'sync', 'index --words-only', 'index status', 'query wagtail --words-only',\n"
        "             'verify', 'health --json', 'last --all', 'explain', 'context'):\n"
        "    assert run(line.split()) in (0, 1, 2), line\n"
        "print('drivers', sorted({'apsw', 'sqlite3', '_sqlite3'} & set(sys.modules)))\n"
    )

    env = {**os.environ, "RECALL_INDEX_MODEL": "none"}  # no model is needed to see which drivers are loaded
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True)

    assert done.stdout.splitlines()[-1:] == ["drivers ['apsw']"], done.stderr


@pytest.mark.parametrize("source", ["import sqlite3", "from sqlite3 import connect", "__import__('sqlite3')"])
def test_the_look_out_sees_each_way_to_import(tmp_path: Path, source):
    path = tmp_path / "m.py"
    path.write_text(source, encoding="utf-8")

    assert "sqlite3" in imported(path)
