"""`recall eval`: measure speed and quality through the shipped path."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from recall.cli.app import App, choose, demo_option, pass_app
from recall.cli.output import note, say


@click.group()
def command() -> None:
    """Measure speed and quality, with the settings a hook uses.

    Every report names hardware, load, model and settings.

    \b
        recall eval latency
    """


@command.command()
@click.option("-n", "count", type=click.IntRange(min=1), default=40, show_default=True, help="Turns of each kind.")
@click.option("--warm/--no-warm", default=True, help="Turns that a running service answers.")
@click.option("--cold/--no-cold", default=True, help="Turns that find no service and go by words.")
@click.option("--prompts", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="One prompt a line.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object with every single time.")
@demo_option
@pass_app
def latency(app: App, count: int, warm: bool, cold: bool, prompts: Path | None, as_json: bool, demo: bool) -> None:
    """Time whole turns, from the start of the hook's process to the last byte of its answer.

    Runs the installed hook's line on a copy of this project's index and record. Without --prompts the newest prompts
    of the project itself are asked.

    \b
        recall eval latency -n 40
    """
    from eval.gate import own_prompts
    from eval.latency import IndexFacts
    from eval.latency import run as measure
    from recall.settings import settings_hash

    chosen = choose(app, demo)
    workspace = chosen.workspace()
    with chosen.store(workspace) as store:
        meta = store.meta()
        asked = [prompt for prompt, _, _ in own_prompts(store.run, meta.generation)]
    if prompts is not None:
        asked = [line for line in prompts.read_text(encoding="utf-8").splitlines() if line.strip()]
    facts = IndexFacts(meta.n_chunks, meta.n_vectors, meta.model, settings_hash(chosen.config.settings()))
    with tempfile.TemporaryDirectory(prefix="recall-latency-") as scratch:
        report = measure(
            workspace,
            chosen.data,
            Path(scratch),
            facts=facts,
            prompts=asked,
            n=count,
            warm=warm,
            cold=cold,
            env=chosen.env,
            progress=note,
        )
    say(report.to_json() if as_json else report.to_text())


@command.command()
@click.option("--words-only", is_flag=True, help="Leave vectors out, as a hook without service does.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@demo_option
@pass_app
def gate(app: App, words_only: bool, as_json: bool, demo: bool) -> None:
    """Measure the gate on this project: what unrelated prompts score here, and what the project's own do.

    Suggests a threshold; changes nothing.

    \b
        recall eval gate
    """
    from eval.gate import own_prompts
    from eval.gate import run as measure
    from indexer.tokens import TokenCounter

    chosen = choose(app, demo)
    with chosen.store(chosen.workspace()) as store:
        report = measure(
            store,
            None if words_only else chosen.vectors(store),
            chosen.config.settings(),
            count_tokens=TokenCounter(),
            now=chosen.now(),
            own=own_prompts(store.run, store.generation),
            progress=note,
        )
    say(report.to_json() if as_json else report.to_text())


@command.command()
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
@click.option("--only", multiple=True, metavar="ID", help="Only this query, or queries of this type.")
@click.option("--fresh", is_flag=True, help="Build the index anew.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object with every query.")
@pass_app
def devrecall(
    app: App,
    data: Path,
    transcripts: Path,
    cache: Path | None,
    words_only: bool,
    baselines: bool,
    only: tuple[str, ...],
    fresh: bool,
    as_json: bool,
) -> None:
    """Ask labelled questions over real sessions: every metric, beside plain rankings.

    Each question is asked with its own clock; nothing that was said later can be found.

    \b
        recall eval devrecall --data ../shared/devrecall --transcripts ../shared/transcripts/claude-code.tar.xz
    """
    from eval.devrecall import run as measure

    report = measure(
        data,
        transcripts,
        cache or app.data / "eval",
        embedder=None if words_only else app.embedder(),
        index_settings=app.config.index(),
        settings=app.config.settings(),
        baselines=baselines,
        only=frozenset(only),
        fresh=fresh,
        progress=note,
    )
    say(report.to_json() if as_json else report.to_text())
