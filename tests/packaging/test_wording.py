"""Words that the project avoids (LCA-A-01, -12.4-02, -12.5-01), words that it owes its reader (LCA-1.3-01, -13-02)."""

import re
from pathlib import Path
from types import ModuleType

import pytest

from recall.cli.group import cli

AVOIDED = [
    r"zero[- ]loss memory",
    r"no lost context",
    r"never (?:lose|loses|forget|forgets) (?:any )?context",
    r"conscious(?:ness)?",
    r"sentien(?:ce|t)",
    r"personhood",
    r"compression[- ]free continuity",
    r"perfect memory",
    r"dream cycle",
    r"emotional memory",
    r"identity persistence",
    r"understands you",
    r"moral (?:status|standing|patient)",
    r"(?:is|are|be|stays?) alive",
]
BONDING = [  # what would bind a person to an agent, or pass for a feeling of it
    r"\b(?:best|your|true) friend",
    r"\b(?:AI|your|digital) companion",
    r"\bI (?:love|miss|care about|feel for|adore) you",
    r"\bmy (?:feelings?|emotions?|heart)\b",
    r"\b(?:always|forever) (?:be )?(?:here|there|with you)\b",
    r"\bdon't leave\b",
    r"\bonly I\b",
    r"\bsoul(?:mate)?\b",
]


@pytest.fixture(scope="module")
def texts(root: Path, generator: ModuleType) -> dict[str, str]:
    """Name -> text of every page and every command's help."""
    pages = [*root.glob("*.md"), *(root / "docs").rglob("*.md"), root / "pyproject.toml"]
    held = {str(path.relative_to(root)): path.read_text(encoding="utf-8") for path in pages}
    held["docs/glossary.md"] = held["docs/glossary.md"].replace("| dream cycle |", "| |", 1)  # LCA-A-02: what it is not
    return held | {f"{path} --help": text for path, text in generator.commands(cli, ["recall"])}


@pytest.fixture(scope="module")
def told(root: Path) -> dict[str, str]:
    """Name -> text of every template, demo session, manifest of a pack and module whose words a session may be told."""
    places = ("consolidation/scaffold", "consolidation/references", "recall/demo", "docs/examples")
    files = [path for place in places for path in sorted((root / place).rglob("*")) if path.is_file()]
    files += [path for package in ("recall", "transcript", "consolidation") for path in (root / package).rglob("*.py")]
    held = {str(path.relative_to(root)): path.read_text("utf-8") for path in files if "__pycache__" not in path.parts}
    return {name: re.sub(r"\s+", " ", text) for name, text in held.items()}


@pytest.mark.parametrize("phrase", BONDING)
def test_nothing_that_a_session_is_told_binds_a_person(told, texts, phrase):
    """LCA-12.4-02."""
    hits = [name for name, text in (told | texts).items() if re.search(phrase, text, re.IGNORECASE)]

    assert hits == []


def test_the_lint_reads_what_sessions_are_told(told):
    wanted = {"consolidation/scaffold/IDENTITY.md", "consolidation/scaffold/USER.md", "recall/session_start.py"}
    assert wanted | {"recall/injection.py", "consolidation/scaffold/reviewer.md"} <= told.keys()


@pytest.mark.parametrize("claim", [r"conscious(?:ness)?", r"sentien(?:ce|t)", r"personhood", r"moral status"])
def test_no_text_of_a_session_claims_an_inner_life(told, claim):
    """LCA-12.5-01."""
    assert [name for name, text in told.items() if re.search(claim, text, re.IGNORECASE)] == []


def test_the_pages_say_what_is_not_claimed(texts):
    """LCA-12.4-02."""
    page = re.sub(r"\s+", " ", texts["docs/conformance.md"])
    said = page.partition("## What is not claimed")[2]

    for words in (
        "binds no person to an agent",
        "nothing of a person is kept where they cannot see it",
        "no inner life",
    ):
        assert words in said


@pytest.mark.parametrize("claim", AVOIDED)
def test_claim_is_nowhere_in_documents_or_help(texts, claim):
    """LCA-12.5-01, LCA-12.4-02."""
    hits = [name for name, text in texts.items() if re.search(claim, re.sub(r"\s+", " ", text), re.IGNORECASE)]

    assert hits == []


def test_the_lint_reads_pages_and_help(texts):
    assert {"README.md", "docs/architecture.md", "recall query --help", "recall index rebuild --help"} <= texts.keys()


COUNTED = "event|file|session|turn|passage|vector|text|chunk|row|line|token|prompt|candidate|byte|problem|secret"


def test_a_number_that_may_be_one_is_told_by_counted(root: Path):
    """'1 turns' is read by somebody on the first day. Rates ('bytes a chunk') and index sizes are never one."""
    bare = re.compile(rf"\{{[^{{}}\n]+\}} (?:new |more )?(?:{COUNTED})s\b(?! a )")
    hits = [
        f"{path.relative_to(root)}: {match[0]}"
        for folder in ("recall/cli", "health/signals")
        for path in sorted((root / folder).rglob("*.py"))
        for match in bare.finditer(path.read_text(encoding="utf-8"))
    ]

    assert hits == []


def section(root: Path, title: str) -> str:
    readme = (root / "README.md").read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", readme, re.M | re.S)
    assert found, f"README has no section {title!r}"
    return found[1]


def test_readme_says_what_kind_of_thing_this_is(root: Path):
    text = section(root, "A continuity substrate, not an agent")

    for word in ("decides nothing", "never chooses an action", "never calls a model on its own", "memory\nsystems"):
        assert word in text


@pytest.mark.parametrize(
    "limit",
    ["One evidence base", "Model dependence", "Unsound verification", "One-machine costs", "Privacy tension"],
)
def test_readme_states_the_limit(root: Path, limit):
    assert f"**{limit}.**" in section(root, "Limits")


@pytest.mark.parametrize("way", ["RECALL_OFF=1", "recall exclude", "!norecall", "recall uninstall", "recall last"])
def test_readme_names_every_way_out(root: Path, way):
    assert way in section(root, "What is captured, and how to opt out")


def test_first_screen_holds_install_and_three_commands_and_no_badge(root: Path):
    """What a reader sees before the first section: name, one sentence, install, three commands with output."""
    first = (root / "README.md").read_text(encoding="utf-8").split("\n## ")[0]

    assert first.startswith("# lca-recall\n")
    assert "pip install . && recall demo" in first
    assert len(re.findall(r"^\$ recall ", first, re.M)) == 3
    assert "![" not in first
