"""`recall eval agreement`: how far two raters of the same items agree beyond chance."""

from __future__ import annotations

from pathlib import Path

import click

from recall.cli.app import App, pass_app
from recall.cli.output import emit, say


@click.command("agreement")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--measure", required=True, metavar="NAME", help="What was judged; at most 40 characters.")
@click.option("--keep/--no-keep", default=True, help="Let 'recall health' know of it.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
@pass_app
def command(app: App, ctx: click.Context, file: Path, measure: str, keep: bool, as_json: bool) -> None:
    """Say how far two raters of FILE agree beyond chance.

    FILE is CSV in UTF-8 with three columns: the item, and the rating of either rater, whose names stand on the first
    line. A rating is a number or a word. Prints Cohen's kappa with its 95 % interval, Krippendorff's alpha, raw and
    chance agreement, and which way the disagreements run. Exit 1 where kappa is below 0.6.

    \b
        item,author,blind
        1,yes,yes
        2,yes,no

    \b
        recall eval agreement pilot.csv --measure "prevented mistakes"
    """
    from dataclasses import asdict

    from eval.agreement import MOST_CHARS, agreement, read
    from eval.agreement import keep as kept
    from health.signals.judged import LEAST_KAPPA

    name = " ".join(measure.split())
    if not 0 < len(name) <= MOST_CHARS:
        raise click.UsageError(f"--measure has {len(name):,} characters; give a name of 1 to {MOST_CHARS}")
    found = agreement(read(file), name, at=app.now())
    if keep:
        kept(app.writable_workspace(), found)
    if as_json:
        emit(asdict(found))
    else:
        say(found.to_text())
        if found.kappa < LEAST_KAPPA:
            say(f"below {LEAST_KAPPA}: what {name} says is not to be relied on; mend what raters are told to judge by")
    ctx.exit(1 if found.kappa < LEAST_KAPPA else 0)
