"""`recall eval soak`: weeks of work in an hour, with all that goes wrong in weeks."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from recall.cli.output import Progress, note, say


@click.command("soak")
@click.option("--turns", type=click.IntRange(min=1), default=20_000, show_default=True, help="Turns in all.")
@click.option("--clients", type=click.IntRange(1, 64), default=8, show_default=True, help="Sessions at a time.")
@click.option("--seed", type=int, default=1, show_default=True, help="The same seed says the same.")
@click.option("--turns-an-hour", type=click.IntRange(min=1), default=40, show_default=True, help="Of simulated time.")
@click.option("--kills", type=click.IntRange(min=0), default=50, show_default=True, help="Times the service is killed.")
@click.option("--words-only", is_flag=True, help="Without a model: less to wait for.")
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write the JSON there too."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def command(
    ctx: click.Context,
    turns: int,
    clients: int,
    seed: int,
    turns_an_hour: int,
    kills: int,
    words_only: bool,
    out: Path | None,
    as_json: bool,
) -> None:
    """Let an installation of its own live through weeks.

    Real hooks, service, captures and nights in a temporary folder, under a clock that is moved from hour to hour. The
    service is killed, the disk filled once (root on Linux), the clock jumps three days forwards and two back. Exit 0:
    every prompt is in the record once, the record verifies, every date had its night, no process is left; 1: not.

    \b
        recall eval soak --turns 2000
    """
    from eval.soak import Plan, run

    settings = {"RECALL_INDEX_MODEL": "none:at-all"} if words_only else {}
    plan = Plan(turns, clients, seed, turns_an_hour, kills, settings=settings)
    with tempfile.TemporaryDirectory(prefix="soak-") as folder, Progress("turns") as bar:
        report = run(plan, Path(folder), progress=bar)
    if out is not None:
        out.write_text(report.to_json() + "\n", encoding="ascii")
        note(f"written to {out}")
    say(report.to_json() if as_json else report.to_text())
    ctx.exit(0 if report.ok else 1)
