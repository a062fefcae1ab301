"""`recall cite`: pointers for a draft's sentences, after it was written."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recall.cli.app import App, choose, demo_option, moment, pass_app
from recall.cli.output import Progress, emit, note, say
from transcript.errors import RecallError
from transcript.telling import counted

if TYPE_CHECKING:
    from datetime import datetime

    from recall.cite import Support
    from recall.turn import Ranked

MOST_CHARS = 1_000_000


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@click.option("--as-of", metavar="TIME", help="Only what had been said before this time.")
@click.option("--words-only", is_flag=True, help="Leave vectors out.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write the cited draft there.")
@click.option("--strict", is_flag=True, help="Exit code 1 when a sentence is not supported.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a sentence.")
@demo_option
@pass_app
def command(
    app: App,
    file: Path,
    as_of: str | None,
    words_only: bool,
    output: Path | None,
    strict: bool,
    as_json: bool,
    demo: bool,
) -> None:
    """Attach pointers to the sentences of FILE that have sources.

    Those that the record does not support are listed. A sentence is supported by a passage that holds its numbers,
    identifiers and names and most of its other words, and denies what it denies. The nearest miss of every other
    sentence is told. Headings, tables and code are left alone; '-' reads standard input.

    \b
        recall cite summary.md -o summary.cited.md
    """
    draft = read(file)
    supports = cited(choose(app, demo), draft, when=moment(as_of) if as_of else None, words_only=words_only)
    if output is not None:
        output.write_text(annotated(draft, supports), encoding="utf-8")
    for number, support in enumerate(supports, start=1):
        if as_json:
            emit(as_dict(number, support, draft))
    lost = [s for s in supports if s.verdict in ("contradicted", "unsupported")]
    if not as_json:
        if output is None:
            say(annotated(draft, supports).rstrip("\n"))
        report(supports, lost, draft)
    if strict and lost:
        raise SystemExit(1)


def read(file: Path) -> str:
    """The draft; RecallError for what is no text or too long."""
    try:
        draft = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise RecallError(f"{file} is no UTF-8 text ({error.reason} at byte {error.start}); save it as UTF-8") from None
    if len(draft) > MOST_CHARS:
        raise RecallError(f"{file} has {len(draft):,} characters, more than {MOST_CHARS:,}; cite it in parts")
    return draft


def cited(app: App, draft: str, *, when: datetime | None, words_only: bool) -> list[Support]:
    """Hold every sentence against the record; one ledger row for the whole draft."""
    import os
    from dataclasses import replace

    from indexer.tokens import TokenCounter
    from recall import ledger
    from recall.cite import SUPPORTED, sentences, support
    from recall.cli.query import listed
    from recall.cli.reading import facets_of
    from recall.engine import recall
    from recall.facets import load
    from recall.query import Query
    from recall.turn import Turn
    from scoring.pool import score_pool

    workspace, settings, now, started = app.workspace(), app.config.settings(), app.now(), time.perf_counter()
    found = list(sentences(draft))
    asked = facets_of(app, Query(draft, cwd=str(app.cwd), mode="posthoc", as_of=when), workspace)
    known = load(workspace.run_dir)
    with app.store(workspace) as store, store.snapshot(), Progress("sentences") as progress:
        vectors = None if words_only else app.vectors(store)
        count = TokenCounter()

        def search(text: str) -> list[Ranked]:
            query = replace(asked, prompt=text)
            turn = recall(query, store, vectors, settings, now=now, count_tokens=count, scorer=score_pool, facets=known)
            return listed(turn)

        supports = []
        for number, sentence in enumerate(found, start=1):
            supports.append(support(sentence, search))
            progress(number, len(found))
        index = store.meta()
    shown = [s.found for s in supports if s.verdict == SUPPORTED and s.found is not None]
    turn = Turn("", tuple(dict.fromkeys(_marked(ranked) for ranked in shown)), candidates=len(shown))
    took = (time.perf_counter() - started) * 1000
    how = ledger.Circumstances(mode="posthoc", latency_ms=took, index=index, call=os.urandom(8).hex())
    app.keep(workspace, ledger.draft(asked, turn, settings, how, now=now), now)
    return supports


def _marked(ranked: Ranked) -> Ranked:
    from dataclasses import replace

    return replace(ranked, verdict="shown")


def annotated(draft: str, supports: list[Support]) -> str:
    """The draft with the pointer of each supported sentence behind it; nothing else of it is changed."""
    from recall.injection import pointer_text

    parts, at = [], 0
    for support in supports:
        parts.append(draft[at : support.sentence.end])
        at = support.sentence.end
        if support.verdict == "supported" and support.found is not None:
            parts.append(f" [{pointer_text(support.found.candidate.pointer)}]")
    return "".join([*parts, draft[at:]])


def report(supports: list[Support], lost: list[Support], draft: str) -> None:
    """Say on standard error how many sentences are supported, and list the others with their nearest miss."""
    from recall.injection import pointer_text

    good = sum(s.verdict == "supported" for s in supports)
    bare = len(supports) - good - len(lost)
    note(
        f"\n{counted(good, 'sentence')} supported, {len(lost)} not"
        + (f", {bare} claim nothing that words could show" if bare else "")
    )
    for support in lost:
        line = draft.count("\n", 0, support.sentence.start) + 1
        note(f"  line {line}: {' '.join(support.sentence.text.split())}")
        missing = f" ({', '.join(support.missing)})" if support.missing else ""
        near = "" if support.found is None else f"; nearest {pointer_text(support.found.candidate.pointer)}"
        note(f"    {support.verdict}: {support.reason}{missing}{near}")


def as_dict(number: int, support: Support, draft: str) -> dict[str, object]:
    """One sentence for machines."""
    from recall.injection import pointer_text

    item = None if support.found is None else support.found.candidate
    return {
        "mode": "posthoc",
        "sentence": number,
        "line": draft.count("\n", 0, support.sentence.start) + 1,
        "start": support.sentence.start,
        "end": support.sentence.end,
        "text": support.sentence.text,
        "verdict": support.verdict,
        "pointer": "" if item is None else pointer_text(item.pointer),
        "also": [] if item is None else [pointer_text(p) for p in item.pointers[1:]],
        "coverage": round(support.coverage, 3),
        "missing": list(support.missing),
        "reason": support.reason,
        "passage": "" if item is None else item.text,
    }
