"""`recall replacements`: the names that the record says were replaced."""

import click

from recall.cli.app import App, choose, demo_option, pass_app
from recall.cli.output import emit, note, say


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a replacement.")
@demo_option
@pass_app
def command(app: App, name: str | None, as_json: bool, demo: bool) -> None:
    """List the names that the record says were replaced, or where NAME was.

    Each with the sentence that says so ("renamed X to Y", "moved from X to Y"). A passage that holds the old name is
    shown after it, with a note, as long as the old name has fallen out of use; nothing is hidden by it.

    \b
        recall replacements load_user
    """
    from indexer.store import Store
    from recall.injection import pointer_text
    from recall.replaced import listed
    from transcript.telling import minute

    workspace = choose(app, demo).workspace()
    with Store.open(workspace.index_path) as store:
        found = listed(store, name)
    for one in found:
        at = one.pointer
        if as_json:
            emit({"old": one.old, "new": one.new, "ts": at.said, "pointer": pointer_text(at), "text": one.text})
        else:
            say(f"{minute(at.said)}  {one.old} -> {one.new}  {pointer_text(at)}\n   {one.text}")
    if not found and not as_json:
        note("no replacement found" + (f" of {name}" if name else ""))
