"""What a reference may look like: told from its words alone, before any file or record is looked at."""

import re
import unicodedata
from typing import Any

from transcript.canonical import ID_ALPHABET, canonical

MOST = 500
MOST_ESCAPED = 1000  # a YAML library takes a longer name in an object for a fault
TARGETS = ("memory", "candidate", "procedure", "identity", "pack")
POINTER = re.compile(rf"[{ID_ALPHABET}]{{10,26}}(#\d{{1,9}}-\d{{1,9}})?")
UUID = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_EVENT_ID = re.compile(f"[{ID_ALPHABET}]{{26}}")
_SHA = re.compile("[0-9a-f]{64}")
_PACK = re.compile("[a-z0-9-]{1,64}@[0-9a-f]{64}")
_TASK = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_LINES = re.compile(r"L[1-9]\d{0,8}(-L[1-9]\d{0,8})?")
_DEVICE = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)


def scheme_of(ref: str) -> tuple[str, str]:
    """Return (scheme, what follows) of a reference; `event` for a uuid, `path` for what names no scheme."""
    if UUID.fullmatch(ref):
        return "event", ref
    if ref.startswith("https://"):
        return "https", ref
    scheme, mark, rest = ref.partition(":")
    if mark and scheme in (*TARGETS, "recall", "task", "blob"):
        return scheme, rest
    if POINTER.fullmatch(ref) and "#" in ref:
        return "recall", ref
    return "path", ref


def bad_ref(ref: Any, *, target: bool = False) -> bool:
    """Say whether a value is no reference that evidence, or with target the target of an action, may be."""
    if not isinstance(ref, str) or not 1 <= len(ref) <= MOST or len(canonical(ref)) > MOST_ESCAPED:
        return True
    if ref != ref.strip() or not ref.isprintable():
        return True
    scheme, rest = scheme_of(ref)
    if target and scheme not in ("event", *TARGETS):
        return True
    if scheme == "event":
        return False
    if scheme in ("memory", "candidate"):
        return _EVENT_ID.fullmatch(rest) is None
    if scheme == "recall":
        return POINTER.fullmatch(rest) is None
    if scheme in ("procedure", "identity"):
        return not target or bad_path(rest)
    if scheme == "pack":
        return not target or _PACK.fullmatch(rest) is None
    if scheme == "task":
        return _TASK.fullmatch(rest) is None
    if scheme == "blob":
        return _SHA.fullmatch(rest) is None
    if scheme == "https":
        return len(rest) <= len("https://") or " " in rest
    path, lines = path_of(rest)
    return bad_path(path) or (bool(lines) and _LINES.fullmatch(lines) is None)


def path_of(ref: str) -> tuple[str, str]:
    """Return (path, lines) of a path with an optional `#L3-L9`."""
    path, mark, lines = ref.rpartition("#")
    return (path, lines) if mark and lines.startswith("L") else (ref, "")


def lines_of(text: str) -> tuple[int, int] | None:
    """Return the first and last line that `L3-L9` or `L3` names, counted from 1; None for no lines."""
    if not text:
        return None
    first, _, last = text.replace("L", "").partition("-")
    return int(first), int(last or first)


def bad_path(path: str) -> bool:
    """Say whether a path is anything but a plain one below the folder it is meant for, on every system."""
    for form in {path, unicodedata.normalize("NFKC", path)}:
        if not form or form.startswith(("/", "~", "-")) or any(mark in form for mark in '\\:*?"<>|'):
            return True
        for part in form.split("/"):
            if part in ("", ".", "..") or part != part.strip() or part.endswith(".") or _DEVICE.fullmatch(part):
                return True
    return not path.isprintable()
