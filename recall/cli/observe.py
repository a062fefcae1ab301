"""`recall observe`: take in what an independent peer said on a channel."""

import click

from recall.cli.app import App, pass_app
from recall.cli.curate import Desk, Said, curated


@click.command()
@click.argument("text")
@click.option("--channel", required=True, help="Where it was said.")
@click.option(
    "--category",
    type=click.Choice(["review", "challenge", "deployment", "alert", "coordination", "governance"]),
    required=True,
    help="What kind of message it is.",
)
@click.option("--private", is_flag=True, help="It is shown to a private audience only, and in no view.")
@click.option("--ref", default="", help="The message's own id on its channel.")
@curated
@pass_app
def command(app: App, text: str, channel: str, category: str, private: bool, ref: str, said: Said) -> None:
    """Record an external observation: --actor names its author.

    It is evidence from outside, of lower authority than anything of ours, and never a decision. Decide with
    'recall decide --evidence' if it should count.

    \b
        recall observe "the retry loop never ends" --channel synapse --category review --actor kite --as agent
    """
    from transcript.curation import observation

    desk = Desk(app, said)
    draft = observation(desk.by, desk.at, text, channel=channel, category=category, private=private, ref=ref)
    desk.write(draft, draft.body["text"])
