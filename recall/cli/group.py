"""The click group behind `recall`; each command is a module of this package, imported when it is needed."""

import importlib
import os
import sys
import time

import click
from click.shell_completion import CompletionItem

from recall.cli.app import App
from recall.cli.output import one_line, tolerate_any_text, unusable
from recall.version import VERSION
from transcript.errors import RecallError
from transcript.telling import MOST_ARGUMENT, unechoed

# Heading -> name -> module of recall.cli whose attribute `command` is the click command. The order is that of --help.
SECTIONS = {
    "Set up a project": {
        "init": "init",
        "enable-hooks": "enable_hooks",
        "sync": "sync",
        "index": "index",
        "adopt": "adopt",
        "exclude": "exclude",
        "demo": "demo",
    },
    "Look things up": {
        "query": "query",
        "show": "show",
        "context": "context",
        "handoff": "handoff",
        "graph": "graph",
        "replacements": "replacements",
        "cite": "cite",
        "mcp": "mcp",
        "ui": "ui",
    },
    "What a session and its turns are given": {
        "last": "last",
        "explain": "explain",
        "replay-turn": "replay_turn",
        "window": "window",
        "session-start": "session_start",
        "session": "session",
        "standing": "standing",
    },
    "Say what was decided, done and learned": {
        "decide": "decide",
        "task": "task",
        "question": "question",
        "correct": "correct",
        "outcome": "outcome",
        "observe": "observe",
    },
    "Memories and roles": {
        "memory": "memory",
        "checkpoint": "checkpoint",
        "consolidate": "consolidate",
        "review": "review",
        "role": "role",
        "pack": "pack",
    },
    "Share between agents": {
        "coord": "coord",
        "grant": "grant",
    },
    "Check and copy the record": {
        "log": "log",
        "verify": "verify",
        "project": "project",
        "replay": "replay",
        "export": "export",
        "import": "import_",
        "backup": "backup",
        "restore": "restore",
        "migrate": "migrate",
    },
    "Erase": {
        "redact": "redact",
        "forget": "forget",
        "retention": "retention",
    },
    "See whether it works": {
        "health": "health",
        "doctor": "doctor",
        "conformance": "conformance",
        "calibrate": "calibrate",
        "eval": "evaluate",
    },
    "Installation": {
        "config": "config",
        "schedule": "schedule",
        "service": "service",
        "model": "model",
        "completion": "completion",
        "uninstall": "uninstall",
    },
}
_STARTED = {"serve": "serve", "hook": "hook"}  # by hooks; nobody types them
HIDDEN = frozenset(_STARTED)
COMMANDS = {name: module for part in (*SECTIONS.values(), _STARTED) for name, module in part.items()}
HEADINGS = {next(iter(names)): heading for heading, names in SECTIONS.items()}  # by the first command below it
INTERRUPTED = 130  # the exit code of what Ctrl-C ended
LOOKING = frozenset({"health", "doctor"})  # whose exit code is a level


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"recall.cli.{COMMANDS[cmd_name]}")
        command: click.Command = module.command
        command.hidden = cmd_name in HIDDEN
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under their headings, all in one column."""
        widest = max(map(len, COMMANDS))
        for heading, names in SECTIONS.items():
            found = ((name, self.get_command(ctx, name)) for name in names)
            room = formatter.width - 6 - widest  # as click leaves it beside the longest name
            rows = [(name.ljust(widest), one.get_short_help_str(room)) for name, one in found if one is not None]
            with formatter.section(heading):
                formatter.write_dl(rows)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return names alone: a press of the tab key must not import every command for its help."""
        names = [name for name in COMMANDS if name not in HIDDEN and name.startswith(incomplete)]
        return [*map(CompletionItem, names), *click.Command.shell_complete(self, ctx, incomplete)]


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(VERSION, prog_name="recall", message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Give a coding agent its past back.

    Keeps a verbatim record of what happened in a coding agent's sessions, indexes it, and before each turn
    puts the few right pieces in front of the model, each with a pointer to where it was said.

    \b
        recall demo
    """
    if ctx.obj is None:
        ctx.obj = App.here()


def run(args: list[str], *, app: App | None = None) -> int:
    """Run one command line and return the exit code; an expected failure becomes one line on stderr.

    app is what it works on, None for this process's environment and folder.

    So does a file or folder that cannot be used (permission, full disk): that is the machine's state, not a fault here.
    """
    tolerate_any_text()
    try:
        result = cli.main(args=args or ["--help"], prog_name="recall", standalone_mode=False, obj=app)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:  # its message is the help of the group: many lines, all ours
        error.show()
        return 2
    except click.UsageError as error:
        click.UsageError(_told(error.format_message(), args), error.ctx).show()
        return 64 if error.ctx is not None and error.ctx.info_name in LOOKING else 2
    except click.ClickException as error:
        click.ClickException(_told(error.format_message(), args)).show()
        return error.exit_code
    except RecallError as error:
        click.echo(f"recall: {_told(str(error), args)}", err=True)
        return _failed(args)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted; nothing is lost", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        _drop_unwritten()
        return 1
    except OverflowError:
        if clock_is_usable():
            raise
        click.echo("recall: this machine's clock stands after the year 2262; set it, then run this again", err=True)
        return _failed(args)
    except OSError as error:
        what = unusable(error)
        if not what:
            raise
        _drop_unwritten()
        click.echo(f"recall: {one_line(what)}", err=True)
        return _failed(args)


def clock_is_usable() -> bool:
    """Whether Python can tell the time: it counts nanoseconds since 1970, and no longer than 64 bits take."""
    try:
        time.time()
    except OverflowError:
        return False
    return True


def _drop_unwritten() -> None:
    """Let what standard output takes no more go nowhere: Python would try again at its end, and exit with 120."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _told(message: str, args: list[str]) -> str:
    """Return a refusal on one line, without what is too long for an argument: words that somebody pasted."""
    said = [part for arg in args for part in (arg, *arg.split("=", 1))]
    return one_line(unechoed(message, said, most=MOST_ARGUMENT))


def _failed(args: list[str]) -> int:
    """1, and 2 from a command whose exit code is a level: what cannot even be looked at is broken."""
    return 2 if args and args[0] in LOOKING else 1
