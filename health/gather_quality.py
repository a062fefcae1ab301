"""Reads what the newest evaluation of a project by its own questions found (`recall eval self`)."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from health.facts import QualityFacts
from transcript.event import moment
from transcript.paths import open_file
from transcript.workspace import Workspace

FILE = "eval-self.jsonl"  # below run/; eval.self_series writes it
RANK = "turn MRR"
LEAST = 10  # questions of both, below which two runs are not held against each other
_TAIL = 1 << 18  # bytes: a run is a line of a few thousand


def quality_facts(workspace: Workspace) -> QualityFacts:
    """Return the newest run that can be read, from the end of the file; no time where there is none."""
    for line in reversed(_tail(workspace.run_dir / FILE).splitlines()):
        try:
            return _facts(json.loads(line))
        except (ValueError, TypeError, KeyError, AttributeError):  # torn, or written by another version
            continue
    return QualityFacts()


def _facts(run: Mapping[str, Any]) -> QualityFacts:
    low, high = run.get("interval") or (None, None)
    facts = QualityFacts(moment(run["at"]).timestamp(), float(run["figures"][RANK]), low, high, len(run["ranks"]))
    change = run.get("change")
    if not change:
        return facts
    return replace(
        facts,
        change=float(change["mean"]),
        change_low=float(change["low"]),
        change_high=float(change["high"]),
        shared=int(change["n"]),
        against=moment(change["against"]).timestamp(),
    )


def _tail(file: Path) -> bytes:
    if not file.exists():
        return b""
    with open_file(file) as held:
        held.seek(max(0, file.stat().st_size - _TAIL))
        return held.read()
