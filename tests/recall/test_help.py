"""What `--help` lists: every command in one line that is whole on a narrow terminal."""

from collections.abc import Iterator

import click
import pytest

from recall.cli.group import COMMANDS, HIDDEN, SECTIONS, cli

WIDTH = 80


def groups(command: click.Group, name: str, context: click.Context) -> Iterator[tuple[str, click.Group, click.Context]]:
    """Return a group and every group below it, each with its name and context."""
    yield name, command, context
    for below in command.list_commands(context):
        found = command.get_command(context, below)
        if isinstance(found, click.Group):
            yield from groups(found, f"{name} {below}", click.Context(found, info_name=below, parent=context))


GROUPS = tuple(groups(cli, "recall", click.Context(cli, info_name="recall")))


def listed(command: click.Group, context: click.Context) -> dict[str, str]:
    """Return the line of each command as a terminal of that width shows it."""
    formatter = click.HelpFormatter(width=WIDTH - 2)  # as click does where it asks a terminal for its width
    command.format_commands(context, formatter)
    lines = [line.strip() for line in formatter.getvalue().splitlines() if line.startswith("  ")]
    return {line.partition(" ")[0]: line.partition(" ")[2].strip() for line in lines}


@pytest.mark.parametrize(("name", "command", "context"), GROUPS, ids=[name for name, _, _ in GROUPS])
def test_each_command_is_told_in_a_sentence_that_is_not_cut(name, command, context):
    shown = listed(command, context)
    visible = {below for below in command.list_commands(context) if not command.get_command(context, below).hidden}
    assert set(shown) == visible
    assert {below: said for below, said in shown.items() if not said.endswith(".") or said.endswith("...")} == {}


def test_every_command_stands_under_one_heading():
    """Sixty commands in one list are read by nobody: each part has a heading and is short enough to be looked over."""
    told = [name for names in SECTIONS.values() for name in names]

    assert sorted(told) == sorted(set(told)), "no command twice"
    assert set(told) == set(COMMANDS) - HIDDEN
    assert all(2 <= len(names) <= 9 for names in SECTIONS.values())


def test_help_prints_the_commands_below_their_headings_in_one_column():
    formatter = click.HelpFormatter(width=WIDTH - 2)
    cli.format_commands(click.Context(cli, info_name="recall"), formatter)
    shown: dict[str, list[str]] = {}
    columns = set()
    for line in filter(None, formatter.getvalue().splitlines()):
        if not line.startswith(" "):
            shown[line.removesuffix(":")] = []
        else:
            name, said = line.split(maxsplit=1)
            shown[list(shown)[-1]].append(name)
            columns.add(line.index(said))

    assert shown == {heading: list(names) for heading, names in SECTIONS.items()}
    assert len(columns) == 1


def test_a_sentence_that_is_too_long_is_seen():
    """The check itself: one word more than fits is cut by click, and would be found above."""
    long = click.Group("x", {"one": click.Command("one", help=f"{'Word ' * 20}end.")})
    assert listed(long, click.Context(long))["one"].endswith("...")
