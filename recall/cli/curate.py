"""What the commands share that record something because somebody said so: who says it, where, and how it is written."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import click

from recall.cli.app import App
from recall.cli.caller import harness_of, user
from recall.cli.output import emit, say

if TYPE_CHECKING:
    from transcript.curation import Author, Setting
    from transcript.event import Draft
    from transcript.log import Log
    from transcript.workspace import Workspace

_OPTIONS = (
    click.option("--actor", metavar="NAME", help="Who says it; by default the harness or, at a terminal, you."),
    click.option("--as", "kind_of_actor", type=click.Choice(["agent", "human"]), help="What the actor is."),
    click.option("--role", default="", help="The role in which it is said."),
    click.option("--session", default="", metavar="ID", help="The session it belongs to."),
    click.option("--worker", default="", metavar="ID", help="The sub-agent that says it; it counts once consolidated."),
    click.option("--surface", default="", help="The surface it is said on (cli, tui, web, api)."),
    click.option("--session-key", default="", metavar="KEY", help="The key that unites sessions of several surfaces."),
    click.option("--dry-run", is_flag=True, help="Print the event and write nothing."),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
)


def curated(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of every curating command; the command gets them as one `said`."""

    def wrapped(*args: Any, **given: Any) -> Any:
        return command(*args, said=Said(**{option.name: given.pop(option.name) for option in fields(Said)}), **given)

    wrapped.__doc__ = command.__doc__
    wrapped.__name__ = command.__name__
    wrapped.__click_params__ = getattr(command, "__click_params__", [])  # type: ignore[attr-defined]
    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped


evidence_option = click.option(
    "--evidence", multiple=True, metavar="POINTER", help="Where it is shown; may be repeated, each must open."
)
task_option = click.option("--task", "task_name", default="", metavar="T", help="The task it belongs to.")
keep_option = click.option("--keep", is_flag=True, help="The next agent would regret losing it.")


@dataclass(frozen=True, slots=True)
class Said:
    """The options that every curating command has."""

    actor: str | None
    kind_of_actor: str | None
    role: str
    session: str
    worker: str
    surface: str
    session_key: str
    dry_run: bool
    as_json: bool


class Desk:
    """One curating command at work: the record it writes into, who says it and where."""

    def __init__(self, app: App, said: Said) -> None:
        from transcript.curation import Setting
        from transcript.event import stamp

        self.app, self.said, self.now = app, said, app.now()
        self.workspace: Workspace = app.workspace() if said.dry_run else app.writable_workspace()
        self.log: Log = app.log(self.workspace)
        self.by = author(app.env, said.actor, said.kind_of_actor, terminal=sys.stdin.isatty())
        if said.worker and self.by.kind == "human":
            raise click.UsageError("a sub-agent is no human: give --worker together with --as agent")
        where = {"role": said.role, "worker": said.worker, "surface": said.surface, "session_key": said.session_key}
        session = said.session or f"recall:{self.log.run_id}"
        where["cwd"] = str(app.cwd)
        self.at: Setting = Setting(stamp(self.now), session, self.log.run_id, where, self.workspace.id)

    def state(self) -> dict[str, Any]:
        """The folded record."""
        from transcript.projections.views import folded

        return folded(self.log)[0]

    def pointers(self, given: tuple[str, ...]) -> list[str]:
        """Evidence with whole ids; PointerError for what opens nothing."""
        from transcript.curation import resolved

        return resolved(self.log, given)

    def task(self, name: str) -> str:
        """A task's name as the record has it, "" for none; CurationError when there is no such task."""
        from transcript.errors import CurationError

        if name and name.upper() not in self.state()["tasks"]:
            raise CurationError(f"there is no task {name}; 'recall task list' shows them")
        return name.upper()

    def write(self, draft: Draft, text: str) -> bool:
        """Append the event, bring views and rules files up to it, say so; False when its name was taken meanwhile."""
        if not self.said.dry_run:
            if not self.log.append([draft], now=self.now):
                return False
            self.app.bring_up(self.workspace)
        if self.said.as_json:
            emit({"id": draft.id, "type": draft.type, "dry_run": self.said.dry_run, "body": draft.body})
        else:
            say(f"{'would record' if self.said.dry_run else 'recorded'} {draft.type} {draft.id[:10]}: {text}")
        return True

    def write_named(self, letter: str, held: Mapping[str, Any], make: Callable[[str], Draft]) -> None:
        """Write an event under the next free name; another process may take a name first."""
        from transcript.projections.fold import task_number

        number = max(map(task_number, held), default=0)
        while True:
            number += 1
            draft = make(f"{letter}{number}")
            if self.write(draft, draft.body["text"]):
                return


def author(env: Mapping[str, str], name: str | None, kind: str | None, *, terminal: bool) -> Author:
    """Who says it: what was given, else the harness that runs us, else the person at the terminal.

    A person's RECALL_ACTOR is inherited by the agents that are started from that shell, and they are not that person.
    UsageError where none of them is known: an event without an actor is refused.
    """
    from transcript.curation import Author

    harness = harness_of(env)
    given_kind, mark, given_name = env.get("RECALL_ACTOR", "").partition(":")
    if name is None and kind is None and mark and not (harness and given_kind == "human"):
        name, kind = given_name, given_kind
    if kind is None and name is None and harness:
        name, kind = harness, "agent"
    if terminal and not harness:
        kind = kind or "human"
        name = name or (user() if kind == "human" else None)
    if kind == "agent":
        name = name or harness or None
    if not name or not kind:
        raise click.UsageError(
            "who says it? give --actor NAME and --as agent or --as human, or set RECALL_ACTOR=human:NAME"
        )
    return Author(name, kind, harness or (name if kind == "agent" else "recall"))
