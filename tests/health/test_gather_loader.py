"""What lies in folders of memories and what of it is loaded."""

import json
from pathlib import Path

import pytest
from support.command import runner
from support.memory_folder import FILES, make_memory_folder
from support.record import make_log, make_turns

from health.gather_loader import loader_facts
from health.signal import Level
from health.signals.loader import loader_lost


def test_292_files_of_two_layouts_are_on_disk_and_loaded(tmp_path: Path) -> None:
    """LCA-D-03H: 292 / 292 / 0 / 0."""
    found = loader_facts(str(make_memory_folder(tmp_path / "theirs")))

    assert (sum(found.disk.values()), sum(found.loaded.values())) == (FILES, FILES)
    assert found.disk == found.loaded
    assert (found.lost, found.critical_missing) == ((), 0)


def test_a_lost_critical_file_is_named_first_whatever_its_layout(tmp_path: Path) -> None:
    folder = make_memory_folder(tmp_path / "theirs", files=5, nested=0, critical=0)
    (folder / "a.md").write_bytes(b"---\ntype: fix\n---\n\xff\xfe")
    (folder / "b.md").write_text(
        "---\nother:\n  deep:\n    type: 'unheard-of'\n    critical: yes\n---\nA rule.\n", "utf-8"
    )
    (folder / ".hidden.md").write_bytes(b"\xff")
    (folder / "notes.txt").write_text("no memory", "utf-8")

    found = loader_facts(str(folder))

    assert [Path(name).name for name in found.lost] == ["b.md", "a.md"]
    assert found.critical_missing == 1
    assert (sum(found.disk.values()), sum(found.loaded.values())) == (7, 5)
    assert (found.disk["unheard-of"], found.disk["known_failure"]) == (1, 1)


def test_a_file_of_another_schema_fails_by_name_and_one_that_is_wrong_otherwise_warns(tmp_path: Path) -> None:
    """LCA-6.1-07."""
    folder = make_memory_folder(tmp_path / "theirs", files=5, nested=0, critical=0)
    (folder / "a.md").write_text("---\nschema: recall/memory/1\ntype: runbook\nvalid_to: soon\n---\nA rule.\n", "utf-8")
    wrong = loader_lost(loader_facts(str(folder)))
    (folder / "b.md").write_text("---\nschema: 'recall/memory/12'\ntype: runbook\n---\nA rule.\n", "utf-8")
    other = loader_lost(loader_facts(str(folder)))

    assert (wrong.level, [Path(name).name for name in wrong.details]) == (Level.WARN, ["a.md"])
    assert (other.level, [Path(name).name for name in other.details]) == (Level.FAIL, ["b.md", "a.md"])
    assert "2 lost, 1 of another schema" in other.text


def test_the_report_reads_the_folders_of_the_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_log(tmp_path, make_turns(3))
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("RECALL_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("RECALL_INDEX_MODEL", "none:at-all")
    monkeypatch.setenv("RECALL_MEMORY_FOLDERS", str(make_memory_folder(tmp_path / "theirs", files=9)))

    done = runner(capsys)("health", "--json")

    held = {signal["id"]: signal["value"] for signal in json.loads(done.out)["signals"]}
    assert held["loader_lost"] == {"disk": 9, "loaded": 9, "lost": 0, "critical_missing": 0, "other_schema": 0}
