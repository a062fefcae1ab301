"""Procedures: the gate before one is written, memories that contradict one, and rules that should become one."""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.record import NOW
from support.remembered import DAY, Remembered, make_remembered
from support.running import CAUSE, Running, make_running, talk_of_causes

from consolidation import procedures, standing_files, standing_set
from consolidation.coord_desk import CoordDesk
from consolidation.procedure_conflicts import conflicts
from consolidation.settings import Settings
from consolidation.standing_files import ProcedureText
from indexer.store import Store
from recall.governance_settings import ApprovalSettings, StandingSettings
from recall.standing_context import held
from recall.standing_places import places
from transcript import memory_drafts as drafts
from transcript.curation import Author, Setting, outcome
from transcript.event import Draft
from transcript.memory_told import Told

RULE = "Run `make lint` before each commit."
PATH = "instructions/lint.md"


@pytest.fixture
def memory(tmp_path: Path) -> Remembered:
    return make_remembered(tmp_path)


def root_of(memory: Remembered) -> Path:
    root = memory.log.workspace.root
    assert root is not None
    return root


def identity(root: Path, name: str, text: str) -> Path:
    path = root / ".recall" / "identity" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def worked(memory: Remembered, number: int, status: str = "verified") -> str:
    """An outcome of the record, as evidence."""
    made = outcome(Author("ana", "human"), setting(number), f"linted before commit {number}", status)
    memory.append([made])
    return f"recall:{made.id}"


def setting(number: int) -> Setting:
    return Setting(DAY.format(number), f"recall:{number}", f"run{number}", {}, "workspace")


def cited(memory: Remembered, of: str, sessions: Iterable[str]) -> list[Draft]:
    made = [drafts.cited(Told(DAY.format(9)), of, session, "named") for session in sessions]
    memory.append(made)
    return made


def action(evidence: list[str], **changes: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "operation": "add",
        "target_ref": f"procedure:{PATH}",
        "summary": "Lint before each commit.",
        "evidence_refs": evidence,
        "content": {"path": PATH, "text": f"{RULE}\n"},
    }
    return made | changes


def gate(memory: Remembered, asked: dict[str, Any]) -> str:
    root = root_of(memory)
    where = places(memory.log.workspace.data, root)
    found = procedures.gate(asked, memory.log, where, root)
    return found.code if found is not None else ""


def test_a_procedure_that_two_verified_outcomes_show_may_be_written(memory):
    assert gate(memory, action([worked(memory, 1), worked(memory, 2)])) == ""


def test_two_sessions_that_cited_the_rule_show_it_too_and_one_session_twice_does_not(memory):
    """LCA-4.1-06."""
    rule = memory.remember(memory.candidate(RULE))
    one, two = cited(memory, rule.id, ["s1", "s2"])
    again = drafts.cited(Told(DAY.format(9)), rule.id, "s1", "overlap")
    memory.append([again])

    assert gate(memory, action([f"recall:{one.id}", f"recall:{two.id}"])) == ""
    assert gate(memory, action([f"recall:{one.id}", f"recall:{again.id}"])) == "not_practised"


@pytest.mark.parametrize("status", ["failed", "untested", "not_claimed"])
def test_what_did_not_go_well_is_no_practice(memory, status):
    """LCA-4.1-06."""
    assert gate(memory, action([worked(memory, 1), worked(memory, 2, status)])) == "not_practised"


@pytest.mark.parametrize("evidence", [[], ["docs/style.md"], ["https://example.org/style"], ["recall:" + "a" * 26]])
def test_without_a_pointer_into_the_record_it_has_no_source(memory, evidence):
    assert gate(memory, action(evidence)) == "no_source"


@pytest.mark.parametrize(
    "text", [f"{RULE}\n", "Run `make lint` before every commit.\n", f"---\nname: lint\n---\n{RULE}\n"]
)
def test_what_another_procedure_says_already_must_name_it(memory, text):
    identity(root_of(memory), "instructions/commits.md", f"# Commits\n\nWrite short subjects.\n\n{RULE}\n")
    evidence = [worked(memory, 1), worked(memory, 2)]

    assert gate(memory, action(evidence, content={"path": PATH, "text": text})) == "exists"


def test_an_existing_file_is_superseded_and_a_missing_one_added(memory):
    evidence = [worked(memory, 1), worked(memory, 2)]
    assert gate(memory, action(evidence, operation="supersede")) == "no_target"

    identity(root_of(memory), PATH, "Lint on Fridays.\n")

    assert gate(memory, action(evidence)) == "exists"
    assert gate(memory, action(evidence, operation="supersede")) == ""


