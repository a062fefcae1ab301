"""`recall completion`: the script that lets a shell complete command lines."""

import click
from click.shell_completion import ShellComplete, get_completion_class

from recall.cli.output import say

VARIABLE = "_RECALL_COMPLETE"  # under which the script asks this program for what may follow
SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the script that lets SHELL complete commands.

    And their options. Nothing is written. Put this into ~/.bashrc, with zsh into ~/.zshrc; fish reads a file of its
    own:

    \b
        eval "$(recall completion bash)"
        recall completion fish > ~/.config/fish/completions/recall.fish
    """
    from recall.cli.group import cli

    of = get_completion_class(shell)
    assert of is not None, f"click knows no shell {shell}"
    say(ShellComplete.source(of(cli, {}, "recall", VARIABLE)))
