"""`recall standing`: take responsibility for a file of the standing context that was changed by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recall.cli.app import App, pass_app
from recall.cli.output import emit, say
from transcript.paths import read_file

if TYPE_CHECKING:
    from consolidation.standing_files import Change, Present
    from transcript.workspace import Workspace


@click.group()
def command() -> None:
    """Accept standing files that were changed by hand.

    What a session always carries is changed by proposals that a person approves ('recall coord'), or by hand. A file
    that was changed by hand is told all the same; 'recall verify' and 'recall session-start' name it until a person
    accepts it as it stands.

    \b
        recall standing accept .recall/identity/IDENTITY.md
    """


@command.command()
@click.argument("path")
@click.option("--dry-run", is_flag=True, help="Say what would be accepted, and ask nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_app
def accept(app: App, path: str, dry_run: bool, as_json: bool) -> None:
    """Accept the file at PATH as it stands, or that it is gone. A person's decision, typed at a terminal.

    PATH is a path, or a name as 'recall session-start' prints it (project:IDENTITY.md).

    \b
        recall standing accept project:IDENTITY.md
    """
    from consolidation import standing_files
    from recall.standing_places import places

    workspace = app.workspace() if dry_run else app.writable_workspace()
    where = places(app.data, workspace.root, app.config.standing().folders)
    files = {one.key: one for one in standing_files.present(where)}
    known = standing_files.governed(app.log(workspace))
    key = _key(app, {*files, *known}, files, path)
    change = next((one for one in standing_files.changes(files.values(), known) if one.key == key), None)
    if change is not None and not dry_run:
        _accept(app, workspace, change, files.get(key))
    if as_json:
        told = {"key": key, "changed": change is not None and not dry_run, "code": change.code if change else ""}
        emit({**told, "sha256": files[key].sha256 if key in files else ""})
    elif change is None:
        say(f"{key} is as it was accepted; nothing to do")
    else:
        say(f"{'would accept' if dry_run else 'accepted'} {key}" + ("" if change.now else ", which is gone"))


def _accept(app: App, workspace: Workspace, change: Change, file: Present | None) -> None:
    """Show the file to a person, and record that it is theirs; refused where nobody is there or it has changed."""
    from consolidation import standing_files, standing_set
    from consolidation.coord_escape import printed
    from recall.cli.person import at_terminal, confirm
    from recall.cli.work import settings_of
    from transcript.canonical import sha256_hex
    from transcript.errors import NotConfirmed
    from transcript.event import stamp
    from transcript.memory_told import Told

    who, terminal = at_terminal(app.env)
    data = read_file(file.path) if file is not None else b""
    if file is not None and sha256_hex(data) != change.now:
        raise NotConfirmed(f"{change.key} was changed just now; look at it again")
    for line in printed(data.decode("utf-8", "replace")) if file is not None else ():
        terminal.say(line)
    terminal.say(f"--- end of {change.key}" if file is not None else f"{change.key} is gone.")
    of = "the file" if file is not None else "its name"
    confirm(terminal, change.now or sha256_hex(change.key.encode()), f"accept {change.key}", of=of)
    now = app.now()
    kind = file.kind if file is not None else "semantic"
    at = Told(stamp(now), actor="human")
    event = standing_files.draft(at, change.key, change.now, kind, "accepted", sources=[f"person:{who.name}"])
    app.log(workspace).append([event], now=now)
    standing_set.after_apply(workspace, settings_of(app), now=now)


def _key(app: App, known: set[str], files: dict[str, Present], given: str) -> str:
    """The key of a file by its path or key; ConfigError where it is none of ours."""
    from transcript.errors import ConfigError

    if given in known:
        return given
    wanted = (app.cwd / given).resolve()
    found = next((key for key, one in files.items() if one.path.resolve() == wanted), "")
    if not found:
        raise ConfigError(f"{given} is no file of the standing context; 'recall session-start' lists them")
    return found
