"""`recall consolidate`: make memories of what is new in the record; the nightly job."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import click

from recall.cli.app import App, moment, pass_app
from recall.cli.output import Progress, duration, emit, note, say
from transcript.telling import counted, minute

if TYPE_CHECKING:
    from collections.abc import Iterable

    from consolidation.model import Report
    from consolidation.night import Night


@click.group(invoke_without_command=True)
@click.option(
    "--nightly",
    is_flag=True,
    help="Capture, index, consolidate, verify, project, compact, quality, health and self test.",
)
@click.option("--full", is_flag=True, help="Read the whole record again, not only what is new.")
@click.option("--dry-run", is_flag=True, help="Show everything it would write, and write nothing.")
@click.option("--no-review", is_flag=True, help="Ask no reviewer; the computed checks remain.")
@click.option(
    "--wait",
    "wait_s",
    type=click.FloatRange(min=0),
    default=0.0,
    metavar="SECONDS",
    help="With --nightly: so long for one that works here already.",
)
@click.option(
    "--within",
    "within_s",
    type=click.FloatRange(min=0),
    default=math.inf,
    metavar="SECONDS",
    help="With --nightly: leave out what can wait where that is too short.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
@pass_app
def command(
    app: App,
    ctx: click.Context,
    nightly: bool,
    full: bool,
    dry_run: bool,
    no_review: bool,
    wait_s: float,
    within_s: float,
    as_json: bool,
) -> None:
    """Make memories of what is new in the record.

    Finds statements that may last, holds each against its source and against what is remembered, and writes those that
    nothing refutes, each with its pointers. Nothing is deleted; what it cannot tell waits for 'recall memory accept'.
    Again as often as you like: what was decided is not decided again. For cron use --nightly. Exit 0: done, nothing
    new, or another one runs; 1: a part failed and is named.

    \b
        recall consolidate --nightly
    """
    if ctx.invoked_subcommand is not None:
        return
    from consolidation.night import night
    from consolidation.run import FAILED, consolidate
    from recall.cli.rehearsal import rehearsal
    from recall.cli.work import deps_of, settings_of

    settings, now = settings_of(app), app.now()
    if dry_run:
        with Progress("working") as bar, rehearsal(app, app.workspace(), review=not no_review) as tried:
            if nightly:
                planned = night(tried.deps, settings, now=now, full=full, dry_run=True, on_part=shown(bar))
                if planned.report is not None:
                    planned = replace(planned, report=tried.whole(planned.report))
            else:
                report = consolidate(
                    tried.deps, settings, trigger="elected", now=now, dry_run=True, full=full, on_stage=shown(bar)
                )
        if nightly:
            emit(night_json(planned)) if as_json else say_night(planned)
            ctx.exit(1 if planned.failed else 0)
        report = tried.whole(report)
        emit(report_json(report)) if as_json else say_report(report)
        ctx.exit(exit_code(report))
    deps = deps_of(app, app.writable_workspace(), review=not no_review)
    if nightly:
        with Progress("working") as bar:
            done = night(deps, settings, now=now, full=full, wait_s=wait_s, within_s=within_s, on_part=shown(bar))
        emit(night_json(done)) if as_json else say_night(done)
        ctx.exit(1 if any(part.state == FAILED for part in done.parts) else 0)
    with Progress("working") as bar:
        report = consolidate(deps, settings, trigger="elected", now=now, full=full, on_stage=shown(bar))
    emit(report_json(report)) if as_json else say_report(report)
    ctx.exit(exit_code(report))


@command.command()
@click.option("--since", metavar="DATE", help="Count what was decided from then on.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_app
def stats(app: App, since: str | None, as_json: bool) -> None:
    """Count how candidates ended, and why.

    \b
        recall consolidate stats --since 2026-03-01
    """
    from consolidation.stats import stats as count
    from consolidation.stats import told

    found = count(told(app.log(app.workspace())), since=moment(since) if since else None)
    if as_json:
        emit(asdict(found))
        return
    say("  ".join(f"{name} {number:,}" for name, number in found.ends.items()))
    for title, counts in (("reason", found.reasons), ("finder", found.finders), ("reviewer", found.reviewers)):
        if counts:
            say(f"by {title}: {', '.join(f'{name} {number:,}' for name, number in counts.items())}")


@command.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_app
def status(app: App, as_json: bool) -> None:
    """Say what was done last, what is due, and what waits for a person.

    \b
        recall consolidate status
    """
    from consolidation.night import could_wait, last
    from consolidation.stats import checkpoints, told
    from consolidation.triggers import due
    from recall.cli.work import settings_of
    from transcript.memories import fold_events

    workspace = app.workspace()
    events = told(app.log(workspace))
    state, found = fold_events(events), checkpoints(events)
    wanted = due(state, settings_of(app).consolidation, app.now())
    waiting = [one.id for one in state.candidates.values() if one.pending]
    held = {
        "last": asdict(found.last) if found.last is not None else None,
        "elected": found.elected,
        "fixed": found.fixed,
        "nightly": dict(last(workspace)),
        "due": [asdict(one) for one in wanted],
        "waiting": waiting,
    }
    if as_json:
        emit(held)
        return
    if found.last is None:
        say("no checkpoint yet; 'recall checkpoint' makes one")
    else:
        say(f"last checkpoint {found.last.id[:10]} {minute(found.last.ts)} {found.last.text}")
    say(f"checkpoints: {found.elected:,} elected, {found.fixed:,} by a trigger")
    night = last(workspace)
    say(f"last night {minute(night['at'])} {night['state']}" if night else "no night yet; --nightly makes one")
    for phrase in could_wait(night):
        say(f"  {phrase}")
    for one in wanted:
        say(f"due: {one.trigger} ({one.why})")
    if waiting:
        say(f"{counted(len(waiting), 'candidate')} waiting; 'recall memory list --proposals' shows them")


def shown(bar: Progress) -> Any:
    """A callback that shows which step is at work."""
    return lambda name: bar(0, 0, name)


def exit_code(report: Report) -> int:
    """0 for a run that is whole or had nothing to do, 1 where a step failed."""
    return 1 if report.state in ("failed", "incomplete") else 0


def report_json(report: Report) -> dict[str, Any]:
    """A report as plain values."""
    return {
        "trigger": report.trigger,
        "state": report.state,
        "checkpoint": report.checkpoint,
        "counts": dict(report.counts),
        "steps": [asdict(step) for step in report.steps],
        "unread": dict(report.unread),
        "would_write": [dict(one) for one in report.would_write],
    }


def night_json(done: Night) -> dict[str, Any]:
    """A night as plain values."""
    return {
        "state": done.state,
        "parts": [asdict(part) for part in done.parts],
        "consolidation": report_json(done.report) if done.report is not None else None,
    }


def say_report(report: Report) -> None:
    """Print what a run did: one line, its steps, and of a dry run what it would write."""
    if report.state == "busy":
        note(report.steps[0].note)
        return
    say_unread(report.unread)
    if report.state == "unchanged":
        say(f"nothing new since checkpoint {report.checkpoint[:10]}" if report.checkpoint else "nothing new")
        say_would_write(report)
        return
    counts = report.counts
    parts = [
        counted(counts["candidates"], "candidate"),
        counted(counts["accepted"], "memory", "memories"),
        *(f"{counts[name]:,} {told}" for name, told in TOLD.items() if counts[name]),
    ]
    head = "would be a checkpoint" if report.would_write else f"checkpoint {report.checkpoint[:10]} {report.state}"
    say(f"{head}: {', '.join(parts)}")
    for step in report.steps:
        say(f"  {step.name:<8} {step.state:<9} {step.note}".rstrip())
    say_would_write(report)


def say_would_write(report: Report) -> None:
    """Print what a dry run would write, a line an event; of sessions a line each."""
    for one in report.would_write:
        say(f"  would write {one['type']:<18} {one['id'][:10]} {summary(dict(one['body']))}".rstrip())


def say_unread(files: Iterable[tuple[str, str]]) -> None:
    """Name the edited files of memories that cannot be taken in."""
    for path, reason in files:
        note(f"{path} was changed by hand and cannot be read: {reason}; correct the file or remove it")


TOLD = {
    "superseded": "superseded",
    "downgraded": "narrowed to what their sources say",
    "confirmed": "confirmed",
    "duplicate": "said already",
    "rejected": "in the transcript only",
    "procedure": "waiting for approval",
    "pending": "waiting",
}


def summary(body: dict[str, Any]) -> str:
    """What an event says, in a few words."""
    text = body.get("statement") or body.get("text") or body.get("reason") or body.get("verdict") or ""
    return " ".join(str(text).split())[:80]


def say_night(done: Night) -> None:
    """Print a line for each part of a night."""
    if done.state == "busy":
        note(done.parts[0].note)
        return
    say_unread(done.report.unread if done.report is not None else ())
    for part in done.parts:
        say(f"{part.name:<12} {part.state:<9} {duration(part.seconds):>8}  {part.note}".rstrip())
    if done.report is not None:
        say_would_write(done.report)
