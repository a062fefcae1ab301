"""Thousands of altered proposals, decisions and keys: none is let through, and nothing but a refusal comes back."""

import copy
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.coord import Office

from consolidation.coord_apply import check
from consolidation.coord_schema import parse
from transcript.canonical import canonical
from transcript.coord_codes import SAYS, Refusal
from transcript.errors import CoordError

MANY = [1_000, pytest.param(10_000, marks=pytest.mark.slow)]
ODD: list[Any] = [
    None, True, False, 0, 1, -1, "", " ", "0" * 64, "approved", "é", "\u202e", [], {}, ["x"], {"x": 1}, "x" * 5000,
    "../x", "hmac-sha256", "approve", "2026-03-01T12:00:00.000Z", [None], 2**70,
]  # fmt: skip
Held = dict[str, Any]


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a document that holds something."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in inner:
        yield (*path, name)
        yield from places(part, (*path, name))


def parent(held: Held, path: tuple[Any, ...]) -> Any:
    for name in path[:-1]:
        held = held[name]
    return held


def a_value(held: Held, other: Held, source: random.Random) -> None:
    path = source.choice(list(places(held)))
    parent(held, path)[path[-1]] = copy.deepcopy(source.choice(ODD))


def a_character(held: Held, other: Held, source: random.Random) -> None:
    texts = [path for path in places(held) if isinstance(parent(held, path)[path[-1]], str)]
    path = source.choice([path for path in texts if parent(held, path)[path[-1]]])
    text = parent(held, path)[path[-1]]
    at = source.randrange(len(text))
    parent(held, path)[path[-1]] = text[:at] + source.choice("0aZ é\n") + text[at + source.randrange(2) :]


def a_field_less(held: Held, other: Held, source: random.Random) -> None:
    path = source.choice(list(places(held)))
    del parent(held, path)[path[-1]]


def a_field_more(held: Held, other: Held, source: random.Random) -> None:
    source.choice([held, held["action"], held["decision"]])["more"] = source.choice(ODD)


def from_the_other(held: Held, other: Held, source: random.Random) -> None:
    """Take a part of another approved proposal: its decision, its action, a single field of either."""
    path = source.choice([path for path in places(other) if not isinstance(path[-1], int)])
    target = held
    for name in path[:-1]:
        target = target[name]
    target[path[-1]] = copy.deepcopy(parent(other, path)[path[-1]])


def turned(held: Held, other: Held, source: random.Random) -> None:
    """Change the order of evidence, or swap two texts."""
    held["action"]["evidence_refs"].reverse()
    names = source.sample(sorted(held["decision"]), 2)
    held["decision"][names[0]], held["decision"][names[1]] = (held["decision"][name] for name in reversed(names))


CHANGES: list[Callable[[Held, Held, random.Random], None]] = [
    a_value, a_character, a_field_less, a_field_more, from_the_other, turned,
]  # fmt: skip


def altered(raw: bytes, other: bytes, source: random.Random) -> bytes:
    """A proposal that is not the approved one any more: a bit of its bytes, or something in it."""
    if source.random() < 0.2:
        data = bytearray(raw)
        data[source.randrange(len(data))] ^= 1 << source.randrange(8)
        return bytes(data)
    held = json.loads(raw)
    try:
        source.choice(CHANGES)(held, json.loads(other), source)
    except (KeyError, TypeError, IndexError):  # a place that the other has and this one has not
        return b""
    return json.dumps(held).encode()


def verdict(office: Office, data: bytes) -> str:
    """The code an altered file is refused with, "" for one that would be applied."""
    try:
        document = parse(data)
    except CoordError as fault:
        return fault.code
    refusal = check(office.desk, document)
    return refusal.code if refusal is not None else ""


@pytest.mark.parametrize("count", MANY)
def test_no_altered_proposal_or_decision_is_let_through(office: Office, count: int) -> None:
    refs = [f"docs/{n}.md" for n in range(3)]
    one = office.approved(evidence_refs=refs, subject="clocks")
    two = office.approved(evidence_refs=refs, summary="Store times in TAI.", kind="outcome")
    raw, other = (office.path(document.id).read_bytes() for document in (one, two))
    source, codes, before = random.Random(20), Counter[str](), office.snapshot()

    with office.desk.lock():
        assert verdict(office, raw) == verdict(office, json.dumps(json.loads(raw)).encode()) == ""
        while codes.total() < count:
            data = altered(raw, other, source)
            if data and not _same(data, raw) and not _same(data, other):
                codes[verdict(office, data)] += 1

    assert codes[""] == 0
    assert codes.keys() <= SAYS.keys()
    assert len(codes) >= 8, codes
    assert office.snapshot() == before


def _same(data: bytes, raw: bytes) -> bool:
    """Say whether bytes mean what was approved: another layout is no alteration."""
    try:
        return canonical(json.loads(data)) == canonical(json.loads(raw))
    except ValueError:
        return False


@pytest.mark.parametrize("count", [100, pytest.param(1_000, marks=pytest.mark.slow)])
def test_under_no_altered_key_does_a_decision_hold(office: Office, count: int) -> None:
    document = office.approved()
    path, source = office.data / "keys" / "approval.key", random.Random(5)
    key, held = path.read_bytes(), office.desk.held(document.id).document
    before, found = office.snapshot(), set[str]()

    for _ in range(count):
        data = bytearray(key)
        at = source.randrange(64)
        data[at] = source.choice([b for b in b"0123456789abcdefg \n\x00" if b != data[at]])
        path.write_bytes(bytes(data[: source.choice([64, 65, 65, 65, 12])]))
        with office.desk.lock():
            refusal = check(office.desk, held)
        assert isinstance(refusal, Refusal)
        found.add(refusal.code)

    path.write_bytes(key)
    with office.desk.lock():
        assert check(office.desk, held) is None
    assert found == {"key_unknown", "key_short"}
    assert office.snapshot() == before


def test_what_is_refused_for_its_words_is_refused_when_it_is_applied(office: Office) -> None:
    """The same through the files, the record and the state that a refusal leaves."""
    source = random.Random(7)
    other = office.path(office.approved(summary="other").id).read_bytes()
    for number in range(40):
        document = office.approved(summary=f"number {number}")
        raw = office.path(document.id).read_bytes()
        data = altered(raw, other, source)
        if not data or _same(data, raw):
            continue
        office.path(document.id).write_bytes(data)
        try:
            done = office.apply(document.id)
        except CoordError:
            done = None
        assert done is None or not done.changed, data
        office.path(document.id).unlink()

    assert office.memory() == b""
    assert office.desk.state().applied == []
