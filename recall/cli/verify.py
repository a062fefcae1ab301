"""`recall verify`: whether the record is whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from recall.cli.app import App, choose, demo_option, pass_app
from recall.cli.output import emit, say
from transcript.telling import counted

if TYPE_CHECKING:
    from transcript.event import Position
    from transcript.workspace import Workspace

SHOWN = 20


@click.command()
@click.option("--chain/--no-chain", default=True, help="Check hashes too (on), or shape and order only.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@demo_option
@click.pass_context
@pass_app
def command(app: App, ctx: click.Context, chain: bool, as_json: bool, demo: bool) -> None:
    """Check that this project's record is whole.

    Every line, the chain, the end, long texts, source bytes, and that the index has not seen more. Changes
    nothing. Exits 1 when anything is wrong; each problem has a code, a place and a sentence.

    \b
        recall verify
    """
    from transcript.verify import verify

    chosen = choose(app, demo)
    workspace = chosen.workspace()
    report = verify(workspace, chain=chain, watermark=watermark(chosen, workspace))
    if as_json:
        emit(
            {
                "ok": report.ok,
                "workspace": workspace.id,
                "counts": dict(report.counts),
                "types": dict(report.types),
                "problems": [{"code": p.code, "where": p.where, "message": p.message} for p in report.problems],
            }
        )
    else:
        for problem in report.problems[:SHOWN]:
            say(f"{problem.code:<22} {problem.where}: {problem.message}")
        if report.counts["problems"] > SHOWN:
            say(f"and {report.counts['problems'] - SHOWN:,} more; --json lists them")
        types = ", ".join(f"{count:,} {name}" for name, count in sorted(report.types.items()))
        say(f"{'ok' if report.ok else 'damaged'}: {counted(report.counts['events'], 'event')} ({types or 'none'})")
    ctx.exit(0 if report.ok else 1)


def watermark(app: App, workspace: Workspace) -> Position | None:
    """How far the index has read, which is the least the record must hold; None without a readable index."""
    from transcript.errors import RecallError
    from transcript.event import Position

    try:
        with app.store(workspace) as store:
            text = store.meta().watermark
        return Position(**json.loads(text)) if text else None
    except (RecallError, ValueError, TypeError):
        return None
