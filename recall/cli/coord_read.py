"""The commands of `recall coord` that change nothing there: what holds, and how agents use it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recall.cli.app import App, pass_app
from recall.cli.coord_out import Report, reports
from recall.cli.coord_work import desk_of
from recall.cli.output import head
from recall.cli.reading import door
from transcript.coord_codes import says
from transcript.telling import counted

if TYPE_CHECKING:
    from consolidation.coord_read import View

KINDS = ("decision", "question", "artifact", "outcome")
MOST_ABOUT = 40  # characters of a subject or a target in front of a summary


@click.command()
@click.option("--subject", default="", metavar="T", help="Only what has this word in its subject or summary.")
@click.option("--kind", type=click.Choice(KINDS), default=None, help="Only items of this kind.")
@click.option("--last", type=click.IntRange(min=0), default=10, show_default=True, help="Outcomes, newest first.")
@click.option("--all", "whole", is_flag=True, help="Also what no longer holds.")
@pass_app
@reports("read")
def read(app: App, subject: str, kind: str | None, last: int, whole: bool) -> Report:
    """Print what holds, what is open and what disagrees.

    Decisions, questions, artifacts and outcomes. Reads the canonical memory, not the index, and writes nothing.
    What waits for a decision stands under `pending` alone. Evidence is named, with whether it is still what was
    approved; its words are not repeated.

    \b
        recall coord read --subject time
    """
    from consolidation import coord_read as reading

    desk = desk_of(app, writes=False)
    reader = door(app, desk.workspace)
    reader.refuse_record("the coordination memory")
    items, wrong = reading.canonical_items(desk)
    seen = reading.view(
        items, desk.state(), desk.references(), subject=subject, kind=kind or "", last=last, whole=whole
    )
    seen.pending = reading.pending(desk, subject=subject)
    seen.problems = wrong + reading.problems(desk)
    seen.losers = reading.losers(seen, desk.log, reader)
    seen = reading.fitted(seen)
    live = [
        row for rows in (seen.decisions, seen.questions, seen.answers, seen.artifacts, seen.outcomes) for row in rows
    ]
    return Report(
        evidence_refs=list(dict.fromkeys(ref for row in live for ref in row["evidence_refs"])),
        human_decision_required=any(row["state"] == "proposed" for row in seen.pending),
        text="\n".join(_lines(seen, narrowed=bool(subject or kind))),
        more=seen.told(),
    )


def _lines(seen: View, *, narrowed: bool) -> list[str]:
    """What a reader sees; `narrowed` where only a subject or a kind was asked for."""
    lines: list[str] = []
    for title, rows in (
        ("Decisions", seen.decisions),
        ("Open questions", seen.questions),
        ("Answers", seen.answers),
        ("Artifacts", seen.artifacts),
        ("Outcomes", seen.outcomes),
        ("No longer holds", seen.ended),
    ):
        if rows:
            lines += [title, *map(_holds, rows), ""]
    bad = [row for row in seen.pointers if row["state"] != "ok"]
    named = (
        ("Evidence that is not as it was approved", [f"{row['ref']}  {row['state']}" for row in bad]),
        ("Two decisions on one subject", [f"{row['subject']}: {', '.join(row['ids'])}" for row in seen.conflicts]),
        ("Loses against something that outranks it", [_loses(row) for row in seen.losers]),
        ("Pending: not decided, not canonical", [_waits(row) for row in seen.pending]),
        ("Not as it must be", [_wrong(row) for row in seen.problems]),
        ("Left out, there is no room", [f"{name}: {count:,}" for name, count in seen.left_out.items()]),
    )
    for title, told in named:
        if told:
            lines += [title, *(f"  {line}" for line in told), ""]
    found = len(lines) - (len(seen.problems) + 2 if seen.problems else 0)
    if narrowed and not found:
        return ["nothing fits; without --subject and --kind all of it is shown", "", *lines]
    return lines or ["nothing is decided yet; recall coord instructions", ""]


def _holds(row: dict[str, Any]) -> str:
    ended = f" (ended by {row['ended_by']})" if "ended_by" in row else ""
    return f"  {row['event_id']}  {_about(row)}{head(row['summary'])}{ended}"


def _about(row: dict[str, Any]) -> str:
    """What an item or a proposal is about: the question it answers, its subject, else what it changes."""
    about = row.get("question") or row.get("subject") or row.get("target_ref")
    return f"[{head(about, MOST_ABOUT)}] " if about else ""


def _wrong(row: dict[str, Any]) -> str:
    field = str(row.get("field", ""))
    about = f"{field}: " if field else ""
    return f"{row['where']}  {row['code']}: {about}{says(row['code'], field)}"


def _loses(row: dict[str, Any]) -> str:
    return f"{row['loser']} against {row['wins']} ({row['why']})"


def _waits(row: dict[str, Any]) -> str:
    return (
        f"{row['proposal_id']}  {row['operation']} {_about(row)}{head(row['summary'])} (waits for {row['waits_for']})"
    )


@click.command()
@click.option("--to", type=click.Path(path_type=Path), default=None, metavar="DIR", help="Write the files there.")
@pass_app
@reports("instructions")
def instructions(app: App, to: Path | None) -> Report:
    """Print what an agent needs to know.

    The modes, the document and its schema. With --to it writes them as a skill, SKILL.md and references/, into a
    folder such as .claude/skills/ agent-shared-memory. A file there that says something else is left and named.

    \b
        recall coord instructions --to .claude/skills/agent-shared-memory
    """
    from consolidation.coord_skill import texts, written

    found = texts()
    if to is None:
        return Report(text="\n".join(found.values()), more={"files": dict(found)})
    done = written(app.cwd / to, found)
    told = [f"wrote {path}" for path in done.written] + [f"left {path}: it says something else" for path in done.left]
    return Report(
        text="\n".join(told) or "all of it stands there already",
        more={"written": [str(path) for path in done.written], "left": [str(path) for path in done.left]},
        code=1 if done.left else 0,
    )


@click.command()
@click.option("--signatures", "signed", is_flag=True, help="Check the signatures over the record's head as well.")
@pass_app
@reports("verify")
def verify(app: App, signed: bool) -> Report:
    """Hold files, record and signatures against each other.

    Names what was edited, with its line, what is missing, decisions that no key of yours signed, and evidence that is
    another one now. Writes nothing. Exits 1 for anything but a warning; 'recall verify' looks at this as well.

    \b
        recall coord verify
    """
    from recall.cli.verify_more import coord, signatures

    desk = desk_of(app, writes=False)
    found = coord(app, desk.workspace)
    if signed:
        found += signatures(app, desk.workspace)[0]
    failed = [one for one in found if not one.warns]
    lines = [f"{'warning' if one.warns else 'problem'}  {one.where}: {one.code}: {one.message}" for one in found]
    return Report(
        text="\n".join(lines) or f"{counted(len(desk.state().applied), 'item')} and every proposal as approved",
        more={
            "problems": [
                {"code": one.code, "where": one.where, "message": one.message, "warning": one.warns} for one in found
            ]
        },
        code=1 if failed else 0,
    )
