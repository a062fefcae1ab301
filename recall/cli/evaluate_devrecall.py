"""`recall eval devrecall`: labelled questions over real sessions."""

from __future__ import annotations

from pathlib import Path

import click

from recall.cli.app import App, pass_app
from recall.cli.output import note, say


@click.command("devrecall")
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    required=True,
    help="Folder with queries.jsonl.",
)
@click.option(
    "--transcripts",
    type=click.Path(exists=True, path_type=Path),
    required=True,
    help="The sessions that the queries were labelled on: a folder or a tar archive.",
)
@click.option(
    "--cache",
    type=click.Path(path_type=Path),
    help="Where record, index and vectors stay between runs (in the data folder by default).",
)
@click.option("--words-only", is_flag=True, help="Make no vectors.")
@click.option("--baselines/--no-baselines", default=True, help="Plain rankings beside ours.")
@click.option("--ablate", is_flag=True, help="Take out every term and every step, one at a time, instead.")
@click.option("--only", multiple=True, metavar="ID", help="Only this query, or queries of this type.")
@click.option("--fresh", is_flag=True, help="Build the index anew.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object with every query.")
@click.option("--result", is_flag=True, help="Print the result as every set has it, for 'recall eval compare'.")
@click.option("--summary", is_flag=True, help="The same without the values of single queries.")
@pass_app
def command(
    app: App,
    data: Path,
    transcripts: Path,
    cache: Path | None,
    words_only: bool,
    baselines: bool,
    ablate: bool,
    only: tuple[str, ...],
    fresh: bool,
    as_json: bool,
    result: bool,
    summary: bool,
) -> None:
    """Ask labelled questions over real sessions.

    Prints every metric, beside plain rankings. Each question is asked with its own clock; nothing that was said
    later can be found.

    \b
        recall eval devrecall --data ../shared/devrecall --transcripts ../shared/transcripts/claude-code.tar.xz
    """
    from eval.ablation import variants
    from eval.devrecall import run as measure
    from eval.devrecall_result import as_result
    from eval.lineup import OURS
    from eval.result import command_line
    from recall.ledger import changed

    settings = app.config.settings()
    report = measure(
        data,
        transcripts,
        cache or app.data / "eval",
        embedder=None if words_only else app.embedder(),
        index_settings=app.config.index(),
        settings=settings,
        baselines=baselines and not ablate,
        variants=variants(settings) if ablate else {},
        only=frozenset(only),
        fresh=fresh,
        progress=note,
    )
    line = command_line(
        "devrecall", data=data, transcripts=transcripts, words_only=words_only, ablate=ablate, only=only
    )
    made = as_result(report, settings, changed=changed(settings), command=line)
    if result or summary:
        say(made.to_json(summary=summary))
    elif as_json:
        say(report.to_json())
    else:
        lost = f"\n\n{OURS} minus the other, 'score', points [95 % interval]\n{made.paired_table('score')}"
        say(report.to_text() + (lost if ablate else ""))
