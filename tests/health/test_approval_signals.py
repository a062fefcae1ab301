"""What health says of approvals: what waits, what was refused, and files that somebody changed."""

from pathlib import Path

import pytest
from support.coord import EVIDENCE, NOW, Office

from consolidation import signatures
from health.facts import Facts
from health.facts_memories import ApprovalFacts
from health.gather_approvals import approval_facts
from health.report import assess
from health.signal import Level, Signal
from recall.governance_settings import SigningSettings


def signal(facts: ApprovalFacts, id: str) -> Signal:
    return next(one for one in assess(Facts("w", 20 * 86_400.0, approvals=facts)).signals if one.id == id)


@pytest.mark.parametrize(
    ("id", "said"),
    [
        ("proposals", "none"),
        ("coord_problems", "0 proposals, decisions and items differ from the record"),
        ("signatures", "none yet"),
    ],
)
def test_a_project_without_approvals_is_well(id: str, said: str) -> None:
    found = signal(ApprovalFacts(), id)

    assert (found.level, found.text) == (Level.OK, said)


def test_what_is_approved_is_to_be_applied_and_what_is_not_is_no_command_to_run() -> None:
    both = signal(ApprovalFacts(approved=1, refused={"used": 1}), "proposals").action
    refused = signal(ApprovalFacts(refused={"used": 1}), "proposals").action

    assert "then 'recall coord apply --all' for what is approved" in both
    assert "coord apply" not in refused


def test_a_refused_application_is_seen_until_it_is_settled(tmp_path: Path) -> None:
    """gov-edited-after-approval 5."""
    office = Office(tmp_path)
    document = office.approved()
    (office.root / EVIDENCE).write_text("All clocks run on TAI.\n")
    office.apply(document.id)
    refused = approval_facts(office.workspace, office.data, now=office.desk.now)
    office.decide(document.id)
    office.apply(document.id)

    settled = approval_facts(office.workspace, office.data, now=office.desk.now)

    assert (refused.waiting, refused.refused, refused.problems) == (1, {"evidence_changed": 1}, ())
    assert refused.oldest_at == NOW.timestamp() + 60
    assert signal(refused, "proposals").details == ("refused, evidence_changed: 1",)
    assert settled == ApprovalFacts(applied=1)


def test_an_edited_memory_and_an_exposed_key_fail_and_looking_writes_nothing(tmp_path: Path) -> None:
    office = Office(tmp_path)
    office.applied()
    path = office.root / ".coord" / "memory.yml"
    path.write_text(path.read_text().replace("UTC", "TAI"))
    (office.data / "keys" / "approval.key").chmod(0o644)
    before = office.snapshot()

    found = approval_facts(office.workspace, office.data, now=office.desk.now)

    assert [problem.rpartition(": ")[2] for problem in found.problems] == ["coord_edited", "key_exposed"]
    assert office.snapshot() == before


def test_the_last_signature_is_held_against_the_record(tmp_path: Path) -> None:
    """ESAA-46."""
    office = Office(tmp_path)
    office.propose()
    event = signatures.add(office.workspace, SigningSettings(), NOW)
    assert event is not None
    good = approval_facts(office.workspace, office.data, now=NOW)
    (office.data / "keys" / "head.key").write_text("00" * 32 + "\n")

    lost = approval_facts(office.workspace, office.data, now=NOW)

    assert (good.signed_through, good.signature_fault) == (event.seq - 1, "")
    assert lost.signature_fault == "signature_unknown_key"


def test_a_project_without_proposals_is_well(tmp_path: Path) -> None:
    office = Office(tmp_path, key=False)

    assert approval_facts(office.workspace, office.data, now=office.desk.now) == ApprovalFacts()
