"""Writes our entries into a harness's settings and takes them out again; every other byte stays.

What was changed is kept in `<data>/hooks.json` (one entry a settings file) with the original bytes in
`<data>/hooks-backup/`. Taking the hooks out of a file that nobody changed since gives those bytes back; from a file
that was changed only our entries are cut.
"""

import difflib
import hashlib
import json
import os
import site
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from recall import git_exclude, hook_entries, launcher
from recall.harness import CLAUDE_CODE, EVENTS, HOOK_TIMEOUT_S
from recall.version import VERSION
from transcript.errors import HookInstallError
from transcript.lock import FileLock
from transcript.paths import secure_dir, write_atomic

REGISTRY = "hooks.json"
BACKUPS = "hooks-backup"
PROJECT_SETTINGS = ".claude/settings.local.json"


@dataclass(frozen=True, slots=True)
class Installed:
    """One settings file that holds our hooks, and what is needed to give its original bytes back."""

    harness: str
    scope: str  # "user" or "project"
    file: str
    command: str
    version: str
    at: str
    before: str  # name of the backup, "" where there was no file
    after: str  # SHA-256 of the file as we left it
    made_folder: bool = False
    exclude: str = ""  # the git exclude file that got our line
    kind: str = "hooks"  # or "rules": a rules file that holds our block (recall.rules_block)


@dataclass(frozen=True, slots=True)
class Plan:
    """A change that has not been made: the settings file before and after (None: no file)."""

    harness: str
    scope: str
    file: Path
    before: str | None
    after: str | None
    command: str
    exclude: Path | None = None  # the git exclude list that gets our line, or loses it

    @property
    def changes(self) -> bool:
        """Whether anything is left to do in the settings file."""
        return self.before != self.after

    @property
    def events(self) -> tuple[str, ...]:
        """The events at which our entry comes or goes."""
        return tuple(e for e in EVENTS if self._has(self.before, e) != self._has(self.after, e))

    def _has(self, text: str | None, event: str) -> bool:
        return bool(text and text.strip()) and self.command in hook_entries.commands(text or "", event)

    @property
    def summary(self) -> str:
        """The change in a few lines: the file, the events, and the one entry that comes or goes at each."""
        if not self.changes:
            return f"{self.file}: nothing to change"
        comes = any(self._has(self.after, event) for event in self.events)
        entry = {"type": "command", "command": self.command, "timeout": HOOK_TIMEOUT_S}
        lines = [
            f"Change in {self.file}:",
            f"  {'added   ' if comes else 'removed '}  one entry at each of {', '.join(self.events)}",
            f"  entry     {json.dumps(entry, ensure_ascii=False)}",
        ]
        if self.before is None:
            lines.append("  file      is new")
        if self.exclude is not None:
            lines.append(
                f"  git       the line {git_exclude.LINE} in {self.exclude}, {'added' if comes else 'removed'}"
            )
        if self.after is None:
            lines.append("  file      goes too: nothing else stands in it")
        return "\n".join(lines)

    @property
    def diff(self) -> str:
        """The change as a unified diff."""
        old, new = (text.splitlines() if text else [] for text in (self.before, self.after))
        return "\n".join(difflib.unified_diff(old, new, f"{self.file} (now)", f"{self.file} (then)", lineterm=""))


def settings_file(scope: str, root: Path, env: Mapping[str, str]) -> Path:
    """Return the file of Claude Code that this scope writes: the user's, or this machine's file of the project."""
    if scope == "project":
        return root / PROJECT_SETTINGS
    folder = env.get("CLAUDE_CONFIG_DIR")
    home = Path(env["HOME"]) if env.get("HOME") else Path.home()
    return (Path(folder) if folder else home / ".claude") / "settings.json"


