"""`recall memory`: what is remembered, and changing it."""

import click

from recall.cli.memory_decide import COMMANDS as DECIDE
from recall.cli.memory_folder import COMMANDS as FOLDER
from recall.cli.memory_read import COMMANDS as READ
from recall.cli.memory_write import COMMANDS as WRITE


@click.group()
def command() -> None:
    """Look at what is remembered and change it.

    Statements with their sources, validity and weight. Consolidation writes memories by itself; these commands show,
    add, correct and put them away. Nothing is deleted: what is wrong is superseded, refuted or archived, and its
    history stays.

    \b
        recall memory list
    """


for _command in (*READ, *WRITE, *DECIDE, *FOLDER):
    command.add_command(_command)
