"""The files of the memories: what is in them, what is listed, and what becomes of one that somebody changed."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from support.memory_events import AT, HUMAN, LATER, candidate, place_of, written
from support.record import NOW, make_draft, make_log

from transcript import memory_drafts as drafts
from transcript.log import Log
from transcript.memories import Span, fold_memories
from transcript.projections import memory_files, views
from transcript.verify import verify

OLD, NEW = "Ports come from config.toml.", "Ports come from the environment."


@pytest.fixture
def log(tmp_path) -> Log:
    made = make_log(tmp_path, [candidate(OLD), written(OLD, tags=["net"])])
    (tmp_path / "project" / ".recall").mkdir(exist_ok=True)
    views.refresh(made.workspace)
    return made


def add(log: Log, *events) -> None:
    log.append(events, now=NOW)
    views.refresh(log.workspace)


def folder(log: Log) -> Path:
    assert log.workspace.root is not None
    return log.workspace.root / ".recall" / "memory"


def files(log: Log) -> dict[str, bytes]:
    return {path.relative_to(folder(log)).as_posix(): path.read_bytes() for path in folder(log).rglob("*.md")}


def the_file(log: Log) -> Path:
    [path] = folder(log).glob("ports-*.md")
    return path


def front(path: Path) -> dict:
    return yaml.safe_load(path.read_text("utf-8").split("---\n")[1])


def codes(log: Log) -> Iterator[tuple[str, str]]:
    for problem in verify(log.workspace).problems:
        if problem.code in memory_files.CODES:
            yield problem.code, problem.where


def test_a_memory_is_one_file_with_its_evidence_and_who_approved_it(log):
    """LCA-6.3-03: each has evidence and approval."""
    held = front(the_file(log))

    assert held["type"] == "design_decision"
    assert held["tags"] == ["net"]
    assert held["valid_from"] == "2026-01-06T10:00:00.000Z"
    assert (held["valid_to"], held["superseded_by"]) == (None, None)
    assert held["sources"] == [f"{written(OLD).body['sources'][0]['event'][:10]}#3-40 0123456789abcdef"]
    assert held["approved_by"] == "policy"
    assert the_file(log).read_text("utf-8").endswith(f"---\n{OLD}\n\nWhy: two servers clash\n")


def test_text_that_could_end_the_front_matter_stays_in_its_value(log):
    wild = [
        "a: b",
        "---",
        'quote " and \\',
        "line\nbreak",
        "nel\x85",
        "sep\u2028x",
        "sha256: " + "0" * 64,
        "\U0001f600",
    ]

    add(
        log,
        candidate("wild"),
        drafts.written(AT, candidate("wild").id, "lesson", "Wild.", tags=wild, sources=[], said_at=LATER),
    )

    [path] = folder(log).glob("wild-*.md")
    assert front(path)["tags"] == [tag.replace("\x85", "\ufffd") for tag in wild]
    assert memory_files.is_sealed(path.read_bytes())


def test_the_list_names_every_memory_that_holds_by_type_newest_first(log):
    """LCA-4.3-09."""
    later = [written(text, said_at=LATER) for text in ("Logs go to syslog.", "Users log in by mail.")]

    add(log, *map(candidate, ("Logs go to syslog.", "Users log in by mail.")), *later)

    listed = (folder(log) / "MEMORY.md").read_text("utf-8")
    lines = [line for line in listed.splitlines() if line.startswith("- ")]
    assert [line.split("](")[0][3:] for line in lines][2] == OLD
    assert {line.split("](")[1].split(")")[0] for line in lines} == {p.name for p in folder(log).glob("*.md")} - {
        "MEMORY.md"
    }
    assert list(codes(log)) == []


def test_what_was_replaced_goes_to_the_past_and_names_what_took_its_place(log):
    old, new = written(OLD), written(NEW, said_at=LATER)

    add(
        log,
        candidate(NEW),
        new,
        drafts.superseded(AT, place_of(old), place_of(new), reason="contradiction", since=LATER),
    )

    [path] = (folder(log) / "past").glob("*.md")
    held = front(path)
    assert (held["superseded_by"], held["supersession_note"], held["valid_to"]) == (new.id, "contradiction", LATER)
    assert old.id[:10] not in (folder(log) / "MEMORY.md").read_text("utf-8")
    assert front(the_file(log))["supersedes"] == [old.id]


def test_a_hand_edit_is_kept_aside_before_the_file_is_written_again(log):
    edited = the_file(log).read_bytes().replace(b"config.toml", b"config.yaml")
    the_file(log).write_bytes(edited)
    assert list(codes(log)) == [("memory_edited", f"memory/{the_file(log).name}")]

    views.refresh(log.workspace)
    views.refresh(log.workspace)

    assert [data for _, data in memory_files.copies(folder(log))] == [edited]
    assert memory_files.is_sealed(the_file(log).read_bytes())
    assert list(codes(log)) == []


def test_an_edit_of_a_memory_that_leaves_the_folder_is_kept_too(log):
    old, new = written(OLD), written(NEW, said_at=LATER)
    edited = the_file(log).read_bytes().replace(b"config.toml", b"config.yaml")
    the_file(log).write_bytes(edited)

    add(log, candidate(NEW), new, drafts.superseded(AT, place_of(old), place_of(new), reason="edit", since=LATER))

    assert [data for _, data in memory_files.copies(folder(log))] == [edited]


def test_a_file_that_is_gone_is_reported_and_written_again(log):
    before, name = files(log), the_file(log).name
    the_file(log).unlink()
    assert list(codes(log)) == [("memory_missing", f"memory/{name}")]

    views.refresh(log.workspace)

    assert files(log) == before


def test_a_file_of_somebody_else_is_reported_and_left_alone(log):
    (folder(log) / "notes.md").write_text("mine\n", "utf-8")

    views.refresh(log.workspace)

    assert list(codes(log)) == [("memory_unlisted", "memory/notes.md")]
    assert (folder(log) / "notes.md").read_text("utf-8") == "mine\n"


def test_a_list_that_lacks_a_file_is_reported(log):
    """LCA-4.3-09: verify checks that the list names every file."""
    listed = folder(log) / "MEMORY.md"
    listed.write_text("".join(line for line in listed.read_text("utf-8").splitlines(True) if not line.startswith("- ")))

    assert sorted(codes(log)) == [
        ("memory_edited", "memory/MEMORY.md"),
        ("memory_unlisted", f"memory/{the_file(log).name}"),
    ]


def test_the_files_follow_from_the_record_alone(log):
    before = files(log)
    for path in folder(log).rglob("*.md"):
        path.unlink()
    for name in ("memories.json", "projections.json"):
        (log.workspace.run_dir / name).unlink()

    views.project(log.workspace)

    assert files(log) == before
    assert views.differing(log.workspace) == ()


def test_use_changes_the_day_it_was_applied_and_nothing_of_what_it_says(log):
    """LCA-5.2.2-14: 100 citations leave the part below the front matter as it was."""
    memory = written(OLD).id
    body = the_file(log).read_bytes().split(b"---\n", 2)[2]

    add(log, *(drafts.cited(AT, memory, f"session {n}", "named") for n in range(100)))

    assert the_file(log).read_bytes().split(b"---\n", 2)[2] == body
    assert front(the_file(log))["last_applied"] == "2026-03-01"


def test_without_memories_no_folder_is_made(tmp_path):
    log = make_log(tmp_path, [make_draft()])
    views.refresh(log.workspace)

    assert not folder(log).exists()


def test_every_folder_that_shares_the_record_gets_the_files(log, tmp_path):
    other = tmp_path / "worktree"
    (other / ".recall").mkdir(parents=True)
    roots = log.workspace.run_dir / "views.json"
    roots.write_text(json.dumps([str(log.workspace.root), str(other)]))

    views.refresh(log.workspace)

    assert (other / ".recall" / "memory" / the_file(log).name).read_bytes() == the_file(log).read_bytes()


def test_a_refuted_memory_and_an_archived_one_lie_in_the_past(log):
    memory = written(OLD).id
    add(log, drafts.archived(HUMAN, memory, reason="old", actor="ana"))
    assert [name for name in files(log) if name.startswith("past/")]

    add(log, drafts.restored(HUMAN, memory, reason="needed", actor="ana"))

    assert not [name for name in files(log) if name.startswith("past/")]
    assert fold_memories(log).memories[memory].sources == (Span(**written(OLD).body["sources"][0]),)


def test_projecting_says_which_files_were_changed_by_hand(log):
    the_file(log).write_bytes(the_file(log).read_bytes().replace(b"config.toml", b"config.yaml"))

    done = views.project(log.workspace)

    assert [Path(path).parent.name for path in done.kept] == ["edited"]
    assert done.written == (f"memory/{the_file(log).name}",)
