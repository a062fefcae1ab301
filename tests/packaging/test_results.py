"""The published results: each says what it was measured on, and none holds words or single questions."""

import json
import shlex
from pathlib import Path

import click
import pytest
from jsonschema import Draft202012Validator

from eval.result import schema
from recall.cli.group import cli

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "docs" / "results").glob("*.json"))


@pytest.fixture(params=FILES, ids=lambda path: path.stem)
def published(request):
    """One result."""
    return json.loads(request.param.read_text(encoding="utf-8"))


def test_results_are_published():
    assert {"devrecall", "locomo", "memorycode"} <= {path.stem for path in FILES}


def test_a_published_result_follows_the_schema(published):
    Draft202012Validator(schema()).validate(published)


def test_a_published_result_holds_no_single_question(published):
    assert all(not engine["values"] for engine in published["engines"].values())


def test_the_command_of_a_result_exists_as_it_is_written(published):
    words = shlex.split(published["command"])[1:]
    command = cli
    while isinstance(command, click.Group):
        command = command.get_command(click.Context(command), words.pop(0))
    options = {name for parameter in command.params for name in parameter.opts}

    assert {word for word in words if word.startswith("--")} <= options


def test_a_page_shows_the_figures_of_its_result(published):
    text = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")
    value = published["engines"]["recall"]["figures"]["all"]
    first = next(iter(value))

    assert published["command"] in text
    if "--ablate" not in published["command"]:
        assert f"| recall | {100 * value[first]['value']:.1f} [" in text
