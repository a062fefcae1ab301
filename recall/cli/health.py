"""`recall health`: whether recall works here."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recall.cli.app import App, choose, demo_option, moment, pass_app
from recall.cli.output import emit, note, say
from transcript.errors import ConfigError

if TYPE_CHECKING:
    from health.report import Report

ALL = 10**9
FILE = click.Path(dir_okay=False, allow_dash=True, path_type=Path)
STDOUT = Path("-")  # print it in place of the report
METRICS_MODE = 0o644  # a collector runs as somebody else, and metrics hold no text
EXTRA = "--prometheus needs its extra: pip install 'lca-recall[metrics]'"


@click.command()
@click.option("--all", "every", is_flag=True, help="Print the signals that are well, too.")
@click.option("--last", type=click.IntRange(min=1), help="Turns to look back on: 50, with --since all.")
@click.option("--since", metavar="AGE|DATE", help="Turns, failures and kept reports from then on: 7d, 2026-03-01.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object with every signal.")
@click.option(
    "--csv",
    "as_csv",
    is_flag=True,
    help="Print the kept reports of past nights as a table instead; with --cost, how it grew.",
)
@click.option("--series", is_flag=True, help="With --json: the kept reports of past nights, too.")
@click.option("--html", type=FILE, help="Write the report with charts and calendars as one page; it asks for nothing.")
@click.option("--prometheus", type=FILE, help="Write levels and figures as metrics, for a textfile collector.")
@click.option("--recount", is_flag=True, help="Count the index's figures even where its files have not changed.")
@click.option(
    "--deep", is_flag=True, help="Load the model, and embed a sample of the passages anew; else its file is checked."
)
@click.option("--cost", is_flag=True, help="Print what recall costs here instead: bytes, tokens a turn, latency.")
@click.option("--smoke", is_flag=True, help="Run all of it once on a made-up project, with no model or network.")
@demo_option
@click.pass_context
@pass_app
def command(
    app: App,
    ctx: click.Context,
    every: bool,
    last: int | None,
    since: str | None,
    as_json: bool,
    as_csv: bool,
    series: bool,
    html: Path | None,
    prometheus: Path | None,
    recount: bool,
    deep: bool,
    cost: bool,
    smoke: bool,
    demo: bool,
) -> None:
    """Print whether recall works here.

    First what is wrong, then the figures that matter most: duplicates, failed embeddings, lag, backend, hooks.
    Reads only, but for a cache of the index's figures and a file that is asked for. Exit code for cron: 0 ok, 1 look
    at it, 2 broken, 64 wrong usage. An empty store is never ok. In the demo's project no hooks are expected.

    \b
        recall health
    """
    if smoke:
        from recall.cli.smoke import run

        ctx.exit(run())
    from health.series import csv
    from recall.cli.reported import LAST, report_of

    if series and not as_json:
        raise click.UsageError("--series goes with --json")
    forms = {"--json": as_json, "--csv": as_csv, "--html -": html == STDOUT, "--prometheus -": prometheus == STDOUT}
    if sum(forms.values()) > 1:
        given = " and ".join(name for name, is_given in forms.items() if is_given)
        raise click.UsageError(f"{given} are forms of one report; give one of them")
    chosen = choose(app, demo)
    if cost:
        if series or html or prometheus:
            raise click.UsageError("--cost is no report; of their forms it takes --json and --csv alone")
        _cost(chosen, as_json=as_json, as_csv=as_csv, hooked=not demo)
        return
    report = report_of(
        chosen,
        last=last or (LAST if since is None else ALL),
        since=None if since is None else _from(since, chosen).timestamp(),
        recount=recount,
        deep=deep,
        hooked=not demo,
    )
    if html is not None:
        _page(html, report, chosen)
    if prometheus is not None:
        _metrics(prometheus, report)
    if STDOUT in (html, prometheus):
        pass
    elif as_csv:
        say(csv(report.series).rstrip("\n"))
    elif as_json:
        say(report.to_json(series=series))
    else:
        _print(report, every)
    ctx.exit(report.exit_code)


def _cost(app: App, *, as_json: bool, as_csv: bool, hooked: bool) -> None:
    """Print the cost of a project, or with as_csv how it grew."""
    from health.cost import cost, csv
    from recall.cli.reported import facts_of
    from transcript.paths import read_derived

    workspace = app.workspace()
    facts = facts_of(app, hooked=hooked)
    if as_csv:
        say(csv(facts.series.points).rstrip("\n"))
        return
    nightly = read_derived(workspace.run_dir / "nightly.json").get("seconds")
    seconds = float(nightly) if isinstance(nightly, (int, float)) else None
    made = cost(facts, app.log(workspace), seconds)
    if as_json:
        emit(made.to_dict())
    else:
        say(made.to_text())


def _from(text: str, app: App) -> datetime:
    """The moment that an age or a date names."""
    from recall.cli.retention import days

    try:
        return moment(text)
    except ConfigError:
        pass
    try:
        return app.now() - days(text)
    except ConfigError as error:
        raise click.BadParameter(f"{error}; or a date like 2026-03-01", param_hint="'--since'") from None


def _page(path: Path, report: Report, app: App) -> None:
    """Print the page or write it: it names files and sessions, so nobody else may read that."""
    from health.gather_calendar import captures
    from health.page import render
    from transcript.log import Log
    from transcript.paths import write_atomic

    page = render(report, captures(Log(app.workspace()), app.now()))
    if path == STDOUT:
        say(page.rstrip("\n"))
        return
    write_atomic(path, page.encode())
    note(f"page: {path}")


def _metrics(path: Path, report: Report) -> None:
    """Print the metrics, or put them in the place of a file, whole: a collector reads it at any moment."""
    from transcript.paths import write_atomic

    try:
        from health.prometheus import render
    except ImportError as error:
        raise ConfigError(f"{EXTRA} ({error.name or error} is missing)") from None
    if path == STDOUT:
        say(render(report).rstrip("\n"))
        return
    write_atomic(path, render(report).encode(), mode=METRICS_MODE)
    note(f"metrics: {path}")


def _print(report: Report, every: bool) -> None:
    if not sys.stdout.isatty():
        say(report.to_text(every=every))
        return
    from rich.console import Console

    from health.terminal import show

    show(report, Console(highlight=False), every=every)
