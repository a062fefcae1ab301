"""`recall role`: which role the next turns are in, on which channel, and who reads along."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recall.audiences import AUDIENCES
from recall.cli.app import App, pass_app
from recall.cli.caller import agent_of, name_of
from recall.cli.output import emit, note, say
from transcript.errors import ConfigError

if TYPE_CHECKING:
    from recall.session_state import Cue
    from transcript.workspace import Workspace

_NAME = re.compile(r"\w[\w. -]*")  # of a file in the folder itself

session_option = click.option(
    "--session", default="", metavar="ID", help="Only for this session, by its whole id; by default for all of them."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


@dataclass(frozen=True, slots=True)
class Role:
    """A role that can be taken: its file, what it may speak of ([] for anything), and what it says."""

    name: str
    place: str
    file: str
    path: Path
    sha256: str
    authority: tuple[str, ...]
    text: str


@click.group()
def command() -> None:
    """Take a role, whose file and memories come first.

    Every session carries its file, and channel, command, skill, task and audience are said with it.

    \b
        recall role use reviewer
    """


@command.command()
@click.argument("name")
@session_option
@click.option("--channel", default="", metavar="NAME", help="The channel that the work is on.")
@click.option("--audience", type=click.Choice(AUDIENCES), help="Who reads along. An agent cannot ask for more.")
@click.option("--command", "acts", default="", metavar="NAME", help="The command at work, such as deploy.")
@click.option("--skill", default="", metavar="NAME", help="The skill that was chosen.")
@click.option("--task", default="", metavar="T", help="The task at work, such as T1.")
@json_option
@pass_app
def use(
    app: App,
    name: str,
    session: str,
    channel: str,
    audience: str | None,
    acts: str,
    skill: str,
    task: str,
    as_json: bool,
) -> None:
    """Take the role NAME.

    Its file is roles/NAME.md in a place of the standing context. Memories of the role, channel, command, skill and task
    that are named gain; what lies outside the role's `authority` (tags, types or projects in its front matter) loses.
    Channel and audience stay until others are named.

    \b
        recall role use reviewer --channel pull-requests --audience shared
    """
    from recall.session_state import Cue

    role = found(app, name)
    said = Cue(role=role.name, channel=channel, audience=audience or "", command=acts, skill=skill, task=task)
    workspace = app.writable_workspace()
    cue = said_of(app, workspace, session, lambda before: said.over(without_work(before)))
    record(app, workspace, role)
    told(app, cue, role, as_json, session)


@command.command("none")
@session_option
@click.option("--all", "everything", is_flag=True, help="Channel and audience too.")
@json_option
@pass_app
def none(app: App, session: str, everything: bool, as_json: bool) -> None:
    """Give the role up, with command, skill and task.

    \b
        recall role none
    """
    from recall.session_state import NOTHING

    workspace = app.writable_workspace()
    cue = said_of(app, workspace, session, lambda before: NOTHING if everything else without_work(before))
    record(app, workspace, None)
    told(app, cue, None, as_json, session)


@command.command("list")
@json_option
@pass_app
def listed(app: App, as_json: bool) -> None:
    """List the roles that can be taken, the one in use marked.

    \b
        recall role list
    """
    from recall import session_state

    workspace = app.workspace()
    mine = session_state.of(workspace.run_dir).role
    roles = every(app)
    for role in roles.values():
        if as_json:
            emit({"role": role.name, "in_use": role.name == mine, "place": role.place, "authority": role.authority})
        else:
            speaks = f", speaks of {', '.join(role.authority)}" if role.authority else ""
            say(f"{'*' if role.name == mine else ' '} {role.name}  ({role.place}{speaks})")
    if not roles and not as_json:
        note(
            "no role yet: put its text into .recall/identity/roles/NAME.md; 'recall init --scaffold' writes a template"
        )


@command.command()
@click.argument("name", required=False)
@session_option
@json_option
@pass_app
def show(app: App, name: str | None, session: str, as_json: bool) -> None:
    """Print the role NAME, or the one in use.

    Its text and what it may speak of; without NAME channel and audience as well.

    \b
        recall role show
    """
    from recall import session_state

    cue = session_state.of(app.workspace().run_dir, session)
    if name is None and not cue.role:
        told(app, cue, None, as_json, session)
        return
    if name is None and cue.role not in every(app):
        note(f"the file of the role '{cue.role}' is gone or has no text; 'recall role list' shows which there are")
        told(app, cue, None, as_json, session)
        return
    role = found(app, name or cue.role)
    told(app, cue if name is None else replace(session_state.NOTHING, role=role.name), role, as_json, session)
    if not as_json:
        say(f"\n{role.text}")


def without_work(cue: Cue) -> Cue:
    """Where somebody works and who reads along, without what they work as and on."""
    return replace(cue, role="", command="", skill="", task="")


def every(app: App) -> dict[str, Role]:
    """The roles that can be taken, by name; of two with one name the later place's."""
    from consolidation.front_matter import list_of, parse
    from recall.standing_places import ROLE, places, read, spots
    from transcript.workspace import locate

    workspace = locate(app.cwd, app.data)
    roles: dict[str, Role] = {}
    for place in places(app.data, workspace.root if workspace else None, app.config.standing().folders):
        for spot in spots(place):
            if spot.layer != ROLE:
                continue
            try:
                entry = read(spot, place.folder)
                authority = list_of(parse(spot.path.read_text("utf-8-sig"))[0], "authority")
            except (OSError, ValueError) as error:
                note(f"{spot.path} is passed over: {error}")
                continue
            roles[entry.role] = Role(entry.role, place.name, spot.name, spot.path, entry.sha256, authority, entry.text)
    return roles