def announcement(scope: str, root: Path, data: Path, *, record: Path | None = None) -> str:
    """Return what the user reads before anything is changed: what will be captured, where it goes, how to stay out."""
    where = "every project you use Claude Code in" if scope == "user" else f"the project {root}"
    undo = f"'recall enable-hooks claude-code{' --user' if scope == 'user' else ''} --remove'"
    return "\n".join(
        (
            f"Hooks of Claude Code for {where}:",
            "  captured  prompts, answers, tool calls and results of its sessions, word for word, when a turn ends;",
            "            with them the sessions that other agents (Codex, Gemini CLI, pi ...) held in the same project",
            f"  kept in   {record or data / 'workspaces'} (folders 0700, files 0600), until you delete it;",
            "            nothing is sent anywhere",
            "  not kept  the model's hidden reasoning (capture.reasoning = true turns it on)",
            "  injected  before each prompt, at most six quoted passages of earlier sessions with their pointers",
            "  stay out  a project: 'recall exclude PATH'; a shell: RECALL_OFF=1, nothing of its sessions is captured",
            "            from then on; a turn: !norecall at the start of its prompt, nothing is injected or indexed,",
            "            its words stand in the record alone",
            f"  undo      {undo}, or 'recall uninstall --purge' for everything",
        )
    )


def check_place() -> None:
    """Refuse to install hooks for a program that an isolated interpreter cannot see."""
    ours = os.path.realpath(launcher.site_folder())
    if ours == os.path.realpath(site.getusersitepackages()):
        raise HookInstallError(
            f"recall lies in your user site ({ours}), which hooks cannot see; install it with 'pipx install lca-recall'"
        )


def plan_install(harness: str, scope: str, root: Path, data: Path, env: Mapping[str, str]) -> Plan:
    """Return the change that adds our entries; nothing changes where they already stand. Writes nothing."""
    if harness != CLAUDE_CODE:
        raise HookInstallError(f"no hooks for {harness!r} yet; known: {CLAUDE_CODE}")
    check_place()
    file = settings_file(scope, root, env)
    before = _read(file)
    command = launcher.hook_command(data, harness)
    text = before if before is not None and before.strip() else "{}\n"
    _check(file, text)
    after = hook_entries.with_entries(text, command)
    listed = git_exclude.list_for(file) if scope == "project" else None
    listed = None if listed is None or git_exclude.holds(listed) else listed
    return Plan(harness, scope, file, before, before if after == text else after, command, listed)


def plan_removal(harness: str, scope: str, root: Path, data: Path, env: Mapping[str, str]) -> Plan:
    """Return the change that takes our entries out again. Writes nothing."""
    return _plan_removal(harness, scope, settings_file(scope, root, env), data)


def plan_removals(data: Path) -> list[Plan]:
    """Return the changes that take our entries out of every file they were written to. Writes nothing."""
    return [_plan_removal(entry.harness, entry.scope, Path(entry.file), data) for entry in registered(data)]


def install(plan: Plan, data: Path, *, now: datetime) -> None:
    """Make the change of `plan_install`, with the launcher that the entries name."""
    launcher.write(data)
    with FileLock(secure_dir(data / "run") / "hooks.lock"):
        _unchanged(plan)
        known = _entry(data, plan.file)
        listed = git_exclude.exclude(plan.file) if plan.scope == "project" else None
        if known is not None and not plan.changes:
            return
        made = known.made_folder if known else not plan.file.parent.exists()
        before = _keep(data, plan, known)
        plan.file.parent.mkdir(parents=True, exist_ok=True)
        if plan.changes and plan.after is not None:
            _write(plan.file, plan.after)
        entry = Installed(
            harness=plan.harness,
            scope=plan.scope,
            file=str(plan.file),
            command=plan.command,
            version=VERSION,
            at=now.isoformat(),
            before=before,
            after=_sha(plan.after or ""),
            made_folder=made,
            exclude=str(listed) if listed else (known.exclude if known else ""),
        )
        _save(data, [*(e for e in registered(data) if e.file != entry.file), entry])


