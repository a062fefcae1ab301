"""`recall replacements`: the names that the record says were replaced, and the values that may have been."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recall.cli.app import App, choose, demo_option, pass_app
from recall.cli.output import emit, note, say

if TYPE_CHECKING:
    from recall.replaced import Evidence, Proposal, Replacement


@click.command()
@click.argument("name", required=False)
@click.option("--proposed", is_flag=True, help="The values that a newer rule may have replaced, for you to judge.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a replacement.")
@demo_option
@pass_app
def command(app: App, name: str | None, proposed: bool, as_json: bool, demo: bool) -> None:
    """List names that the record says were replaced.

    With NAME, where that one was. Each with the sentence that says so ("renamed X to Y", "moved from X to Y"). A
    passage that holds the old name is shown after it, with a note, as long as the old name has fallen out of use;
    nothing is hidden by it.

    With --proposed: pairs of your standing wishes and recorded decisions that name another value of what looks like
    one thing ("a timeout of 30s", later "60s"), with both places. Nothing follows from them until you say so, with
    'recall decide ... --supersedes' and the older pointer.

    \b
        recall replacements load_user
        recall replacements --proposed
    """
    from indexer.store import Store
    from recall.replaced import listed
    from recall.replaced import proposed as find_proposed

    workspace = choose(app, demo).workspace()
    with Store.open(workspace.index_path) as store:
        found: list[Replacement] | list[Proposal] = find_proposed(store, name) if proposed else listed(store, name)
    for one in found:
        if as_json:
            emit(_fields(one))
        else:
            say(_lines(one))
    if not found and not as_json:
        note(f"no replacement {'proposed' if proposed else 'found'}" + (f" of {name}" if name else ""))


def _fields(one: Replacement | Proposal) -> dict[str, object]:
    from recall.replaced import Proposal

    if isinstance(one, Proposal):
        both = {"older": _place(one.older), "newer": _place(one.newer)}
        return {"old": one.old, "new": one.new, "state": one.state, **both}
    return {"old": one.old, "new": one.new, **_place(one)}


def _place(one: Replacement | Evidence) -> dict[str, object]:
    from recall.injection import pointer_text

    return {"ts": one.pointer.said, "pointer": pointer_text(one.pointer), "text": one.text}


def _lines(one: Replacement | Proposal) -> str:
    from recall.injection import pointer_text
    from recall.replaced import Proposal
    from transcript.telling import minute

    def place(of: Replacement | Evidence) -> str:
        return f"{minute(of.pointer.said)}  {pointer_text(of.pointer)}  {of.text}"

    if isinstance(one, Proposal):
        return f"{one.old} -> {one.new}  {one.state}\n   older  {place(one.older)}\n   newer  {place(one.newer)}"
    at = one.pointer
    return f"{minute(at.said)}  {one.old} -> {one.new}  {pointer_text(at)}\n   {one.text}"
