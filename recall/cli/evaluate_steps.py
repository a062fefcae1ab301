"""`recall eval steps`: small labelled sets, one for each kind of prompt, with and without the step that serves it."""

from __future__ import annotations

from pathlib import Path

import click

from recall.cli.app import App, pass_app
from recall.cli.output import Progress, say

_OWN = Path(__file__).parents[2] / "tests" / "data" / "steps"


@click.command("steps")
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder of the sets; without it, tests/data/steps of the source.",
)
@click.option("--only", multiple=True, metavar="KIND", help="Only this kind; may be repeated.")
@click.option("--cache", type=click.Path(path_type=Path), help="Where indexes and vectors stay between runs.")
@click.option("--words-only", is_flag=True, help="Make no vectors.")
@click.option("--ablate", is_flag=True, help="Take out every step of the retrieval, one at a time, besides.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_app
def command(
    app: App,
    data: Path | None,
    only: tuple[str, ...],
    cache: Path | None,
    words_only: bool,
    ablate: bool,
    as_json: bool,
) -> None:
    """Ask small labelled sets, one for each kind of prompt.

    Identifiers, paths, error codes, typing errors, accents, other languages, time words, standing wishes: how many
    of the queries have an answer among the first six, with the step that serves the kind and without it.

    \b
        recall eval steps --words-only
    """
    import json

    from eval.steps import load, measure, to_text
    from transcript.errors import RecallError

    folder = data or _OWN
    files = sorted(folder.glob("*.json"))
    if only:
        files = [file for file in files if file.stem in only]
    if not files:
        known = ", ".join(sorted(file.stem for file in folder.glob("*.json"))) or "none"
        raise RecallError(
            f"no set to ask in {folder.name}; kinds there: {known}. The sets come with the source: --data"
        )
    embedder = None if words_only else app.embedder()
    rows = []
    with Progress("kinds") as progress:
        for number, file in enumerate(files, 1):
            try:
                fixture = load(file)
            except ValueError as error:
                raise RecallError(str(error)) from None
            rows.append(
                measure(
                    fixture,
                    cache or app.data / "eval",
                    embedder=embedder,
                    index_settings=app.config.index(),
                    settings=app.config.settings(),
                    now=app.now(),
                    ablate=ablate,
                )
            )
            progress(number, len(files), fixture.kind)
    say(json.dumps({row.kind: row.figures() for row in rows}, sort_keys=True) if as_json else to_text(rows))
