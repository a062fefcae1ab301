"""What several tests of the record start from; a test file may have a fixture of the same name of its own."""

from pathlib import Path

import pytest
from support.backups import talked
from support.capture import NOW, Project

from transcript.backup import backup


@pytest.fixture
def here(tmp_path: Path) -> tuple[Project, Path]:
    """A project and the folder of a backup of it."""
    project = talked(tmp_path / "here")
    backup(project.workspace, tmp_path / "disk", now=NOW)
    return project, tmp_path / "disk"