@pytest.mark.parametrize(
    "target",
    [
        "instructions/lint.py",
        "instructions/lint.sh",
        "hooks/pre-commit.md",
        "recall/engine.md",
        "IDENTITY.md",
        "skills/SKILL.md",
        "commands/lint.MD",
    ],
)
def test_programs_and_files_outside_of_the_layout_are_not_written_this_way(memory, target):
    """LCA-4.1-07."""
    asked = action(
        [worked(memory, 1), worked(memory, 2)],
        target_ref=f"procedure:{target}",
        content={"path": target, "text": f"{RULE}\n"},
    )

    assert gate(memory, asked) == "not_prompt_text"


@pytest.mark.parametrize("how", ["shebang", "executable", "package", "link", "other_path", "empty"])
def test_text_that_is_none_is_not_written_this_way(memory, how, tmp_path):
    root, changes = root_of(memory), dict[str, Any]()
    if how in ("shebang", "empty"):
        changes = {"content": {"path": PATH, "text": "#!/bin/sh\nmake lint\n" if how == "shebang" else " \n"}}
    elif how == "executable":
        identity(root, PATH, "Lint.\n").chmod(0o755)
        changes = {"operation": "supersede"}
    elif how == "package":
        identity(root, "instructions/__init__.py", "")
    elif how == "link":
        (root / ".recall" / "identity").mkdir(parents=True)
        (tmp_path / "elsewhere").mkdir()
        (root / ".recall" / "identity" / "instructions").symlink_to(tmp_path / "elsewhere")
    else:
        changes = {"content": {"path": "instructions/other.md", "text": f"{RULE}\n"}}

    assert gate(memory, action([worked(memory, 1), worked(memory, 2)], **changes)) == "not_prompt_text"


def test_who_somebody_is_needs_no_practice_and_a_role_needs_a_source(memory):
    asked = {"operation": "add", "summary": "x", "evidence_refs": []}
    who = {**asked, "target_ref": "identity:IDENTITY.md", "content": {"path": "IDENTITY.md", "text": "You sell.\n"}}
    path = "roles/reviewer.md"
    role = {**asked, "target_ref": f"identity:{path}", "content": {"path": path, "text": "You look for faults.\n"}}

    assert gate(memory, who) == ""
    assert gate(memory, role) == "no_source"
    assert gate(memory, {**role, "evidence_refs": [worked(memory, 1)]}) == ""


@pytest.mark.parametrize("target", [None, "memory:" + "a" * 26])
def test_other_actions_pass(memory, target):
    assert gate(memory, action([], target_ref=target)) == ""


def told(name: str, text: str) -> ProcedureText:
    return ProcedureText(f"project:{name}", Path(name), text)


@pytest.mark.parametrize(
    ("statement", "procedure", "line"),
    [
        ("Deploy the shop with `make ship` only.", "# Deploy\n\nDeploy the shop with `make deploy` only.\n", 3),
        ("Never push to main without a review.", "Push to main without a review.\n", 1),
        ("The staging database listens on port 5433.", "- The staging database listens on port 5432.\n", 1),
    ],
)
def test_a_memory_that_says_otherwise_than_a_command_is_found_with_its_line(memory, statement, procedure, line):
    rule = memory.remember(memory.candidate(statement, memory_type="user_preference"))

    found = conflicts([rule], [told("commands/deploy.md", procedure)])

    assert [(one.memory, one.procedure, one.line) for one in found] == [(rule.id, "project:commands/deploy.md", line)]


@pytest.mark.parametrize(
    ("statement", "procedure"),
    [
        ("Deploy the shop with `make ship` only.", "Deploy the shop with `make ship` only."),
        ("Deploy the shop with `make ship` only.", "Test the shop with `make test` first."),
        ("The staging database listens on port 5433.", "Does the staging database listen on port 5432?"),
        ("Run the linter before you commit.", "Run the tests as well before you commit."),
        ("Gradle does not respect `HTTP_PROXY` environment variables.", "## Environment variables\n"),
        ("Always run `make fmt` together with `make lint`.", "- `make test`\n- run `make integration`\n"),
        ("Deploy the shop with `make ship` only.", "```\nDeploy the shop with `make deploy` only.\n```\n"),
    ],
)
def test_what_agrees_adds_or_asks_is_no_conflict(memory, statement, procedure):
    rule = memory.remember(memory.candidate(statement, memory_type="user_preference"))

    assert conflicts([rule], [told("commands/x.md", procedure)]) == []


