"""`recall health --smoke`: the whole way once, on made-up sessions, without model, key or network."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from recall.cli.output import say
from recall.cli.scratch import Ran, Scratch, offline, scratch
from transcript.telling import counted

if TYPE_CHECKING:
    from health.report import Report

QUESTION = "tide times one hour off since the clock change"
WANTED = "Europe/Paris"  # stands in the answer to it
LEFT_OUT = frozenset({"embedder"})  # no model is asked for here, so that it is missing is no fault


def run() -> int:
    """Print a line a step; return 0 where all of them worked, else 2."""
    bad = 0
    with scratch() as project, offline() as asked:
        for name, well, told in (*_steps(project), ("no network", not asked, counted(len(asked), "socket"))):
            bad += not well
            say(f"{'ok' if well else 'FAIL':<5} {name:<11} {told}")
    say(f"{counted(bad, 'step')} failed" if bad else "all of it works here, by words alone: no model, key or network")
    return 2 if bad else 0


def _steps(project: Scratch) -> Iterator[tuple[str, bool, str]]:
    """Each step: its name, whether it worked, and what came of it."""
    taken = project("sync")
    head = project.app.log(project.app.workspace()).head()
    events = head.seq if head else 0
    yield "capture", taken.code == 0 and events > 0, _told(taken, counted(events, "event"))
    indexed = project("index", "--words-only")
    yield "index", indexed.code == 0, _told(indexed, _first(indexed))
    found = project("query", QUESTION, "--json", "--words-only")
    rows = [json.loads(line) for line in found.out.splitlines()] if found.code == 0 else []
    yield "recall", any(WANTED in str(row["text"]) for row in rows), _told(found, counted(len(rows), "result"))
    pointer = str(rows[0]["pointer"]) if rows else "none"
    shown = project("show", pointer)
    words = re.sub(r"\s+", " ", shown.out)
    yield "show", shown.code == 0 and bool(rows) and _opens(words, str(rows[0]["text"])), _told(shown, pointer)
    for name, line in (("verify", ("verify",)), ("project", ("project",)), ("handoff", ("handoff",))):
        done = project(*line)
        yield name, done.code == 0 and bool(done.out), _told(done, _first(done))
    yield _health(project)


def _health(project: Scratch) -> tuple[str, bool, str]:
    from health.signal import Level
    from recall.cli.reported import report_of

    report: Report = report_of(project.app, hooked=False)
    failing = [one.id for one in report.signals if one.level is Level.FAIL and one.id not in LEFT_OUT]
    told = f"fails: {', '.join(failing)}" if failing else f"{counted(len(report.signals), 'signal')}, none fails"
    return "health", not failing, told


def _opens(shown: str, text: str) -> bool:
    """Whether what a result told stands in what its pointer opens."""
    return re.sub(r"\s+", " ", text).strip(" …")[:60] in shown


def _told(ran: Ran, well: str) -> str:
    return well if ran.code == 0 else f"exit {ran.code}: {(ran.err or ran.out).strip()[-160:]}"


def _first(ran: Ran) -> str:
    return next((line.strip() for line in (ran.out or ran.err).splitlines() if line.strip()), "")[:100]
