"""What `recall verify` looks at besides the record: files that a person governs, held against what the record says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recall.cli.app import App
    from transcript.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Found:
    """Something that is not as it should be: a code, a place and a sentence; a warning fails nothing."""

    code: str
    where: str
    message: str
    warns: bool = False


def standing(app: App, workspace: Workspace) -> list[Found]:
    """The files of the standing context that were changed since somebody took responsibility for them."""
    from consolidation import standing_files
    from recall.standing_places import places
    from transcript.errors import RecordError

    where = places(app.data, workspace.root, app.config.standing().folders)
    try:
        known = standing_files.governed(app.log(workspace))
    except RecordError:  # named as the record's own fault
        return []
    changes = standing_files.changes(standing_files.present(where), known)
    return [
        Found(one.code, one.key, standing_files.SAYS[one.code], one.code in standing_files.WARNINGS) for one in changes
    ]


def coord(app: App, workspace: Workspace) -> list[Found]:
    """The canonical memory, the proposals and their decisions, held against the record and the signatures."""
    from consolidation.coord_desk import CoordDesk
    from consolidation.coord_verify import verify
    from transcript.coord_codes import SAYS, WARNINGS
    from transcript.errors import RecordError, WorkspaceError

    found: list[Found] = []

    def report(code: str, where: str) -> None:
        found.append(Found(code, where, SAYS.get(code, ""), code in WARNINGS))

    try:
        verify(CoordDesk(workspace, app.data, app.config.approval(), app.now()), report)
    except (RecordError, WorkspaceError):  # the record's own fault, or no folder of the project
        return []
    return found


def signatures(app: App, workspace: Workspace) -> tuple[list[Found], int]:
    """The signatures that do not hold, and through which event the record is signed (0: not at all)."""
    from consolidation.signatures import check

    done = check(app.log(workspace), app.config.signing())
    return [Found(one.code, one.where, one.message) for one in done.problems], done.through
