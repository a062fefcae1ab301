"""A stretch of work replayed: what is asked, what counts as used, and what that changes for the prompts after it."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from support.talk import START, Talk, indexed, recorded

from eval.lineup import OURS
from eval.month import Asked, Shown, asked_between, replay, variants
from eval.month_result import as_result
from eval.result import schema
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

    first, *later = found[OURS]
    (used,) = [event for event, use in zip(first.events, first.uses, strict=True) if use.kind]
    assert found["without E"][0] == first
    assert {one.events[0] for one in later} == {used}
    assert used not in {one.events[0] for one in found["without E"][1:]}
    assert set(found) == {OURS, "without E", "without T", "without both", "E as ACT-R"}


def test_the_same_record_gives_the_same_replay_and_nothing_is_written(workspace: Workspace) -> None:
    before = Log(workspace).head().hash

    assert replayed(workspace) == replayed(workspace)
    assert Log(workspace).head().hash == before
    with indexed(workspace) as store:
        assert not store.has_standing()


def test_nothing_said_later_is_shown(workspace: Workspace) -> None:
    later = {one.event for one in asked(workspace)}
    first = replayed(workspace)[OURS][0]

    assert first.events
    assert later.isdisjoint(first.events)


def test_the_result_counts_what_was_used_and_where_variants_differ() -> None:
    """Of two turns one shows two items, the second of which is used; the other variant shows it first."""
    unused, used = Use(""), Use("overlap", ("x",))
    asks = [Asked(name, "s", START, "", "ask", "answer", (), ()) for name in ("p1", "p2")]
    full = [Shown("p1", ("a", "b"), (unused, used)), Shown("p2", (), ())]
    other = [Shown("p1", ("b", "a"), (used, unused)), Shown("p2", (), ())]

    made = as_result(
        asks, {OURS: full, "without E": other}, Settings(), changed={}, command="recall eval month", model="none",
        chunks=3, vectors=0,
    )  # fmt: skip

    whole, without = (made.engines[name].figures["all"] for name in (OURS, "without E"))
    assert {name: figure.value for name, figure in whole.items()} == {
        "share used": 0.5, "used a turn": 0.5, "used MRR": 0.5, "spoke": 0.5, "shown otherwise": 0.0,
    }  # fmt: skip
    assert (without["used MRR"].value, without["shown otherwise"].value) == (1.0, 0.5)
    assert made.paired["without E"]["used MRR"].mean == -0.5
    Draft202012Validator(schema()).validate(json.loads(made.to_json(summary=True)))
    assert "without E" in made.to_text()
