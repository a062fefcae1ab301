"""`recall eval budget`: what no recall, fixed budgets and the adaptive one find, and what they cost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recall.cli.app import App, pass_app
from recall.cli.evaluate_sets import of_split
from recall.cli.output import note, say

if TYPE_CHECKING:
    from eval.dataset import Dataset

SPLITS = ("dev", "test", "all")
_FILE = click.Path(exists=True, path_type=Path)


@click.command("budget")
@click.option("--locomo", type=_FILE, metavar="FILE", help="LoCoMo: locomo10.json.")
@click.option("--memorycode", type=_FILE, metavar="FILE", help="MemoryCode: its archive.")
@click.option("--devrecall", type=_FILE, metavar="DIR", help="Folder with queries.jsonl; needs --transcripts.")
@click.option("--transcripts", type=_FILE, metavar="PATH", help="The sessions that those queries were labelled on.")
@click.option("--split", type=click.Choice(SPLITS), default="all", show_default=True, help="Of LoCoMo and MemoryCode.")
@click.option("--cache", type=click.Path(path_type=Path), help="Where indexes and vectors stay between runs.")
@click.option("--words-only", is_flag=True, help="Make no vectors.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_app
def command(
    app: App,
    locomo: Path | None,
    memorycode: Path | None,
    devrecall: Path | None,
    transcripts: Path | None,
    split: str,
    cache: Path | None,
    words_only: bool,
    as_json: bool,
) -> None:
    """Compare budgets: none, items, tokens, adaptive.

    Items and tokens are fixed. For each what was found, tokens and time a question, the knee of the curve, and the
    adaptive budget against the fixed one question by question. It may become the default where LoCoMo and MemoryCode
    both allow it.

    \b
        recall eval budget --locomo locomo10.json --memorycode memorycode.tar.xz
    """
    from eval import budget, labels
    from eval.budget_report import BudgetReport, report_of
    from eval.corpus import prepare
    from eval.machine import machine
    from recall.settings import settings_hash

    if not (locomo or memorycode or devrecall):
        raise click.UsageError("name a set: --locomo, --memorycode, --devrecall, or several of them")
    if devrecall and not transcripts:
        raise click.UsageError("--devrecall needs --transcripts: the sessions that its queries were labelled on")
    cache, embedder = cache or app.data / "eval", None if words_only else app.embedder()
    settings, index, now = app.config.settings(), app.config.index(), app.now()
    runs = [
        budget.over_dialogues(
            one, cache, embedder=embedder, index_settings=index, settings=settings, now=now, progress=note
        )
        for one in _datasets(locomo, memorycode, split)
    ]
    if devrecall is not None and transcripts is not None:
        corpus = prepare(transcripts, cache, embedder=embedder, settings=index, now=now, progress=note)
        asked = labels.load(devrecall)
        runs.append(budget.over_devrecall(corpus, asked, embedder=embedder, settings=settings, progress=note))
    report = BudgetReport(tuple(map(report_of, runs)), settings_hash(settings), machine())
    say(report.to_json() if as_json else report.to_text())


def _datasets(locomo: Path | None, memorycode: Path | None, split: str) -> Iterator[Dataset]:
    from dataclasses import replace

    from eval.locomo import load as load_locomo
    from eval.memorycode import load as load_memorycode

    if locomo is not None:
        yield of_split(load_locomo(locomo), split)
    if memorycode is not None:
        parts = [load_memorycode(memorycode, split=one) for one in (("dev", "test") if split == "all" else (split,))]
        yield replace(parts[0], name="memorycode", dialogues=tuple(d for part in parts for d in part.dialogues))
