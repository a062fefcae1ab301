"""What the three erasing commands have in common: the plan is shown, and only a person's word carries it out."""

from __future__ import annotations

import contextlib
import getpass
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from recall.cli.caller import agent_of
from recall.cli.output import emit, note, say
from transcript.errors import CoordError, WorkspaceError
from transcript.telling import counted

if TYPE_CHECKING:
    from recall.cli.app import App
    from transcript.redaction import Report
    from transcript.redaction_plan import Plan
    from transcript.workspace import Workspace

# What each count is of: one, several, and what to say about it.
NAMES = {
    "events": ("event emptied", "events emptied", ", their envelopes kept"),
    "ledger": ("of these, a row of the ledger", "of these, rows of the ledger", " that asked for or showed them"),
    "blobs": ("long text", "long texts", ""),
    "native_lines": ("line of kept source bytes", "lines of kept source bytes", ""),
    "quarantined": ("quarantined line", "quarantined lines", ""),
    "files": ("derived or spooled file", "derived or spooled files", ""),
    "chunks": ("passage of the index", "passages of the index", ", with words and vectors"),
    "turn_states": ("turn state", "turn states", ""),
    "memory_files": ("file of a memory", "files of memories", ""),
    "views": ("view written anew", "views written anew", ""),
    "rules_files": ("rules file written anew", "rules files written anew", ""),
    "coord": ("proposal or item below .coord/", "proposals and items below .coord/", ""),
}
SHOWN = 10
DECIDED = ("proposal.decided", "proposal.applied", "memory.approved")


def options(command: Any) -> Any:
    """Add the options of every command that erases."""
    for add in (
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
        click.option("--reason", default="", help="Why, for the record; it must not hold the words themselves."),
        click.option("--by", default="", help="Who decided it, for the record; the system's user by default."),
        click.option("--dry-run", is_flag=True, help="Say what would go, and erase nothing."),
        click.option("--authorised", is_flag=True, help="Erase. Without it only the plan is shown."),
    ):
        command = add(command)
    return command


def run(
    app: App,
    ctx: click.Context,
    planner: Callable[[Workspace], Plan],
    *,
    authorised: bool,
    dry_run: bool,
    by: str,
    as_json: bool,
    nothing: str = "it stands nowhere in this workspace",
) -> None:
    """Show the plan, or carry it out; exit 1 when nothing was erased although it was not a dry run.

    `nothing` says why where there is nothing to erase.
    """
    from consolidation import standing_set
    from recall.cli.work import settings_of
    from recall.forgetting import erase

    if dry_run or not authorised:
        workspace = app.workspace()
        plan = planner(workspace)
        emit(plan_dict(plan)) if as_json else say_plan(plan, nothing)
        if not dry_run and not plan.empty:
            note("nothing was erased; look at the list, then run it again with --authorised")
            ctx.exit(1)
        return
    workspace = app.writable_workspace()
    _refuse_agent(app, planner, workspace)
    with _proposals_held(app, workspace):
        report = erase(workspace, lambda: planner(workspace), now=app.now(), by=by or user())
    if report is not None:
        standing_set.after_apply(workspace, settings_of(app), now=app.now())
    if report is None:
        emit({"erased": False}) if as_json else say(f"nothing to erase: {nothing}")
        return
    emit(report_dict(report)) if as_json else say_report(report)


def _refuse_agent(app: App, planner: Callable[[Workspace], Plan], workspace: Workspace) -> None:
    """Refuse an agent that would erase what a person decided: the shared memory changes by a person's word alone."""
    from transcript.coord_codes import Refusal

    agent = agent_of(app.env)
    if not agent:
        return
    held = sum(planner(workspace).types.get(name, 0) for name in DECIDED)
    if held:
        what = counted(held, "decision or item", "decisions and items")
        note = (
            f"{what} of the shared memory would go, and {agent} is no person; let one run this, or propose to archive"
        )
        raise Refusal("agent", note=note).error()


@contextlib.contextmanager
def _proposals_held(app: App, workspace: Workspace) -> Iterator[None]:
    """Keep decisions and applications out while words go, and take in proposals that lie on disk before they do.

    What cannot be taken in is named by the plan, which looks at the files as well.
    """
    from consolidation.coord_desk import CoordDesk

    with contextlib.ExitStack() as stack:
        with contextlib.suppress(CoordError, WorkspaceError):
            desk = CoordDesk(workspace, app.data, app.config.approval(), app.now())
            stack.enter_context(desk.lock())
            desk.settle()
        yield


def user() -> str:
    """The name of the system's user, "" where there is none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""


def plan_dict(plan: Plan) -> dict[str, Any]:
    """A plan for --json; ids and places, no words."""
    return {
        "erased": False,
        "how": plan.how,
        "counts": plan.counts(),
        "types": plan.types,
        "events": plan.ids(),
        "elsewhere": plan.elsewhere,
        "unreachable": plan.unreachable,
    }


def report_dict(report: Report) -> dict[str, Any]:
    """A report for --json."""
    return {
        "erased": True,
        "how": report.how,
        "redaction": report.id,
        "counts": report.counts,
        "types": report.types,
        "unreachable": report.unreachable,
    }


def say_plan(plan: Plan, nothing: str) -> None:
    """Print what would go."""
    if plan.empty:
        say(f"nothing to erase: {nothing}")
        return
    say("would go:")
    say("\n".join(lines(plan.counts(), plan.types)))
    say("  and the passages, vectors, turn states and views made of them")
    for name in plan.ids()[:SHOWN]:
        say(f"    {name[:10]}")
    if len(plan.events) > SHOWN:
        say(f"    and {len(plan.events) - SHOWN:,} more; --json lists them")
    if plan.elsewhere:
        others = counted(plan.elsewhere, "other event holds", "other events hold")
        say(f"  {others} the same words and stay; 'recall forget POINTER' takes them too")
    say_unreachable(plan.unreachable)


def say_report(report: Report) -> None:
    """Print what went."""
    say("erased:")
    say("\n".join(lines(report.counts, report.types)))
    say_unreachable(report.unreachable)


def say_unreachable(places: list[str]) -> None:
    """Print what the command cannot erase."""
    for place in places[:SHOWN]:
        say(f"  out of reach: {place}")
    if len(places) > SHOWN:
        more = counted(len(places) - SHOWN, "more place", "more places")
        say(f"  and {more} out of reach; --json lists them")


def lines(counts: dict[str, int], types: dict[str, int]) -> list[str]:
    """One line for each kind of place."""
    kinds = ", ".join(f"{number:,} {name}" for name, number in types.items())
    found = []
    for name, number in counts.items():
        if number:
            one, many, about = NAMES.get(name, (name, name, ""))
            found.append(f"  {counted(number, one, many)}{about}")
    return [*found, f"  by type: {kinds}"] if kinds else found
