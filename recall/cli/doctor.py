"""`recall doctor`: explain what is not well, and mend what is safe to mend."""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from recall.cli.app import App, pass_app
from recall.cli.output import confirm, emit, note, say
from transcript.errors import NotConfirmed
from transcript.telling import counted

if TYPE_CHECKING:
    from health.doctor import Diagnosis
    from health.report import Report

SHOWN = 20  # lines of evidence


@click.command()
@click.argument("signal", default="")
@click.option("--fix", is_flag=True, help="Run the remedies that are safe, each after asking, and look again.")
@click.option("--yes", is_flag=True, help="With --fix: ask nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
@pass_app
def command(app: App, ctx: click.Context, signal: str, fix: bool, yes: bool, as_json: bool) -> None:
    """Explain a signal of `recall health`, and mend it.

    Its evidence, what would be well, the command that mends it. Without SIGNAL every one that is not ok, the worst
    first. --fix runs a remedy when it only changes what is derived or takes in what is missing; the others are
    printed for a person to run. Exit code as of `recall health`: the level in the end.

    \b
        recall doctor duplicate_ratio --fix
    """
    if yes and not fix:
        raise click.UsageError("--yes goes with --fix")
    from health.doctor import named, near
    from recall.cli.reported import report_of

    before = report_of(app)
    if signal and not (chosen := named(before, signal)):
        like = near(before, signal)
        hint = (
            f"did you mean {' or '.join(like)}?" if like else "'recall health --all' lists those that can be read here"
        )
        raise click.UsageError(f"no signal of this report is called '{signal}'; {hint}")
    ids = frozenset(one.signal.id for one in chosen) if signal else None
    looked_at = _looked_at(before, ids)
    if not as_json:
        _tell(looked_at)
    after, ran = _mend(app, before, ids, yes=yes) if fix else (before, {})
    level = max((one.signal.level for one in _looked_at(after, ids)), default=0)
    changed = _changes(before, after, {one.signal.id for one in looked_at}) if ran else {}
    if as_json:
        rows = [one.to_dict() for one in looked_at]
        emit({"signals": rows, "ran": ran, "changed": changed, "exit_code": int(level)})
    else:
        for id, (was, now) in changed.items():
            say(f"{id}: {was} -> {now}")
    ctx.exit(int(level))


def _looked_at(report: Report, ids: frozenset[str] | None) -> list[Diagnosis]:
    """The signals of these ids, for None all that are not well."""
    from health.doctor import ailing, diagnose

    if ids is None:
        return ailing(report)
    return [diagnose(report, one.id) for one in report.signals if one.id in ids]


def _tell(diagnoses: list[Diagnosis]) -> None:
    for one in diagnoses:
        signal = one.signal
        say(f"{signal.level.name.lower():<5} {signal.id}  {signal.text}")
        say(f"      {signal.meaning}")
        say(f"      read from {one.source}; {_levels(one)}")
        if isinstance(signal.value, Mapping) and not signal.details:
            say(f"        {', '.join(_part(key, value, signal.unit) for key, value in signal.value.items())}")
        for detail in signal.details[:SHOWN]:
            say(f"        {detail}")
        if len(signal.details) > SHOWN:
            say(f"        and {len(signal.details) - SHOWN} more; --json lists them")
        if signal.action:
            say(f"      -> {signal.action}")
        if one.can_run:
            say(f"      safe: 'recall doctor {signal.id} --fix' runs '{one.command}' after asking")
        say()
    if not diagnoses:
        say("every signal is ok; 'recall health --all' lists them")


def _levels(one: Diagnosis) -> str:
    """When it warns and fails; of a figure, or of what never fails, why not."""
    why = f" ({one.why_never})" if one.why_never else ""
    if not one.warns and not one.fails:
        return f"a figure, never wrong{why}"
    if not one.fails:
        return f"warns: {one.warns}; never fails{why}"
    return f"warns: {one.warns or 'never'}; fails: {one.fails}"


def _part(name: str, value: object, unit: str) -> str:
    """One part of a value in words: a moment as a moment, an age as an age, bytes as their size."""
    from datetime import UTC, datetime

    from health.signal import size, span

    said = name.replace("_", " ")
    if isinstance(value, bool) or value is None:
        return f"{said} {'unknown' if value is None else 'yes' if value else 'no'}"
    if isinstance(value, int | float):
        if name == "at":
            return f"at {datetime.fromtimestamp(value, UTC):%Y-%m-%d %H:%MZ}"
        if name.endswith("_seconds"):
            return f"{said.removesuffix(' seconds')} {span(value)}"
        if unit == "bytes" or name.endswith("bytes"):
            return f"{said} {size(value)}"
        is_share = name.endswith("share") or (unit == "share" and isinstance(value, float))
        return f"{said} {value:.0%}" if is_share else f"{said} {value:,.6g}"
    if isinstance(value, Mapping):
        value = [_part(str(key), one, unit) for key, one in value.items()]
    if isinstance(value, list | tuple):
        parts = [_part("", one, unit).strip() if isinstance(one, Mapping) else str(one) for one in value]
        value = ", ".join(parts)
    return f"{said} {value or 'none'}"


def _mend(app: App, report: Report, ids: frozenset[str] | None, *, yes: bool) -> tuple[Report, dict[str, int]]:
    """Run safe remedies, each once, and look again after each; return the last report and each command's exit code."""
    from health.doctor import next_remedy
    from recall.cli.reported import report_of

    ran: dict[str, int] = {}
    declined: set[str] = set()
    while (one := next_remedy(_looked_at(report, ids), declined | set(ran))) is not None:
        if not yes and not _agreed(f"Run '{one.command}' for {one.signal.id}?"):
            declined.add(one.command)
            continue
        ran[one.command] = _run(one.command, yes=yes)
        report = report_of(App(app.env, app.cwd, app.data, app.models), recount=True)
    left = [one for one in _looked_at(report, ids) if one.signal.level and one.command not in declined]
    if left:
        note(f"{counted(len(left), 'signal needs', 'signals need')} a person:")
    for one in left:
        note(f"  {one.signal.id}: {one.signal.action}")
    return report, ran


def _agreed(question: str) -> bool:
    try:
        confirm(question)
    except NotConfirmed as error:
        note(str(error))
        return False
    return True


def _run(line: str, *, yes: bool) -> int:
    """Run a remedy as if it were typed; what it prints goes to standard error."""
    from recall.cli.group import INTERRUPTED, cli, run

    words = shlex.split(line)[1:]
    named = cli.get_command(click.Context(cli), words[0])
    if yes and named is not None and any("--yes" in option.opts for option in named.params):
        words.append("--yes")
    note(f"recall {shlex.join(words)}")
    with contextlib.redirect_stdout(sys.stderr):
        code = run(words)
    if code == INTERRUPTED:  # a person who stops one remedy wants none of the others
        raise KeyboardInterrupt
    return code


def _changes(before: Report, after: Report, ids: set[str]) -> dict[str, tuple[str, str]]:
    """Return the level of each signal looked at, before and after; one that is no longer read is gone."""
    was = {one.id: one.level.name.lower() for one in before.signals}
    now = {one.id: one.level.name.lower() for one in after.signals}
    return {id: (was[id], now.get(id, "gone")) for id in was if id in ids and was[id] != now.get(id, "gone")}
