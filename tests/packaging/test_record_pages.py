"""The pages about the record and about erasing name what there is (LCA-14-13, LCA-12.7-06, LCA-12.7-07, LCA-9.2-06)."""

import re

import pytest

from recall.cli.group import COMMANDS


@pytest.fixture
def page(root):
    return lambda name: (root / "docs" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("choice", ["preserve", "summarise", "redact", "forget"])
def test_the_policy_has_a_row_for_each_choice(page, choice):
    table = page("retention.md").split("## The three commands")[0]

    assert re.search(rf"^\|[^|]*\|[^|]*{choice}", table, re.M)


@pytest.mark.parametrize("name", ["retention.md", "record.md"])
def test_every_command_named_is_one(page, name):
    named = set(re.findall(r"`recall ([a-z-]+)", page(name)))

    assert named
    assert named <= set(COMMANDS)


def test_schemas_named_are_in_the_package(page, root):
    named = set(re.findall(r"`(transcript/schema/[a-z.]+json)`", page("record.md")))

    assert named == {"transcript/schema/event.schema.json", "transcript/schema/export.schema.json"}
    assert all((root / name).is_file() for name in named)


def test_session_keys_and_the_three_seams_are_described(page):
    text = page("record.md")

    assert "no standard is claimed" in text
    for seam in ("session key", "adapter", "channel intake"):
        assert seam in text.split("## What lies outside")[1]
