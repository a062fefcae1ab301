"""Reads the logs of `recall.logs`, without importing what writes them."""

import json
import os
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import BinaryIO

from transcript.paths import open_file
from transcript.telling import minute

FOLDER = "logs"
NAMES = ("service", "background", "night")
_POLL_S = 0.5
_FIRST = ("at", "level", "event")


def files(data: Path, name: str) -> list[Path]:
    """Return the files of one log, the oldest first."""
    found = {0: data / FOLDER / f"{name}.jsonl"}
    for path in (data / FOLDER).glob(f"{name}.jsonl.*"):
        if path.suffix[1:].isdecimal():
            found[int(path.suffix[1:])] = path
    return [found[number] for number in sorted(found, reverse=True) if found[number].is_file()]


def last(data: Path, name: str, most: int, *, said: Callable[[str], str]) -> list[str]:
    """Return the newest `most` lines of a log as `said` has them, the oldest first; half a line is left out."""
    lines: list[str] = []
    for path in reversed(files(data, name)):
        if len(lines) >= most:
            break
        held = path.read_text(encoding="ascii", errors="backslashreplace").splitlines()
        lines = [*filter(None, map(said, held)), *lines]
    return lines[-most:]


def follow(data: Path, name: str, *, said: Callable[[str], str]) -> Generator[str, None, None]:
    """Yield the lines that are written from now on as `said` has them, also over a turn of the file; never ends."""
    path = data / FOLDER / f"{name}.jsonl"
    file, rest = _opened(path), b""
    if file is not None:
        file.seek(0, os.SEEK_END)
    try:
        while True:
            turned = file is None or _number(path) not in (None, os.fstat(file.fileno()).st_ino)
            *whole, rest = (rest + (file.read() if file is not None else b"")).split(b"\n")
            yield from filter(None, (said(line.decode("ascii", "backslashreplace")) for line in whole))
            if turned and (later := _opened(path)) is not None:  # the one before was read to its end: it was held open
                if file is not None:
                    file.close()
                file, rest = later, b""
            else:
                time.sleep(_POLL_S)
    finally:
        if file is not None:
            file.close()


def _opened(path: Path) -> BinaryIO | None:
    try:
        return open_file(path)
    except OSError:
        return None


def _number(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def raw(line: str) -> str:
    """Return one line of a log as it is written, "" for one that is none."""
    return line if tell(line) else ""


def tell(line: str) -> str:
    """Return one line of a log for people, "" for one that is none."""
    try:
        held = json.loads(line)
        head = f"{minute(held['at'])}  {held['level']:<7}  {held['event']}"
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return "  ".join([head, *(f"{name} {value}" for name, value in held.items() if name not in _FIRST)])
