"""`recall service`: the resident service, seen and steered by a person. Hooks start it by themselves."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from recall.cli.app import App, pass_app
from recall.cli.output import duration, emit, note, say
from recall.log_reader import NAMES
from transcript.telling import counted

if TYPE_CHECKING:
    from recall.service_control import Status


@click.group()
def command() -> None:
    """Start, stop and see the service behind the hooks.

    The process that keeps model and indexes warm. There is one a user. The first hook starts it, it leaves after
    'service.idle_minutes' without a question or over 'service.memory_mb', and every hook answers without it too, by
    words.

    \b
        recall service status
    """


@command.command()
@pass_app
def start(app: App) -> None:
    """Start the service, and wait until it answers.

    One that runs already stays as it is.

    \b
        recall service start
    """
    from recall.service_control import start as begin

    say(_line(begin(app.data)))


@command.command()
@pass_app
@click.pass_context
def stop(ctx: click.Context, app: App) -> None:
    """End the service, once it has answered who waits. The next hook starts a new one.

    Exit code 1 when none ran, or when its process is still there after five seconds: it is named then.

    \b
        recall service stop
    """
    from recall.service_control import stop as end

    ended = end(app.data)
    say("stopped" if ended else "no service runs")
    ctx.exit(0 if ended else 1)


@command.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_app
@click.pass_context
def status(ctx: click.Context, app: App, as_json: bool) -> None:
    """Say whether the service runs, and how it fared.

    How large it is, and what became of it within a week. A crash is a start that nothing ended and whose process is
    gone. Exit code 1 when no service runs.

    \b
        recall service status --json
    """
    from recall.service_control import processes
    from recall.service_control import status as read

    found, there = read(app.data, now=app.now().timestamp()), processes(app.data)
    if as_json:
        emit({**asdict(found), "processes": there})
    else:
        say(_line(found))
        say(f"{counted(found.starts_7d, 'start')} in 7 days, {counted(found.crashes_7d, 'crash', 'crashes')}"
            + (f"; the last that ended did so by '{found.last_end}'" if found.last_end else ""))  # fmt: skip
        if there is not None and there > 1:
            say(f"{counted(there, 'process', 'processes')} of this data folder: 'recall health' names what to do")
    ctx.exit(0 if found.up else 1)


@command.command()
@click.option("-n", "--lines", "most", type=click.IntRange(min=1), default=20, show_default=True, help="Newest lines.")
@click.option("--follow", is_flag=True, help="Go on with what is written from now on, until Ctrl-C.")
@click.option("--log", "name", type=click.Choice(NAMES), default=NAMES[0], show_default=True, help="Whose log.")
@click.option("--json", "as_json", is_flag=True, help="Print each line as the JSON object that it is.")
@pass_app
def logs(app: App, most: int, follow: bool, name: str, as_json: bool) -> None:
    """Print what the service, captures in the background and nights did.

    No word of a conversation stands in these logs: times, ids, figures, kinds of errors and where they arose.

    \b
        recall service logs -n 50
    """
    from recall import log_reader

    said = log_reader.raw if as_json else log_reader.tell
    held = log_reader.last(app.data, name, most, said=said)
    for line in held:
        say(line)
    if not held and not follow:
        note(f"nothing is logged yet in {app.data / 'logs'}")
    for line in log_reader.follow(app.data, name, said=said) if follow else ():
        say(line)


def _line(found: Status) -> str:
    if found.stuck:
        return f"process {found.pid} holds the service and does not answer; 'recall service stop' ends it"
    if found.pid is not None and not found.up:
        return f"process {found.pid} has begun to serve and does not answer yet"
    if not found.up:
        return "no service runs; the next hook starts one"
    return (
        f"running: process {found.pid}, recall {found.version}, up {duration(found.up_s or 0)}, "
        f"{found.memory_mb} of {found.limit_mb} MB, {counted(found.answered or 0, 'answer')}"
    )
