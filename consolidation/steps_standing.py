"""The steps of a run about what a session always carries: put it together, and hold memories against procedures."""

from collections.abc import Sequence
from dataclasses import asdict

from consolidation import standing_set
from consolidation.coord_desk import CoordDesk
from consolidation.model import StepResult
from consolidation.procedures import propose
from consolidation.run import DONE, FAILED, SAME, Run
from recall.governance_settings import ApprovalSettings
from transcript.errors import LockBusy
from transcript.memories import Memory
from transcript.telling import counted

CONFLICTS = "procedure_conflicts"  # the artifacts that name them
RULES = "rules_proposed"
MOST_NAMED = 3


def is_due(run: Run) -> bool:
    """Say whether what a session carries, or a procedure, has changed though nothing else has."""
    return standing_set.is_stale(run.workspace, run.settings, now=run.now)


def standing(run: Run) -> StepResult:
    """Put together what a session carries; says what has no room, which a person has to choose.

    What memories contradict a procedure is found here, before the index learns what they are worth.
    """
    found = standing_set.compile(run.workspace, run.settings, now=run.now)
    if not run.dry_run:
        standing_set.write(run.workspace, found)
    run.artifacts["standing"] = {"chars": found.chars, "budget": found.budget, "loaded": len(found.loaded)}
    if found.rules:
        run.artifacts[RULES] = _proposed(run, found.rules)
    if found.conflicts:
        run.artifacts[CONFLICTS] = [asdict(one) for one in found.conflicts]
    note = counted(len(found.loaded), "entry", "entries") + f", {found.chars:,} of {found.budget:,} characters"
    if found.left_out:
        run.artifacts["standing"]["left_out"] = [one.key for one in found.left_out]
        note += f"; no room for {_named([one.key for one in found.left_out])}: 'recall session-start' lists them"
    return StepResult("standing", DONE if found.loaded else SAME, len(found.loaded), note)


def _proposed(run: Run, rules: Sequence[Memory]) -> list[dict[str, str]]:
    """Propose rules as procedures and name the proposals; those that wait or were declined are not made again."""
    if run.dry_run:
        return []
    desk = CoordDesk(run.workspace, run.workspace.data, ApprovalSettings(), run.now)
    try:
        return [asdict(one) for one in propose(desk, rules)]
    except LockBusy:  # somebody decides at this moment; the next run proposes them
        return []


def procedures(run: Run) -> StepResult:
    """Fail while a memory says otherwise than a procedure: the procedure holds, and one of the two must change."""
    found, made = run.artifacts.get(CONFLICTS, []), run.artifacts.get(RULES, [])
    proposed = f"{counted(len(made), 'much-cited rule')} proposed as a procedure: 'recall coord review'" if made else ""
    if not found:
        return StepResult("procedures", DONE if made else SAME, len(made), proposed)
    told = [f"{one['memory'][:10]} / {one['procedure']}:{one['line']}" for one in found]
    note = (
        f"{counted(len(found), 'memory says', 'memories say')} otherwise than a procedure ({_named(told)}); "
        "change the file, or 'recall memory archive' the memory"
    )
    return StepResult("procedures", FAILED, len(found), note)


def _named(names: list[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
