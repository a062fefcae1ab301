"""`recall config`: every setting, what it means and where it comes from."""

import click

from recall.cli.app import App, pass_app
from recall.cli.output import emit, say


@click.command()
@click.argument("key", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a setting.")
@pass_app
def command(app: App, key: str | None, as_json: bool) -> None:
    """Print settings with their values and origins.

    All of them, those of the section KEY, or the one called KEY with its meaning, its range and where it may be set. A
    flag wins over a variable (RECALL_GATE_THRESHOLD), that over the project's .recall/config.toml, that over the user's
    config.toml in the data folder, that over the default.

    \b
        recall config gate.threshold
    """
    from recall.config import project_file, user_file
    from recall.setting_docs import MEANINGS, allowed, shown, variable

    section = tuple(value for value in app.config.values if key is None or value.key.startswith(f"{key}."))
    values = section or (app.config.get(key or ""),)
    width = max(len(value.key) for value in values)
    for value in values:
        if as_json:
            row = {"key": value.key, "value": value.value, "origin": value.origin}
            emit({**row, "meaning": MEANINGS[value.key], "range": allowed(value.key)})
        else:
            say(f"{value.key:<{width}}  {shown(value.value):<24} {value.origin}")
    if as_json:
        return
    project, user = project_file(app.project_root()), user_file(app.data)
    if key is not None and not section:
        of, _, name = key.partition(".")
        say(f"  {MEANINGS[key]}")
        say(f"  {allowed(key)}; variable {variable(key)}")
        say(f"  set it as '{name} = ...' under [{of}] in {project},\n  or for all projects in {user}")
        return
    say(f"\nproject file  {project}{'' if project.exists() else ' (not there yet)'}")
    say(f"user file     {user}{'' if user.exists() else ' (not there yet)'}")
    say(f"data folder   {app.data}")
    say("'recall config KEY' says what a setting means")
