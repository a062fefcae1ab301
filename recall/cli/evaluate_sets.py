"""`recall eval SET`: public question sets, asked of the engine a turn runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recall.cli.app import App, pass_app
from recall.cli.output import Progress, note, say

if TYPE_CHECKING:
    from eval.dataset import Dataset
    from eval.result import Result

PATH = click.Path(exists=True, path_type=Path)
_OPTIONS = (
    click.option("--cache", type=click.Path(path_type=Path), help="Where indexes and vectors stay between runs."),
    click.option("--words-only", is_flag=True, help="Make no vectors."),
    click.option("--baselines/--no-baselines", default=True, help="Plain rankings beside ours."),
    click.option(
        "--scorer",
        type=click.Choice(["ours", "genagents"]),
        default="ours",
        show_default=True,
        help="Generative Agents' score besides, through the same pipeline.",
    ),
    click.option(
        "--weight-model",
        type=click.Choice(["log", "actr"]),
        default="log",
        show_default=True,
        help="ACT-R's base-level activation as E besides.",
    ),
    click.option("--ablate", is_flag=True, help="Take out every term and every step, one at a time, instead."),
    click.option("--only", multiple=True, metavar="ID", help="Only this dialogue, or questions of this type."),
    click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), help="Draw the headline measure (SVG)."),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object with the value of every question."),
    click.option("--summary", is_flag=True, help="With --json: without the values of single questions."),
)


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of every set."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return pass_app(command)


@click.command()
@click.option("--data", type=PATH, required=True, help="locomo10.json.")
@click.option("--errors", type=PATH, help="The label audit, whose corrected evidence is then used.")
@click.option("--split", type=click.Choice(["all", "dev", "test"]), default="test", show_default=True,
              help="Conversations 1 to 3 (dev), 4 to 10 (test), or all.")  # fmt: skip
@options
def locomo(app: App, data: Path, errors: Path | None, split: str, **given: Any) -> None:
    """Ask LoCoMo: talks between two people.

    Numbers are fitted on the first three conversations; the other seven are held out.

    \b
        recall eval locomo --data ../shared/bench/locomo10.json
    """
    from eval.locomo import load

    with reading(data):
        held = load(data, errors=errors)
    four = {"categories 1-4": lambda reply: reply.question.type != "adversarial"}
    named = {"data": data, "errors": errors, "split": split}
    run(app, of_split(held, split), named, groups=four, **given)


@click.command()
@click.option("--data", type=PATH, required=True, help="memorycode.tar.xz.")
@click.option("--form", type=click.Choice(["rule", "label"]), default="rule", show_default=True,
              help="Ask for the rule without its value, or by its bare label.")  # fmt: skip
@click.option("--split", type=click.Choice(["dev", "test"]), default="test", show_default=True,
              help="Histories of dialogues 1 to 120 (dev), or the 210 longer dialogues (test).")  # fmt: skip
@options
def memorycode(app: App, data: Path, form: str, split: str, **given: Any) -> None:
    """Ask MemoryCode: coding rules, some of which change.

    The current version of a rule must stand above every outdated one, and rules that never changed must not suffer.

    \b
        recall eval memorycode --data ../shared/bench/memorycode.tar.xz
    """
    from eval.memorycode import load

    with reading(data):
        held = load(data, form=form, split=split)
    run(app, held, {"data": data, "form": form, "split": split}, **given)


@click.command()
@click.option("--data", type=PATH, required=True, help="longmemeval_s.json, longmemeval_m.json or the oracle file.")
@click.option("--official", is_flag=True, help="As the published scorer: user turns alone, no question without answer.")
@options
def longmemeval(app: App, data: Path, official: bool, **given: Any) -> None:
    """Ask LongMemEval: chats with an assistant.

    \b
        recall eval longmemeval --data longmemeval_s.json
    """
    from eval.longmemeval import load

    with reading(data):
        held = load(data, official=official)
    run(app, held, {"data": data, "official": official}, **given)


@click.command()
@click.option("--data", type=PATH, required=True, help="A folder with chats of BEAM, such as chats/100K.")
@options
def beam(app: App, data: Path, **given: Any) -> None:
    """Ask BEAM: long chats with probing questions.

    \b
        recall eval beam --data chats/100K
    """
    from eval.beam import load

    with reading(data):
        held = load(data)
    run(app, held, {"data": data}, **given)


@click.command()
@click.argument("first", type=PATH)
@click.argument("second", type=PATH)
@click.option("--engine", default="recall", show_default=True, help="The engine of both results.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def compare(first: Path, second: Path, engine: str, as_json: bool) -> None:
    """Compare two results question by question.

    Of two files that 'recall eval SET --json' wrote over the same data: SECOND minus FIRST, with 95 % intervals.

    \b
        recall eval compare before.json after.json
    """
    import json
    from dataclasses import asdict

    from eval.compare import compare as measure
    from eval.compare import load, to_text
    from transcript.errors import RecallError

    try:
        pairs = measure(load(first), load(second), engine=engine)
    except ValueError as error:
        raise RecallError(str(error)) from None
    say(json.dumps({name: asdict(pair) for name, pair in pairs.items()}) if as_json else to_text(pairs))


def run(
    app: App,
    data: Dataset,
    named: Mapping[str, object],
    *,
    cache: Path | None,
    words_only: bool,
    baselines: bool,
    ablate: bool,
    only: tuple[str, ...],
    plot: Path | None,
    as_json: bool,
    summary: bool,
    scorer: str = "ours",
    weight_model: str = "log",
    groups: dict[str, Callable[[Any], bool]] | None = None,
) -> None:
    """Ask a set and print what came of it; `named` are the options that say which set, as the result names them."""
    from eval.ablation import variants
    from eval.dataset_run import run as ask
    from eval.lineup import Variant
    from eval.measures import HEADLINE, SETS
    from eval.result import command_line, flag, result
    from eval.scorers import SCORERS, WEIGHT_MODELS
    from recall.ledger import changed
    from transcript.errors import RecallError

    settings = app.config.settings()
    name = data.name.partition("-")[0]
    chosen = _only(data, only)
    if not any(dialogue.questions for dialogue in chosen.dialogues):
        raise RecallError(f"{named['data']} holds no question of this set and split")
    others = {**SCORERS, **WEIGHT_MODELS}
    besides = {o: v for o, v in (("scorer", scorer), ("weight_model", weight_model)) if v in others}
    tried = {flag(option, value): Variant(settings, others[value]) for option, value in besides.items()}
    if ablate:
        tried = {step: Variant(one) for step, one in variants(settings).items()}
    line = command_line(name, **named, words_only=words_only, ablate=ablate, **besides, only=only)
    with Progress("questions") as progress:
        held = ask(
            chosen,
            cache or app.data / "eval",
            embedder=None if words_only else app.embedder(),
            index_settings=app.config.index(),
            settings=settings,
            now=app.now(),
            baselines=baselines and not ablate,
            words=not ablate,
            variants=tried,
            progress=progress,
        )
    made = result(held, SETS[name], settings, changed=changed(settings), command=line, groups=groups)
    _draw(made, HEADLINE[name], plot)
    say(made.to_json(summary=summary) if as_json else made.to_text())


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Make one sentence of a file that is not the set that was named."""
    from tarfile import TarError

    from transcript.errors import RecallError

    try:
        yield
    except FileNotFoundError as error:
        if error.filename is not None:
            raise
        raise RecallError(str(error)) from None
    except (ValueError, LookupError, TypeError, AttributeError, EOFError, TarError) as error:
        why = next(iter(str(error).splitlines()), "")
        raise RecallError(f"{path} is not the set that --help names ({type(error).__name__}: {why})") from None


def of_split(data: Dataset, split: str) -> Dataset:
    """The dialogues of one split."""
    from dataclasses import replace

    if split == "all":
        return data
    return replace(data, dialogues=tuple(d for d in data.dialogues if d.questions and d.questions[0].split == split))


def _only(data: Dataset, names: tuple[str, ...]) -> Dataset:
    from dataclasses import replace

    from transcript.errors import RecallError

    if not names:
        return data
    kept = [
        replace(d, questions=tuple(q for q in d.questions if d.id in names or q.type in names)) for d in data.dialogues
    ]
    found = tuple(d for d in kept if d.questions)
    if not found:
        known = sorted({q.type for q in data.questions})
        raise RecallError(f"no dialogue and no type is called {', '.join(names)}; types: {', '.join(known)}")
    return replace(data, dialogues=found)


def _draw(made: Result, measure: str, plot: Path | None) -> None:
    if plot is not None:
        from eval.plot import svg

        plot.write_text(svg(made, measure), encoding="utf-8")
        note(f"wrote {plot}")
