"""Every signal is in the catalogue and has three tests: well, warning, failing; what it says and what mends it."""

import importlib
import json
import pkgutil
import shlex

import click
import pytest
from support.health_cases import WELL, cases

import health.signals
from health.catalog import CATALOG, known
from health.facts import Facts
from health.known import Known
from health.report import assess
from health.signal import Level, Signal
from recall.cli.group import cli

UNITS = {
    "count", "ratio", "share", "bytes", "seconds", "ms", "tokens", "time", "age", "state", "name", "flag", "version",
    "names", "event", "bytes/day",
}  # fmt: skip
LONGEST = 160

CASES = cases()
THRICE = [(id, at) for id in CASES for at in range(3)]


def read(id: str, facts: Facts) -> Signal:
    """The signal of this row; of several, the first."""
    return next(iter(known(id).of(facts)))


def test_no_id_stands_twice() -> None:
    ids = [one.id for one in CATALOG]

    assert sorted(ids) == sorted(set(ids))


def test_every_signal_has_three_tests_and_every_test_a_signal() -> None:
    assert sorted(CASES) == sorted(row.id for row in CATALOG)


def test_every_module_of_signals_is_in_the_catalogue() -> None:
    names = [found.name for found in pkgutil.iter_modules(health.signals.__path__)]
    rows = [row.id for name in names for row in importlib.import_module(f"health.signals.{name}").KNOWN]

    assert sorted(rows) == sorted(row.id for row in CATALOG)


def test_every_signal_has_its_three_tests() -> None:
    assert sorted(CASES) == sorted(row.id for row in CATALOG)


def test_the_healthy_facts_are_well_in_every_signal() -> None:
    assert [(one.id, one.text) for one in assess(WELL).signals if one.level] == []


@pytest.mark.parametrize(("id", "at"), THRICE, ids=[f"{id} {('well', 'warn', 'fail')[at]}" for id, at in THRICE])
def test_a_signal_says_what_is_and_what_to_do(id: str, at: int) -> None:
    case, row = CASES[id], known(id)
    found = read(id, (case.healthy, case.warn, case.fail)[at])

    assert found.level is case.levels[at]
    assert case.says[at] in " | ".join((found.text, *found.details))
    assert found.unit in UNITS
    assert len(found.text) <= LONGEST
    assert "\n" not in found.text
    assert found.meaning
    json.dumps(found.to_dict(), allow_nan=False)
    assert bool(found.action) == bool(found.level)
    if found.level and row.remedy:
        assert f"recall {row.command(found.id)}" in found.action
    assert found.level is not Level.WARN or row.warn
    assert found.level is not Level.FAIL or row.fail


@pytest.mark.parametrize("row", CATALOG, ids=[row.id for row in CATALOG])
def test_a_row_says_why_it_never_warns_or_fails_and_its_remedy_is_a_command(row: Known) -> None:
    assert row.source
    assert (row.warn and row.fail) or row.why_never
    if row.remedy:
        command: click.Command = cli
        words = shlex.split(row.command("hook.claude-code"))
        context = click.Context(cli, info_name="recall")
        while isinstance(command, click.Group) and words and not words[0].startswith("-"):
            below = command.get_command(context, words[0])
            assert below is not None, words
            command, words = below, words[1:]
            context = click.Context(command, parent=context)
        options = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
        assert [word for word in words if word.startswith("-") and word not in options] == []
