"""`recall eval imprint`: have prevented mistakes judged by a reader who does not see the verdicts."""

from __future__ import annotations

from pathlib import Path

import click

from recall.cli.app import App, pass_app
from recall.cli.output import emit, note, say


@click.command("imprint")
@click.option("--audit", is_flag=True, required=True, help="Make the sheet, or hold a filled one against the record.")
@click.option("--sample", type=click.IntRange(min=1), default=30, show_default=True, help="Most increments drawn.")
@click.option("--seed", type=int, default=0, show_default=True, help="What the draw follows from.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write the sheet to this file.")
@click.option(
    "--answers",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The sheet, filled in with yes or no.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_app
def command(
    app: App, audit: bool, sample: int, seed: int, out: Path | None, answers: Path | None, as_json: bool
) -> None:
    """Audit a sample of prevented mistakes, blind.

    The sheet shows what a memory says, the words that cited it and an action; half its rows were never counted. With
    --answers it prints how often the reader agrees, with an interval; where 'recall eval agreement' found that two
    readers agree too little it refuses. It holds words of the record: keep it private.

    \b
        recall eval imprint --audit --sample 30 --out sheet.csv
        recall eval imprint --audit --sample 30 --answers sheet.csv
    """
    from dataclasses import asdict

    from eval.agreement import PREVENTED, calibrated, used
    from eval.imprint import audit as compare
    from eval.imprint import read_answers, sheet, to_csv, wilson
    from transcript.paths import write_atomic
    from transcript.telling import counted

    rows = sheet(app.log(app.workspace()), sample=sample, seed=seed)
    if answers is not None:
        found = compare(rows, read_answers(answers.read_text(encoding="utf-8")))
        workspace = app.writable_workspace()
        used(workspace, PREVENTED, at=app.now())
        if not calibrated(workspace, PREVENTED):
            note(
                f"judged by one reader: let two fill in the sheet, then 'recall eval agreement FILE --measure "
                f'"{PREVENTED}"\''
            )
        if as_json:
            emit({**asdict(found), "share": found.share, "interval": wilson(found.agreed, found.sample)})
        else:
            say(found.to_text())
        return
    if out is None:
        say(to_csv(rows).rstrip("\n"))
        return
    write_atomic(out, to_csv(rows).encode("utf-8"))
    counts = sum(row.counted for row in rows)
    say(f"{counted(counts, 'prevented mistake')} and {counted(len(rows) - counts, 'other row')} in {out}")
