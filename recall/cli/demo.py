"""`recall demo`: all of it on a small made-up project."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recall.cli.app import App, pass_app
from recall.cli.output import note, say
from transcript.telling import counted

if TYPE_CHECKING:
    from transcript.workspace import Workspace

WRITTEN_IN = "/home/dev/tidewatch"  # the folder that the shipped sessions name
WORKSPACE = "de300000-0000-4000-8000-7469646577a7"
PROMPT = "Tide times are one hour off again since the clock change. What caused it last time, and where was it fixed?"


@click.command()
@click.option("--remove", is_flag=True, help="Remove the demo's folder and leave.")
@click.option("--dry-run", is_flag=True, help="Say which folder would be written or removed.")
@pass_app
def command(app: App, remove: bool, dry_run: bool) -> None:
    """Run everything once on a small made-up project.

    Ends with the block that a hook would inject. Five sessions, in English and French, that ship with the
    package. Needs no network. Everything is kept in the demo folder of the data folder, written anew each time;
    your own projects are not touched.

    \b
        recall demo
    """
    home = app.demo().data
    if dry_run:
        say(f"{home} would be {'removed' if remove else 'written anew'}")
        return
    if home.exists():
        shutil.rmtree(home)
    if remove:
        say(f"removed {home}")
        return
    run(app)


def run(app: App) -> None:
    """Write the sessions, take them in, index them, ask one question."""
    from recall.injection import pointer_text

    demo = app.demo()
    workspace = prepare(demo)
    note(f"a made-up project in {demo.cwd}, its record and index beside it\n")
    take_in(demo, workspace)
    words_only = fill_index(demo, workspace)
    with step("ask") as done:
        turn = demo.ask(PROMPT, mode="turn", ledger_mode="demo", words_only=words_only)
        done(f"{counted(turn.candidates, 'candidate')}, {len(turn.items)} shown, {counted(turn.tokens, 'token')}")
    say(f"\nA new session asks:\n\n    {PROMPT}\n\nand the hook puts this in front of it:\n")
    say(turn.block or f"(nothing: {turn.empty_reason})")
    say("\nOpen each piece where it was said:\n")
    for item in turn.items:
        say(f"    recall show {pointer_text(item.candidate.pointer)}")
    say('\nAsk it something else:  recall query --demo "quelle est la clé du cache de la page ?"')


def prepare(demo: App) -> Workspace:
    """Write the project's folder and its sessions as Claude Code would have left them, and make its workspace."""
    from transcript.marks import set_config_id
    from transcript.paths import secure_dir
    from transcript.workspace import init

    secure_dir(demo.data)
    secure_dir(demo.cwd)
    config = demo.cwd / ".recall" / "config.toml"
    config.parent.mkdir()
    set_config_id(config, WORKSPACE)  # the folder is a project of its own, whatever surrounds the data folder
    target = sessions_folder(demo)
    target.mkdir(parents=True)
    ours = json.dumps(str(demo.cwd))[1:-1].encode()
    for source in files("recall.demo").joinpath("sessions").iterdir():
        text = source.read_bytes().replace(WRITTEN_IN.encode(), ours)
        (target / source.name).write_bytes(text)
    return init(demo.cwd, demo.data, notice=note)


def sessions_folder(demo: App) -> Path:
    """Where the demo's Claude Code keeps its sessions."""
    slug = "".join(c if c.isalnum() else "-" for c in str(demo.cwd))
    return demo.data / "claude" / "projects" / slug[:200]


def take_in(demo: App, workspace: Workspace) -> None:
    """The capture step."""
    from transcript.capture import sync

    with step("sync") as done:
        report = sync(
            workspace, demo.data, {**demo.env, "RECALL_CHILD": ""}, sources=demo.data / "claude", now=demo.now()
        )
        done(f"{counted(report.added, 'event')} from {counted(report.sessions, 'session')}")


def fill_index(demo: App, workspace: Workspace) -> bool:
    """The two index steps; return whether only words can be searched."""
    from indexer.queue import embed
    from indexer.store import Store
    from indexer.writer import index

    settings = demo.config.index()
    with Store.open(workspace.index_path, "w") as store:
        with step("index words") as done:
            report = index(workspace, store, settings, now=demo.now())
            done(f"{counted(report.chunks, 'passage')}, searchable now")
        embedder = demo.embedder()
        if embedder is None:
            return True
        with step("index vectors") as done:
            vectors = embed(store, embedder, settings)
            done(f"{counted(vectors.embedded, 'vector')} by {embedder.id}")
    return False


@contextmanager
def step(name: str) -> Iterator[Callable[[str], None]]:
    """Print a step with its result and its time."""
    began = time.perf_counter()
    told: list[str] = []
    yield told.append
    note(f"  {name:<14} {' '.join(told):<48} {(time.perf_counter() - began) * 1000:6.0f} ms")
