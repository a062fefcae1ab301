"""What no harness writes on purpose: an adapter reads past it, and where its code fails, only that source is left."""

import json
import os
import random
import shutil
from collections import Counter
from dataclasses import replace

import pytest
from support.capture import KEY, Project
from support.contract import builder_of
from support.record import STAMP
from support.toy import Point, Toy, ToyReader, toy_file

from transcript.adapters.base import Options
from transcript.adapters.jsonl import parse_line
from transcript.adapters.registry import ADAPTERS, registered
from transcript.adapters.views import UnreadableSource
from transcript.canonical import canonical
from transcript.event import validate_draft
from transcript.verify import verify

ODD = [None, [], {}, -1, True, 1.5, 10**30, 1e300, "", "\udc80", "\x00", [[]], [None], [{}], {"text": None}]
ODD += ["1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00", "<system-reminder>"]
ROUNDS = 24


def changed(value, rng, share):
    """Return a JSON value in which some values are odd ones and some fields are gone."""
    if rng.random() < share:
        return rng.choice(ODD)
    if isinstance(value, dict):
        return {name: changed(item, rng, share) for name, item in value.items() if rng.random() > share / 2}
    return [changed(item, rng, share) for item in value] if isinstance(value, list) else value


def spoil(path, rng, share):
    """Change a file of JSON or of JSON lines."""
    if path.suffix == ".json":
        path.write_text(json.dumps(changed(json.loads(path.read_bytes()), rng, share)))
    elif path.suffix == ".jsonl":
        lines = [json.dumps(changed(json.loads(raw), rng, share)) for raw in path.read_bytes().splitlines() if raw]
        cut = rng.randrange(len(lines))
        lines[cut] = rng.choice([lines[cut][: len(lines[cut]) // 2], lines[cut] * 2, f"\0\0{lines[cut]}"])
        path.write_text("\n".join(lines))


def drafts_of(adapter, source, lines, rng):
    """Return every draft of a source that is read in two steps, its memory written and read back in between."""
    memory = {"session": "s", "ts": rng.choice(["", STAMP])}
    cut = rng.randrange(len(lines) + 1)
    for part in (lines[:cut], lines[cut:]):
        reader = adapter.reader(source, memory, Options(KEY, reasoning=True))
        for number, raw in enumerate(part, 1):
            reader.feed(parse_line(number, number, number + 1, raw, adapter.is_record))
            yield from (taken.draft for taken in reader.take())
        yield from (taken.draft for taken in reader.finish())
        memory = json.loads(json.dumps(memory, allow_nan=False))
    adapter.restarted(memory)


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: adapter.harness)
def test_odd_values_anywhere_never_raise_and_give_events_only(adapter, tmp_path):
    whole, work = tmp_path / "whole", tmp_path / "work"
    whole.mkdir()
    builder_of(adapter.harness)(whole, str(whole))
    rng = random.Random(adapter.harness)
    met = 0
    for number in range(ROUNDS):
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(whole, work)
        for path in sorted(path for path in work.rglob("*") if path.is_file()):
            spoil(path, rng, (0.0, 0.01, 0.05, 0.2)[number % 4])
        for source in adapter.discover([work])[0]:
            try:
                with adapter.open(source) as file:
                    lines = [raw for raw in file.read().split(b"\n") if raw.strip()]
            except UnreadableSource:  # what is no document any more is reported as that
                continue
            values = [value for raw in lines for value in parse_line(1, 1, 1, raw, adapter.is_record).objects]
            adapter.recognises(values)
            assert all(isinstance(fact, str) for fact in adapter.head(values))
            for draft in drafts_of(adapter, source, lines, rng):
                validate_draft(replace(draft, ts=draft.ts or STAMP) if draft.ts_source == "capture" else draft)
                canonical(draft.body)
                met += 1

    assert met >= ROUNDS


class Broken(Toy):
    """A toy adapter one of whose parts fails on the second file."""

    def __init__(self, part, bad):
        self.part, self.bad = part, str(bad)

    def _fails(self, part, path):
        if part == self.part and str(path) == self.bad:
            raise TypeError("what was read stands in here")

    def open(self, source):
        self._fails("open", source.path)
        return super().open(source)

    def reader(self, source, memory, options):
        self._fails("reader", source.path)
        reader = ToyReader(source, memory, options)
        if str(source.path) == self.bad:
            if self.part in ("feed", "take", "finish"):
                setattr(reader, self.part, lambda *_: self._fails(self.part, source.path))
            if self.part == "drafts":
                out = reader.take
                reader.take = lambda: [replace(item, draft=replace(item.draft, actor="ghost")) for item in out()]
        return reader


@pytest.mark.parametrize("part", ["open", "reader", "feed", "take", "finish", "drafts"])
def test_an_adapter_that_fails_on_one_file_leaves_the_others_alone(tmp_path, part):
    project = Project(tmp_path)
    bad = toy_file(tmp_path / "sessions" / "a", project.root)
    other = toy_file(tmp_path / "sessions" / "b", project.root)
    for name in "abc":
        other.write_text(other.read_text().replace(f'"toy": "{name}"', f'"toy": "{name}2"'))

    report = project.sync(sources=tmp_path / "sessions", adapters=(Broken(part, bad),))
    mended = project.sync(sources=tmp_path / "sessions", adapters=(Toy(),))

    assert [path for path, _ in report.failed] == [str(bad)]
    assert "stands in here" not in report.failed[0][1]
    assert report.by_type["conversation_turn"] == 2
    assert mended.failed == []
    kinds = Counter(event.type for event in project.events() if event.type != "mark")
    assert kinds == {"conversation_turn": 4, "unknown": 2}
    assert verify(project.workspace).ok


def test_an_adapter_that_finds_nothing_but_a_fault_is_counted(tmp_path):
    class Blind(Toy):
        def discover(self, roots):
            raise KeyError("x")

    report = Project(tmp_path).sync(sources=tmp_path, adapters=(Blind(),))

    assert report.skipped == {"adapter_failed": 1}


class Leaving(Toy):
    def __init__(self):
        raise SystemExit(3)


class Sly(Toy):
    @property
    def origin(self):
        raise RuntimeError


@pytest.mark.parametrize("made", [Leaving, Sly, type("Climbing", (Toy,), {"harness": "../../x"})])
def test_an_adapter_of_others_neither_ends_us_nor_leaves_its_folder(made):
    found = registered([Point("odd", made)])

    assert found.adapters == ADAPTERS
    assert [name for name, _ in found.refused] == ["odd"]


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: adapter.harness)
def test_odd_entries_of_a_folder_stop_no_search(adapter, tmp_path):
    """A link that leads to itself ended the sync of every harness; a pipe would be waited for."""
    contract = builder_of(adapter.harness)(tmp_path, str(tmp_path))
    folder = contract.path if contract.path.is_dir() else contract.path.parent
    whole = {source.path for source in adapter.discover([tmp_path])[0]}
    for end in (".jsonl", ".json", ".db", ".md"):
        (folder / f"loop{end}").symlink_to(folder / f"loop{end}")
        (folder / f"away{end}").symlink_to(tmp_path / "gone")
        (folder / f"folder{end}").mkdir()
        os.mkfifo(folder / f"pipe{end}")
    (folder / "round").symlink_to(folder)

    found, _ = adapter.discover([tmp_path])

    assert {source.path for source in found} == whole
