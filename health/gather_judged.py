"""Reads which measures somebody judged, and how far two raters of each agreed (`recall eval agreement`)."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from health.facts import JudgedFacts, JudgedMeasure
from transcript.workspace import Workspace

FILE = "agreement.jsonl"  # below run/; eval.agreement writes it


def judged_facts(workspace: Workspace) -> JudgedFacts:
    """Return every judged measure in use, by name, with the newest agreement on it that is known."""
    found: dict[str, JudgedMeasure] = {}
    for line in _lines(workspace):
        name = line["measure"]
        if "kappa" in line:
            found[name] = JudgedMeasure(
                name,
                n=int(line["n"]),
                raw=float(line["raw"]),
                chance=float(line["chance"]),
                kappa=float(line["kappa"]),
                favours=str(line["favours"]),
                direction=str(line["direction"]),
            )
        else:
            found.setdefault(name, JudgedMeasure(name))
    return JudgedFacts(tuple(found[name] for name in sorted(found)))


def _lines(workspace: Workspace) -> Iterator[Mapping[str, Any]]:
    """Yield the lines that can be read; a torn one is passed over."""
    file = workspace.run_dir / FILE
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines() if file.exists() else ():
        try:
            told = json.loads(line)
        except ValueError:
            continue
        if isinstance(told, dict) and isinstance(told.get("measure"), str):
            yield told