def found(app: App, name: str) -> Role:
    """The role of this name; ConfigError names those that there are."""
    roles = every(app)
    if name not in roles:
        known = f"; there are {', '.join(sorted(roles))}" if roles else ""
        file = name if _NAME.fullmatch(name) else "NAME"
        raise ConfigError(f"no role is called '{name}'{known}; put its text into .recall/identity/roles/{file}.md")
    return roles[name]


def said_of(app: App, workspace: Workspace, session: str, change: Callable[[Cue], Cue]) -> Cue:
    """Change what is said of a session, and return it; UsageError where an agent would let more be seen."""
    from recall import session_state
    from recall.audiences import widest
    from recall.turn_query import reading

    try:
        held = session_state.entries(workspace.run_dir)
    except ValueError as error:
        note(f"{error}; what it said is lost")
        held = {}
    before, settings = held.get(session, session_state.NOTHING), app.config.audience()
    cue = change(before)
    whole = session_state.of(workspace.run_dir, session)
    after = cue.over(held.get(session_state.EVERY, session_state.NOTHING)) if session else cue
    if agent_of(app.env) and widest(reading(whole, settings), reading(after, settings)) != reading(after, settings):
        raise click.UsageError("an agent cannot let more be seen: who reads along is a person's choice")
    session_state.written(workspace.run_dir, cue, session)
    return after


def record(app: App, workspace: Workspace, role: Role | None) -> None:
    """Write down which role was taken, and put together anew what a session carries. A person who takes it knows it."""
    from consolidation import standing_files, standing_set
    from recall.cli.work import settings_of
    from recall.standing_places import places
    from transcript.event import stamp
    from transcript.grants import role_taken
    from transcript.memory_told import Told

    log, now = app.log(workspace), app.now()
    at, by = stamp(now), name_of(app.env)
    if role is None:
        drafts = [role_taken(at, "", actor=by)]
    else:
        drafts = [
            role_taken(
                at, role.name, actor=by, path=f"{role.place}:{role.file}", sha256=role.sha256, authority=role.authority
            )
        ]
        if not agent_of(app.env):
            files = standing_files.present(places(app.data, workspace.root, app.config.standing().folders))
            mine = [one for one in files if one.key == drafts[0].body["path"]]
            drafts += standing_files.seen(mine, standing_files.governed(log), Told(at))
    log.append(drafts, now=now)
    standing_set.after_apply(workspace, settings_of(app), now=now)
    app.bring_up(workspace)  # rules files hold part of what is carried


def told(app: App, cue: Cue, role: Role | None, as_json: bool, session: str) -> None:
    """Say what holds now, for every session or for one."""
    from dataclasses import asdict

    from recall.turn_query import reading

    reads = reading(cue, app.config.audience())
    authority = list(role.authority) if role is not None else []
    if as_json:
        emit({**asdict(cue), "audience": reads, "authority": authority})
        return
    speaks = f", speaks of {', '.join(authority)}" if authority else ""
    say(f"role       {cue.role or 'none'}{speaks}")
    for name, value in (("channel", cue.channel), ("command", cue.command), ("skill", cue.skill), ("task", cue.task)):
        if value:
            say(f"{name:<10} {value}")
    say(f"audience   {reads}")
    if session:
        say(f"session    {session}")
