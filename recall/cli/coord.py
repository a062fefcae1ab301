"""`recall coord`: facts that several agents share, changed only by proposals that a person approved."""

import importlib

import click

# Name -> module and attribute; what follows is the order of --help.
COMMANDS = {
    "read": ("coord_read", "read"),
    "propose": ("coord_propose", "propose"),
    "review": ("coord_review", "review"),
    "decide": ("coord_write", "decide"),
    "apply": ("coord_write", "apply"),
    "verify": ("coord_read", "verify"),
    "expire": ("coord_write", "expire"),
    "key": ("coord_key", "key"),
    "restore": ("coord_keep", "restore"),
    "promote": ("coord_keep", "promote"),
    "purge": ("coord_keep", "purge"),
    "instructions": ("coord_read", "instructions"),
}


class _Group(click.Group):
    """Imports a command's module when the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, name = COMMANDS[cmd_name]
        found: click.Command = getattr(importlib.import_module(f"recall.cli.{module}"), name)
        return found


@click.group(cls=_Group)
def command() -> None:
    """Share durable facts between agents, changed by approval.

    So that none rewrites what another relies on: anyone proposes, a person decides and signs, and what was approved
    becomes one line of `.coord/memory.yml`, which is only ever appended to. Every command says whether that changed and
    whether a person still has to decide.

    \b
        recall coord read
    """
