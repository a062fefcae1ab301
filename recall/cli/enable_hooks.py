"""`recall enable-hooks`: let a harness ask recall before each turn."""

from datetime import UTC, datetime
from pathlib import Path

import click

from recall.cli.app import App, pass_app
from recall.cli.output import confirm, note, say


@click.command()
@click.argument("harness", type=click.Choice(["claude-code"]))
@click.option("--user", "scope", flag_value="user", help="In your own settings: every project. Asks first.")
@click.option("--project", "scope", flag_value="project", default=True, help="In this project, on this machine only.")
@click.option("--remove", is_flag=True, help="Take our entries out again; everything else stays byte for byte.")
@click.option("--dry-run", is_flag=True, help="Show the change line by line, and make none.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@pass_app
def command(app: App, harness: str, scope: str, remove: bool, dry_run: bool, yes: bool) -> None:
    """Add recall's hooks to the settings of HARNESS.

    Says what will be captured and where, and what changes, before it changes it; --dry-run shows every line. The
    entries name one launcher in the data folder, so upgrades never touch your settings again. Nothing a hook does can
    fail or hold up the harness.

    \b
        recall enable-hooks claude-code --dry-run
    """
    from recall import hooks_install

    root = app.project_root()
    if remove:
        plan = hooks_install.plan_removal(harness, scope, root, app.data, app.env)
    else:
        hooks_install.check_place()
        plan = hooks_install.plan_install(harness, scope, root, app.data, app.env)
        say(hooks_install.announcement(scope, root, app.data))
        say()
        for line in kept_out(app, root):
            note(line)
    say(plan.summary)
    if dry_run:
        if plan.changes:
            say(f"\n{plan.diff}")
        note("dry run: nothing was changed")
        return
    if scope == "user" and not remove and plan.changes and not yes:
        confirm(f"Change {plan.file} for every project?")
    if remove:
        hooks_install.remove(plan, app.data)
        note(f"hooks removed from {plan.file}")
    else:
        hooks_install.install(plan, app.data, now=datetime.now(UTC))
        note(f"hooks are in {plan.file}; the next prompt is answered with its past")


def kept_out(app: App, root: Path) -> list[str]:
    """Why the hooks will do nothing for a session that is started from here, one line a reason."""
    from transcript.workspace import excluded

    lines = []
    if excluded(root, app.data):
        lines.append(f"{root} is excluded: the hooks do nothing here until 'recall exclude PATH --remove'")
    if app.env.get("RECALL_OFF", "") not in ("", "0"):
        lines.append("RECALL_OFF is set in this shell: sessions started from it stay out; unset it first")
    return lines
