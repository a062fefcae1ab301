"""docs/harnesses.md against what the program knows: a page that says what works where must not drift from it."""

from pathlib import Path

import pytest
from support.clients.install import VERSIONS

from recall.contracts import CONTRACTS
from recall.hook_places import PLACES
from transcript.adapters.registry import ADAPTERS

WIRED = sorted(name for name, place in PLACES.items() if place.form)


@pytest.fixture(scope="module")
def tables(root: Path) -> dict[str, list[list[str]]]:
    """Heading -> rows of the table below it, without the two lines of its head."""
    found: dict[str, list[list[str]]] = {}
    heading = ""
    for line in (root / "docs" / "harnesses.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            heading = line.removeprefix("## ")
        if line.startswith("|"):
            found.setdefault(heading, []).append([cell.strip() for cell in line.strip("|").split("|")])
    return {heading: rows[2:] for heading, rows in found.items()}


def row(rows: list[list[str]], title: str) -> list[str]:
    """The one row of a harness; some share one."""
    (found,) = [row for row in rows if title in row[0].removesuffix(" (command line)").split(", ")]
    return found


@pytest.mark.parametrize("harness", sorted(PLACES))
def test_each_harness_has_its_row(tables, harness: str) -> None:
    assert row(tables["What works where"], PLACES[harness].title)
    assert row(tables["What is written, and what you still have to do"], PLACES[harness].title)


@pytest.mark.parametrize("harness", WIRED)
def test_the_page_names_the_files_that_are_written(tables, harness: str) -> None:
    place = PLACES[harness]
    _, user, project, *_ = row(tables["What is written, and what you still have to do"], place.title)
    home = place.folder({"HOME": "/home/dev"}).relative_to("/home/dev")

    assert user == f"`~/{home / place.user}`"
    assert project == ", ".join(f"`{file}`" for file in (place.project, place.rules) if file)


@pytest.mark.parametrize("harness", [name for name in WIRED if PLACES[name].form != "extension"])
def test_the_page_names_the_events_that_are_registered(tables, harness: str) -> None:
    rows = tables["What is written, and what you still have to do"]
    said = row(rows, PLACES[harness].title)[3]
    said = row(rows, "Claude Code")[3] if said in ("the same", "Claude Code's") else said
    native = CONTRACTS[harness].events
    # Grok Build registers under Claude Code's names.
    names = set(native.values()) if harness == "grok-build" else set(native)

    assert set(said.split(", ")) == names


@pytest.mark.parametrize("harness", sorted(set(VERSIONS) - {"node"}))
def test_the_page_names_the_version_that_is_tried(tables, harness: str) -> None:
    assert row(tables["What works where"], PLACES[harness].title)[1] == VERSIONS[harness]


def test_whoever_gets_an_answer_stands_among_the_answers(tables) -> None:
    answered = {PLACES[name].title for name, contract in CONTRACTS.items() if contract.answers and name != "cursor"}

    assert {cells[0] for cells in tables["How each is answered"]} == answered


@pytest.mark.parametrize("harness", sorted(adapter.harness for adapter in ADAPTERS if adapter.harness != "wire"))
def test_each_harness_that_is_read_has_its_row(tables, harness: str) -> None:
    assert row(tables["What works where"], PLACES[harness].title)
