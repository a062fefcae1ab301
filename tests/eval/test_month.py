"""A stretch of work replayed: what is asked, what counts as used, and what that changes for the prompts after it."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.talk import START, Talk, indexed, recorded

from eval.machine import machine
from eval.month import FULL, Asked, Shown, asked_between, replay, variants
from eval.month_report import report
from indexer.tokens import TokenCounter
from recall.memory_settings import ExperienceSettings
from recall.settings import GateSettings, SelectionSettings, Settings
from recall.use import Use
from transcript.log import Log
from transcript.workspace import Workspace

SETTINGS = replace(
    Settings(),
    gate=GateSettings(item=False, evidence=False, margin=False),
    selection=SelectionSettings(newest_first=False),
)
ASKS = "which gate does the importer of invoices listen at"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Two sessions that say something of importers, and three that ask, one a day; each answer uses the one."""
    one, other = Talk("one"), Talk("other")
    one.prompt("what is the importer of invoices")
    one.reply("The importer uses gate_two on 7431.")
    other.prompt("what is the importer of invoices doing")
    other.reply("The importer of invoices does listen at some gate.")
    talks = [one, other]
    for day in range(1, 4):
        asking = Talk(f"day{day}", start=START + timedelta(days=day))
        asking.prompt(f"{ASKS} {'now' if day > 1 else ''}?")
        asking.reply("It listens at gate_two on 7431.")
        talks.append(asking)
    silent = Talk("silent", start=START + timedelta(days=1))
    silent.prompt("!norecall which gate?")
    silent.reply("None.")
    silent.prompt("a prompt that nobody answered")
    return recorded(tmp_path_factory.mktemp("month"), *talks, silent)


def asked(workspace: Workspace) -> list[Asked]:
    return asked_between(Log(workspace), START + timedelta(hours=12), START + timedelta(days=9))


def replayed(workspace: Workspace, *, beta: float = 0.15) -> dict[str, list[Shown]]:
    settings = replace(SETTINGS, weights=replace(SETTINGS.weights, beta=beta))
    with indexed(workspace) as store:
        return replay(
            asked(workspace), store, lambda _k: None, variants(settings), count_tokens=TokenCounter(),
            weights=ExperienceSettings(),
        )  # fmt: skip


def test_the_answered_prompts_of_a_stretch_are_asked_in_order(workspace: Workspace) -> None:
    """What was kept out, what nobody answered and what lies outside the days is not."""
    found = asked(workspace)

    assert [one.session for one in found] == ["day1", "day2", "day3"]
    assert {one.answer for one in found} == {"It listens at gate_two on 7431."}
    assert found[0].at == START + timedelta(days=1)


def test_what_was_seen_before_stands_with_the_next_prompt_asked(tmp_path: Path) -> None:
    talk = Talk("one")
    talk.prompt("first")
    talk.reply("an answer")
    talk.prompt("second")
    talk.call("Bash", {"command": "ls"})
    talk.result("a.py")
    talk.reply("there is a.py")

    first, second = asked_between(
        Log(recorded(tmp_path, talk)), datetime(2026, 1, 1, tzinfo=UTC), START.replace(year=2027)
    )

    assert (first.since, second.seen) == (("an answer",), ("Bash\ncommand: ls", "a.py"))


def test_what_an_answer_used_weighs_from_the_next_prompt_on(workspace: Workspace) -> None:
    """With a weight that decides: what was used stands first from then on, where experience counts."""
    found = replayed(workspace, beta=9.0)

    first, *later = found[FULL]
    (used,) = [event for event, use in zip(first.events, first.uses, strict=True) if use.kind]
    assert found["without E"][0] == first
    assert {one.events[0] for one in later} == {used}
    assert used not in {one.events[0] for one in found["without E"][1:]}
    assert set(found) == {FULL, "without E", "without T", "without both", "E as ACT-R"}


def test_the_same_record_gives_the_same_replay_and_nothing_is_written(workspace: Workspace) -> None:
    before = Log(workspace).head().hash

    assert replayed(workspace) == replayed(workspace)
    assert Log(workspace).head().hash == before
    with indexed(workspace) as store:
        assert not store.has_standing()


def test_nothing_said_later_is_shown(workspace: Workspace) -> None:
    later = {one.event for one in asked(workspace)}
    first = replayed(workspace)[FULL][0]

    assert first.events
    assert later.isdisjoint(first.events)


def test_the_report_counts_what_was_used_and_where_variants_differ() -> None:
    """Of two turns one shows two items, the second of which is used; the other variant shows it first."""
    unused, used = Use(""), Use("overlap", ("x",))
    full = [Shown("p1", ("a", "b"), (unused, used)), Shown("p2", (), ())]
    other = [Shown("p1", ("b", "a"), (used, unused)), Shown("p2", (), ())]

    made = report({FULL: full, "without E": other}, begin="2026-01-20", end="2026-02-20", model="m", machine=machine())

    whole, without = made.lines
    assert (whole.shown, whole.used, whole.differs, without.differs) == (2, 1, 0, 1)
    assert whole.figures["share used"].value == 0.5
    assert (whole.figures["rank of the used"].value, without.figures["rank of the used"].value) == (2.0, 1.0)
    assert whole.figures["used a turn"].value == 0.5
    rank = made.against["without E"]["rank of the used"]
    assert rank is not None
    assert rank.mean == 1.0
    assert json.loads(made.to_json())["spoken"] == 1
    assert "without E" in made.to_text()
