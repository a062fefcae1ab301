"""`recall enable-hooks`: let harnesses ask recall before each turn."""

import contextlib
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recall.cli.app import App, pass_app
from recall.cli.output import confirm, emit, note, say
from transcript.errors import HookInstallError

if TYPE_CHECKING:
    from recall.hooks_install import Plan

NAMES = (
    "claude-code", "codex", "gemini-cli", "qwen-code", "copilot-cli", "cursor", "grok-build", "pi", "opencode", "cline",
    "letta-code", "aider",
)  # fmt: skip


class Harness(click.Choice[str]):
    """A harness by its name or a common spelling of it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the harness's name."""
        from transcript.adapters.names import SPELLINGS

        return super().convert(SPELLINGS.get(value, value), param, ctx)


@click.command()
@click.argument("harness", nargs=-1, type=Harness(NAMES), metavar="[HARNESS]...")
@click.option("--all", "everything", is_flag=True, help="Every harness found on this machine.")
@click.option("--user", is_flag=True, help="In your own settings: every project. Asks first.")
@click.option("--project", "only_here", is_flag=True, help="In this project, on this machine only (the default).")
@click.option("--remove", is_flag=True, help="Take what is ours out again; everything else stays byte for byte.")
@click.option("--dry-run", is_flag=True, help="Show the change line by line, and make none.")
@click.option("--accept-window", is_flag=True, help="Even where our checkpoint would come after its compaction.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a file.")
@pass_app
def command(
    app: App,
    harness: tuple[str, ...],
    everything: bool,
    user: bool,
    only_here: bool,
    remove: bool,
    dry_run: bool,
    accept_window: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Add recall's hooks to the settings of each HARNESS.

    HARNESS is claude-code, codex, gemini-cli, qwen-code, copilot-cli, cursor, grok-build, pi, opencode or cline; for
    letta-code and aider it says what works without hooks. Says what will be captured and where, and what changes,
    before it changes it; --dry-run shows every line. Refused for a harness that would compact a session before recall
    has made its checkpoint; the sentence names both numbers and the setting. All entries name one launcher in the data
    folder, so upgrades never touch your settings again. Nothing a hook does can fail or hold up the harness.

    \b
        recall enable-hooks claude-code codex --dry-run
        recall enable-hooks --all --user
    """
    from recall import hooks_install
    from recall.announcement import announcement
    from recall.hook_places import PLACES

    if everything is bool(harness):
        raise click.UsageError("name the harnesses, or say --all")
    if user and only_here:
        raise click.UsageError("--user or --project, not both; run it once for each")
    scope = "user" if user else "project"
    root = app.project_root()
    names = _chosen(app, harness, remove=remove, quiet=as_json)
    able = [name for name in names if PLACES[name].form]
    for name in names:
        if name not in able:
            note(f"{PLACES[name].title}: {PLACES[name].says}")
    if not able:
        return
    if not remove:
        hooks_install.check_place()
        if not as_json:
            say(announcement(able, scope, root, app.data))
            say()
        for line in kept_out(app, root):
            note(line)
    late = {} if remove or accept_window else _late(app, able, root)
    plans, wrong = _plans(app, [name for name in able if name not in late], scope, root, remove=remove)
    wrong += late.values()
    for plan in plans:
        if not as_json:
            say(plan.summary)
            if dry_run and plan.changes:
                say(f"\n{plan.diff}")
        elif dry_run:
            emit(_told(app, plan))
    if dry_run:
        note("dry run: nothing was changed")
    else:
        if scope == "user" and not remove and not yes and (changed := [plan for plan in plans if plan.changes]):
            confirm(f"Change {', '.join(str(plan.file) for plan in changed)} for every project?")
        plans, failed = _carry_out(app, plans, remove=remove, as_json=as_json)
        wrong += failed
    if remove and not as_json:
        _say_what_stays(app, able, scope, root)
    if not remove:
        _say_what_is_left(app, [name for name in able if any(plan.harness == name for plan in plans)], scope)
    if wrong:
        raise HookInstallError("; ".join(wrong))


def _chosen(app: App, named: tuple[str, ...], *, remove: bool, quiet: bool) -> list[str]:
    """The harnesses that were named, each once; without names those of this machine, the others said to be missing."""
    from recall.announcement import joined
    from recall.hook_places import PLACES

    if named:
        return list(dict.fromkeys(named))
    if remove:
        return [name for name, place in PLACES.items() if place.form]
    here = [name for name, place in PLACES.items() if place.is_here(app.env)]
    missing = [place.title for name, place in PLACES.items() if name not in here]
    if not quiet:
        note(f"found      {joined([PLACES[name].title for name in here]) if here else 'no harness'}")
        if missing:
            note(f"not found  {joined(missing)}")
    return here


def _plans(app: App, names: list[str], scope: str, root: Path, *, remove: bool) -> "tuple[list[Plan], list[str]]":
    """The changes of all files, and why those of a harness cannot be made: the others go on."""
    from recall import hooks_install

    plan = hooks_install.plan_removal if remove else hooks_install.plan_install
    found: list[Plan] = []
    wrong = []
    for name in names:
        try:
            found += plan(name, scope, root, app.data, app.env)
        except HookInstallError as error:
            wrong.append(str(error))
    return found, wrong


def _late(app: App, names: list[str], root: Path) -> dict[str, str]:
    """Return the harnesses that compact before our checkpoint is made, each with the sentence that says so."""
    from recall import window_host
    from transcript.errors import RecallError

    log = None
    with contextlib.suppress(RecallError):
        log = app.log(app.workspace())
    found = {}
    for name in names:
        seen = window_host.observed(log, name) if log is not None else []
        host = window_host.of(name, app.env, root, seen=seen)
        settings, margin = app.config.consolidation(), app.config.window().margin_tokens
        why = window_host.fault(name, host, settings, margin_tokens=margin)
        if why:
            found[name] = f"{why}, or say --accept-window"
    return found


def _carry_out(app: App, plans: "list[Plan]", *, remove: bool, as_json: bool) -> "tuple[list[Plan], list[str]]":
    """Return the changes that were made, and why the others were not."""
    from recall import hooks_install

    made, wrong = [], []
    for plan in plans:
        try:
            if remove:
                hooks_install.remove(plan, app.data)
            else:
                hooks_install.install(plan, app.data, now=datetime.now(UTC))
        except HookInstallError as error:
            wrong.append(str(error))
            continue
        made.append(plan)
        if as_json:
            emit(_told(app, plan))
        elif remove:
            note(f"{'hooks removed from' if plan.changes else 'nothing of ours in'} {plan.file}")
        elif plan.form.kind != "rules":
            note(f"hooks are in {plan.file}{effect(plan.harness, plan.scope)}")
    return made, wrong


def effect(harness: str, scope: str) -> str:
    """What follows at once from hooks that are in; "" where the user has something left to do first."""
    from recall.contracts import CONTRACTS
    from recall.hook_places import PLACES

    if PLACES[harness].left_to_do(scope):
        return ""
    return "; the next prompt is answered with its past" if CONTRACTS[harness].answers else ""


def _say_what_is_left(app: App, names: list[str], scope: str) -> None:
    from recall.announcement import left_to_do

    for name in names:
        for line in left_to_do(name, scope, app.env):
            note(line)


def _say_what_stays(app: App, names: list[str], scope: str, root: Path) -> None:
    """Name the files of the other scope that hold entries of ours for this project."""
    from recall.hook_registry import registered

    try:
        held = registered(app.data)
    except HookInstallError:
        return  # what could be taken out is out
    for entry in held:
        if entry.harness in names and entry.scope != scope:
            if entry.scope == "user":
                note(f"{entry.file} holds ours too, for every project; --user takes it out")
            elif Path(entry.file).is_relative_to(root):
                note(f"{entry.file} holds ours too, for this project; without --user it is taken out")


def _told(app: App, plan: "Plan") -> dict[str, Any]:
    from recall.announcement import left_to_do

    action = ("added" if plan.comes else "removed") if plan.changes else "unchanged"
    return {
        "harness": plan.harness,
        "scope": plan.scope,
        "file": str(plan.file),
        "kind": plan.form.kind,
        "action": action,
        "parts": list(plan.events),
        "exclude": str(plan.exclude) if plan.exclude else None,
        "left_to_do": left_to_do(plan.harness, plan.scope, app.env) if plan.comes else [],
    }


def kept_out(app: App, root: Path) -> list[str]:
    """Why the hooks will do nothing for a session that is started from here, one line a reason."""
    from transcript.workspace import excluded

    lines = []
    if excluded(root, app.data):
        lines.append(f"{root} is excluded: the hooks do nothing here until 'recall exclude PATH --remove'")
    if app.env.get("RECALL_OFF", "") not in ("", "0"):
        lines.append("RECALL_OFF is set in this shell: sessions started from it stay out; unset it first")
    return lines
