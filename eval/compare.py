"""Compares two results of the same questions, measure by measure, by a paired bootstrap."""

import json
from pathlib import Path
from typing import Any

from eval.stats import Paired, paired
from eval.tables import table


def load(path: Path) -> dict[str, Any]:
    """Read a result; ValueError for a file that is none, or a summary without the values of single questions."""
    try:
        held: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        engines = held["engines"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is no result of recall eval SET --json ({error!r})") from None
    if not any(engine.get("values") for engine in engines.values()):
        raise ValueError(f"{path} is a summary: it has no value of single questions to pair; run it with --json")
    return held


def compare(
    first: dict[str, Any], second: dict[str, Any], *, engine: str = "recall", samples: int = 2000
) -> dict[str, Paired]:
    """Return measure -> second minus first. ValueError where the two were asked of other data or other questions."""
    if first["data_sha256"] != second["data_sha256"]:
        raise ValueError("the two results are of different data; compare runs over the same files")
    for held in (first, second):
        if engine not in held["engines"]:
            raise ValueError(f"no engine {engine!r}; there are {', '.join(held['engines'])}")
    old, new = first["engines"][engine]["values"], second["engines"][engine]["values"]
    found = {name: paired(new[name], old[name], samples=samples) for name in new if name in old}
    return {name: pair for name, pair in found.items() if pair is not None}


def to_text(pairs: dict[str, Paired]) -> str:
    """A table: the difference in points with its interval, wins and losses."""
    rows = [[name, p.n, p.points(), p.wins, p.losses] for name, p in pairs.items()]
    return table(["measure", "n", "second - first, points", "wins", "losses"], rows)
