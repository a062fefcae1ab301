"""`recall conformance`: which claims may be made of this installation."""

from __future__ import annotations

import click

from recall.cli.output import emit, say
from recall.cli.scratch import scratch

NO_CLAIM = "a minimal item does not hold: this installation may not claim LCA-style continuity"


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Run the minimal list of a lifelong memory (LCA, Appendix C), item by item.

    Each item works on a made-up project in a temporary home, with the commands that you have, by words alone: no
    project of yours is read. Prints what was seen, and whether the claim of continuity may be made. Exit code 0 when
    all eleven hold, else 1.

    \b
        recall conformance
    """
    from eval.conformance import minimal

    with scratch() as project:
        project("sync")
        project("index", "--words-only")
        items = minimal(project)
    held = sum(item.holds for item in items)
    well = held == len(items)
    if as_json:
        emit({"minimal": [item.to_dict() for item in items], "held": held, "of": len(items), "may_claim": well})
    else:
        for item in items:
            say(f"{'holds' if item.holds else 'FAILS'}  {item.number:>2}  {item.title}  ({item.rows})")
            say(f"           {item.evidence}")
        say(f"\n{held} of {len(items)} minimal items hold" + ("" if well else f"; {NO_CLAIM}"))
    ctx.exit(0 if well else 1)