def test_what_was_wrong_once_contradicts_no_procedure(memory):
    fault = memory.remember(memory.candidate("The backup does not run on Sundays.", memory_type="known_failure"))

    assert conflicts([fault], [told("commands/backup.md", "The backup runs on Sundays.")]) == []


def test_a_conflict_behind_code_and_front_matter_is_named_by_its_line_in_the_file(memory):
    rule = memory.remember(memory.candidate("The staging database listens on port 5433."))
    text = "# Database\n\n```sh\npsql\n```\n\nThe staging database listens on port 5432.\n"
    path = identity(root_of(memory), "commands/db.md", f"---\nname: db\n---\n{text}")
    where = places(memory.log.workspace.data, root_of(memory))

    (found,) = conflicts([rule], standing_files.procedures(where, root_of(memory)))

    assert path.read_text().splitlines()[found.line - 1] == found.said


PORT = "The root cause is that the staging database listens on port 5433."


def test_a_conflict_keeps_the_checkpoint_from_being_complete_until_one_of_the_two_changes(tmp_path):
    """LCA-D-08."""
    project = make_running(tmp_path, talk_of_causes(CAUSE))
    rule = memory_of(project, "The staging database listens on port 5433.")
    root = project.workspace.root
    assert root is not None
    command = identity(root, "commands/db.md", "The staging database listens on port 5432.\n")

    first, again = project.run(), project.run(later=1)
    risk = risks_of(project, rule)
    command.write_text("The staging database listens on port 5433.\n", "utf-8")
    after = project.run(later=2)

    assert [report.state for report in (first, again)] == ["incomplete", "failed"]
    assert first.steps[-1].name == "procedures"
    assert f"{rule[:10]} / project:commands/db.md:1" in first.steps[-1].note
    (event,) = [one for one in project.events("checkpoint") if one.id == first.checkpoint]
    assert event.body["failed_step"] == "procedures"
    assert [one["memory"] for one in event.body["artifacts"]["procedure_conflicts"]] == [rule]
    assert risk == ["conflict"]
    assert after.state == "complete"
    assert risks_of(project, rule) == []


def test_a_procedure_that_is_written_when_nothing_else_happens_is_looked_at(tmp_path):
    project = make_running(tmp_path, talk_of_causes(CAUSE))
    memory_of(project, "The staging database listens on port 5433.")
    root = project.workspace.root
    assert root is not None
    assert project.run().state == "complete"
    assert project.run(later=1).state == "unchanged"
    identity(root, "commands/db.md", "The staging database listens on port 5432.\n")

    report = project.run(later=2)

    assert (report.state, report.steps[-1].name) == ("failed", "procedures")


def test_critical_files_of_a_folder_that_come_or_change_are_carried_by_the_next_run(tmp_path):
    project = make_running(tmp_path, talk_of_causes(CAUSE))
    folder = tmp_path / "theirs"
    folder.mkdir()
    memory = replace(project.settings.memory, folders=str(folder))
    project.settings = replace(project.settings, memory=memory)

    def carried() -> list[str]:
        return [one.text for one in held(project.workspace.run_dir).entries]

    states = [project.run().state]
    for later, text in enumerate(("Ship on Tuesdays.", "Ship on Mondays.", "Ship on Mondays."), 1):
        (folder / "ship.md").write_text(f"---\ntype: project\ncritical: true\n---\n{text}\n", "utf-8")
        states.append(project.run(later=later).state)
        assert carried() == [text]

    assert states == ["complete", "complete", "complete", "unchanged"]


def test_a_harness_s_own_rules_file_is_a_procedure_and_the_block_that_recall_wrote_there_is_not(tmp_path):
    from recall.rules_block import with_block

    project = make_running(tmp_path, talk_of_causes(CAUSE))
    memory_of(project, "The staging database listens on port 5433.")
    root = project.workspace.root
    assert root is not None
    (root / "AGENTS.md").write_text(with_block("Be brief.\n", "The staging database listens on port 5432."), "utf-8")
    ours = project.run()
    (root / "AGENTS.md").write_text("The staging database listens on port 5432.\n", "utf-8")

    theirs = project.run(later=1)

    assert (ours.state, theirs.state) == ("complete", "failed")
    assert "harness:AGENTS.md:1" in theirs.steps[-1].note


