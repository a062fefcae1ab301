"""Git's index read without git: the paths that it tracks, in every format that git writes.

Versions 2 to 4, SHA-1 and SHA-256, an index split in two files, and one that holds whole folders instead of files
(sparse): what lies below such a folder is not checked out, and so none of the paths.
"""

import struct
from pathlib import Path

from transcript.paths import read_file

_HEADER = struct.Struct(">4sII")
_STAT = 40  # bytes of an entry before its hash; the mode stands at 24
_HASHES = (20, 32)
_EXTENDED, _NAME_LENGTH = 0x4000, 0x0FFF
_FOLDER = 0o040000
_WORD_BITS = 64


def tracked_paths(git_dir: Path) -> frozenset[bytes]:
    """Return the paths that the index in a git folder tracks, from the root of the work tree, as they are stored.

    Empty where there is no index. ValueError where one cannot be read; OSError where a part of it is missing.
    """
    try:
        data = read_file(git_dir / "index")
    except FileNotFoundError:
        return frozenset()
    for size in _HASHES:  # only the repository's settings say which: with the wrong one nothing fits together
        try:
            names, link = _read(data, size)
        except (ValueError, IndexError, struct.error):
            continue
        if link and any(link[:size]):
            shared, _ = _read(read_file(git_dir / f"sharedindex.{link[:size].hex()}"), size)
            gone = _bits(link[size:])
            names = [*(name for at, name in enumerate(shared) if at not in gone), *names]
        return frozenset(name for name in names if name and not name.endswith(b"/"))
    raise ValueError(f"{git_dir / 'index'} is no index that can be read; 'git status' may mend it")


def _read(data: bytes, size: int) -> tuple[list[bytes], bytes]:
    """Return the names of an index file in their order, and what it says of the file that holds its other half.

    A name is empty where the entry only brings one of the other half up to date.
    """
    mark, version, count = _HEADER.unpack_from(data)
    if mark != b"DIRC" or version not in (2, 3, 4):
        raise ValueError("another format")
    names: list[bytes] = []
    at, name = _HEADER.size, b""
    for _ in range(count):
        begin = at
        (mode,) = struct.unpack_from(">I", data, at + 24)
        (flags,) = struct.unpack_from(">H", data, at + _STAT + size)
        at += _STAT + size + (4 if flags & _EXTENDED else 2)
        if version == 4:
            cut, at = _number(data, at)
            if cut > len(name):
                raise ValueError("a name is cut shorter than nothing")
            name = name[: len(name) - cut]
        else:
            name = b""
        end = data.index(b"\0", at)
        name += data[at:end]
        if len(name) != flags & _NAME_LENGTH and flags & _NAME_LENGTH != _NAME_LENGTH:
            raise ValueError("a name of another length")
        names.append(name + b"/" if mode == _FOLDER and not name.endswith(b"/") else name)
        at = end + 1 if version == 4 else begin + (end - begin) // 8 * 8 + 8
    return names, _extension(data, at, len(data) - size, b"link")


def _extension(data: bytes, at: int, end: int, wanted: bytes) -> bytes:
    """Return the body of an extension, b"" without it; the extensions have to fill the file."""
    found = b""
    while at < end:
        mark, size = struct.unpack_from(">4sI", data, at)
        if mark == wanted:
            found = data[at + 8 : at + 8 + size]
        at += 8 + size
    if at != end:
        raise ValueError("the parts do not fill the file")
    return found


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of git's variable width, and where it ends."""
    value = data[at] & 0x7F
    while data[at] & 0x80:
        at += 1
        value = (value + 1) << 7 | data[at] & 0x7F
    return value, at + 1


def _bits(data: bytes) -> frozenset[int]:
    """Return which bits of a compressed bitmap (EWAH) are set, of the first one in data."""
    if not data:
        return frozenset()
    bits, words = struct.unpack_from(">II", data)
    stored = struct.unpack_from(f">{words}Q", data, 8)
    found: list[int] = []
    at = place = 0
    while at < words:
        run, literals = stored[at] >> 1 & 0xFFFFFFFF, stored[at] >> 33
        if stored[at] & 1:
            found += range(place, min(bits, place + run * _WORD_BITS))
        place += run * _WORD_BITS
        for word in stored[at + 1 : at + 1 + literals]:
            found += [place + bit for bit in range(_WORD_BITS) if word >> bit & 1]
            place += _WORD_BITS
        at += 1 + literals
    return frozenset(found)
