"""What was said of the running session besides its prompts: role, skill, command, channel and audience.

On the hook path: standard library only. One file under `run/`, written by `recall role use`: what is said for the
whole workspace, and for single sessions, which wins. Losing it loses a choice that is made again with one command.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from recall.audiences import SHARED, UNKNOWN, widest
from transcript.paths import read_file

NAME = "session.json"
VERSION = 1
EVERY = ""  # the session id of what holds for the whole workspace
MOST_SESSIONS = 200  # the newest are kept
MOST_CHARS = 200  # of one value: a name, not a text


@dataclass(frozen=True, slots=True)
class Cue:
    """The facets of a turn that its prompt does not hold; "" where nothing is known."""

    role: str = ""
    channel: str = ""
    audience: str = ""
    command: str = ""
    skill: str = ""
    task: str = ""

    def over(self, other: "Cue") -> "Cue":
        """Return these facets, and the other's where these are silent."""
        return replace(other, **{name: value for name, value in asdict(self).items() if value})


FACETS = tuple(field.name for field in fields(Cue))
NOTHING = Cue()


def of(run_dir: Path, session: str = EVERY) -> Cue:
    """Return what is known of a session: said for it, else for the workspace.

    A lost file says nothing. Of one that cannot be read it is not known who was said to read along: nobody is trusted.
    """
    try:
        said = entries(run_dir)
    except ValueError:
        return Cue(audience=UNKNOWN)
    every = said.get(EVERY, NOTHING)
    return said.get(session, NOTHING).over(every) if session else every


def entries(run_dir: Path) -> dict[str, Cue]:
    """Return what the file holds by session id, the workspace's under ""; ValueError where it cannot be read."""
    try:
        data = read_file(run_dir / NAME)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ValueError(f"{run_dir / NAME} cannot be read: {error.strerror}") from None
    try:
        found = json.loads(data)["sessions"]
        return {str(session): cue(said) for session, said in found.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ValueError(f"{run_dir / NAME} is damaged") from None


def cue(said: Mapping[str, object]) -> Cue:
    """Return the facets that a payload or a file names; anything but a short line of text is none.

    Where that does not say readably who reads along, nobody is trusted.
    """
    found = Cue(**{name: value for name in FACETS if (value := _line(said.get(name)))})
    unread = any(said.get(name) and not getattr(found, name) for name in ("audience", "channel"))
    return replace(found, audience=UNKNOWN) if unread else found


def written(run_dir: Path, said: Cue, session: str = EVERY) -> Path:
    """Say this of a session, or of the workspace, in place of what was said before; return the file.

    NOTHING takes back what was said: a session then has what holds for the workspace.
    """
    from transcript.paths import secure_dir, write_atomic  # the hook only reads

    try:
        before = entries(run_dir)
    except ValueError:
        before = {}
    known = {name: one for name, one in before.items() if name != session}
    if said != NOTHING:
        known[session] = said
    every = {EVERY: known.pop(EVERY)} if EVERY in known else {}
    kept = {**every, **dict(list(known.items())[-MOST_SESSIONS:])}
    held = {name: {facet: v for facet, v in asdict(one).items() if v} for name, one in kept.items()}
    path = secure_dir(run_dir) / NAME
    write_atomic(path, json.dumps({"version": VERSION, "sessions": held}).encode())
    return path


def keep_audiences(run_dir: Path) -> None:
    """Leave of what was said nothing but who reads along, on any channel others: losing that would let more be seen."""
    from transcript.paths import write_atomic  # the hook only reads

    try:
        said = entries(run_dir)
    except ValueError:
        said = {EVERY: Cue(audience=UNKNOWN)}
    held = {
        session: {"audience": widest(one.audience, SHARED if one.channel else None)}
        for session, one in said.items()
        if one.audience or one.channel
    }
    write_atomic(run_dir / NAME, json.dumps({"version": VERSION, "sessions": held}).encode())


def _line(value: object) -> str:
    if not isinstance(value, str) or len(value) > MOST_CHARS or not value.isprintable():
        return ""
    return value.strip()
