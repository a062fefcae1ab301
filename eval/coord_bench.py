"""Times how long approvals take to be verified: signed proposals held against files, record, evidence and key.

Beside the seconds stands what as many bare HMACs take, so that machines can be compared: the rest is reading.
"""

import hmac
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TypeVar
from uuid import UUID

from consolidation.approval import COVERED, sign
from consolidation.coord_apply import check
from consolidation.coord_desk import CoordDesk
from consolidation.coord_schema import CANON_VERSION, Document, action_hash, checked, proposal_hash
from consolidation.coord_verify import verify
from eval.machine import Machine, machine
from eval.tables import table
from recall.governance_settings import ApprovalSettings
from transcript import proposal_drafts
from transcript.canonical import canonical
from transcript.event import Draft, stamp
from transcript.projections import coord_files
from transcript.telling import counted
from transcript.workspace import init

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
EVIDENCE = 200  # files that the proposals rest on
Made = TypeVar("Made")
LATER = "2036-03-01T12:00:00.000Z"


@dataclass(frozen=True, slots=True)
class CoordReport:
    """Seconds for `approvals` signed proposals; `ratio` is that of the checks to as many bare HMACs."""

    approvals: int
    read_files: float
    fold_record: float
    checks: float
    verify: float
    bare_hmacs: float
    ratio: float
    refused: int
    problems: int
    machine: Machine

    @property
    def whole(self) -> float:
        """Return the seconds from nothing read to every approval verified."""
        return self.read_files + self.fold_record + self.checks

    def to_text(self) -> str:
        """Return one table and the circumstances."""
        rows = [
            ["read and parse the files", f"{self.read_files:.2f}"],
            ["fold the record", f"{self.fold_record:.2f}"],
            ["check each: hashes, signature, evidence, use, target", f"{self.checks:.2f}"],
            ["all three", f"{self.whole:.2f}"],
            ["the command 'coord verify' over the same", f"{self.verify:.2f}"],
            ["as many bare HMACs", f"{self.bare_hmacs:.3f}"],
        ]
        return "\n".join(
            [
                self.machine.to_text(),
                f"{counted(self.approvals, 'approved proposal')}, {self.refused:,} refused, "
                f"{counted(self.problems, 'problem')}",
                table(["", "seconds"], rows),
                f"the checks take {self.ratio:.1f} times as long as bare HMACs",
            ]
        )

    def to_json(self) -> str:
        """Return one JSON object."""
        return json.dumps({**asdict(self), "whole": self.whole})


def run(folder: Path, *, approvals: int, progress: Callable[[str], None] = lambda text: None) -> CoordReport:
    """Make a project with so many approved proposals below folder, and time their verification."""
    if approvals < 1:
        raise ValueError(f"approvals is {approvals}, must be at least 1")
    progress(f"signing {counted(approvals, 'proposal')}")
    desk = _made(folder, approvals)
    secret = desk.keys.current().secret
    with desk.lock():
        read, found = _timed(desk.documents)
        fold, _ = _timed(desk.state)
        documents = [held.document for held in found.by_id.values()]
        checks, refused = _timed(lambda: _checked(desk, documents))
        signed = [canonical({name: (held.decision or {})[name] for name in COVERED}) for held in documents]
        bare, _ = _timed(lambda: [hmac.new(secret, data, sha256).hexdigest() for data in signed])
    problems: list[str] = []
    verified, _ = _timed(lambda: verify(desk, lambda code, where: problems.append(code)))
    return CoordReport(
        len(documents), read, fold, checks, verified, bare, checks / bare, refused, len(problems), machine()
    )


def _timed(work: Callable[[], Made]) -> tuple[float, Made]:
    begun = time.perf_counter()
    made = work()
    return time.perf_counter() - begun, made


def _checked(desk: CoordDesk, documents: list[Document]) -> int:
    """Return how many would be refused; evidence that several share is looked at once."""
    refs = desk.references()
    return sum(check(desk, document, refs=refs) is not None for document in documents)


def _made(folder: Path, approvals: int) -> CoordDesk:
    """Return the desk of a project with approved proposals, written as the commands write them but all at once."""
    root, data = folder / "project", folder / "data"
    (root / "docs").mkdir(parents=True)
    for number in range(EVIDENCE):
        (root / "docs" / f"{number}.md").write_text(f"evidence {number}\n" * 50)
    desk = CoordDesk(init(root, data), data, ApprovalSettings(), NOW)
    desk.keys.create()
    refs, key, drafts, files = desk.references(), desk.keys.current(), list[Draft](), dict[str, bytes]()
    for number in range(approvals):
        names = [f"docs/{(number + step) % EVIDENCE}.md" for step in range(3)]
        document = _document(number, names)
        fields = {
            "canon_version": CANON_VERSION,
            "store_id": desk.store_id,
            "proposal_id": document.id,
            "proposal_hash": proposal_hash(document),
            "affected_action_hash": action_hash(document),
            "evidence_hashes": refs.hashes(names),
            "decision": "approve",
            "actor": "ana",
            "timestamp": stamp(NOW),
            "rationale": "it is so",
            "nonce": f"{number:032x}",
            "expires_at": LATER,
        }
        decision = sign(fields, key)
        drafts.append(desk.proposed(document, by="bench"))
        drafts.append(proposal_drafts.decided(stamp(NOW), document.raw, decision))
        approved = document.with_state("approved", decision)
        files[f"{document.id}.json"] = coord_files.document_bytes(approved.raw)
    desk.settle()
    desk.append(*drafts)
    place = coord_files.coord_folder(root, coord_files.PROPOSALS)
    for name, content in files.items():
        (place / name).write_bytes(content)
    return desk


def _document(number: int, evidence: list[str]) -> Document:
    return checked(
        {
            "schema_version": 1,
            "proposal_id": str(UUID(int=number + (4 << 76) + (8 << 60))),
            "source_task": f"T{number}",
            "action": {
                "operation": "add",
                "target_ref": None,
                "summary": f"Decision {number}: the service answers within the budget it was given.",
                "evidence_refs": evidence,
            },
            "state": "proposed",
            "created_at": stamp(NOW),
            "decision": None,
        }
    )
