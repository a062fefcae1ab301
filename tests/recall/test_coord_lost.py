"""Losing `.coord/` loses nothing that the record knows: `recall project` writes it again."""

import shutil
from pathlib import Path

import pytest
from support.command import runner

from transcript.projections import coord_files


def test_what_is_gone_below_coord_is_written_with_the_views(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.md").write_text("UTC\n")
    monkeypatch.chdir(root)
    recall = runner(capsys)
    recall("init")
    [made] = recall("coord", "propose", "add", "--summary", "UTC.", "--evidence", "a.md", "--json").rows()
    path = coord_files.proposal_path(root, made["id"])
    held = path.read_bytes()
    shutil.rmtree(root / ".coord")

    told = recall("project", "--dry-run", "--json").rows()[0]["would_write"]
    gone = path.exists()
    done = recall("project")

    assert told[-1] == f".coord/memory-proposals/{made['id']}.json"
    assert (gone, path.read_bytes()) == (False, held)
    assert f".coord/memory-proposals/{made['id']}.json" in done.out
    assert "nothing" in recall("project").out
