"""`recall eval retrieval`: the ranking beside plain ones, on questions made from the project's own record."""

from __future__ import annotations

import click

from recall.cli.app import App, choose, demo_option, pass_app
from recall.cli.output import Progress, say


@click.command("retrieval")
@click.option("-n", "each", type=click.IntRange(min=1), default=50, show_default=True, help="Questions of each kind.")
@click.option("--words-only", is_flag=True, help="Leave vectors out, as a hook without service does.")
@click.option("--ablate", is_flag=True, help="Take out every term and every step, one at a time, instead.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object with the value of every question.")
@demo_option
@pass_app
def command(app: App, each: int, words_only: bool, ablate: bool, as_json: bool, demo: bool) -> None:
    """Compare the ranking with plain ones.

    recall@6, MRR and nDCG with 95 % intervals, against the latest messages, words by BM25, vectors by cosine, their
    fusion and the Generative Agents' score; on the questions of 'recall eval self'. 'recall eval devrecall' does the
    same for labelled questions.

    \b
        recall eval retrieval
    """
    from eval.ablation import variants
    from eval.lineup import OURS, Variant
    from eval.measures import RETRIEVAL
    from eval.result import command_line, result
    from eval.scorers import SCORERS
    from eval.self_questions import dataset
    from eval.self_run import run
    from indexer.said import said
    from recall.cli.evaluate_self import search_now
    from recall.ledger import changed
    from transcript.errors import RecallError

    chosen = choose(app, demo)
    settings = chosen.config.settings()
    with chosen.store(chosen.workspace()) as store, store.snapshot():
        events = said(store)
        data = dataset(events, each=each)
        if not data.questions:
            raise RecallError("the record is too small to make a question of; 'recall sync' takes sessions in")
        search, tried = search_now(chosen, store, words_only), {OURS: Variant(settings)}
        if ablate:
            tried |= {name: Variant(one) for name, one in variants(settings).items()}
        else:
            tried |= {f"--scorer {name}": Variant(settings, scorer) for name, scorer in SCORERS.items()}
        with Progress("engines") as shown:
            asked = run(data, store, events, search, tried, baselines=not ablate, progress=shown)
    line = command_line("retrieval", ablate=ablate, words_only=words_only)
    made = result(asked, RETRIEVAL, settings, changed=changed(settings), command=line)
    say(made.to_json() if as_json else made.to_text())
