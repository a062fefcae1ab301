"""`recall conformance`: which claims may be made of this installation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import click

from recall.cli.output import emit, say
from recall.cli.scratch import scratch

if TYPE_CHECKING:
    from eval.conformance_item import Item, Project

CLAIM = "this installation may claim LCA-style continuity"
NO_CLAIM = "a minimal item does not hold: this installation may not claim LCA-style continuity"
SAID = {True: "holds", False: "FAILS", None: "?    "}


@click.command()
@click.option(
    "--level",
    type=click.Choice(["minimal", "stronger"]),
    default="minimal",
    show_default=True,
    help="How much is claimed.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def command(ctx: click.Context, level: str, as_json: bool) -> None:
    """Run the lists of LCA, Appendix C, item by item.

    Each item works on a made-up project in a temporary home, with the commands that you have: no project of yours is
    read. The eleven of the minimal list work by words alone; of the fourteen that a stronger implementation adds, the
    one on vectors needs the model. Prints what was seen, what an item does not cover, and whether the claim of
    continuity may be made. Exit code 0 when all items of the level hold, else 1: one that is not known here does not.

    \b
        recall conformance --level stronger
    """
    from eval.conformance import minimal

    lists = {"minimal": _on_a_project("minimal", minimal, tell=not as_json)}
    if level == "stronger":
        from eval.conformance_stronger import stronger

        lists["stronger"] = _on_a_project("stronger", stronger, tell=not as_json)
    may_claim = all(item.holds for item in lists["minimal"])
    if as_json:
        held = {name: sum(item.holds is True for item in items) for name, items in lists.items()}
        emit(
            {name: [item.to_dict() for item in items] for name, items in lists.items()}
            | {"held": held["minimal"], "of": len(lists["minimal"]), "may_claim": may_claim}
            | ({"stronger_held": held["stronger"], "stronger_of": len(lists["stronger"])} if "stronger" in held else {})
        )
    else:
        say(_claim(lists.get("stronger", [])) if may_claim else NO_CLAIM)
    ctx.exit(0 if all(item.holds for items in lists.values() for item in items) else 1)


def _on_a_project(name: str, show: Callable[[Project], Iterator[Item]], *, tell: bool) -> list[Item]:
    items = []
    with scratch() as project:
        project("sync")
        project("index", "--words-only")
        for item in show(project):
            items.append(item)
            if tell:
                _tell(item)
    if tell:
        held, unknown = (sum(item.holds is value for item in items) for value in (True, None))
        say(f"\n{held} of {len(items)} {name} items hold" + (f", {unknown} not known here" if unknown else "") + "\n")
    return items


def _claim(stronger: list[Item]) -> str:
    """What may be said where every minimal item holds: of the stronger ones, what was not seen to hold is left out."""
    if not stronger:
        return CLAIM
    left = [item.title for item in stronger if not item.holds]
    return f"{CLAIM}, and of the stronger list " + (f"all but: {'; '.join(left)}" if left else "everything")


def _tell(item: Item) -> None:
    say(f"{SAID[item.holds]}  {item.number:>2}  {item.title}  ({item.rows})")
    say(f"           {item.evidence}")
    if item.limit:
        say(f"           not covered: {item.limit}")
