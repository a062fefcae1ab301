"""`recall eval`: measure speed and quality through the shipped path."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recall.cli.app import App, choose, demo_option, pass_app
from recall.cli.evaluate_agreement import command as agreement
from recall.cli.evaluate_budget import command as budget
from recall.cli.evaluate_consolidation import command as consolidation
from recall.cli.evaluate_coord import command as coord
from recall.cli.evaluate_devrecall import command as devrecall
from recall.cli.evaluate_facets import command as facets
from recall.cli.evaluate_freshness import command as freshness
from recall.cli.evaluate_health import command as health
from recall.cli.evaluate_imprint import command as imprint
from recall.cli.evaluate_month import command as month
from recall.cli.evaluate_retrieval import command as retrieval
from recall.cli.evaluate_self import command as own_record
from recall.cli.evaluate_sets import beam, compare, locomo, longmemeval, memorycode
from recall.cli.evaluate_soak import command as soak
from recall.cli.evaluate_steps import command as steps
from recall.cli.evaluate_window import command as window
from recall.cli.output import note, say

if TYPE_CHECKING:
    from eval.latency import IndexFacts
    from transcript.workspace import Workspace

PROMPTS = 200  # of the project's own, for timing


@click.group()
def command() -> None:
    """Measure speed and quality, with the settings a hook uses.

    Every report names hardware, load, model and settings.

    \b
        recall eval latency
    """


@command.command()
@click.option("-n", "count", type=click.IntRange(min=1), default=40, show_default=True, help="Turns of each kind.")
@click.option("--warm/--no-warm", default=True, help="Turns that a running service answers.")
@click.option("--cold/--no-cold", default=True, help="Turns that find no service and go by words.")
@click.option("--events/--no-events", default=True, help="The ends of turns and sessions, behind which a capture runs.")
@click.option("--starts", type=click.IntRange(min=0), default=0, help="Starts of sessions that are told who they are.")
@click.option("--chunks", type=click.IntRange(min=1), help="Only the newest chunks of this project, this many.")
@click.option(
    "--fill-vectors", is_flag=True, help="Made-up vectors where there are none: time depends on their number."
)
@click.option("--made-up", type=click.IntRange(min=100), help="A made-up store of this many chunks instead.")
@click.option("--prompts", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="One prompt a line.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object with every single time.")
@demo_option
@pass_app
def latency(
    app: App,
    count: int,
    warm: bool,
    cold: bool,
    events: bool,
    starts: int,
    chunks: int | None,
    fill_vectors: bool,
    made_up: int | None,
    prompts: Path | None,
    as_json: bool,
    demo: bool,
) -> None:
    """Time whole turns as a harness runs them.

    From the start of the hook's process to the last byte of its answer: the installed hook's line on a copy of
    this project's index and record. Without --prompts the newest prompts of the project itself are asked.

    \b
        recall eval latency -n 40 --chunks 36414
    """
    from eval.latency import run as measure

    chosen = choose(app, demo)
    # what a start leaves running behind it may still write while its folder goes
    with tempfile.TemporaryDirectory(prefix="recall-latency-", ignore_cleanup_errors=True) as folder:
        scratch = Path(folder)
        if made_up:
            stand, asked = made_up_stand(chosen, scratch, made_up)
        else:
            stand, asked = own_stand(chosen, scratch, chunks, fill_vectors)
        if prompts is not None:
            asked = [line for line in prompts.read_text(encoding="utf-8").splitlines() if line.strip()]
        report = measure(
            stand.workspace,
            stand.data,
            scratch / "run",
            facts=stand.facts,
            prompts=asked,
            n=count,
            warm=warm,
            cold=cold,
            events=events,
            starts=starts,
            env=chosen.env,
            progress=note,
        )
    say(report.to_json() if as_json else report.to_text())


@dataclass(frozen=True, slots=True)
class Stand:
    """What turns are timed on."""

    workspace: Workspace
    data: Path
    facts: IndexFacts


def own_stand(app: App, scratch: Path, chunks: int | None, fill: bool) -> tuple[Stand, list[str]]:
    """This project's index, cut to its newest chunks on request, and the project's own newest prompts."""
    from eval import subset
    from eval.latency import copy_home
    from indexer.sample import newest_prompts
    from transcript.workspace import Workspace

    workspace, data = app.workspace(), app.data
    with app.store(workspace) as store:
        asked = [prompt.text for prompt in newest_prompts(store, PROMPTS)]
    if chunks or fill:
        data = copy_home(workspace, data, scratch / "cut")
        workspace = Workspace(workspace.id, data / "workspaces" / workspace.id, workspace.root)
    if chunks:
        subset.newest(workspace, chunks)
    if fill:
        subset.fill_vectors(workspace)
    return Stand(workspace, data, facts(app, workspace)), asked


def made_up_stand(app: App, scratch: Path, chunks: int) -> tuple[Stand, list[str]]:
    """A made-up store in which every chunk has a vector, and prompts in its words."""
    from eval.synthetic import build, made_prompts
    from indexer.embedder import load

    settings = app.config.index()
    data = scratch / "made-up"
    embedder = load(settings.model, data_home=str(app.models))
    workspace = build(data, chunks=chunks, vectors=chunks, embedder=embedder, settings=settings, progress=note)
    return Stand(workspace, data, facts(app, workspace)), made_prompts(200)


def facts(app: App, workspace: Workspace) -> IndexFacts:
    """What the report says of the index."""
    from eval.latency import IndexFacts
    from recall.settings import settings_hash

    with app.store(workspace) as store:
        meta = store.meta()
    return IndexFacts(meta.n_chunks, meta.n_vectors, meta.model, settings_hash(app.config.settings()))


@command.command()
@click.option(
    "--from",
    "source",
    type=click.Path(exists=True, path_type=Path),
    required=True,
    metavar="PATH",
    help="Sessions to take in: a folder or a tar archive.",
)
@click.option("--rows", type=click.IntRange(min=1), default=2000, show_default=True, help="Vectors to make.")
@click.option("--all-rows", is_flag=True, help="Make every vector that is wanted.")
@click.option("--words-only", is_flag=True, help="Make no vectors.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_app
def index(app: App, source: Path, rows: int, all_rows: bool, words_only: bool, as_json: bool) -> None:
    """Time capture and indexing on a folder of sessions.

    First sync, sync with nothing new, words, vectors, one new session; each in a process of its own, in a
    temporary folder.

    \b
        recall eval index --from ~/.claude/projects
    """
    from eval.index_bench import run as measure

    with tempfile.TemporaryDirectory(prefix="recall-index-") as folder:
        report = measure(
            source,
            Path(folder),
            settings=app.config.index(),
            models=app.models,
            rows=None if all_rows else rows,
            words_only=words_only,
            progress=note,
        )
    say(report.to_json() if as_json else report.to_text())


@command.command()
@click.option(
    "--times",
    type=click.IntRange(min=1),
    multiple=True,
    default=(1, 100),
    show_default=True,
    help="How often over the case study's 570 events stand in the log; may be repeated.",
)
@click.option("-n", "rounds", type=click.IntRange(min=1), default=5, show_default=True, help="Rounds of quick work.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_app
def record(app: App, times: tuple[int, ...], rounds: int, as_json: bool) -> None:
    """Time the record's own work on a made-up log.

    The log of ESAA's case study (570 events), once and a hundred times over, in a temporary folder: sync, project
    and verify, the views after one more event, windows under filters that many or few turns pass.

    \b
        recall eval record
    """
    from eval.record_bench import run as measure

    with tempfile.TemporaryDirectory(prefix="recall-record-") as folder:
        report = measure(Path(folder), times=times, rounds=rounds, env=app.env, progress=note)
    say(report.to_json() if as_json else report.to_text())


@command.command("handoff-tokens")
@click.option("--own", is_flag=True, help="Count on this project's record instead.")
@click.option("--task", default="", metavar="T", help="With --own: handoff and window of this task.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_app
def handoff_tokens(app: App, own: bool, task: str, as_json: bool) -> None:
    """Count what a handoff saves.

    Tokens of every turn of the record, and of the handoff with its window that an agent reads instead: on the log of
    ESAA's case study (570 events, made up) with decisions and tasks recorded on it, or on this project.

    \b
        recall eval handoff-tokens
    """
    from eval.handoff_tokens import measure, run

    if own:
        report = measure(app.workspace(), task=task.upper())
    elif task:
        raise click.UsageError("--task names a task of this project: add --own")
    else:
        with tempfile.TemporaryDirectory(prefix="recall-handoff-") as folder:
            report = run(Path(folder))
    say(report.to_json() if as_json else report.to_text())


for _set in (
    agreement,
    budget,
    consolidation,
    coord,
    devrecall,
    facets,
    freshness,
    health,
    imprint,
    month,
    own_record,
    retrieval,
    soak,
    steps,
    window,
    locomo,
    memorycode,
    longmemeval,
    beam,
    compare,
):
    command.add_command(_set)
