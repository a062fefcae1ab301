"""Reads what the signals of the standing context look at; writes nothing."""

from pathlib import Path

from consolidation import standing_files
from consolidation.steps_standing import CONFLICTS
from health.facts_memories import StandingFacts
from recall.governance_settings import StandingSettings
from recall.standing_context import LOADED, OTHER_ROLE, OVER, chosen, held
from recall.standing_places import EMPTY, IDENTITY, MEMORY, USER, places, refreshed
from transcript.errors import RecordError
from transcript.event import moment
from transcript.log import Log
from transcript.sieve import Sieve, type_field
from transcript.workspace import Workspace


def standing_facts(workspace: Workspace, data: Path, log: Log | None = None) -> StandingFacts:
    """Return what a session carries as its files stand now, with the memories that it was last put together with."""
    log = log or Log(workspace)
    kept = held(workspace.run_dir)
    where = places(data, workspace.root, kept.folders)
    present = standing_files.present(where)
    try:
        known = standing_files.governed(log)
        since = _conflicts(log)
    except RecordError:  # what is wrong with the record has signals of its own
        known, since = {}, {}
    budget = kept.budget or StandingSettings().chars
    ranked = chosen(refreshed(kept.entries, where)[0], role=kept.role, chars=budget)
    told = [one for one, state in ranked if state == LOADED]
    critical = [(one, state) for one, state in ranked if one.layer == MEMORY and state != OTHER_ROLE]
    changed = standing_files.changes(present, known)
    return StandingFacts(
        expected=bool(present or known),
        identity=sum(one.layer in (IDENTITY, USER) for one in told),
        entries=len(told),
        critical=len(critical),
        critical_loaded=sum(state == LOADED for _, state in critical),
        critical_chars=sum(len(one.text) for one, _ in critical),
        budget=budget,
        chars=sum(len(one.text) for one, state in ranked if state in (LOADED, OVER)),
        no_room=tuple(one.key for one, state in ranked if state == OVER and one.layer != MEMORY),
        left_out=tuple(one.key for one, state in ranked if state == OVER),
        files=kept.files[0],
        loaded=kept.files[1],
        failed=tuple(f"{key}: {why}" for key, why in kept.failed if why != EMPTY),
        ungoverned=tuple(one.key for one in changed if one.code != standing_files.NEW),
        new=tuple(one.key for one in changed if one.code == standing_files.NEW),
        conflicts=since,
        rules=len(kept.rules),
    )


def _conflicts(log: Log) -> dict[str, float]:
    """The memories that the last checkpoint found against a procedure, each with when it was found first since."""
    since: dict[str, float] = {}
    for event in log.read(sieve=Sieve((type_field("checkpoint"),))):
        if event.type != "checkpoint" or not event.body:
            continue
        listed = event.body.get("artifacts", {}).get(CONFLICTS, ())
        found = {f"{one['memory'][:10]} / {one['procedure']}:{one['line']}" for one in listed}
        at = moment(event.ts).timestamp()
        since = {name: since.get(name, at) for name in found}
    return since
