"""`recall schedule`: the nights of every project, called by the system's own scheduler."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recall.cli.app import App, pass_app
from recall.cli.output import duration, emit, note, say
from transcript.telling import counted, minute

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recall.nights import Ended
    from recall.schedule_install import Status
    from recall.schedule_render import Job

KIND = click.Choice(["systemd", "cron", "launchd", "windows"])


@click.group()
def command() -> None:
    """Run the nightly jobs of every project, unattended.

    One entry in the scheduler of this system (systemd of the user, cron, launchd, Windows Task Scheduler) calls 'recall
    schedule run' once an hour. That does nothing unless a night is due: once for each local date, at 'schedule.at'.

    \b
        recall schedule install
    """


@command.command()
@click.option("--kind", type=KIND, help="The scheduler; without it the one that is here.")
@click.option("--dry-run", is_flag=True, help="Print what would be written, and write nothing.")
@pass_app
def install(app: App, kind: str | None, dry_run: bool) -> None:
    """Have the nights called from now on.

    Again as often as you like. The first night is the next that comes. The wall time is the setting 'schedule.at'; the
    minute has a few more of this machine's own ('schedule.jitter_minutes').

    \b
        recall schedule install --dry-run
    """
    from recall import nights, schedule_install
    from recall.schedule_times import last_due

    job, at = _job(app), _wall_time(app)
    chosen = kind or schedule_install.kind_here(app.env)
    if dry_run:
        say(_text(chosen, job, app))
        note("dry run: nothing was installed")
        return
    held, before = nights.read(app.data), schedule_install.holder(app.data, app.env)
    first = held.due if held.kind and held.due else last_due(app.now(), at).day  # none is owed from before
    nights.write(app.data, replace(held, kind=chosen, due=first))
    try:
        schedule_install.install(chosen, job, app.env)
    except BaseException:
        nights.write(app.data, replace(nights.read(app.data), kind=before, due=held.due))
        raise
    if before not in ("", chosen):  # only now: where the new one refuses, the old one still calls
        schedule_install.remove(before, job, app.env)
    say(f"{chosen} calls at minute {job.minute} of each hour; the nights are due at {at:%H:%M} local time")
    if chosen == "systemd":
        note("a user's timers run while the user is logged in; 'loginctl enable-linger' lets them run always")


@command.command()
@click.option("--dry-run", is_flag=True, help="Say what would go, and remove nothing.")
@pass_app
def remove(app: App, dry_run: bool) -> None:
    """Take the call out of the scheduler.

    Nothing of it stays there; how the nights went so far is still known.

    \b
        recall schedule remove
    """
    from recall import schedule_install

    kind = schedule_install.holder(app.data, app.env)
    if not kind:
        say("nothing is installed")
    elif dry_run:
        say(f"the call would go out of {kind}")
    elif schedule_install.take_out(app.data, app.env):
        say(f"{kind} calls no more")
    else:
        say(f"{kind} did not call any more")


@command.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
@pass_app
def status(app: App, ctx: click.Context, as_json: bool) -> None:
    """Print what calls the nights and how the last one went.

    What it did in each project is told, and which have had none yet. Exit 0: installed and as it should be; 1: not.

    \b
        recall schedule status
    """
    from consolidation.night import could_wait
    from recall import nights, schedule_install
    from recall.schedule_times import due_on, is_due, last_due

    held, job, at = nights.read(app.data), _job(app), _wall_time(app)
    kind = schedule_install.holder(app.data, app.env)
    found = schedule_install.status(kind, job, app.env) if kind else None
    well = found is not None and found.installed and found.same and found.enabled is not False
    newest = last_due(app.now(), at)
    owed = is_due(newest, held.due)
    coming = newest if owed else due_on(newest.day.fromordinal(newest.day.toordinal() + 1), at)
    lasts = {name: _last(app, name) for name in held.projects}
    without = [str(root) for name, root in nights.projects(app.data).items() if name not in held.projects]
    if as_json:
        emit(
            {
                "kind": kind,
                "installed": asdict(found) if found is not None else None,
                "minute": job.minute,
                "at": f"{at:%H:%M}",
                "last": {"due": held.due, "at": held.at, "state": held.state, "missed": held.missed},
                "next": coming.moment.isoformat(timespec="minutes"),
                "owed": owed,
                "projects": {
                    name: {**asdict(one), "parts": lasts[name].get("parts", [])} for name, one in held.projects.items()
                },
                "without_night": without,
            }
        )
        ctx.exit(0 if well else 1)
    say(_told(found, job))
    say(f"last night {minute(held.at)} {held.state}" if held.at else "no night yet")
    if held.missed:
        say(f"before it {counted(held.missed, 'night was', 'nights were')} missed")
    if kind:
        say(f"next night {minute(coming.moment)}{' (is due)' if owed else ''}")
    for name, one in held.projects.items():
        failed = f": {', '.join(one.failed)}" if one.failed else ""
        say(f"  {one.state:<9} {duration(one.seconds):>9}  {minute(one.at)}  {one.root}{failed}")
        for phrase in could_wait(lasts[name]):
            say(f"  {'':<9} {'':>9}  {phrase}")
    for root in without:
        say(f"  {'no night':<9} {'':>9}  {root}")
    ctx.exit(0 if well else 1)


def _last(app: App, name: str) -> Mapping[str, Any]:
    """What the last night of a project left of itself."""
    from consolidation.night import last
    from transcript.workspace import Workspace

    return last(Workspace(name, app.data / "workspaces" / name, None))


@command.command()
@click.option("--now", "anyway", is_flag=True, help="Whether a night is due or not.")
@click.option(
    "--data", type=click.Path(path_type=Path), metavar="DIR", help="The data folder, in place of RECALL_HOME."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
@pass_app
def run(app: App, ctx: click.Context, anyway: bool, data: Path | None, as_json: bool) -> None:
    """Give every project its night, if one is due.

    This is what the scheduler calls. Each project in a process of its own, one after the other, at low priority, all of
    them within 'schedule.minutes'; what that does not reach comes first the next time. Exit 0: done, not due, or
    another one runs; 1: a project failed.

    \b
        recall schedule run --now
    """
    from recall.cli.nights import nightly

    chosen = App({**app.env, "RECALL_HOME": str(data)}, app.cwd) if data is not None else app
    ended = nightly(chosen, anyway=anyway)
    if as_json:
        emit({**asdict(ended), "due": ended.due.day})
    else:
        _say_ended(ended)
    ctx.exit(1 if ended.state == "failed" else 0)


@command.command()
@click.option("--kind", type=KIND, required=True, help="The scheduler.")
@click.option("--to", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Write the files there.")
@pass_app
def render(app: App, kind: str, to: Path | None) -> None:
    """Print what a scheduler would be given.

    Or write it to a folder; nothing is installed.

    \b
        recall schedule render --kind systemd --to units
    """
    from recall import schedule_install
    from recall.schedule_render import cron

    job = _job(app)
    if to is None:
        say(_text(kind, job, app))
        return
    named = {path.name: text for path, text in schedule_install.files(kind, job, app.env).items()}
    to.mkdir(parents=True, exist_ok=True)
    for name, text in (named or {f"{job.name}.crontab": cron(job)}).items():
        (to / name).write_bytes(text)
        say(str(to / name))


def _job(app: App) -> Job:
    from recall.cli.nights import user_config
    from recall.schedule_install import own_job

    return own_job(app.data, user_config(app).schedule())


def _wall_time(app: App) -> time:
    from recall.cli.nights import user_config

    return time(*user_config(app).schedule().time())


def _text(kind: str, job: Job, app: App) -> str:
    from recall import schedule_install
    from recall.schedule_render import cron

    parts = schedule_install.files(kind, job, app.env)
    if not parts:
        return cron(job).decode().rstrip("\n")
    code = "utf-16" if kind == "windows" else "utf-8"
    return "\n".join(f"# {path}\n{text.decode(code)}" for path, text in parts.items()).rstrip("\n")


def _told(found: Status | None, job: Job) -> str:
    if found is None:
        return "not installed; 'recall schedule install' does it"
    if not found.installed:
        return f"{found.kind} does not call any more; run 'recall schedule install' again"
    if not found.same:
        return f"{found.kind} calls, but not as it should; run 'recall schedule install' again"
    if found.enabled is False:
        return f"{found.kind} holds the call, but it is switched off; run 'recall schedule install' again"
    return f"{found.kind} calls at minute {job.minute} of each hour"


def _say_ended(ended: Ended) -> None:
    if ended.note:
        note(ended.note)
        return
    if ended.state == "not due":
        note(f"no night is due; the last one was due {minute(ended.due.moment)}")
        return
    say(f"night {ended.due.day} {ended.state}: {counted(len(ended.projects), 'project')}")
    for one in ended.projects.values():
        failed = f": {', '.join(one.failed)}" if one.failed else ""
        say(f"  {one.state:<9} {duration(one.seconds):>9}  {one.root}{failed}")
    for root in ended.waiting:
        say(f"  {'waiting':<9} {'':>9}  {root}")
