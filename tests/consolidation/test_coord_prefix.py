"""Whatever is done in whatever order: memory.yml only grows, every line holds, and the next process sees the same."""

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from support.coord import EVIDENCE, Office, action

from consolidation import coord_apply
from transcript.errors import CoordError
from transcript.projections import coord_files
from transcript.projections.coord_lines import read_items

Act = Callable[[Office, random.Random], object]


def any_id(office: Office, source: random.Random, state: str = "") -> str:
    """A proposal in this state, now and then any other."""
    known = office.desk.state().documents
    fits = sorted(name for name, one in known.items() if one.state == state or source.random() < 0.1 or not state)
    return source.choice(fits) if fits else "none"


def propose(office: Office, source: random.Random) -> object:
    return office.propose(summary=f"fact {source.random()}", kind=source.choice(["decision", "question", "outcome"]))


def change(office: Office, source: random.Random) -> object:
    items = office.desk.items()
    if not items:
        return None
    target = str(source.choice(items)["event_id"])
    return office.propose(operation=source.choice(["add", "supersede", "archive", "delete"]), target_ref=target)


def decide(office: Office, source: random.Random) -> object:
    word = source.choice([*["approve"] * 6, "decline", "revise"])
    more = {"revised": action(summary="said better")} if word == "revise" else {}
    return office.decide(any_id(office, source, "proposed"), word, **more)


def apply(office: Office, source: random.Random) -> object:
    return office.apply(any_id(office, source, "approved"))


def tamper(office: Office, source: random.Random) -> object:
    return office.edit(any_id(office, source), action={"summary": "else"})


def evidence(office: Office, source: random.Random) -> object:
    return (office.root / EVIDENCE).write_text(source.choice(["All clocks run on UTC.\n"] * 3 + ["TAI\n"]))


def another_process(office: Office, source: random.Random) -> object:
    office.desk = office.new_desk()
    return office.desk.settle()


def lose(office: Office, source: random.Random) -> object:
    office.path(any_id(office, source)).unlink()
    return coord_files.restore(office.root, office.desk.state())


def expire(office: Office, source: random.Random) -> object:
    office.later(days=source.choice([0.1, 0.1, 0.1, 9]))
    return coord_apply.expire(office.desk, 8)


def rotate(office: Office, source: random.Random) -> object:
    office.desk.keys.rotate()
    return office.desk.settle()


ACTS: list[Act] = [
    propose, propose, propose, change, change, change, *[decide] * 8, *[apply] * 8, tamper, evidence, another_process,
    lose, expire, rotate,
]  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_memory_only_grows_and_always_holds(tmp_path: Path, seed: int) -> None:
    """ASM-25, ASM-26, C-06."""
    office, source, held = Office(tmp_path, seed=seed), random.Random(seed), b""
    done = Counter[str]()
    for _ in range(100):
        act = source.choice(ACTS)
        try:
            act(office, source)
        except (CoordError, FileNotFoundError) as fault:
            done[type(fault).__name__] += 1
        data = office.memory()
        assert data.startswith(held), act.__name__
        done[act.__name__ if data == held else "grown"] += 1
        held = data

    items = read_items(held)
    assert items.fault is None
    assert yaml.safe_load(held.decode()) == items.items
    assert len(items.items) == done["grown"] == len(office.desk.state().applied)
    assert done["grown"] >= 3, done
    assert len({item["nonce"] for item in items.items}) == len(items.items)
    named = [item[name] for item in items.items for name in ("supersedes", "resolves") if name in item]
    assert len(named) == len(set(named))
    assert not {code for code, _ in office.problems()} & {"bad_mac", "coord_behind", "store_behind", "coord_missing"}
