"""`recall eval facets`: what roles, audiences and grants cost a turn."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from recall.cli.app import App, choose, demo_option, pass_app
from recall.cli.output import say

PROMPTS = 60


@click.command("facets")
@click.option("--memories", type=click.IntRange(min=1), default=2000, show_default=True, help="In the made-up file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@demo_option
@pass_app
def command(app: App, memories: int, as_json: bool, demo: bool) -> None:
    """Time turns with and without a file of facets.

    This project's newest prompts by words, each without the file and with a made-up one that is read anew. No role is
    named, so every turn must come out alike.

    \b
        recall eval facets --memories 2000
    """
    from eval.facets_bench import run
    from indexer.sample import newest_prompts
    from indexer.tokens import TokenCounter
    from transcript.errors import RecordError

    chosen = choose(app, demo)
    with (
        tempfile.TemporaryDirectory(prefix="recall-facets-") as folder,
        chosen.store(chosen.workspace()) as store,
        store.snapshot(),
    ):
        prompts = [prompt.text for prompt in newest_prompts(store, PROMPTS)]
        if not prompts:
            raise RecordError("this project has no prompt yet; run 'recall sync' and 'recall index' first")
        report = run(
            store,
            prompts,
            Path(folder),
            chosen.config.settings(),
            now=chosen.now(),
            memories=memories,
            count_tokens=TokenCounter(),
        )
    say(report.to_json() if as_json else report.to_text())
