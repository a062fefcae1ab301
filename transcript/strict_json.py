"""Reads JSON so that two readers can never see two things: no double names, no floats, no NaN, no half characters."""

import json
import re
from typing import Any, NoReturn

from transcript.coord_codes import refused

MOST_BYTES = 64 * 1024
MOST_DEPTH = 8
_SURROGATE = re.compile(rb"\\u[dD]")


def strict_json(data: bytes, *, most_bytes: int = MOST_BYTES, most_depth: int = MOST_DEPTH) -> object:
    """Return the JSON value of data; CoordError for anything that another reader could take in another way.

    Refused are more than most_bytes, a byte order mark or broken UTF-8, names that stand twice in an object, NaN,
    infinities and every other float, lone surrogates, and nesting beyond most_depth.
    """
    if len(data) > most_bytes:
        raise refused("too_large")
    try:
        value: object = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_object,
            parse_float=_float,
            parse_constant=_constant,
        )
    except (ValueError, RecursionError):  # a byte order mark and broken UTF-8 too
        raise refused("not_json") from None
    deep = data.count(b"{") + data.count(b"[") > most_depth
    if deep or _SURROGATE.search(data) is not None:  # only an escape can stand for half a character: this is UTF-8
        _check(value, most_depth)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise refused("duplicate_key")
    return made


def _float(text: str) -> NoReturn:
    raise refused("not_finite" if float(text) in (float("inf"), float("-inf")) else "float")


def _constant(text: str) -> NoReturn:
    raise refused("not_finite")


def _check(value: object, left: int) -> None:
    if isinstance(value, str):
        if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
            raise refused("surrogate")
    elif isinstance(value, dict | list):
        if left == 0:
            raise refused("too_deep")
        for part in value:
            _check(part, left - 1)
        for part in value.values() if isinstance(value, dict) else ():
            _check(part, left - 1)
