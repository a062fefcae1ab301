"""Where the lines of the record that were chosen last stand, kept in `run/`: places and no words.

The record only grows, so who reads those lines and what was written behind them has read everything. Where a redaction
or a repair has moved lines, a place holds no whole line any more or the files look otherwise: then nothing is kept.
"""

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict
from itertools import groupby
from operator import itemgetter

from transcript.event import Position
from transcript.paths import read_derived, write_atomic
from transcript.segments import Head, open_segment, sealed_path
from transcript.workspace import Workspace

FILE = "record-lines.json"

Line = tuple[int, int, bytes]  # segment, end offset, the line with its newline


def kept(
    workspace: Workspace, head: Head, chosen_by: str, is_wanted: Callable[[bytes], bool]
) -> tuple[list[Line], Position] | None:
    """Return the lines kept last, oldest first, and the position behind the last line looked at; None without such.

    chosen_by names the rule that chose them, is_wanted is that rule: a place that holds another line voids all.
    """
    held = read_derived(workspace.run_dir / FILE)
    try:
        through = Position(**held["through"])
        if type(through.offset) is not int or not 0 <= through.offset <= sys.maxsize or through.segment < 1:
            return None
        if held["chosen_by"] != chosen_by or held["sealed"] != _sealed(workspace, through.segment):
            return None
        if through.seq > head.seq or (through.seq == head.seq and through != head.position):
            return None
        found = _read(workspace, held["places"])
    except (KeyError, TypeError, ValueError, OSError):
        return None
    return (found, through) if all(is_wanted(line) for _, _, line in found) else None


def keep(workspace: Workspace, found: Iterable[Line], head: Head, chosen_by: str) -> None:
    """Keep where these lines stand, which are all that a rule chooses up to the head."""
    with contextlib.suppress(OSError):  # in a folder that cannot be written to the record is read whole each time
        state = {
            "chosen_by": chosen_by,
            "through": asdict(head.position),
            "sealed": _sealed(workspace, head.segment),
            "places": [[segment, end - len(line), len(line)] for segment, end, line in found],
        }
        write_atomic(workspace.run_dir / FILE, json.dumps(state).encode("ascii"), durable=False)


def _sealed(workspace: Workspace, segment: int) -> list[list[int]]:
    """Return what the segments below one look like; a redaction writes a segment anew."""
    found = (sealed_path(workspace.log_dir, number).stat() for number in range(1, segment))
    return [[status.st_size, status.st_mtime_ns] for status in found]


def _read(workspace: Workspace, places: list[list[int]]) -> list[Line]:
    """Return the lines at these places; ValueError where there is none that starts and ends there."""
    found: list[Line] = []
    for segment, group in groupby(places, itemgetter(0)):
        with open_segment(workspace.log_dir, segment) as handle:
            size = os.fstat(handle.fileno()).st_size
            for _, start, length in group:
                if not 0 <= start < start + length <= size:
                    raise ValueError(f"segment {segment} has no {length} bytes from byte {start} on")
                before = min(start, 1)
                handle.seek(start - before)
                data = handle.read(before + length)
                line = data[before:]
                if (before and data[:1] != b"\n") or line.find(b"\n") != length - 1:
                    raise ValueError(f"no line of {length} bytes starts at byte {start} of segment {segment}")
                found.append((segment, start + length, line))
    return found