def remove(plan: Plan, data: Path) -> None:
    """Make the change of `plan_removal`; file and folder go where we made them and nothing else is in them."""
    with FileLock(secure_dir(data / "run") / "hooks.lock"):
        _unchanged(plan)
        entry = _entry(data, plan.file)
        if plan.after is None:
            plan.file.unlink(missing_ok=True)
        elif plan.changes:
            _write(plan.file, plan.after)
        if entry is None:
            return
        if entry.made_folder and plan.file.parent.is_dir() and not any(plan.file.parent.iterdir()):
            plan.file.parent.rmdir()
        if entry.exclude:
            git_exclude.unexclude(Path(entry.exclude))
        if entry.before:
            (data / BACKUPS / entry.before).unlink(missing_ok=True)
        _save(data, [e for e in registered(data) if e.file != entry.file])


def registered(data: Path) -> list[Installed]:
    """Return every settings file that holds hooks of ours, as recorded when they were installed."""
    try:
        return [Installed(**entry) for entry in json.loads((data / REGISTRY).read_bytes())]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError) as error:
        raise HookInstallError(f"{data / REGISTRY} cannot be read ({error}); remove it") from error


def read_settings(file: Path) -> str | None:
    """Return the text of a settings file, None where there is none."""
    return _read(file)


def _plan_removal(harness: str, scope: str, file: Path, data: Path) -> Plan:
    before = _read(file)
    entry = _entry(data, file)
    command = entry.command if entry else launcher.hook_command(data, harness)
    listed = Path(entry.exclude) if entry and entry.exclude and git_exclude.holds(Path(entry.exclude)) else None
    if before is None:
        after = None
    elif entry is not None and _sha(before) == entry.after:
        after = _backup(data, entry)
    else:
        _check(file, before)
        after = hook_entries.without_entries(before, command)
    return Plan(harness, scope, file, before, after, command, listed)


def _unchanged(plan: Plan) -> None:
    if _read(plan.file) != plan.before:
        raise HookInstallError(f"{plan.file} changed meanwhile; run the command again")


def _check(file: Path, text: str) -> None:
    wrong = hook_entries.problem(text)
    if wrong:
        raise HookInstallError(f"{file} {wrong}; mend it first, nothing was changed")


def _read(file: Path) -> str | None:
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise HookInstallError(f"{file} is not UTF-8 ({error}); nothing was changed") from error
    except OSError as error:
        raise HookInstallError(f"{file} cannot be read: {error.strerror}") from error


def _write(file: Path, text: str) -> None:
    """Replace the file behind a link, not the link, and keep its mode."""
    target = Path(os.path.realpath(file))
    mode = target.stat().st_mode & 0o7777 if target.exists() else 0o600
    try:
        write_atomic(target, text.encode())
        target.chmod(mode)
    except OSError as error:
        raise HookInstallError(f"{file} cannot be written: {error.strerror}") from error


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _entry(data: Path, file: Path) -> Installed | None:
    return next((entry for entry in registered(data) if entry.file == str(file)), None)


def _keep(data: Path, plan: Plan, known: Installed | None) -> str:
    """Keep what removal will give back; after a change by somebody else that is their text without our entries."""
    if known is not None and plan.before is not None and _sha(plan.before) == known.after:
        return known.before
    if plan.before is None:
        return ""
    name = f"{_sha(str(plan.file))[:16]}.json"
    without = hook_entries.without_entries(plan.before, plan.command) if plan.before.strip() else plan.before
    write_atomic(secure_dir(data / BACKUPS) / name, without.encode())
    return name


def _backup(data: Path, entry: Installed) -> str | None:
    return (data / BACKUPS / entry.before).read_bytes().decode() if entry.before else None


def _save(data: Path, entries: list[Installed]) -> None:
    write_atomic(data / REGISTRY, json.dumps([asdict(entry) for entry in entries], indent=1).encode())
