"""`recall task`: what remains to be done."""

import click

from recall.cli.app import App, demo_option, pass_app
from recall.cli.app import choose as chosen
from recall.cli.curate import Desk, Said, curated, evidence_option
from recall.cli.output import emit, say


@click.group()
def command() -> None:
    """Record and list tasks.

    Each step is an event of its own; views/tasks.json shows the present state.

    \b
        recall task add "Close the file before renaming"
    """


@command.command()
@click.argument("title")
@evidence_option
@click.option("--decision", "decisions", multiple=True, metavar="POINTER", help="A decision it carries out.")
@curated
@pass_app
def add(app: App, title: str, evidence: tuple[str, ...], decisions: tuple[str, ...], said: Said) -> None:
    """Record a new task and name it: T1, T2 and so on.

    \b
        recall task add "Close the file before renaming" --decision abcdefghij
    """
    from transcript.curation import resolved_as, task

    desk = Desk(app, said)
    shown = desk.pointers(evidence)
    named = [resolved_as(desk.log, pointer, "decision") for pointer in decisions]
    desk.write_named(
        "T",
        desk.state()["tasks"],
        lambda name: task(desk.by, desk.at, name, "add", title=title, evidence=shown, decisions=named),
    )


@command.command()
@click.argument("name")
@click.option("--note", default="", help="What is done first.")
@evidence_option
@curated
@pass_app
def start(app: App, name: str, note: str, evidence: tuple[str, ...], said: Said) -> None:
    """Record that work on task NAME has begun.

    \b
        recall task start T1 --role implementer
    """
    step(app, said, name, "start", note, evidence)


@command.command()
@click.argument("name")
@click.option("--note", default="", help="What was done, and the command that shows it.")
@evidence_option
@curated
@pass_app
def done(app: App, name: str, note: str, evidence: tuple[str, ...], said: Said) -> None:
    """Record that task NAME is done, and where that is shown.

    \b
        recall task done T1 --note "pytest -q passes" --evidence abcdefghij
    """
    step(app, said, name, "done", note, evidence)


@command.command()
@click.argument("name")
@click.option("--note", default="", help="What it waits for.")
@evidence_option
@curated
@pass_app
def block(app: App, name: str, note: str, evidence: tuple[str, ...], said: Said) -> None:
    """Record that task NAME cannot go on.

    \b
        recall task block T1 --note "waits for the new key"
    """
    step(app, said, name, "block", note, evidence)


@command.command()
@click.argument("name")
@click.option("--note", default="", help="Why it is open again.")
@evidence_option
@curated
@pass_app
def reopen(app: App, name: str, note: str, evidence: tuple[str, ...], said: Said) -> None:
    """Record that task NAME is to be done after all.

    \b
        recall task reopen T1 --note "it came back"
    """
    step(app, said, name, "reopen", note, evidence)


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a task.")
@demo_option
@pass_app
def listed(app: App, as_json: bool, demo: bool) -> None:
    """Print every task in its present state.

    \b
        recall task list
    """
    import json

    from transcript.projections import tasks
    from transcript.projections.views import folded

    use = chosen(app, demo)
    for task in json.loads(tasks.render(folded(use.log(use.workspace()))[0]))["tasks"]:
        if as_json:
            emit(task)
        else:
            note = f"  ({task['note']})" if task["note"] else ""
            say(f"{task['id']:<4} {task['state']:<8} {task['title']}{note}")


def step(app: App, said: Said, name: str, action: str, note: str, evidence: tuple[str, ...]) -> None:
    """Record a step of a task that is there; CurationError where it changes nothing."""
    from transcript.curation import TASK_STATES, task
    from transcript.errors import CurationError

    desk = Desk(app, said)
    known = desk.task(name)
    if desk.state()["tasks"][known]["state"] == TASK_STATES[action]:
        raise CurationError(f"{known} is {TASK_STATES[action]} already")
    draft = task(desk.by, desk.at, known, action, note=note, evidence=desk.pointers(evidence))
    desk.write(draft, draft.body["text"])