def memory_of(project: Running, statement: str) -> str:
    made = Remembered(project.log)
    return made.remember(made.candidate(statement)).id


def risks_of(project: Running, name: str) -> list[str]:
    project.index()
    with Store.open(project.workspace.index_path) as store:
        return list(json.loads(store.standing([name])[name].risks or "[]"))


def test_a_rule_cited_in_ten_sessions_is_proposed_as_a_procedure_once_and_nobody_is_asked(tmp_path, monkeypatch):
    """LCA-D-08."""
    project = make_running(tmp_path, talk_of_causes(CAUSE))
    made = Remembered(project.log)
    rule = made.remember(made.candidate(RULE, memory_type="user_preference"))
    hers = made.candidate("Ana never commits on a Sunday.", memory_type="user_preference")
    private = made.remember(hers, privacy="private")
    cited(made, rule.id, [f"s{number}" for number in range(9)])
    cited(made, private.id, [f"s{number}" for number in range(20)])
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("asked"))

    early = project.run()
    cited(made, rule.id, ["s10"])
    project.goes_on(talk_of_causes(PORT, session="s11"))
    late, again = project.run(later=1), project.run(later=2)

    assert [report.state for report in (early, late)] == ["complete", "complete"]
    assert again.state in ("complete", "unchanged")
    (proposed,) = project.events("proposal.proposed")
    asked = proposed.body["document"]["action"]
    assert asked["target_ref"].startswith("procedure:instructions/run-make-lint-before-each-commit-")
    assert asked["content"]["text"] == f"{RULE}\n"
    assert f"memory:{rule.id}" in asked["evidence_refs"]
    assert proposed.body["document"]["state"] == "proposed"
    assert gate(made, asked) == ""
    assert "1 much-cited rule proposed" in late.steps[-1].note


def test_a_rule_that_stands_in_a_procedure_is_not_proposed(tmp_path):
    project = make_running(tmp_path, talk_of_causes(CAUSE))
    made = Remembered(project.log)
    rule = made.remember(made.candidate(RULE, memory_type="user_preference"))
    cited(made, rule.id, [f"s{number}" for number in range(12)])
    root = project.workspace.root
    assert root is not None
    identity(root, "instructions/commits.md", f"# Commits\n\n{RULE}\n")

    project.run()

    assert project.events("proposal.proposed") == []


def test_a_number_of_citations_of_zero_proposes_nothing(memory):
    rule = memory.remember(memory.candidate(RULE, memory_type="user_preference"))
    cited(memory, rule.id, [f"s{number}" for number in range(12)])
    settings = replace(Settings(), standing=StandingSettings(cited_rule=0))

    assert standing_set.compile(memory.log.workspace, settings, now=NOW).rules == ()
    assert len(standing_set.compile(memory.log.workspace, Settings(), now=NOW).rules) == 1


def test_what_has_no_room_is_said_at_the_checkpoint_and_the_rest_is_kept_for_the_hooks(tmp_path):
    project = make_running(tmp_path, talk_of_causes(CAUSE))
    project.settings = replace(project.settings, standing=StandingSettings(chars=100))
    made = Remembered(project.log)
    first = made.remember(made.candidate("Deploys go out on Tuesdays. " + "x" * 60), critical_for=("*",))
    second = made.remember(made.candidate("Invoices are kept for ten years. " + "y" * 60), critical_for=("*",))

    report = project.run()

    note = next(step.note for step in report.steps if step.name == "standing")
    assert report.state == "complete"
    assert "of 100 characters; no room for memory:" in note
    assert {one.event for one in held(project.workspace.run_dir).entries} == {first.id, second.id}


def test_while_somebody_decides_the_run_proposes_nothing_and_the_next_one_does(tmp_path, monkeypatch):
    monkeypatch.setattr("consolidation.coord_desk.LOCK_SECONDS", 0.0)
    project = make_running(tmp_path, talk_of_causes(CAUSE))
    made = Remembered(project.log)
    rule = made.remember(made.candidate(RULE, memory_type="user_preference"))
    cited(made, rule.id, [f"s{number}" for number in range(12)])
    desk = CoordDesk(project.workspace, project.workspace.data, ApprovalSettings(), NOW)

    with desk.lock():
        assert project.run().state == "complete"
    assert project.events("proposal.proposed") == []
    project.goes_on(talk_of_causes(PORT, session="s2"))
    project.run(later=1)

    assert len(project.events("proposal.proposed")) == 1
