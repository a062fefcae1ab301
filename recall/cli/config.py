"""`recall config`: every setting and where it comes from."""

import click

from recall.cli.app import App, pass_app
from recall.cli.output import emit, say


@click.command()
@click.argument("key", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a setting.")
@pass_app
def command(app: App, key: str | None, as_json: bool) -> None:
    """Print settings with their values and origins.

    All of them, or the one called KEY. A flag wins over a variable (RECALL_GATE_THRESHOLD), that over the project's
    .recall/config.toml, that over the user's config.toml in the data folder, that over the default.

    \b
        recall config gate.threshold
    """
    values = app.config.values if key is None else (app.config.get(key),)
    width = max(len(value.key) for value in values)
    for value in values:
        if as_json:
            emit({"key": value.key, "value": value.value, "origin": value.origin})
        else:
            say(f"{value.key:<{width}}  {value.value!s:<24} {value.origin}")
    if key is None and not as_json:
        say(f"\nuser file  {app.data / 'config.toml'}")
