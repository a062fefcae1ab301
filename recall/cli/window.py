"""`recall window`: what fills a session's live window, what may leave it, and what left."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recall.cli.app import App, pass_app
from recall.cli.output import emit, note, say
from recall.cli.reading import door
from recall.governance_settings import WINDOW_POLICIES
from recall.window_usage import MOST_TOKENS

if TYPE_CHECKING:
    from recall.governance_settings import WindowSettings
    from recall.live_window import LiveWindow
    from recall.window_policy import Kept, Plan, Step
    from transcript.log import Log

SHOWN = 10
TOKENS = click.IntRange(1, MOST_TOKENS)
EMERGENCY_CODE = 3


def _asked(command: Any) -> Any:
    """Add what names a window: whose it is, how large it is, what is done with it."""
    options = (
        click.option("--session", default="", metavar="ID", help="A session of the record; the newest by default."),
        click.option(
            "--file",
            "file",
            type=click.Path(path_type=Path),
            metavar="PATH",
            help="A harness's own session file instead, as it stands now.",
        ),
        click.option("--harness", default="", metavar="NAME", help="With --file: whose it is (claude-code)."),
        click.option(
            "--window",
            type=click.IntRange(1, MOST_TOKENS),
            metavar="TOKENS",
            help="The window; the harness's by default.",
        ),
        click.option("--trigger", type=TOKENS, metavar="TOKENS", help="Where the harness compacts it."),
        click.option(
            "--percent", type=click.FloatRange(1, 100), metavar="P", help="The same as a share of the window."
        ),
        click.option("--policy", type=click.Choice(WINDOW_POLICIES), help="For this once; else window.policy."),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.group()
def command() -> None:
    """See how full a session's window is and what may leave it.

    The harness's own file is never touched. A plan is carried out by a host that builds its prompts itself; recall
    records it and brings back what left.

    \b
        recall window plan
    """


@command.command("plan")
@_asked
@pass_app
def plan_command(app: App, /, as_json: bool, **asked: Any) -> None:
    """Show how full the window is and what may leave it. Writes nothing.

    Of each exchange type, source, recoverability and risk are told, and why it leaves or stays. Never planned: the
    last exchanges, what is in flight, standing instructions, open tasks, what cannot be undone, what is not preserved.

    \b
        recall window plan --policy sliding --json
    """
    from recall.window_policy import as_dict

    _, seen, made = _looked(app, **asked)
    if as_json:
        emit({"session": seen.session, "harness": seen.items.harness, "boundary": seen.items.boundary, **as_dict(made)})
        return
    _show(seen, made)


@command.command("apply")
@_asked
@click.option("--dry-run", is_flag=True, help="Verify, and record nothing.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write what stays, as JSON for a host.")
@click.option("--logged-is-enough", is_flag=True, help="Do not ask that what leaves is indexed; the record says so.")
@pass_app
def apply_command(
    app: App, /, as_json: bool, dry_run: bool, out: Path | None, logged_is_enough: bool, **asked: Any
) -> int:
    """Verify a plan and record what leaves the window.

    Every event of it is looked up in the record. One event that is not preserved refuses the whole plan: exit 1, and
    nothing leaves. Where the window is full and nothing can leave it, a handoff is written from the record alone: exit
    3.

    \b
        recall window apply --policy sliding --out window.json
    """
    from recall import window_apply
    from recall.window_pruned import APPLIED

    log, seen, made = _looked(app, **asked)
    door(app, log.workspace).refuse_record("a window")
    if dry_run:
        missing = window_apply.verify(made.steps, seen.items.items, log, seen.index, logged_is_enough=logged_is_enough)
        return _told_dry(seen, made, [(one.event, one.why) for one in missing], as_json=as_json)
    app.writable_workspace()
    done = window_apply.apply(log, seen, made, now=app.now(), logged_is_enough=logged_is_enough, out=out)
    why = window_apply.stuck(seen, made, done)
    handoff = window_apply.emergency(log, seen.session, why, now=app.now()) if why else None
    told = {
        "session": seen.session,
        "state": done.state,
        "reason": done.reason,
        "event": done.event,
        "stubbed": sum(len(step.piece.events) for step in made.stub) if done.state == APPLIED else 0,
        "removed": sum(len(step.piece.events) for step in made.remove) if done.state == APPLIED else 0,
        "tokens_before": seen.pressure.tokens,
        "tokens_after": made.tokens_after if done.state == APPLIED else seen.pressure.tokens,
        "missing": [{"event": one.event, "why": one.why} for one in done.missing],
        "file": str(done.file) if done.file else None,
        "out": str(out) if out is not None and done.state != window_apply.REFUSED else None,
        "handoff": str(handoff) if handoff else None,
    }
    if as_json:
        emit(told)
    else:
        say(f"{done.state}: {done.reason}")
        for one in done.missing[:SHOWN]:
            say(f"  {one.event[:10]}  {one.why}")
        if done.state == APPLIED:
            say(f"{_leaving(made)}; recall brings them back: recorded as {done.event[:10]}")
        if handoff:
            note(f"the window is full and nothing may leave it: the handoff is in {handoff}")
    if handoff:
        return EMERGENCY_CODE
    return 1 if done.state == window_apply.REFUSED else 0


@command.command("report")
@click.option("--session", default="", metavar="ID", help="Only of this session.")
@click.option("--last", type=click.IntRange(min=1), default=20, show_default=True, help="Most entries.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object an entry.")
@pass_app
def report_command(app: App, session: str, last: int, as_json: bool) -> None:
    """Show what left the windows of sessions, and why.

    Prunings, compactions, cut windows and emergencies, the newest first. A session's last compaction says whether a
    checkpoint had read what it took away.

    \b
        recall window report --last 5
    """
    from recall.window_report import entries
    from transcript.telling import counted, minute, session_name

    log = app.log(app.workspace())
    found = entries(log, session=session, last=last)
    _with_checkpoints(log, found)
    for one in found:
        if as_json:
            emit(one)
        else:
            say(f"{minute(one['at'])}  {session_name(one['session']):<13}  {one['what']:<20}  {one['said']}")
    if not found and not as_json:
        note(f"nothing left a window yet{f' of {session}' if session else ''}; {counted(0, 'entry', 'entries')}")


def _with_checkpoints(log: Log, found: list[dict[str, Any]]) -> None:
    """Add to the last compaction of each session whether a checkpoint had read what it took away."""
    from consolidation.compaction import PROTECTED, UNPROTECTED, states
    from consolidation.stats import told

    last: dict[str, dict[str, Any]] = {}
    for one in found:  # the newest first
        if one["what"] == "compaction":
            last.setdefault(one["session"], one)
    if not last:
        return
    judged = states(log, told(log))
    says = {UNPROTECTED: "no checkpoint had read it", PROTECTED: "a checkpoint had read it, without archive or index"}
    for session, one in last.items():
        one["kept"] = judged.get(session, "")
        one["said"] += f"; {says.get(one['kept'], 'a checkpoint had read it')}"


def _looked(
    app: App,
    *,
    session: str,
    file: Path | None,
    harness: str,
    window: int | None,
    trigger: int | None,
    percent: float | None,
    policy: str | None,
) -> tuple[Log, LiveWindow, Plan]:
    from dataclasses import replace

    from indexer.tokens import TokenCounter
    from recall import window_host
    from recall.live_window import look
    from recall.window_policy import plan

    if harness and file is None:
        raise click.UsageError("--harness says whose file it is: name the file with --file")
    if session and file is not None:
        raise click.UsageError("--session or --file, not both")
    if (trigger or percent) and not window:
        raise click.UsageError("--trigger and --percent are of a window: name its size with --window")
    if trigger and percent:
        raise click.UsageError("--trigger or --percent, not both")
    settings: WindowSettings = app.config.window()
    if policy:
        settings = replace(settings, policy=policy)
    log = app.log(app.workspace())
    host = window_host.given(window, trigger or 0, percent or 0.0) if window else None
    seen = look(
        log,
        session=session,
        file=file,
        harness=harness,
        host=host,
        settings=settings,
        env=app.env,
        count=TokenCounter(),
    )
    return log, seen, plan(seen.pieces, seen.pressure, settings)


def _show(seen: LiveWindow, made: Plan) -> None:
    from collections import Counter

    from transcript.telling import counted, session_name

    host, pressure = made.pressure.host, made.pressure
    since = f"since the compaction at event {seen.items.boundary:,}" if seen.items.boundary else "since its start"
    say(f"session    {session_name(seen.session)}  {seen.items.harness}  {counted(len(seen.pieces), 'piece')} {since}")
    say(
        f"pressure   {counted(pressure.tokens, 'token')} by the count of the {pressure.counted_by},"
        f" {pressure.share:.1%} of {host.limit:,}"
    )
    guess = "" if host.known else "; the harness does not say"
    say(f"window     {host.tokens:,}, compacted at {host.trigger_tokens:,} ({host.source}{guess})")
    passed = ", ".join(f"{share:.0%}" for share in made.fired) or "none"
    say(f"thresholds {' '.join(f'{share:.0%}' for share in made.thresholds)}; passed: {passed}")
    say(f"plan       {made.skipped_because or f'{made.policy}: {_leaving(made)}'}")
    if seen.index.error:
        note(f"the index cannot be asked: {seen.index.error}")
    absent = sum(piece.recoverability == "absent" for piece in seen.pieces)
    if absent:
        note(f"{counted(absent, 'piece')} not in the record, and may not leave: 'recall sync' takes them in")
    for title, steps in (("stub", made.stub), ("remove", made.remove)):
        for step in steps[:SHOWN]:
            say(f"  {title:<7} {_line(step)}  {step.why}")
        if len(steps) > SHOWN:
            say(f"  {title:<7} and {counted(len(steps) - SHOWN, 'more', 'more')}; --json has all")
    for why, number in Counter(kept.why for kept in made.keep).most_common():
        say(f"  keep    {counted(number, 'piece')}: {why}")


def _line(one: Step | Kept) -> str:
    piece = one.piece
    return (
        f"{piece.events[0][:10]}  {piece.kind:<12} {piece.source:<6} {piece.recoverability:<7} {piece.risk:<6}"
        f" {piece.tokens:>7,}"
    )


def _leaving(made: Plan) -> str:
    from transcript.telling import counted

    freed = sum(step.freed for step in made.steps)
    enough = "" if made.is_enough else f", above the {made.goal:,} that were wanted: the rest is protected"
    return (
        f"{counted(len(made.stub), 'result')} replaced by {'its pointer' if len(made.stub) == 1 else 'their pointers'},"
        f" {counted(len(made.remove), 'piece')} removed;"
        f" {counted(freed, 'token')} freed, {made.tokens_after:,} stay{enough}"
    )


def _told_dry(seen: LiveWindow, made: Plan, missing: list[tuple[str, str]], *, as_json: bool) -> int:
    from transcript.telling import counted

    if as_json:
        emit(
            {
                "session": seen.session,
                "state": "refused" if missing else "skipped" if made.skipped_because else "would apply",
                "reason": made.skipped_because,
                "tokens_after": made.tokens_after,
                "missing": [{"event": event, "why": why} for event, why in missing],
            }
        )
    else:
        say(made.skipped_because or _leaving(made))
        for event, why in missing[:SHOWN]:
            say(f"  {event[:10]}  {why}")
        note(f"dry run: {counted(len(missing), 'event')} not preserved; nothing was recorded")
    return 1 if missing else 0
