"""A project with a desk of proposals, and a person who decides without a terminal."""

import itertools
import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from consolidation import coord_apply, coord_decide, coord_verify
from consolidation.coord_desk import CoordDesk
from consolidation.coord_effects_port import NO_EFFECTS, Effects
from consolidation.coord_schema import Document
from recall.governance_settings import ApprovalSettings
from transcript.projections import coord_files
from transcript.workspace import init

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
EVIDENCE = "docs/time.md"
GOLDEN: dict[str, Any] = {
    "operation": "add", "target_ref": None, "summary": "Store times in UTC.", "evidence_refs": [EVIDENCE],
}  # fmt: skip


@dataclass(frozen=True)
class Ana:
    """Somebody who decides."""

    name: str = "ana"


def action(**changed: Any) -> dict[str, Any]:
    """An action that may be applied, with some of its fields changed."""
    return {**GOLDEN, **changed}


class Office:
    """A desk and what people and agents do at it, one minute after the other."""

    def __init__(self, folder: Path, *, seed: int = 1, key: bool = True) -> None:
        self.root, self.data = folder / "project", folder / "data"
        (self.root / "docs").mkdir(parents=True)
        (self.root / EVIDENCE).write_text("All clocks run on UTC.\n")
        self.workspace = init(self.root, self.data)
        self._random = random.Random(seed)
        self.desk = self.new_desk(NOW)
        if key:
            self.desk.keys.create()

    def new_desk(self, now: datetime | None = None) -> CoordDesk:
        """What another process has in its hands."""
        made = self._random.randbytes
        return CoordDesk(self.workspace, self.data, ApprovalSettings(), now or self.desk.now, random=made)

    def later(self, **span: float) -> None:
        """Let time pass; a minute unless said otherwise."""
        self.desk.now += timedelta(**(span or {"minutes": 1}))

    def propose(self, **changed: Any) -> Document:
        self.later()
        return self.desk.propose(action(**changed), source_task="T1", by="an agent")

    def decide(self, name: str, word: str = "approve", **more: Any) -> coord_decide.Decided:
        self.later()
        return coord_decide.decide(
            self.desk, coord_decide.show(self.desk, name), word, person=Ana(), rationale="it is so", **more
        )

    def apply(self, name: str, effects: Effects = NO_EFFECTS) -> coord_apply.Outcome:
        self.later()
        return coord_apply.apply(self.desk, name, effects)

    def approved(self, **changed: Any) -> Document:
        """A proposal that a person has approved."""
        document = self.propose(**changed)
        self.decide(document.id)
        return document

    def applied(self, **changed: Any) -> dict[str, Any]:
        """The item of a proposal that was approved and applied."""
        done = self.apply(self.approved(**changed).id)
        assert done.changed, done
        return dict(self.desk.items()[-1])

    def path(self, name: str) -> Path:
        return coord_files.proposal_path(self.root, name)

    def file(self, name: str) -> dict[str, Any]:
        """What a proposal's file holds."""
        held: dict[str, Any] = json.loads(self.path(name).read_bytes())
        return held

    def edit(self, name: str, **changed: Any) -> None:
        """Change fields of a proposal's file by hand; `action` is merged."""
        held = self.file(name)
        inner = {**held["action"], **changed.pop("action", {})}
        self.path(name).write_text(json.dumps({**held, "action": inner, **changed}))

    def memory(self) -> bytes:
        return coord_files.memory_bytes(self.root) or b""

    def problems(self) -> list[tuple[str, str]]:
        """What `coord verify` says."""
        found: list[tuple[str, str]] = []
        coord_verify.verify(self.desk, lambda code, where: found.append((code, where)))
        return found

    def snapshot(self) -> dict[str, bytes]:
        """Every byte below `.coord` and of the record."""
        kept = itertools.chain((self.root / ".coord").rglob("*"), self.workspace.log_dir.rglob("*"))
        return {str(path): path.read_bytes() for path in kept if path.is_file()}


def write_proposal(office: Office, document: Mapping[str, Any], name: str = "") -> Path:
    """Put a proposal's file there by hand."""
    folder = coord_files.coord_folder(office.root, coord_files.PROPOSALS)
    path = folder / (name or f"{document['proposal_id']}.json")
    path.write_text(json.dumps(document))
    return path
