"""`recall model`: the embedding model's file."""

from pathlib import Path

import click

from recall.cli.app import App, pass_app
from recall.cli.output import note, say


@click.group()
def command() -> None:
    """Mend the embedding model's file.

    The model comes with the install. Where its package is missing or its file altered, recall goes on by words.

    \b
        recall model add model.onnx
    """


@command.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Check the file and copy nothing.")
@pass_app
def add(app: App, file: Path, dry_run: bool) -> None:
    """Copy FILE into the data folder, if it is the model that recall knows.

    Its SHA-256 must be the pinned one; the file is never trusted for its name.

    \b
        recall model add model.onnx
    """
    from indexer import embed_onnx

    if dry_run:
        same = embed_onnx.file_hash(file) == embed_onnx.SHA256
        say(f"{file} is {'' if same else 'not '}{embed_onnx.MODEL_NAME}")
        note("dry run: nothing was copied")
        return
    say(f"copied to {embed_onnx.add_model(file, data_home=str(app.data))}")
