"""Helpers for the adapters of all harnesses: read one source through its adapter, sync a folder of sources."""

import atexit
import functools
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from support.capture import KEY, Project
from transcript.adapters.base import Adapter, Options, SourceFile
from transcript.adapters.jsonl import parse_line, raw_lines
from transcript.canonical import canonical
from transcript.capture import SyncReport
from transcript.event import Draft, validate_draft

ROOT = Path(__file__).resolve().parents[2]
PRINT = """
import importlib, socket, sys
from pathlib import Path

def refuse(*args, **options):
    raise AssertionError("no network is needed")

socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
from support.harness import printed_lines

for asked in sys.stdin:
    adapter, path = asked.rstrip("\\n").split("\\t")
    module, name = adapter.split(":")
    lines = printed_lines(getattr(importlib.import_module(module), name)(), Path(path))
    sys.stdout.write(f"{len(lines)}\\n{''.join(lines)}")
    sys.stdout.flush()
"""


def only(adapter: Adapter, path: Path) -> SourceFile:
    """Return the one source under a path."""
    [source], _ = adapter.discover([path])
    return source


def read_source(
    adapter: Adapter, path: Path, *, reasoning: bool = False, memory: dict[str, Any] | None = None
) -> tuple[list[Draft], Any]:
    """Return what an adapter makes of the one source under a path, marks included, and its counts."""
    source = only(adapter, path)
    reader = adapter.reader(source, {"session": "", "ts": ""} if memory is None else memory, Options(KEY, reasoning))
    with adapter.open(source) as file:
        for number, (start, end, raw, _) in enumerate(raw_lines(file, 0), 1):
            if raw.strip():
                reader.feed(parse_line(number, start, end, raw, adapter.is_record))
    drafts = [taken.draft for taken in reader.take() + reader.finish()]
    for draft in drafts:
        validate_draft(draft if draft.ts else replace(draft, ts="2026-12-01T12:00:00.000Z"))
    return drafts, reader.counts


def read_in_steps(adapter: Adapter, path: Path) -> list[Draft]:
    """Return what an adapter makes of a source when every line comes in a run of its own, marks left out."""
    source = only(adapter, path)
    memory: dict[str, Any] = {"session": "", "ts": ""}
    drafts = []
    with adapter.open(source) as file:
        for number, (start, end, raw, _) in enumerate(raw_lines(file, 0), 1):
            memory = json.loads(json.dumps(memory))
            reader = adapter.reader(source, memory, Options(KEY))
            reader.feed(parse_line(number, start, end, raw, adapter.is_record))
            drafts += [taken.draft for taken in reader.take() + reader.finish()]
    return [draft for draft in drafts if draft.type != "mark"]


def read(adapter: Adapter, path: Path, *, reasoning: bool = False) -> list[Draft]:
    """Return what an adapter makes of the one source under a path."""
    return read_source(adapter, path, reasoning=reasoning)[0]


def printed_lines(adapter: Adapter, path: Path) -> list[str]:
    """Return the drafts of a source as lines of canonical JSON."""
    drafts = read(adapter, path, reasoning=True)
    return [canonical([getattr(draft, name) for name in draft.__slots__]).decode() + "\n" for draft in drafts]


@functools.cache
def printer(zone: str, seed: str) -> "subprocess.Popen[bytes]":
    """Return a process in another time zone and with another hash seed; it serves all tests of the run."""
    env = {**os.environ, "TZ": zone, "PYTHONHASHSEED": seed, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
    process = subprocess.Popen([sys.executable, "-c", PRINT], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    atexit.register(process.wait)
    atexit.register(process.stdin.close)
    return process


def printed(adapter: str, path: Path, zone: str, seed: str) -> bytes:
    """Return what an adapter ("module:Class") prints in another process, time zone and hash seed, without a network."""
    process = printer(zone, seed)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{adapter}\t{path}\n".encode())
    process.stdin.flush()
    count = process.stdout.readline()
    assert count, "the other process ended; what it said is on standard error"
    return b"".join(process.stdout.readline() for _ in range(int(count)))


def same_everywhere(adapter: str, path: Path) -> bytes:
    """Return what an adapter prints; AssertionError when zone or hash seed make a difference."""
    one = printed(adapter, path, "Pacific/Kiritimati", "1")
    assert one == printed(adapter, path, "America/Los_Angeles", "4242")
    return one


def ids(project: Project) -> set[str]:
    """Return the ids of a record's events, marks and sightings left out."""
    return {event.id for event in project.events() if event.type not in ("mark", "sighting")}


def nothing_new(report: SyncReport) -> bool:
    """Return whether a sync added nothing at all."""
    return (report.added, report.sightings, report.marks, report.changed) == (0, 0, 0, 0)
