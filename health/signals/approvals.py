"""Approvals: what waits for a person and for how long, what was refused, whether files and signatures hold."""

from consolidation.signatures import CODES
from health.facts import Facts
from health.facts_memories import ApprovalFacts
from health.known import Area, Known, one
from health.signal import NONE_ALLOWED_FAIL, Level, Signal, count, span
from transcript.telling import counted

LONG_DAYS = 14.0
_DAY = 86_400.0


def proposals(facts: Facts) -> Signal:
    """Return how proposals stand; warns when one has waited for long, or was refused and is open still."""
    a = facts.approvals
    waited = facts.now - a.oldest_at if a.oldest_at is not None else 0.0
    late = waited > LONG_DAYS * _DAY
    parts = [f"{a.waiting:,} waiting for a person, the oldest for {span(waited)}"] if a.waiting else []
    parts += [f"{a.approved:,} approved and not applied"] if a.approved else []
    parts += [f"{a.applied:,} applied"] if a.applied else []
    parts += [counted(sum(a.refused.values()), "attempt refused", "attempts refused")] if a.refused else []
    level = Level.WARN if a.refused or late else Level.OK
    return Signal(
        id="proposals",
        value={
            "waiting": a.waiting,
            "oldest_seconds": round(waited) if a.oldest_at is not None else None,
            "approved": a.approved,
            "applied": a.applied,
            "refused": dict(a.refused),
        },
        unit="count",
        level=level,
        text=", ".join(parts) or "none",
        meaning="What changes the shared memory waits for a person; what is not what was approved is refused.",
        action="run 'recall coord review'"
        + (", then 'recall coord apply --all' for what is approved" if a.approved else "")
        + "; what nobody decides any more goes with 'recall coord expire'"
        if level
        else "",
        details=tuple(f"refused, {code}: {number:,}" for code, number in sorted(a.refused.items())),
    )


def files(a: ApprovalFacts) -> Signal:
    """Return how many proposals, decisions and items are not what the record says."""
    return count(
        "coord_problems",
        len(a.problems),
        ("proposal, decision or item differs from the record", "proposals, decisions and items differ from the record"),
        limits=NONE_ALLOWED_FAIL,
        meaning="memory.yml, the proposals and their signatures must be what the record says.",
        action="run 'recall coord verify'",
        details=a.problems,
    )


def signatures(a: ApprovalFacts) -> Signal:
    """Return through which event the record is signed; fails when the last signature does not hold."""
    level = Level.FAIL if a.signature_fault == "signature_bad" else Level.WARN if a.signature_fault else Level.OK
    restore = "; 'recall restore DIR --replace' puts a backup in its place" if level is Level.FAIL else ""
    good = f"signed through event {a.signed_through:,}" if a.signed_through else "none yet"
    return Signal(
        id="signatures",
        value=a.signed_through,
        unit="event",
        level=level,
        text=CODES.get(a.signature_fault, a.signature_fault) or good,
        meaning="Each complete checkpoint signs the record's head: who rewrites the record cannot sign it.",
        action="run 'recall verify --signatures', which says from which event on" + restore if level else "",
    )


KNOWN = (
    Known(
        "proposals",
        one(proposals),
        Area.MEMORIES,
        "record, coord",
        warn="refused, or waiting > 14 days",
        why_never="a person decides",
        remedy="coord review",
    ),
    Known(
        "coord_problems",
        one(lambda f: files(f.approvals)),
        Area.MEMORIES,
        "coord, record",
        fail="> 0",
        why_never="what was approved must be what stands",
        remedy="coord verify",
    ),
    Known(
        "signatures",
        one(lambda f: signatures(f.approvals)),
        Area.MEMORIES,
        "record, key folder",
        warn="cannot be checked",
        fail="the last one does not hold",
        remedy="verify --signatures",
    ),
)
