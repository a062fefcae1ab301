"""`recall correct`: say that something in the record or a memory is wrong, weak or right."""

import click

from recall.cli.app import App, pass_app
from recall.cli.curate import Desk, Said, curated, evidence_option


@click.command()
@click.argument("pointer")
@click.argument("text")
@click.option(
    "--kind",
    type=click.Choice(["correction", "critique", "confirmation"]),
    default="correction",
    show_default=True,
    help="Whether it is wrong, weak or right.",
)
@click.option("--channel", default="", help="Where a peer said it: it is then external.")
@click.option("--supersedes", metavar="POINTER", help="The earlier correction that this one replaces.")
@evidence_option
@curated
@pass_app
def command(
    app: App,
    pointer: str,
    text: str,
    kind: str,
    channel: str,
    supersedes: str | None,
    evidence: tuple[str, ...],
    said: Said,
) -> None:
    """Record what is to be said about the event at POINTER.

    Nothing is changed by it; the correction stands beside what it corrects.

    \b
        recall correct abcdefghij "the port is 8443, not 8080"
    """
    from transcript.curation import correction, resolve, resolved_as

    desk = Desk(app, said)
    of, shown = resolve(desk.log, pointer)[0], desk.pointers(evidence)
    replaced = resolved_as(desk.log, supersedes, "correction") if supersedes is not None else ""
    draft = correction(desk.by, desk.at, of, text, kind=kind, channel=channel, evidence=shown, supersedes=replaced)
    desk.write(draft, draft.body["text"])
