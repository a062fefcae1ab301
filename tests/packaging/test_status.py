"""docs/status.toml against the code, and the pages of terms and earlier work against what they must hold."""

import importlib.util
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

STATES = {"implemented", "observed", "designed", "future"}
KEYS = {"name", "layer", "status", "where", "test"}


@pytest.fixture(scope="module")
def mechanisms(root: Path) -> list[dict[str, Any]]:
    held: list[dict[str, Any]] = tomllib.loads((root / "docs" / "status.toml").read_text("utf-8"))["mechanism"]
    return held


def test_every_entry_is_whole(mechanisms: list[dict[str, Any]]) -> None:
    for one in mechanisms:
        assert one["status"] in STATES, one
        assert one["layer"] in range(7), one
        assert set(one) <= KEYS, one
    assert len({one["name"] for one in mechanisms}) == len(mechanisms)
    assert {one["layer"] for one in mechanisms} == set(range(7))


def test_where_an_entry_points_something_is(root: Path, mechanisms: list[dict[str, Any]]) -> None:
    for one in mechanisms:
        where = one["where"]
        there = (root / where).is_file() if where.endswith(".md") else importlib.util.find_spec(where) is not None
        assert there, one


def test_what_is_implemented_names_a_module_and_a_test(root: Path, mechanisms: list[dict[str, Any]]) -> None:
    """LCA-1.2-01."""
    for one in mechanisms:
        if one["status"] == "implemented":
            assert not one["where"].endswith(".md"), one
            assert "def test_" in (root / one["test"]).read_text("utf-8"), one


def test_the_table_stands_in_the_readme(root: Path, mechanisms: list[dict[str, Any]]) -> None:
    readme = (root / "README.md").read_text("utf-8")
    for one in mechanisms:
        assert f"| {one['name']} | {one['layer']} | {one['status']} |" in readme


def test_every_layer_and_the_decision_procedure_have_a_package(root: Path) -> None:
    """LCA-3-02."""
    lines = (root / "docs" / "layers.md").read_text("utf-8").splitlines()
    rows = [line.split(" | ") for line in lines if line[:4] in {f"| {number} " for number in range(7)}]
    assert len(rows) == 7
    assert all("`" in row[3] for row in rows)
    assert any("decision procedure" in line and "inherited" in line for line in lines)


def rows_of(page: Path, head: str) -> list[str]:
    """Return the rows of the table with this head."""
    lines = page.read_text("utf-8").splitlines()
    begin = lines.index(head) + 2
    end = next((at for at in range(begin, len(lines)) if not lines[at].startswith("|")), len(lines))
    return lines[begin:end]


def test_seven_internal_words_are_mapped(root: Path) -> None:
    """LCA-A-02."""
    rows = rows_of(root / "docs" / "glossary.md", "| earlier, internal | here |")
    assert len(rows) == 7
    assert [row.split(" | ")[0].strip("| ") for row in rows][::6] == ["resonance injection", "hollow copy"]


def test_nine_components_stand_beside_earlier_work(root: Path) -> None:
    """LCA-11-01."""
    rows = rows_of(root / "docs" / "prior-work.md", "| component | closest existing work | here |")
    assert len(rows) == 9
    assert all(len([cell for cell in row.split("|") if cell.strip()]) == 3 for row in rows)
    assert "Additions of this project" in (root / "docs" / "prior-work.md").read_text("utf-8")


def test_the_change_log_names_the_rows_that_it_answers(root: Path, shared: Path) -> None:
    """LCA-15-01: every id in it is one of the requirements, and no release is without."""
    rows = set(
        re.findall(r"^\| ([A-Z][\w.]*-[\w.-]+) \|", (shared / "REQUIREMENTS.md").read_text("utf-8"), re.MULTILINE)
    )
    releases = re.split(r"^## ", (root / "CHANGELOG.md").read_text("utf-8"), flags=re.MULTILINE)[1:]
    for release in releases:
        named = re.findall(r"\b(?:LCA|ESAA|CARD|ASM)-[\w.]+(?:-\w+)?", release)
        assert named, release[:40]
        assert set(named) - rows == set()
