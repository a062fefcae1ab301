"""`recall handoff`: what the next agent needs to go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recall.cli.app import App, choose, demo_option, pass_app
from recall.cli.context import agent_name, harnesses
from recall.cli.output import emit, say
from recall.cli.reading import audience_option, door
from recall.cli.show import as_dict, heading
from transcript.telling import counted

if TYPE_CHECKING:
    from transcript.projections.handoff import Focus


@click.command()
@click.option("--task", "task_name", default="", metavar="T", help="Only what is tied to this task.")
@click.option(
    "--for",
    "target",
    default="session",
    show_default=True,
    metavar="WHOM",
    help="compaction, role, session, or the harness that goes on (codex, claude-code ...).",
)
@click.option("--role", default="", help="With --for role: the role that takes over.")
@click.option("--session", default="", metavar="ID", help="With --for compaction: the session that ends.")
@click.option("--last", type=click.IntRange(0, 20), default=20, show_default=True, help="Most messages of the window.")
@audience_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@demo_option
@pass_app
def command(
    app: App,
    task_name: str,
    target: str,
    role: str,
    session: str,
    last: int,
    audience: str | None,
    as_json: bool,
    demo: bool,
) -> None:
    """Print what the next agent needs to go on.

    Ten sections with a pointer on every line, then the last messages that belong to it. It is an aid over the record,
    not a replacement: 'recall show POINTER' opens every line. Writes nothing. It stands between recall's marks:
    pasted into a prompt, it is known and never taken for something new.

    \b
        recall handoff --task T1
    """
    from recall.injection import frame
    from transcript.handoff import SHOWN, session_of, window
    from transcript.projections.handoff import PURPOSES, Focus, page, sections
    from transcript.projections.views import folded
    from transcript.secrets import veil

    chosen = choose(app, demo)
    log = chosen.log(chosen.workspace())
    door(chosen, log.workspace, audience).refuse_record("the handoff")
    state = folded(log)[0]
    purpose, harness = (target, "") if target in PURPOSES else ("session", agent_name(target))
    if harness and harness not in {*harnesses(), *(held["agent"] for held in state["sessions"].values())}:
        raise click.UsageError(f"'{target}' is none of {', '.join((*PURPOSES, *harnesses()))}")
    focus = Focus(task_name.upper(), purpose, role, harness, session_of(state, session))
    messages = window(log, state, focus, last=last)
    if as_json:
        emit(
            {
                "task": focus.task,
                "purpose": purpose,
                "for": harness,
                "role": role,
                "sections": dict(sections(state, focus)),
                "window": [{**as_dict(m.event), "text": veil(m.text), "why": m.why} for m in messages],
            }
        )
        return
    about = f" of {focus.task}" if focus.task else ""
    parts = [f"# Handoff{about} for {reader(focus)}\n", "\n".join(page(state, focus))]
    if last:
        parts.append(f"## The last {counted(len(messages), 'message')}\n")
    for message in messages:
        text = veil(message.text)
        cut = "" if len(text) <= SHOWN else " … ['recall show' has the rest]"
        parts.append(f"{heading(message.event)} [{message.why}]\n{text[:SHOWN]}{cut}\n")
    say(frame("\n".join(parts)))


def reader(focus: Focus) -> str:
    """Who goes on, as the heading names it."""
    if focus.purpose == "compaction":
        return "the same agent, after a compaction"
    if focus.purpose == "role":
        return f"the role {focus.role}" if focus.role else "another role"
    return f"{focus.harness}, a new session" if focus.harness else "a new session"
