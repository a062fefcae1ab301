"""`recall coord key`: the keys that decisions are signed with. What it prints are their ids, never a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recall.cli import person as people
from recall.cli.app import App, pass_app
from recall.cli.caller import agent_of
from recall.cli.coord_out import Report, reports

if TYPE_CHECKING:
    from consolidation.keys import KeyStore


@click.group()
def key() -> None:
    """Make, replace and revoke the key of your decisions.

    They are signed with it. It lies in the data folder, outside every project, and only you can open it. The docs
    (docs/approval.md) say what it protects from and what it does not.

    \b
        recall coord key new
    """


@key.command()
@pass_app
@reports("key")
def new(app: App) -> Report:
    """Make the first key; refused where there is one.

    \b
        recall coord key new
    """
    _no_agent(app)
    made = _keys(app).create()
    _told(app)
    return _one(made.id, "current", f"{made.id} signs decisions from now on")


@key.command()
@pass_app
@reports("key")
def rotate(app: App) -> Report:
    """Make a new key in the place of the old one.

    The old one is kept, and verifies what was decided before. A person's command.

    \b
        recall coord key rotate
    """
    people.at_terminal(app.env)
    made, old = _keys(app).rotate()
    _told(app)
    before = f"{old} verifies those that were made before" if old else "the old one cannot be used any more"
    text = f"{made.id} signs decisions from now on; {before}"
    return _one(made.id, "current", text, rotated=old)


@key.command()
@click.argument("key_id", metavar="KEY_ID")
@click.option("--reason", required=True, help="Why it cannot be trusted any more.")
@pass_app
@reports("key")
def revoke(app: App, key_id: str, reason: str) -> Report:
    """Take back every trust in a key.

    What it signed and is not applied yet never will be. A person's command. What was applied stays, and `recall coord
    verify` names it. It cannot be undone.

    \b
        recall coord key revoke 0123456789abcdef --reason "the laptop was lost"
    """
    from transcript.errors import NotConfirmed

    if not reason.strip():
        raise click.UsageError("--reason has no words")
    _, terminal = people.at_terminal(app.env)
    keys = _keys(app)
    name = _named(keys, key_id)
    digits = name[: people.DIGITS]
    if terminal.ask(f"To revoke {name}, type {digits}:").lower() != digits:
        raise NotConfirmed("not confirmed; nothing was changed")
    keys.revoke(name, reason, now=app.now())
    _told(app)
    signs = any(one.state == "current" for one in keys.list())
    return _one(name, "revoked", f"{name} is revoked" + ("" if signs else "; recall coord key rotate makes a new one"))


@key.command("list")
@pass_app
@reports("key")
def list_(app: App) -> Report:
    """Print the id and state of every key: current, rotated or revoked.

    \b
        recall coord key list
    """
    from transcript.errors import KeyFault

    keys = _keys(app)
    rows = [{"key_id": one.id, "state": one.state, "reason": one.reason or None} for one in keys.list()]
    lines = [f"{row['key_id']}  {row['state']}" + (f"  {row['reason']}" if row["reason"] else "") for row in rows]
    fault: KeyFault | None = None
    try:
        keys.current()
    except KeyFault as error:
        fault = error
        lines.append(str(error))
    return Report(
        text="\n".join(lines),
        more={"keys": rows, "code": fault.code if fault is not None else None},
        code=1 if fault is not None else 0,
    )


def _keys(app: App) -> KeyStore:
    from consolidation.keys import KeyStore

    return KeyStore(app.data)


def _no_agent(app: App) -> None:
    """Refuse an agent; a person may make the first key from a script."""
    from transcript.coord_codes import Refusal

    agent = agent_of(app.env)
    if agent:
        raise Refusal("agent", note=f"{agent} is no person; a person makes the key").error()


def _named(keys: KeyStore, text: str) -> str:
    """The id of a key by its beginning; KeyFault `key_unknown` for none and for several."""
    from transcript.coord_codes import key_fault

    wanted = text.strip().lower()
    fits = [one.id for one in keys.list() if len(wanted) >= people.DIGITS and one.id.startswith(wanted)]
    if len(fits) != 1:
        raise key_fault("key_unknown", text[:40])
    return fits[0]


def _told(app: App) -> None:
    """Let this project's record know at once; others learn of it with their next command of this kind."""
    from recall.cli.coord_work import desk_of
    from transcript.errors import WorkspaceError

    try:
        desk = desk_of(app, writes=True)
    except WorkspaceError:
        return
    desk.settle()


def _one(name: str, state: str, text: str, **more: str) -> Report:
    return Report(state=state, text=text, more={"key_id": name, **more})
