"""`recall eval coord`: how long it takes to verify approvals."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from recall.cli.output import note, say


@click.command("coord")
@click.option(
    "-n", "approvals", type=click.IntRange(min=1), default=10_000, show_default=True, help="Approved proposals."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(approvals: int, as_json: bool) -> None:
    """Time the verification of approvals.

    Made-up proposals in a temporary folder, each signed: read, hashed, held against record, evidence, key and use.
    Beside it stands what as many bare signatures take.

    \b
        recall eval coord -n 10000
    """
    from eval.coord_bench import run

    with tempfile.TemporaryDirectory(prefix="recall-coord-") as folder:
        report = run(Path(folder), approvals=approvals, progress=note)
    say(report.to_json() if as_json else report.to_text())
