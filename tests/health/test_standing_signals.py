"""Health of the standing context: who it is, what has no room, hand edits, memories against procedures."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from support.memory_folder import make_memory_folder
from support.record import NOW
from support.remembered import Remembered, make_remembered
from support.running import CAUSE, make_running, talk_of_causes

from consolidation import standing_files, standing_set
from consolidation.settings import Settings
from health.facts import Facts
from health.gather_standing import standing_facts
from health.signal import Level, Signal
from health.signals import standing
from transcript.memory_told import Told
from transcript.workspace import Workspace

AT = Told("2026-03-01T12:00:00.000Z")


@pytest.fixture
def memory(tmp_path: Path) -> Remembered:
    return make_remembered(tmp_path)


def identity(workspace: Workspace, name: str, text: str) -> Path:
    assert workspace.root is not None
    path = workspace.root / ".recall" / "identity" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def signals(workspace: Workspace, *, days: int = 0) -> dict[str, Signal]:
    found = standing_facts(workspace, workspace.data)
    facts = Facts(workspace.id, (NOW + timedelta(days=days)).timestamp(), standing=found)
    made = [
        standing.identity(found),
        standing.critical(found),
        standing.room(found),
        standing.files(found),
        standing.governed(found),
        standing.conflicts(facts),
        standing.rules(found),
    ]
    return {one.id: one for one in made}


def test_a_project_that_never_began_is_well_and_one_that_is_told_nothing_is_warned(memory):
    workspace = memory.log.workspace
    assert {one.level for one in signals(workspace).values()} == {Level.OK}
    path = identity(workspace, "IDENTITY.md", "# Identity\n\n<!-- nothing yet -->\n")

    empty = signals(workspace)["standing_identity"]
    path.write_text("You keep the shop running.\n", "utf-8")
    filled = signals(workspace)["standing_identity"]

    assert (empty.level, filled.level) == (Level.WARN, Level.OK)
    assert "recall init --scaffold" in empty.action


def test_critical_memories_beyond_the_budget_fail_with_both_figures(memory):
    """LCA-6.1-08."""

    for number in range(50):
        text = f"Rule {number:02d} of the shop holds. ".ljust(3_700, "x")
        memory.remember(memory.candidate(text), critical_for=("*",))
    standing_set.after_apply(memory.log.workspace, Settings(), now=NOW)

    found = signals(memory.log.workspace)["standing_critical"]

    assert found.level is Level.FAIL
    assert found.value == {"chars": 185_000, "budget": 50_000, "loaded": 13, "total": 50}
    assert found.text == "13 of 50 critical memories, 185,000 of 50,000 characters"


def test_an_identity_without_room_is_named_although_no_memory_is_lost(memory):
    workspace = memory.log.workspace
    identity(workspace, "IDENTITY.md", "You keep the shop running.\n")
    settings = replace(Settings(), standing=replace(Settings().standing, chars=1_000))
    standing_set.after_apply(workspace, settings, now=NOW)
    fits = signals(workspace)["standing_budget"]
    identity(workspace, "USER.md", "Ada mends bicycles.\n" * 100)
    standing_set.after_apply(workspace, settings, now=NOW)
    found = signals(workspace)

    over = found["standing_budget"]
    assert (fits.level, fits.value) == (Level.OK, {"chars": 26, "budget": 1_000, "no_room": 0})
    assert (over.level, over.value) == (Level.WARN, {"chars": 2_025, "budget": 1_000, "no_room": 1})
    assert [name.split(":")[-1] for name in over.details] == ["USER.md"]
    assert found["standing_critical"].level is Level.OK


def test_files_of_memories_that_cannot_be_read_are_counted_and_named(memory, tmp_path):
    folder = make_memory_folder(tmp_path / "theirs")
    (folder / "memory-003.md").write_bytes(b"\xff\xfe")
    settings = replace(Settings(), memory=replace(Settings().memory, folders=str(folder)))
    standing_set.after_apply(memory.log.workspace, settings, now=NOW)

    found = signals(memory.log.workspace)["standing_files"]

    assert (found.value, found.level) == (1, Level.WARN)
    assert "Of 292 files in folders of memories 291 were read" in found.meaning
    assert "memory-003.md: it is no UTF-8" in found.details[0]


def test_a_hand_edit_is_named_until_somebody_takes_responsibility(memory):
    workspace = memory.log.workspace
    path = identity(workspace, "IDENTITY.md", "You keep the shop running.\n")

    def look() -> tuple[object, Level]:
        found = signals(workspace)["standing_ungoverned"]
        return found.value, found.level

    def accept() -> None:
        (present,) = standing_files.present(standing_set.places(workspace.data, workspace.root))
        memory.append([standing_files.draft(AT, present.key, present.sha256, present.kind, "accepted")])

    new = look()
    accept()
    path.write_text("You keep the books.\n", "utf-8")
    edited = look()
    accept()

    assert (new, edited, look()) == ((0, Level.OK), (1, Level.WARN), (0, Level.OK))
    path.unlink()
    assert look() == (1, Level.WARN)


def test_a_contradicted_procedure_is_counted_with_its_age_and_fails_after_a_week(tmp_path):
    project = make_running(tmp_path, talk_of_causes(CAUSE))
    made = Remembered(project.log)
    rule = made.remember(made.candidate("The staging database listens on port 5433."))
    command = identity(project.workspace, "commands/db.md", "The staging database listens on port 5432.\n")
    project.run()
    project.run(later=24)

    warned, failed = (signals(project.workspace, days=days)["procedure_conflicts"] for days in (2, 8))
    command.unlink()
    project.run(later=48)

    assert (warned.level, failed.level) == (Level.WARN, Level.FAIL)
    assert warned.details == (f"{rule.id[:10]} / project:commands/db.md:1",)
    assert warned.value == {"open": 1, "oldest_seconds": 2 * 86_400}
    assert signals(project.workspace)["procedure_conflicts"].level is Level.OK
