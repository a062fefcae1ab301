"""The tree at the top level (CARD-13) and a reason for each dependency (CARD-14)."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest

PACKAGES = ["transcript", "indexer", "scoring", "recall", "consolidation", "health", "eval"]


@pytest.mark.parametrize(
    "name", ["pyproject.toml", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "NOTICE"]
)
def test_file_stands_at_the_top_with_content(root: Path, name):
    assert (root / name).stat().st_size > 0


@pytest.mark.parametrize("name", [*PACKAGES, "tests", "docs"])
def test_folder_stands_at_the_top(root: Path, name):
    assert (root / name).is_dir()


@pytest.mark.parametrize("package", PACKAGES)
def test_top_level_init_is_empty(root: Path, package):
    """The hook's client imports from these packages, and a filled file is how an intruder is recognised."""
    assert (root / package / "__init__.py").stat().st_size == 0


def test_each_dependency_carries_its_reason(root: Path):
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    block = re.search(r"^dependencies = \[\n(.*?)^\]", text, re.M | re.S)
    dev = re.search(r"^dev = \[\n(.*?)^\]", text, re.M | re.S)
    assert block
    assert dev

    for line in [*block[1].splitlines(), *dev[1].splitlines()]:
        assert re.fullmatch(r'\s+"[^"]+",\s+# \S.{8,}', line), line


def test_each_extra_carries_its_reason(root: Path):
    lines = (root / "pyproject.toml").read_text(encoding="utf-8").splitlines()
    start = lines.index("[project.optional-dependencies]")
    for name in tomllib.loads("\n".join(lines))["project"]["optional-dependencies"]:
        at = next(i for i in range(start, len(lines)) if lines[i].startswith(f"{name} = "))
        assert lines[at - 1].startswith("# "), name


def base_closure() -> set[str]:
    """Names of everything a plain install pulls in, read from the installed metadata."""
    seen: set[str] = set()
    waiting = ["lca-recall"]
    while waiting:
        name = waiting.pop()
        try:
            needed = requires(name) or []
        except PackageNotFoundError:
            continue
        for line in needed:
            found = re.match(r"[A-Za-z0-9._-]+", line)
            wanted = found[0].lower().replace("_", "-") if found and "extra ==" not in line else ""
            if wanted and wanted not in seen:
                seen.add(wanted)
                waiting.append(wanted)
    return seen


def test_base_install_pulls_no_torch():
    names = base_closure()

    assert "onnxruntime" in names
    assert not {name for name in names if name in {"torch", "transformers", "sentence-transformers"}}


def test_ci_runs_the_readmes_second_command(root: Path):
    """Quiet flags aside, what the README tells a reader to run is what CI runs."""
    readme = (root / "README.md").read_text(encoding="utf-8")
    ci = (root / ".ci" / "run").read_text(encoding="utf-8")
    command = "python -m pip install -U pip && pip install -e . --group dev && pytest"

    assert command in readme
    assert command in ci.replace("install -q ", "install ")


def test_ci_names_no_registry_and_no_machine(root: Path):
    ci = (root / ".ci" / "run").read_text(encoding="utf-8")

    assert not re.search(r"https?://|/home/|/root|/opt/|/work|--index|--find-links", ci)
