"""Every test gets a home and a data folder of its own."""

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("RECALL_HOME", str(home / "recall-data"))
    for name in ("RECALL_OFF", "RECALL_CHILD", "CLAUDE_CONFIG_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("run")))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The data folder beside the project; tests that need it are skipped where it is missing."""
    if not SHARED.is_dir():
        pytest.skip("no ../shared folder beside the project: real data is not at hand")
    return SHARED
