"""`recall uninstall`: take hooks, service and nightly call away, and the data on request."""

import click

from recall.cli.app import App, pass_app
from recall.cli.output import confirm, note, say
from transcript.errors import HookInstallError


@click.command()
@click.option("--purge", is_flag=True, help="Remove the data too: every record, index and setting. Asks first.")
@click.option("--dry-run", is_flag=True, help="Say what would go, and remove nothing.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@pass_app
def command(app: App, purge: bool, dry_run: bool, yes: bool) -> None:
    """Take recall's hooks, service and nightly call away.

    Out of every settings file they were put in; everything else there stays byte for byte. The records stay
    unless you say --purge; with them goes the memory of what was kept out and what was erased, and a later install
    takes in all that the harnesses still hold. Remove the program itself with the tool that installed it: pipx, uv
    or pip.

    \b
        recall uninstall --dry-run
    """
    from recall.uninstall import carry_out, plan

    leaving = plan(app.data, app.env, purge=purge)
    say("\n".join(leaving.lines()) or "nothing of recall is here")
    if dry_run:
        note("dry run: nothing was removed")
        return
    if purge and leaving.data is not None and not yes:
        confirm(f"Remove every record in {app.data}? This cannot be undone.")
    carry_out(leaving, app.data, app.env, say=note)
    note("done; remove the program with the tool that installed it (pipx, uv, pip)")
    if leaving.stuck:
        raise HookInstallError(f"ours stays where it cannot be taken out: {'; '.join(leaving.stuck)}")
