"""`recall decide`: record a decision."""

import click

from recall.cli.app import App, pass_app
from recall.cli.curate import Desk, Said, curated, evidence_option, keep_option, task_option


@click.command()
@click.argument("statement")
@click.option("--why", default="", help="The reason.")
@click.option(
    "--kind",
    type=click.Choice(["decision", "diagnosis", "constraint", "risk"]),
    default="decision",
    show_default=True,
    help="What is decided: what to do, what is the matter, what must hold, what may go wrong.",
)
@click.option("--supersedes", metavar="POINTER", help="The decision, or the words in the record, that it replaces.")
@evidence_option
@task_option
@keep_option
@curated
@pass_app
def command(
    app: App,
    statement: str,
    why: str,
    kind: str,
    supersedes: str | None,
    evidence: tuple[str, ...],
    task_name: str,
    keep: bool,
    said: Said,
) -> None:
    """Record a decision, with its reason and where it is shown.

    It stands in views/decisions.md and is recalled with the authority of a decision. A decision is never changed:
    a later one supersedes it, and both stay in the record. Words of a session that it supersedes are shown behind it,
    with a note; a pointer with a span (abcdefghij#0-120) names only those.

    \b
        recall decide "Use SQLite for the index" --why "one file, no server" --evidence abcdefghij
    """
    from transcript.curation import decision, replaceable
    from transcript.errors import CurationError

    desk = Desk(app, said)
    replaced = replaceable(desk.log, supersedes) if supersedes is not None else ""
    held = desk.state()["decisions"].get(replaced)
    if held and held["superseded_by"]:
        raise CurationError(f"{supersedes} was superseded already by {held['superseded_by'][:10]}; supersede that one")
    draft = decision(
        desk.by,
        desk.at,
        statement,
        why=why,
        kind=kind,
        task=desk.task(task_name),
        evidence=desk.pointers(evidence),
        supersedes=replaced,
        keep=keep,
    )
    desk.write(draft, draft.body["statement"])
