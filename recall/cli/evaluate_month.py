"""`recall eval month`: what experience and recency change over a stretch of real work."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from recall.cli.app import App, pass_app
from recall.cli.output import Progress, note, say


@click.command("month")
@click.option(
    "--transcripts",
    type=click.Path(exists=True, path_type=Path),
    required=True,
    help="The sessions: a folder or a tar archive.",
)
@click.option("--from", "begin", type=click.DateTime(["%Y-%m-%d"]), required=True, help="The first day.")
@click.option("--to", "end", type=click.DateTime(["%Y-%m-%d"]), required=True, help="The day after the last.")
@click.option("--cache", type=click.Path(path_type=Path), help="Where record, index and vectors stay between runs.")
@click.option("--limit", type=click.IntRange(min=1), help="Only the first prompts, this many.")
@click.option("--words-only", is_flag=True, help="Make no vectors.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object with every prompt.")
@click.option("--summary", is_flag=True, help="The same without the values of single prompts.")
@pass_app
def command(
    app: App,
    transcripts: Path,
    begin: datetime,
    end: datetime,
    cache: Path | None,
    limit: int | None,
    words_only: bool,
    as_json: bool,
    summary: bool,
) -> None:
    """Ask the prompts of a month again, in several ways.

    With and without experience and recency. In order, each as of its own moment; what is shown is held against the
    answer that was really given, and what that used weighs from the next prompt on. Nothing is written but the cache.

    \b
        recall eval month --transcripts ../shared/transcripts/claude-code.tar.xz --from 2026-01-20 --to 2026-02-20
    """
    from eval.corpus import prepare
    from eval.lineup import search_of
    from eval.month import asked_between, replay, variants
    from eval.month_result import as_result
    from eval.result import command_line
    from eval.vector_cache import CachedEmbedder
    from indexer.store import Store
    from indexer.tokens import TokenCounter
    from recall.ledger import changed
    from transcript.errors import RecallError
    from transcript.log import Log

    settings = app.config.settings()
    folder = cache or app.data / "eval"
    embedder = None if words_only else app.embedder()
    corpus = prepare(
        transcripts, folder, embedder=embedder, settings=app.config.index(), now=app.now(), progress=note
    )  # fmt: skip
    first, last = begin.replace(tzinfo=UTC), end.replace(tzinfo=UTC)
    asked = asked_between(Log(corpus.workspace), first, last)[:limit]
    if not asked:
        raise RecallError(f"no answered prompt from {begin:%Y-%m-%d} to {end:%Y-%m-%d} in {transcripts.name}")
    known = None if embedder is None else CachedEmbedder(embedder, folder / "vectors")
    with Store.open(corpus.workspace.index_path) as store, store.snapshot(), Progress("prompts") as shown:
        found = replay(
            asked,
            store,
            search_of(store, known),
            variants(settings),
            count_tokens=TokenCounter(),
            weights=app.config.experience(),
            progress=lambda done, total: shown(done, total, "prompts"),
        )
        meta = store.meta()
    days = {"from": f"{begin:%Y-%m-%d}", "to": f"{end:%Y-%m-%d}"}
    line = command_line("month", transcripts=transcripts, **days, limit=limit, words_only=words_only)
    made = as_result(
        asked,
        found,
        settings,
        changed=changed(settings),
        command=line,
        model="none" if embedder is None else meta.model,
        chunks=meta.n_chunks,
        vectors=0 if embedder is None else meta.n_vectors,
    )
    say(made.to_json(summary=summary) if as_json or summary else made.to_text())
