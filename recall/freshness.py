"""Which copy of the program is the newest that ran on this data folder, and whether this one is older.

On the hook path: standard library only, one small file read at a session's start. Nothing asks the network.
"""

import contextlib
import re
from pathlib import Path

from recall.version import VERSION
from transcript.paths import read_file, write_atomic

NEWEST = "newest"  # <data>/newest: version, tab, the folder it ran from
_SITE = Path(__file__).resolve().parent.parent
_RELEASE = re.compile(r"(\d{1,9}(?:\.\d{1,9})*)[-_.]?([a-z]*)[-_.]?(\d{0,9})")
_BEFORE = {"dev": -4, "a": -3, "alpha": -3, "b": -2, "beta": -2, "c": -1, "rc": -1, "pre": -1}  # a release is 0


def ordered(version: str) -> tuple[tuple[int, ...], int, int]:
    """Return a key that sorts versions as their numbers do (0.10 after 0.9, 1.0rc1 before 1.0); the least for none."""
    found = _RELEASE.match(version.strip().lower().removeprefix("v"))
    if found is None:
        return (), 0, 0
    numbers = [int(part) for part in found[1].split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers), _BEFORE.get(found[2], int(bool(found[2]))), int(found[3] or 0)


def newest(data: Path) -> tuple[str, str]:
    """Return version and folder of the newest copy that ran here and is still there; ("", "") for none."""
    try:
        version, _, site = read_file(data / NEWEST)[:4096].decode().strip().partition("\t")
    except (OSError, ValueError):
        return "", ""
    known = ordered(version)[0] and Path(site).is_absolute() and (Path(site) / "recall" / "version.py").is_file()
    return (version, site) if known else ("", "")


def note_newest(data: Path, *, version: str = VERSION, site: Path = _SITE) -> None:
    """Remember this copy where none is newer; one that was put in the place of a newer one counts instead of it.

    A folder that is not there, or cannot be written to, stays as it is.
    """
    held, where = newest(data)
    replaced = where == str(site) and held != version
    if data.is_dir() and (replaced or ordered(version) > ordered(held)):
        with contextlib.suppress(OSError):
            write_atomic(data / NEWEST, f"{version}\t{site}\n".encode(), durable=False)


def behind(data: Path, *, version: str = VERSION, site: Path = _SITE) -> str:
    """Return what a session is told where a newer copy than this one ran on this data folder, "" where none did."""
    held, where = newest(data)
    if where == str(site) or ordered(held) <= ordered(version):
        return ""
    return (
        f"this hook runs old code: recall {version} in {site}, while {held} ran from {where}.\n"
        "Tell the user: 'recall enable-hooks' of the newer one makes hooks run it; 'recall health' names both"
    )
