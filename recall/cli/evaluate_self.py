"""`recall eval self`: questions made from the project's own record, and what a change of settings or model would do."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recall.cli.app import App, choose, demo_option, pass_app
from recall.cli.output import Progress, say

if TYPE_CHECKING:
    from eval.lineup import Search
    from indexer.store import Store
    from recall.settings import Settings


@click.command("self")
@click.option("-n", "each", type=click.IntRange(min=1), default=50, show_default=True, help="Questions of each kind.")
@click.option("--set", "changes", multiple=True, metavar="NAME=VALUE", help="Try this setting; may be repeated.")
@click.option("--model", "models", multiple=True, metavar="NAME", help="Try this model, as in index.model.")
@click.option("--cache", type=click.Path(path_type=Path), help="Keep the vectors of tried models in this folder.")
@click.option("--words-only", is_flag=True, help="Leave vectors out, as a hook without service does.")
@click.option("--baselines/--no-baselines", default=True, help="Plain rankings beside ours.")
@click.option("--questions", "listed", is_flag=True, help="Print the questions and ask none.")
@click.option("--keep/--no-keep", default=True, help="Add this run to the project's series.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object with the value of every question.")
@demo_option
@pass_app
def command(
    app: App,
    each: int,
    changes: tuple[str, ...],
    models: tuple[str, ...],
    cache: Path | None,
    words_only: bool,
    baselines: bool,
    listed: bool,
    keep: bool,
    as_json: bool,
    demo: bool,
) -> None:
    """Ask this project's own past.

    Questions are made from the record without any model: the rarest words of a prompt, a prompt that was asked again,
    a name stated once, an error met once. Their sources are known, and the same record gives the same questions. What
    --set and --model propose is asked beside what is set now, question by question; nothing is changed.

    \b
        recall eval self
        recall eval self --set retrieval.link=0.2 --set gate.threshold=0.4
    """
    from eval.lineup import OURS, Variant
    from eval.result import command_line
    from eval.self_questions import dataset
    from eval.self_report import of_run
    from eval.self_run import run
    from eval.self_series import append, path, read
    from indexer.said import said
    from transcript.errors import RecallError

    chosen = choose(app, demo)
    workspace, settings = chosen.workspace(), chosen.config.settings()
    tried = proposed(chosen, changes)
    with chosen.store(workspace) as store, store.snapshot():
        events = said(store)
        data = dataset(events, each=each)
        if listed:
            say("\n".join(f"{q.id}  {q.type}: {q.text}" for q in data.questions))
            return
        if not data.questions:
            raise RecallError("the record is too small to make a question of; 'recall sync' takes sessions in")
        search = search_now(chosen, store, words_only)
        proposals = {", ".join(changes): Variant(tried)} if changes else {}
        proposals |= {one: Variant(tried, search=other_model(chosen, store, one, cache)) for one in models}
        with Progress("engines") as shown:
            variants = {OURS: Variant(settings), **proposals}
            asked = run(data, store, events, search, variants, baselines=baselines, progress=shown)
    line = command_line("self", set=changes, model=models)
    report = of_run(asked, settings, command=line, tried=list(proposals), at=app.now())
    file = path(workspace)
    if keep and not words_only:
        append(file, report.entry)
    say(report.to_json() if as_json else report.to_text(read(file)))


def proposed(app: App, changes: tuple[str, ...]) -> Settings:
    """Return the settings with the changes made; ConfigError where one cannot be tried without a new index."""
    from recall.config import load
    from recall.settings import Settings
    from transcript.errors import ConfigError

    given = {}
    for change in changes:
        name, sign, value = change.partition("=")
        if not sign:
            raise ConfigError(f"--set {change} has no value; write it like gate.threshold=0.4")
        if name.strip().partition(".")[0] not in {f.name for f in fields(Settings)}:
            raise ConfigError(f"--set {name} is no setting of a search; one of the sections "
                              f"{', '.join(f.name for f in fields(Settings))} can be tried here")  # fmt: skip
        given[name.strip()] = value.strip()
    return load(app.data, app.project_root(), app.env, given, home=app.workspace().home).settings()


def search_now(app: App, store: Store, words_only: bool) -> Search:
    """Return the search by vectors that the index allows."""
    from recall.cli.app import vector_search

    embedder = app.embedder() if not words_only and store.meta().n_vectors else None
    if embedder is None or vector_search(store, embedder, 1) is None:
        return lambda k: None
    return lambda k: vector_search(store, embedder, k)


def other_model(app: App, store: Store, model: str, cache: Path | None) -> Search:
    """Return the search by another model's vectors, all of them made now; says how far it is."""
    from eval.self_run import OtherModel
    from eval.vector_cache import CachedEmbedder
    from indexer.embedder import load
    from transcript.errors import RecallError

    embedder = load(model, data_home=str(app.models))
    with Progress(f"vectors of {model}") as shown:
        try:
            return OtherModel(store, embedder if cache is None else CachedEmbedder(embedder, cache), shown).search
        except ValueError as error:
            raise RecallError(str(error)) from None
