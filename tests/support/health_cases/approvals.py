"""Proposals and decisions, the files that hold them, the signatures of the record."""

from dataclasses import replace

from health.facts_memories import ApprovalFacts
from support.health_cases import DAY, FAIL, NOW, OK, WARN, WELL, Case


def held(**changes):
    return replace(WELL, approvals=ApprovalFacts(**changes))


CASES = {
    "proposals": Case(
        held(waiting=1, oldest_at=NOW - 19 * DAY), held(approved=1, refused={"used": 2}),
        ("2 waiting for a person, the oldest for 24.0 h, 1 applied", "the oldest for 19.0 days",
         "1 approved and not applied, 2 attempts refused"), (OK, WARN, WARN),
        healthy=held(waiting=2, oldest_at=NOW - DAY, applied=1),
    ),
    "coord_problems": Case(
        held(), held(problems=("memory.yml:1: coord_edited",)),
        ("0 proposals, decisions and items", "0 proposals", "1 proposal, decision or item differs from the record"),
        (OK, OK, FAIL),
    ),
    "signatures": Case(
        held(signed_through=9, signature_fault="signature_unknown_key"),
        held(signed_through=9, signature_fault="signature_bad"),
        ("signed through event 1,200", "a key that is not here", "not the one that was signed"),
        healthy=held(signed_through=1200),
    ),
}  # fmt: skip
