"""Reads when a workspace was last backed up, and how far the record has gone on since."""

from health.facts_machine import BackupFacts
from transcript.backup_places import known
from transcript.event import moment
from transcript.log import Log
from transcript.workspace import Workspace


def backup_facts(workspace: Workspace) -> BackupFacts:
    """Return the newest backup that was made here and found whole; no time where none was."""
    rows = known(workspace.home.parent.parent, workspace.id)
    if not rows:
        return BackupFacts()
    newest = rows[-1]
    behind = Log(workspace).head().seq - int(newest["events"])
    return BackupFacts(moment(newest["at"]).timestamp(), newest["path"], max(0, behind))
