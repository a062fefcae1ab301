"""`recall calibrate`: fit the gate to this project's store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recall.cli.app import App, choose, demo_option, pass_app
from recall.cli.output import Progress, emit, note, say
from transcript.telling import counted

if TYPE_CHECKING:
    from indexer.store import Store
    from recall.calibrate import Arm, Fit
    from transcript.workspace import Workspace


@click.command()
@click.option("--words-only", is_flag=True, help="Leave vectors out.")
@click.option("--dry-run", is_flag=True, help="Print what would be fitted and change nothing.")
@click.option("--forget", is_flag=True, help="Drop the fitted thresholds: the defaults hold again.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object with every score.")
@demo_option
@pass_app
def command(app: App, words_only: bool, dry_run: bool, forget: bool, as_json: bool, demo: bool) -> None:
    """Fit the gate to this project's store.

    A turn is silent below a threshold. Prompts that are known to be unrelated to any project set it, half of them
    fitting and half checking, and the project's own prompts show what it leaves open. 'recall index' does the same
    when the store has doubled. Exit code 1 where no threshold is safe: the defaults then hold.

    \b
        recall calibrate --dry-run
    """
    from recall import calibration

    chosen = choose(app, demo)
    workspace = chosen.workspace()
    if forget:
        calibration.file(workspace.home).unlink(missing_ok=True)
        say("the default thresholds hold again")
        return
    with chosen.store(workspace) as store, store.snapshot(), Progress("prompts") as progress:
        made = fit(chosen, store, words_only=words_only, progress=progress)
    if not dry_run:
        calibration.write(workspace.home, made.calibration(chosen.now()))
    if as_json:
        emit({**made.as_dict(), "dry_run": dry_run})
    else:
        say(report(made, dry_run=dry_run))
    if not made.is_safe:
        raise SystemExit(1)


def fit(app: App, store: Store, *, words_only: bool, progress: Progress | None = None) -> Fit:
    """Measure the store, with the settings that a turn has before any fit."""
    from indexer.tokens import TokenCounter
    from recall.calibrate import measure

    return measure(
        store,
        None if words_only else app.vectors(store),
        app.config.settings(),
        now=app.now(),
        count_tokens=TokenCounter(),
        progress=progress,
    )


def refit_if_due(app: App, workspace: Workspace, store: Store) -> None:
    """Fit anew where the store has outgrown the last fit; says so on standard error."""
    from recall import calibration
    from recall.calibrate import is_due

    if not is_due(calibration.read(workspace.home), store.meta(), app.config.settings()):
        return
    with Progress("fitting the gate") as progress:
        made = fit(app, store, words_only=False, progress=progress)
    calibration.write(workspace.home, made.calibration(app.now()))
    found = ", ".join(f"{arm.threshold:.2f} by {arm.name}" for arm in made.arms if arm.threshold is not None)
    note(
        f"gate fitted to this store: {found}" if found else "gate: no safe threshold for this store, the defaults hold"
    )


def report(made: Fit, *, dry_run: bool) -> str:
    """Both distributions and the thresholds, for people."""
    from recall.settings import GateSettings

    size = f"{counted(made.passages, 'passage')}, {counted(made.vectors, 'vector')}"
    lines = [f"{size}, model {made.model or 'none'}", ""]
    for arm in made.arms:
        lines += arm_lines(arm)
    if not made.is_safe:
        plain = GateSettings()
        held = f"{plain.threshold} with vectors, {plain.threshold_words} by words"
        lines.append(f"no safe threshold: the default holds ({held})")
    lines.append("nothing was changed (--dry-run)" if dry_run else "kept; 'recall calibrate --forget' drops it")
    return "\n".join(lines)


def arm_lines(arm: Arm) -> list[str]:
    """One way of searching."""
    where = "with vectors" if arm.name == "vectors" else "by words alone"
    lines = [
        f"{where}: unrelated prompts score {spread(arm.unrelated)}",
        f"  this project's own prompts      {spread(arm.own)}; above an unrelated one in {arm.separation:.0%} of pairs",
        f"  in use {arm.in_use:.2f}: silent for {interval(arm.silent(arm.in_use), len(arm.checked))} of the unrelated,"
        f" open for {interval(arm.answered(arm.in_use), len(arm.own))} of the own",
    ]
    if arm.threshold is None:
        return [*lines, f"  no safe threshold: {arm.why}", ""]
    level = arm.threshold
    return [
        *lines,
        f"  fitted {level:.2f}: silent for {interval(arm.silent(level), len(arm.checked))} of the unrelated,"
        f" open for {interval(arm.answered(level), len(arm.own))} of the own",
        "",
    ]


def spread(scores: tuple[float, ...]) -> str:
    """Median and the middle 80 per cent."""
    held = sorted(scores)
    if not held:
        return "nothing"
    low, mid, high = (held[min(len(held) - 1, int(share * len(held)))] for share in (0.1, 0.5, 0.9))
    return f"{mid:.2f} [{low:.2f}, {high:.2f}] (n {len(held)})"


def interval(share: float, n: int) -> str:
    """A share with its 95 % interval (Wilson)."""
    if not n:
        return "none"
    z2 = 1.96**2
    middle, spread_ = (share + z2 / (2 * n)) / (1 + z2 / n), 1.96 / (1 + z2 / n)
    half = spread_ * (share * (1 - share) / n + z2 / (4 * n * n)) ** 0.5
    return f"{share:.0%} [{max(0.0, middle - half):.0%}, {min(1.0, middle + half):.0%}]"
