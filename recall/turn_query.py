"""The query of one turn: the prompt, and what payload, session and settings say of the work and of who reads along.

On the hook path: standard library only.
"""

import re
from pathlib import Path

from recall import session_state
from recall.audiences import SHARED, widest
from recall.governance_settings import AudienceSettings
from recall.harness import Payload
from recall.query import Query
from recall.session_state import Cue
from transcript.workspace import Workspace

EVERY_CHANNEL = "*"
NOT_READ = AudienceSettings(
    "project", EVERY_CHANNEL
)  # where the settings cannot be read: nothing private, to nobody else
_COMMAND = re.compile(r"\s*/([A-Za-z][\w:.-]{0,99})(?:\s|$)")  # `/name ...`, never a path


def query_of(payload: Payload, workspace: Workspace | None, audience: AudienceSettings) -> Query:
    """Return the query of a payload: what it says itself wins over what was said of its session, then the settings.

    Of who reads along the widest of all counts: none of them lets more be seen than another.
    """
    said = session_state.of(workspace.run_dir, payload.session) if workspace is not None else session_state.NOTHING
    cue = payload.cue.over(said)
    typed = _COMMAND.match(payload.prompt)
    return Query(
        payload.prompt,
        payload.session,
        payload.harness,
        payload.cwd,
        role=cue.role or None,
        channel=cue.channel or None,
        audience=widest(reading(cue, audience), reading(said, audience)),
        command=cue.command or (typed[1] if typed else None),
        skill=cue.skill or None,
        task=cue.task or None,
        project=project_of(payload.cwd, workspace.root if workspace is not None else None),
    )


def reading(cue: Cue, settings: AudienceSettings) -> str:
    """Return who reads along: the widest of who is named and the settings' audience, on a shared channel others."""
    shared = settings.shared_channels.split()
    on_shared = cue.channel and (cue.channel in shared or EVERY_CHANNEL in shared)
    return widest(settings.session, cue.audience, SHARED if on_shared else None)


def project_of(cwd: str, root: Path | None) -> str:
    """Return the name of the project that work in a folder is about: the workspace's own, else the folder's."""
    if root is not None and f"{cwd}/".startswith(f"{root}/"):
        return root.name
    return cwd.rstrip("/\\").replace("\\", "/").rpartition("/")[2]
