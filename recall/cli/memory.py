"""`recall memory`: what is remembered, and changing it."""

import click

from recall.cli import memory_folder, memory_read, memory_write


@click.group()
def command() -> None:
    """Look at what is remembered and change it: statements with their sources, validity and weight.

    Consolidation writes memories by itself; these commands show, add, correct and put them away. Nothing is deleted:
    what is wrong is superseded, refuted or archived, and its history stays.

    \b
        recall memory list
    """


for _command in (*memory_read.COMMANDS, *memory_write.COMMANDS, *memory_folder.COMMANDS):
    command.add_command(_command)
