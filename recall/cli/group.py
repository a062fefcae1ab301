"""The click group behind `recall`; each command is a module of this package, imported when it is needed."""

import importlib
import os
import sys

import click
from click.shell_completion import CompletionItem

from recall.cli.app import App
from recall.cli.output import one_line, tolerate_any_text, unusable
from recall.version import VERSION
from transcript.errors import RecallError
from transcript.telling import MOST_ARGUMENT, unechoed

# Name -> module of recall.cli whose attribute `command` is the click command. The order is that of --help.
COMMANDS = {
    "init": "init",
    "adopt": "adopt",
    "enable-hooks": "enable_hooks",
    "sync": "sync",
    "index": "index",
    "query": "query",
    "show": "show",
    "last": "last",
    "explain": "explain",
    "replay-turn": "replay_turn",
    "context": "context",
    "handoff": "handoff",
    "window": "window",
    "session-start": "session_start",
    "session": "session",
    "standing": "standing",
    "cite": "cite",
    "mcp": "mcp",
    "coord": "coord",
    "decide": "decide",
    "task": "task",
    "question": "question",
    "correct": "correct",
    "replacements": "replacements",
    "memory": "memory",
    "graph": "graph",
    "role": "role",
    "grant": "grant",
    "pack": "pack",
    "outcome": "outcome",
    "observe": "observe",
    "checkpoint": "checkpoint",
    "consolidate": "consolidate",
    "schedule": "schedule",
    "review": "review",
    "project": "project",
    "replay": "replay",
    "log": "log",
    "export": "export",
    "import": "import_",
    "backup": "backup",
    "restore": "restore",
    "migrate": "migrate",
    "redact": "redact",
    "forget": "forget",
    "retention": "retention",
    "verify": "verify",
    "health": "health",
    "doctor": "doctor",
    "conformance": "conformance",
    "ui": "ui",
    "calibrate": "calibrate",
    "eval": "evaluate",
    "demo": "demo",
    "exclude": "exclude",
    "config": "config",
    "model": "model",
    "completion": "completion",
    "uninstall": "uninstall",
    "service": "service",
    "serve": "serve",
    "hook": "hook",
}
HIDDEN = frozenset({"serve", "hook"})  # started by hooks; nobody types them
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
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    except OSError as error:
        what = unusable(error)
        if not what:
            raise
        click.echo(f"recall: {one_line(what)}", err=True)
        return _failed(args)


def _told(message: str, args: list[str]) -> str:
    """Return a refusal on one line, without what is too long for an argument: words that somebody pasted."""
    said = [part for arg in args for part in (arg, *arg.split("=", 1))]
    return one_line(unechoed(message, said, most=MOST_ARGUMENT))


def _failed(args: list[str]) -> int:
    """1, and 2 from a command whose exit code is a level: what cannot even be looked at is broken."""
    return 2 if args and args[0] in LOOKING else 1
