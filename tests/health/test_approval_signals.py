"""What health says of approvals: what waits, what was refused, and files that somebody changed."""

from pathlib import Path

import pytest
from support.coord import EVIDENCE, NOW, Office

from health.facts import ApprovalFacts, Facts
from health.gather_approvals import approval_facts
from health.report import assess
from health.signal import Level, Signal


def signal(facts: ApprovalFacts, id: str) -> Signal:
    return next(one for one in assess(Facts("w", 20 * 86_400.0, approvals=facts)).signals if one.id == id)


@pytest.mark.parametrize(
    ("facts", "id", "level", "said"),
    [
        (ApprovalFacts(), "proposals", Level.OK, "none"),
        (ApprovalFacts(waiting=2, oldest_at=19 * 86_400.0, applied=1), "proposals", Level.OK,
         "2 waiting for a person, the oldest for 24.0 h, 1 applied"),
        (ApprovalFacts(waiting=1, oldest_at=86_400.0), "proposals", Level.WARN,
         "1 waiting for a person, the oldest for 19.0 days"),
        (ApprovalFacts(approved=1, refused={"used": 2}), "proposals", Level.WARN,
         "1 approved and not applied, 2 attempts refused"),
        (ApprovalFacts(), "coord_problems", Level.OK, "0 proposals, decisions and items differ from the record"),
        (ApprovalFacts(problems=("memory.yml:1: coord_edited",)), "coord_problems", Level.FAIL,
         "1 proposal, decision or item differs from the record"),
    ],
)  # fmt: skip
def test_a_signal_says_what_is_and_how_bad_it_is(facts: ApprovalFacts, id: str, level: Level, said: str) -> None:
    found = signal(facts, id)

    assert (found.level, found.text) == (level, said)
    assert bool(found.action) == bool(level)


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


def test_a_project_without_proposals_is_well(tmp_path: Path) -> None:
    office = Office(tmp_path, key=False)

    assert approval_facts(office.workspace, office.data, now=office.desk.now) == ApprovalFacts()
