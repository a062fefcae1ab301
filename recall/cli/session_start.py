"""`recall session-start`: what a session always carries, with sizes, and what of it is missing, new or left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recall.cli.app import App, pass_app
from recall.cli.output import emit, note, say
from recall.cli.reading import audience_of, audience_option

if TYPE_CHECKING:
    from consolidation.standing_set import StandingSet
    from recall.standing_places import Entry

EXPECTED = ("IDENTITY.md", "USER.md")
MOST_FAILED = 20
WORDS = {
    "loaded": "loaded",
    "over_budget": "no room",
    "shadowed": "shadowed",
    "other_role": "other role",
    "harness": "by harness",
    "withheld": "withheld",
    "secret": "credential",
}


@click.command()
@click.option("--role", metavar="NAME", help="As a session of this role; by default the one in use ('recall role').")
@click.option("--harness", metavar="NAME", help="Print what the start of this harness is told, within its limits.")
@click.option("--budget", type=click.IntRange(min=1), metavar="CHARS", help="Instead of standing.chars.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@audience_option
@pass_app
def command(
    app: App, role: str | None, harness: str | None, budget: int | None, as_json: bool, audience: str | None
) -> None:
    """Print what a session always carries.

    Identity, role, instructions, critical memories, user, commands, skills: each file and memory with its size and
    whether it is loaded, then their text. What could not be read, had no room or was changed since somebody took
    responsibility for it is named. Changes nothing.

    \b
        recall session-start
    """
    from recall.standing_context import block_of, chosen
    from recall.standing_places import EMPTY

    workspace = app.workspace()
    reader = audience_of(app, audience)
    found = _compiled(app, role, budget)
    ranked = chosen((one for one, _ in found.entries), role=found.role, chars=found.budget, audience=reader)
    loaded = [one for one, state in ranked if state == "loaded"]
    there = {one.name for one, _ in ranked if one.loaded_by == "recall"}
    missing = [name for name in EXPECTED if name not in there]
    if harness is not None:
        told = _told(app, harness, found.role, reader)
        emit({"harness": harness, **told}) if as_json else say(told["block"])
    elif as_json:
        emit(_json(found, ranked, reader, workspace.id, missing))
    else:
        for line in _lines(found, ranked, missing):
            say(line)
        if loaded:
            say(f"\n{block_of(loaded, [one for one, state in ranked if state == 'over_budget'])}")
    if missing == list(EXPECTED):
        templates = {key.rpartition(":")[2] for key, why in found.failed if why == EMPTY}
        mend = "fill in the templates" if templates & {*EXPECTED} else "'recall init --scaffold' writes templates"
        note(f"no session is told who it is: there is neither IDENTITY.md nor USER.md with text in it; {mend}")


def _compiled(app: App, role: str | None, budget: int | None) -> StandingSet:
    from dataclasses import replace

    from consolidation import standing_set
    from recall.cli.work import settings_of

    settings = settings_of(app)
    if budget is not None:
        settings = replace(settings, standing=replace(settings.standing, chars=budget))
    return standing_set.compile(app.workspace(), settings, role=role, now=app.now())


def _told(app: App, harness: str, role: str, audience: str) -> dict[str, Any]:
    """What the hook would tell at the start of a session of this harness, the handoff beside it left out."""
    from indexer.tokens import TokenCounter
    from recall import caps, standing_context
    from recall.contracts import CONTRACTS
    from recall.standing_places import places

    if harness not in CONTRACTS:
        raise click.UsageError(f"{harness} is no harness; known are {', '.join(CONTRACTS)}")
    workspace, settings, cap = app.workspace(), app.config.standing(), caps.cap_of(harness)
    told = standing_context.tell(
        standing_context.held(workspace.run_dir),
        places(app.data, workspace.root, settings.folders),
        role=role,
        audience=audience,
        now=app.now(),
        chars=settings.chars,
        most_tokens=settings.told_tokens,
        fits=lambda block: caps.fits(block, harness, most_bytes=cap.bytes),
        count_tokens=TokenCounter(),
    )
    return {"block": told.block, "tokens": told.tokens, "loaded": told.loaded, "left_out": told.left_out}


def _lines(found: StandingSet, ranked: list[tuple[Entry, str]], missing: list[str]) -> list[str]:
    from consolidation.standing_files import CHANGED, MISSING, NEW, SAYS
    from recall.standing_places import EMPTY
    from transcript.telling import counted

    loaded = [one for one, state in ranked if state == "loaded"]
    chars = sum(len(one.text) for one in loaded)
    said = f"{counted(len(loaded), 'entry', 'entries')} of {len(ranked):,} loaded"
    role = f", role {found.role}" if found.role else ""
    lines = [f"{said}, {chars:,} of {found.budget:,} characters{role}"]
    if found.files:
        counts = {**dict.fromkeys(("files", "loaded", "critical"), 0), **found.files}
        lines.append(
            f"memory folders: {counted(counts['files'], 'file')}, {counts['loaded']:,} loaded, "
            f"{counts['critical']:,} critical"
        )
    lines += [_line(one, state) for one, state in ranked]
    empty = {key.rpartition(":")[2] for key, why in found.failed if why == EMPTY}
    lines += [f"missing     {name}" for name in missing if name not in empty]
    lines += [f"{'empty' if why == EMPTY else 'failed':<11} {key}: {why}" for key, why in found.failed[:MOST_FAILED]]
    if len(found.failed) > MOST_FAILED:
        lines.append(f"failed      and {len(found.failed) - MOST_FAILED:,} more; --json names all")
    words = {NEW: "new", CHANGED: "changed", MISSING: "gone"}
    lines += [f"{words[one.code]:<11} {one.key}: {SAYS[one.code]}" for one in found.changes]
    withheld = {one.event for one, state in ranked if state == "withheld"}
    lines += [f"conflict    {one.told}" for one in found.conflicts if one.memory not in withheld]
    return lines


def _line(one: Entry, state: str) -> str:
    return f"{WORDS[state]:<11} {len(one.text):>7,}  {one.kind:<10}  {one.layer:<12}  {one.key}"


def _json(
    found: StandingSet, ranked: list[tuple[Entry, str]], audience: str, workspace: str, missing: list[str]
) -> dict[str, Any]:
    from dataclasses import asdict

    entries = []
    withheld = {one.event for one, state in ranked if state == "withheld"}
    for one, state in ranked:
        told = asdict(one)
        if state in ("withheld", "secret"):
            told["text"] = ""
        entries.append({**told, "key": one.key, "chars": len(one.text), "state": state})
    return {
        "workspace": workspace,
        "role": found.role,
        "audience": audience,
        "budget": found.budget,
        "chars": sum(len(one.text) for one, state in ranked if state == "loaded"),
        "entries": entries,
        "files": dict(found.files),
        "missing": missing,
        "failed": [list(one) for one in found.failed],
        "changes": [asdict(one) for one in found.changes],
        "conflicts": [asdict(one) for one in found.conflicts if one.memory not in withheld],
    }
