"""Reads what the signals of approvals look at: proposals, their decisions and files; writes nothing."""

from collections import Counter
from datetime import datetime
from pathlib import Path

from consolidation.coord_desk import CoordDesk
from consolidation.coord_verify import verify
from consolidation.signatures import newest
from health.facts_memories import ApprovalFacts
from recall.governance_settings import ApprovalSettings
from transcript.coord_codes import WARNINGS
from transcript.errors import RecordError, WorkspaceError
from transcript.event import moment
from transcript.log import Log
from transcript.projections.coord_files import FOLDER
from transcript.workspace import Workspace


def approval_facts(workspace: Workspace, data: Path, *, now: datetime, log: Log | None = None) -> ApprovalFacts:
    """Return how proposals stand, what was refused of those that are still open, and what `coord verify` finds."""
    problems: list[str] = []
    try:
        desk = CoordDesk(workspace, data, ApprovalSettings(), now)
        desk.log = log or desk.log
        known = [one for one in desk.state().documents.values() if not one.erased]
        if known or (desk.root / FOLDER).exists():
            verify(desk, lambda code, where: problems.append(f"{where}: {code}") if code not in WARNINGS else None)
        applied = len(desk.state().applied)
    except (WorkspaceError, RecordError):  # no project folder; a broken record has signals of its own
        return ApprovalFacts()
    through, fault = newest(desk.log)
    stand = Counter(one.state for one in known)
    open_ones = [one for one in known if one.state in ("proposed", "approved")]
    return ApprovalFacts(
        waiting=stand["proposed"],
        oldest_at=min((moment(one.ts).timestamp() for one in known if one.state == "proposed"), default=None),
        approved=stand["approved"],
        applied=applied,
        refused=Counter(code for one in open_ones for code in one.refused),
        problems=tuple(problems),
        signed_through=through,
        signature_fault=fault,
    )
