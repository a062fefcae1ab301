"""`recall question`: what is not settled."""

import click

from recall.cli.app import App, demo_option, pass_app
from recall.cli.app import choose as chosen
from recall.cli.curate import Desk, Said, curated, evidence_option, task_option
from recall.cli.output import emit, say


@click.group()
def command() -> None:
    """Record and list open questions and their answers.

    \b
        recall question ask "Does the importer need a lock?"
    """


@command.command()
@click.argument("text")
@evidence_option
@task_option
@curated
@pass_app
def ask(app: App, text: str, evidence: tuple[str, ...], task_name: str, said: Said) -> None:
    """Record a question and name it: Q1, Q2 and so on.

    \b
        recall question ask "Does the importer need a lock?" --task T1
    """
    from transcript.curation import question

    desk = Desk(app, said)
    shown, task = desk.pointers(evidence), desk.task(task_name)
    desk.write_named(
        "Q",
        desk.state()["questions"],
        lambda name: question(desk.by, desk.at, name, "ask", text=text, task=task, evidence=shown),
    )


@command.command()
@click.argument("name")
@click.argument("answer")
@evidence_option
@curated
@pass_app
def resolve(app: App, name: str, answer: str, evidence: tuple[str, ...], said: Said) -> None:
    """Record the ANSWER to question NAME.

    \b
        recall question resolve Q1 "yes: two processes may import" --evidence abcdefghij
    """
    from transcript.curation import question
    from transcript.errors import CurationError

    desk = Desk(app, said)
    held = desk.state()["questions"].get(name.upper())
    if held is None:
        raise CurationError(f"there is no question {name}; 'recall question list' shows those there are")
    if held["resolved"] is not None:
        given = held["resolved"]["id"][:10]
        raise CurationError(f"{name.upper()} is resolved already by {given}; 'recall correct {given} TEXT' amends that")
    task = str(held["asked"].get("task", ""))
    shown = desk.pointers(evidence)
    draft = question(desk.by, desk.at, name.upper(), "resolve", text=answer, task=task, evidence=shown)
    desk.write(draft, draft.body["text"])


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a question.")
@demo_option
@pass_app
def listed(app: App, as_json: bool, demo: bool) -> None:
    """Print every question with its answer.

    Those without one are marked open.

    \b
        recall question list
    """
    from transcript.projections.fold import task_number
    from transcript.projections.page import line
    from transcript.projections.views import folded

    use = chosen(app, demo)
    held = folded(use.log(use.workspace()))[0]["questions"]
    for name in sorted(held, key=lambda name: (task_number(name), name)):
        asked, answer = held[name]["asked"], held[name]["resolved"]
        row = {
            "id": name,
            "state": "resolved" if answer else "open",
            "question": line(asked["statement"]),
            "asked_by": asked["actor"],
            "event": asked["id"],
            "answer": line(answer["statement"]) if answer else None,
            "answered_by": answer["actor"] if answer else None,
            "answer_event": answer["id"] if answer else None,
        }
        if as_json:
            emit(row)
        else:
            given = f"\n     {row['answer']}" if answer else ""
            say(f"{name:<4} {row['state']:<8} {row['question']}{given}")
