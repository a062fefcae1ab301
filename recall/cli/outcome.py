"""`recall outcome`: record what came of something."""

import click

from recall.cli.app import App, pass_app
from recall.cli.curate import Desk, Said, curated, evidence_option, keep_option, task_option


@click.command()
@click.argument("text")
@click.option(
    "--status",
    type=click.Choice(["verified", "failed", "untested", "not_claimed"]),
    required=True,
    help="What came of it.",
)
@click.option("--supersedes", metavar="POINTER", help="The earlier outcome that this one replaces.")
@evidence_option
@task_option
@keep_option
@curated
@pass_app
def command(
    app: App,
    text: str,
    status: str,
    supersedes: str | None,
    evidence: tuple[str, ...],
    task_name: str,
    keep: bool,
    said: Said,
) -> None:
    """Record what was verified, failed or was not tested.

    And what is not claimed. The next agent finds it in its handoff. What turned out otherwise is superseded by a
    later outcome; both stay in the record.

    \b
        recall outcome "pytest -q: 212 passed" --status verified --task T1 --evidence abcdefghij
    """
    from transcript.curation import outcome, resolved_as

    desk = Desk(app, said)
    replaced = resolved_as(desk.log, supersedes, "outcome") if supersedes is not None else ""
    task, shown = desk.task(task_name), desk.pointers(evidence)
    draft = outcome(desk.by, desk.at, text, status, task=task, keep=keep, evidence=shown, supersedes=replaced)
    desk.write(draft, draft.body["text"])
