"""What the distribution carries, and what it must not (ESAA-37)."""

import json
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

import pytest

PACKAGES = {"transcript", "indexer", "scoring", "recall", "consolidation", "health", "eval"}
DATA_SUFFIXES = {".sqlite", ".db", ".bin", ".zst", ".f32", ".npy", ".onnx", ".safetensors", ".xz", ".gz", ".tar"}


@pytest.fixture(scope="session")
def wheel_names(built):
    with zipfile.ZipFile(built.wheel) as archive:
        return archive.namelist()


@pytest.fixture(scope="session")
def sdist_names(built):
    with tarfile.open(built.sdist) as archive:
        names = [member.name for member in archive.getmembers() if member.isfile()]
    return [str(PurePosixPath(*PurePosixPath(name).parts[1:])) for name in names]


def test_wheel_holds_the_seven_packages_and_nothing_else_at_the_top(wheel_names):
    top = {PurePosixPath(name).parts[0] for name in wheel_names}

    assert {name for name in top if not name.endswith((".dist-info", ".data"))} == PACKAGES


def test_beside_the_packages_the_wheel_installs_the_manual_page_alone(wheel_names):
    beside = [PurePosixPath(name).parts[1:] for name in wheel_names if PurePosixPath(name).parts[0].endswith(".data")]

    assert beside == [("data", "share", "man", "man1", "recall.1")]


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_every_package_is_marked_typed(wheel_names, package):
    assert f"{package}/py.typed" in wheel_names


@pytest.mark.parametrize(
    "name",
    [
        "indexer/data/tokenizer.json",
        *(f"transcript/schema/{name}.schema.json" for name in ("event", "export", "tasks", "wire")),
        *(f"consolidation/schema/review_{name}.schema.json" for name in ("request", "answer")),
        *(f"recall/extensions/{name}.js" for name in ("pi", "opencode", "cline", "calls")),
    ],
)
def test_data_files_are_in_the_wheel(wheel_names, name):
    assert name in wheel_names


def test_demo_sessions_are_in_the_wheel(wheel_names):
    assert len([name for name in wheel_names if name.startswith("recall/demo/sessions/")]) == 5


def test_tests_are_in_the_sdist_and_not_in_the_wheel(wheel_names, sdist_names):
    assert any(name.startswith("tests/") for name in sdist_names)
    assert not [name for name in wheel_names if "tests/" in name or "conftest" in name]


def test_neither_carries_a_record_an_index_or_somebodys_conversation(wheel_names, sdist_names):
    """The log ships empty: it is not there at all. The only JSON Lines files are the made-up sessions of the demo."""
    for names in (wheel_names, sdist_names):
        lines = {name for name in names if name.endswith(".jsonl")}
        assert all(name.startswith("recall/demo/sessions/") for name in lines)
        assert not [name for name in names if PurePosixPath(name).suffix in DATA_SUFFIXES]
        assert not [name for name in names if "activity" in PurePosixPath(name).name]


def test_demo_sessions_belong_to_the_made_up_project_only(root: Path):
    for path in (root / "recall" / "demo" / "sessions").glob("*.jsonl"):
        rows = [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
        folders = {row["cwd"] for row in rows if "cwd" in row}
        assert folders == {"/home/dev/tidewatch"}, path.name
        assert {row["sessionId"] for row in rows if "sessionId" in row} == {path.stem}


def test_licence_and_notice_are_in_both(wheel_names, sdist_names):
    for name in ("LICENSE", "NOTICE"):
        assert name in sdist_names
        assert any(entry.endswith(f".dist-info/licenses/{name}") for entry in wheel_names)
