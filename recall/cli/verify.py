"""`recall verify`: whether the record is whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from recall.cli import verify_more
from recall.cli.app import App, choose, demo_option, pass_app
from recall.cli.output import emit, say
from transcript.telling import counted

if TYPE_CHECKING:
    from transcript.event import Position
    from transcript.verify import Problem, VerifyReport
    from transcript.workspace import Workspace

SHOWN = 20


@click.command()
@click.option("--chain/--no-chain", default=True, help="Check hashes too (on), or shape and order only.")
@click.option("--signatures", is_flag=True, help="Check the signatures over the record's head as well.")
@click.option("--sign", is_flag=True, help="Sign the head of a record that is whole.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@demo_option
@click.pass_context
@pass_app
def command(app: App, ctx: click.Context, chain: bool, signatures: bool, sign: bool, as_json: bool, demo: bool) -> None:
    """Check that this project's record is whole.

    Every line, the chain, the end, long texts, source bytes, and that the index has not seen more; whether files that
    a person governs, the shared facts of .coord/ and their decisions are as the record says; with --signatures, whether
    the record is the one that was signed. Changes nothing, unless --sign adds a signature. Exits 1 when anything is
    wrong; each problem has a code, a place and a sentence. A warning fails nothing.

    \b
        recall verify
    """
    from transcript.verify import verify

    chosen = choose(app, demo)
    workspace = chosen.writable_workspace() if sign else chosen.workspace()
    report = verify(workspace, chain=chain, watermark=watermark(chosen, workspace))
    if sign:
        _sign(chosen, workspace, report)
    more = [*verify_more.coord(chosen, workspace), *verify_more.standing(chosen, workspace)]
    told: dict[str, int] = {}
    if (signatures or sign) and report.ok:
        found, told["signed_through"] = verify_more.signatures(chosen, workspace)
        more += found
    wrong, warnings = [one for one in more if not one.warns], [one for one in more if one.warns]
    ok = report.ok and not wrong
    if as_json:
        emit(
            {
                "ok": ok,
                "workspace": workspace.id,
                "counts": dict(report.counts),
                "types": dict(report.types),
                "problems": [*map(_row, report.problems), *map(_row, wrong)],
                "warnings": [_row(one) for one in warnings],
                **told,
            }
        )
    else:
        for problem in report.problems[:SHOWN]:
            say(f"{problem.code:<22} {problem.where}: {problem.message}")
        if report.counts["problems"] > SHOWN:
            say(f"and {report.counts['problems'] - SHOWN:,} more; --json lists them")
        for one in [*wrong, *warnings][:SHOWN]:
            say(f"{one.code:<22} {one.where}: {one.message}")
        if told:
            say(f"signed through event {told['signed_through']:,} of {report.counts['events']:,}")
        types = ", ".join(f"{count:,} {name}" for name, count in sorted(report.types.items()))
        state = "damaged" if not report.ok else "ok" if ok else "to be looked at"
        say(f"{state}: {counted(report.counts['events'], 'event')} ({types or 'none'})")
    ctx.exit(0 if ok else 1)


def _sign(app: App, workspace: Workspace, report: VerifyReport) -> None:
    """Sign the record; nothing that is damaged is signed."""
    from consolidation.signatures import add
    from transcript.errors import RecordError

    if not report.ok:
        raise RecordError("the record is damaged, so it is not signed; 'recall verify' names what is wrong")
    add(workspace, app.config.signing(), app.now())


def _row(one: Problem | verify_more.Found) -> dict[str, str]:
    return {"code": one.code, "where": one.where, "message": one.message}


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
