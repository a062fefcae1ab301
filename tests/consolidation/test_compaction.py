"""A compaction is safe once a whole checkpoint has read what it took out of the window."""

import hashlib
from pathlib import Path

import pytest
from support.record import NOW, make_draft
from support.running import CAUSE, Running, make_running, talk_of_causes

from consolidation import archive, compaction
from consolidation.stats import told
from transcript.native import NativeStore

SOURCE = "0123456789abcdef"


@pytest.fixture
def project(tmp_path: Path) -> Running:
    talk = talk_of_causes(CAUSE)
    for draft in talk.drafts:
        draft.native["source"] = SOURCE
    return make_running(tmp_path, talk)


def compact(project: Running, name: str = "boundary") -> None:
    body = {"subtype": "compact_boundary", "text": ""}
    project.log.append([make_draft(name, "system", session="s1", actor="system", body=body)], now=NOW)


def test_only_a_checkpoint_before_it_with_archive_and_index_makes_a_compaction_ok(project: Running) -> None:
    """LCA-8.2-01: never before both checks have passed."""
    before = compaction.state(project.log, "s1")
    compact(project)
    alone = compaction.state(project.log, "s1")
    project.run("pre_compact")
    without_archive = compaction.state(project.log, "s1")
    NativeStore(project.workspace).append("claude-code", SOURCE, 0, b"the source's own bytes\n")
    compact(project, "second")
    project.run("pre_compact", later=1)

    assert (before, alone, without_archive) == ("none", "unprotected", "protected")
    assert compaction.state(project.log, "s1") == "ok"


def test_a_compaction_is_prepared_when_a_checkpoint_came_before_it_and_not_after(project: Running) -> None:
    """LCA-D-05H."""

    def prepared() -> list[bool]:
        return [one.prepared for one in compaction.compacted(project.log, told(project.log)).values()]

    compact(project)
    project.run("pre_compact")
    after = prepared()
    compact(project, "second")

    assert (after, prepared()) == ([False], [True])
    assert compaction.state(project.log, "s1") == "protected"


def test_a_failed_checkpoint_protects_nothing(project: Running) -> None:
    compact(project)
    project.changes = {"health": lambda light, keep: {"level": "fail", "failing": ["head"]}}

    project.run("pre_compact")

    assert compaction.state(project.log, "s1") == "unprotected"


def test_the_archive_names_each_source_with_the_hash_of_what_is_kept(project: Running) -> None:
    """LCA-4.3-10."""
    kept = b"the source's own bytes\n"
    NativeStore(project.workspace).append("claude-code", SOURCE, 0, kept[:5])
    NativeStore(project.workspace).append("claude-code", SOURCE, 5, kept[5:])

    found = archive.manifest(project.workspace, archive.sources(project.log, None))

    assert found == [
        {
            "harness": "claude-code",
            "source": SOURCE,
            "bytes": len(kept),
            "sha256": hashlib.sha256(kept).hexdigest(),
        }
    ]
