"""Writes what is ours into a harness's files and takes it out again; every other byte stays.

Taking it out of a file that nobody changed since gives the original bytes back; from a file that was changed only what
is ours is cut. A file or folder that we made goes when nothing else is in it.
"""

import contextlib
import difflib
import os
import site
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from recall import config, hook_places, hook_registry, launcher, rules_block
from recall.hook_forms import EntriesForm, ExtensionForm, Form, RulesForm
from recall.hook_places import PLACES
from recall.hook_registry import Installed, entry_of, registered, sha
from recall.version import VERSION
from transcript import git_exclude
from transcript.errors import HookInstallError
from transcript.lock import FileLock
from transcript.paths import read_file, remove_parts, secure_dir, write_atomic
from transcript.telling import quoted
from transcript.workspace import locate


@dataclass(frozen=True, slots=True)
class Plan:
    """A change of one file that has not been made: its text before and after (None: no file)."""

    harness: str
    scope: str
    file: Path
    before: str | None
    after: str | None
    form: Form
    exclude: Path | None = None  # the git exclude list that gets our line, or loses it
    line: str = ""
    listed: Path | None = None  # the list that would hide the file, whether it changes or not
    tracked: bool = False  # the file is in the project's repository: others would get the change

    @property
    def changes(self) -> bool:
        """Whether anything is left to do in the file."""
        return self.before != self.after

    @property
    def events(self) -> tuple[str, ...]:
        """The events at which our hook comes or goes; for other forms, what comes or goes."""
        then, now = (self.form.parts(text or "") for text in (self.before, self.after))
        return tuple(part for part in dict.fromkeys((*then, *now)) if (part in then) is not (part in now))

    @property
    def comes(self) -> bool:
        """Whether something of ours comes, or is written anew."""
        return bool(self.after) and self.form.parts(self.after or "") != ()

    @property
    def summary(self) -> str:
        """The change in a few lines: the file, what comes or goes in it."""
        if not self.changes:
            return f"{self.file}: nothing to change"
        verb = "added   " if self.comes else "removed "
        lines = [f"Change in {self.file}:"]
        if self.form.kind == "hooks":
            lines.append(
                f"  {verb}  one entry at each of {', '.join(self.events)}" if self.events else "  written anew"
            )
        else:
            lines.append(f"  {verb}  our {'extension' if self.form.kind == 'extension' else 'block'}")
        lines.append(f"  {self.form.described()}")
        if self.before is None:
            lines.append("  file      is new")
        if self.exclude is not None:
            lines.append(f"  git       the line {self.line} in {self.exclude}, {verb.strip()}")
        if self.tracked and self.comes:
            lines.append(
                "  git       is tracked: a commit would carry the change to others; --user keeps it to yourself"
            )
        if self.after is None:
            lines.append("  file      goes too: nothing else stands in it")
        return "\n".join(lines)

    @property
    def diff(self) -> str:
        """The change as a unified diff."""
        old, new = (text.splitlines() if text else [] for text in (self.before, self.after))
        return "\n".join(difflib.unified_diff(old, new, f"{self.file} (now)", f"{self.file} (then)", lineterm=""))


def check_place() -> None:
    """Refuse to install hooks for a program that an isolated interpreter cannot see."""
    ours = os.path.realpath(launcher.site_folder())
    if ours == os.path.realpath(site.getusersitepackages()):
        raise HookInstallError(
            f"recall lies in your user site ({ours}), which hooks cannot see; install it with 'pipx install lca-recall'"
        )


def _check_data(data: Path) -> None:
    """Refuse a data folder whose name no settings file can hold."""
    try:
        str(data).encode()
    except UnicodeEncodeError as error:
        shown = ascii(str(data))
        raise HookInstallError(f"the data folder {shown} is not UTF-8; set RECALL_HOME to another one") from error


def plan_install(harness: str, scope: str, root: Path, data: Path, env: Mapping[str, str]) -> list[Plan]:
    """Return the changes that add what is ours, one a file; none where the harness runs no hooks. Writes nothing."""
    if harness not in PLACES:
        raise HookInstallError(f"no hooks for {quoted(harness)}; known: {', '.join(PLACES)}")
    check_place()
    return [
        _plan_file(harness, scope, root, data, file, form) for file, form in _files(harness, scope, root, data, env)
    ]


def plan_again(entry: Installed, data: Path) -> Plan:
    """Return the change that would write into one file anew what was written there. Writes nothing."""
    file = Path(entry.file)
    form = _form(entry.harness, entry.kind, data, entry)
    return _plan_file(entry.harness, entry.scope, file.parent, data, file, form)


def plan_removal(harness: str, scope: str, root: Path, data: Path, env: Mapping[str, str]) -> list[Plan]:
    """Return the changes that take what is ours out again, what was written last first. Writes nothing."""
    return [
        _plan_removal(harness, scope, file, form, entry_of(data, file), data)
        for file, form in reversed(_files(harness, scope, root, data, env))
    ]


def plan_removals(data: Path) -> tuple[list[Plan], list[str]]:
    """Return the changes that take what is ours out of every file, what was written last first. Writes nothing.

    With them, in a sentence each, why a file cannot be edited: what is ours stays in it.
    """
    found: list[Plan] = []
    wrong = []
    for entry in reversed(registered(data)):
        try:
            form = _form(entry.harness, entry.kind, data, entry)
            found.append(_plan_removal(entry.harness, entry.scope, Path(entry.file), form, entry, data))
        except HookInstallError as error:
            wrong.append(str(error))
    return found, wrong


def install(plan: Plan, data: Path, *, now: datetime) -> None:
    """Make a change of `plan_install`, with the launcher that our hooks name.

    It is recorded first: what a crash leaves in the middle can be taken out. A change that fails leaves nothing.
    """
    launcher.write(data)
    with FileLock(secure_dir(data / "run") / "hooks.lock"):
        _unchanged(plan)
        known = entry_of(data, plan.file)
        folders = known.folders if known else _missing_folders(plan.file)
        listed, line = _own_line(plan, known, data)
        if known is not None and not plan.changes and (listed, line) == (known.exclude, known.line):
            _change(plan)
            return
        before = _keep(data, plan, known)
        entry = Installed(
            harness=plan.harness,
            scope=plan.scope,
            file=str(plan.file),
            command=plan.form.command,
            version=VERSION,
            at=now.isoformat(),
            before=before,
            after=sha(plan.after or ""),
            folders=folders,
            exclude=listed,
            line=line,
            kind=plan.form.kind,
        )
        hook_registry.record(data, entry)
        try:
            _change(plan)
        except HookInstallError:
            _take_back(data, plan, entry, known)
            raise


def remove(plan: Plan, data: Path) -> None:
    """Make a change of `plan_removal`; file and folders go where we made them and nothing else is in them."""
    with FileLock(secure_dir(data / "run") / "hooks.lock"):
        _unchanged(plan)
        entry = entry_of(data, plan.file)
        try:
            if plan.after is None:
                Path(os.path.realpath(plan.file)).unlink(missing_ok=True)
            elif plan.changes:
                _write(plan.file, plan.after)
            if entry is None:
                return
            _clear_away(data, entry)
            hook_registry.drop(data, entry)
        except OSError as error:
            raise HookInstallError(f"{plan.file} could not be taken back wholly: {error}") from error


def _files(harness: str, scope: str, root: Path, data: Path, env: Mapping[str, str]) -> list[tuple[Path, Form]]:
    """Return the files of a harness in this scope, each with the form in which we stand in it."""
    place = PLACES[harness]
    if not place.form:
        return []
    _check_data(data)
    kind = "extension" if place.form == "extension" else "hooks"
    file = place.file(scope, root, env)
    found = [(file, _form(harness, kind, data, entry_of(data, file)))]
    if place.rules and scope == "project":
        found.append((root / place.rules, RulesForm(_block(harness, root, data, env))))
    return found


def _block(harness: str, root: Path, data: Path, env: Mapping[str, str]) -> str:
    workspace = locate(root, data)
    if workspace is None:
        return rules_block.HOW
    tokens, carried = config.told_tokens(data, root, env), config.carried(data, root, env)
    return rules_block.content(workspace, harness=harness, most_tokens=tokens, carried=carried)


def _form(harness: str, kind: str, data: Path, entry: Installed | None) -> Form:
    if harness not in PLACES:
        where = entry.file if entry else ""
        raise HookInstallError(f"{where} holds hooks of {quoted(harness)}, which this version of recall does not know")
    if kind == "extension":
        return ExtensionForm(harness, data)
    if kind == "rules":
        return RulesForm(rules_block.HOW)  # a block that stands there is left to the captures
    return EntriesForm(hook_places.entries(harness, data, old=entry.command if entry else ""))


def _plan_file(harness: str, scope: str, root: Path, data: Path, file: Path, form: Form) -> Plan:
    before = _read(file)
    _check(file, form, before or "")
    after = form.put(before)
    listed, line = git_exclude.list_for(root, file) if scope == "project" else (None, "")
    tracked = listed is not None and git_exclude.is_tracked(root, file)
    hidden = listed is None or tracked or git_exclude.holds(listed, line)
    return Plan(harness, scope, file, before, after, form, None if hidden else listed, line, listed, tracked)


def _plan_removal(harness: str, scope: str, file: Path, form: Form, entry: Installed | None, data: Path) -> Plan:
    before = _read(file)
    listed = Path(entry.exclude) if entry and entry.exclude else None
    if (
        listed
        and entry
        and (_others(data, entry.exclude, entry.line, file) or not git_exclude.holds(listed, entry.line))
    ):
        listed = None
    kept = hook_registry.backed_up(data, entry) if entry is not None else None
    if before is None:
        after = None
    elif entry is not None and sha(before) == entry.after and not (entry.before and kept is None):
        after = kept
    else:
        _check(file, form, before)
        after = form.take(before, made=entry is not None and not entry.before)
    return Plan(harness, scope, file, before, after, form, listed, entry.line if entry else "")


def _own_line(plan: Plan, known: Installed | None, data: Path) -> tuple[str, str]:
    """Return the exclude list that got our line, and the line: now, before, or for another work tree of the list."""
    if plan.exclude is not None:
        return str(plan.exclude), plan.line
    if known is not None:
        return known.exclude, known.line
    shared = plan.listed is not None and _others(data, str(plan.listed), plan.line, plan.file)
    return (str(plan.listed), plan.line) if shared else ("", "")


def _others(data: Path, listed: str, line: str, file: Path) -> bool:
    """Whether another file of ours, in another work tree, needs this line of the list that the trees share."""
    return any(e.exclude == listed and e.line == line and e.file != str(file) for e in registered(data))


def _unchanged(plan: Plan) -> None:
    if _read(plan.file) != plan.before:
        raise HookInstallError(f"{plan.file} changed meanwhile; run the command again")


def _check(file: Path, form: Form, text: str) -> None:
    wrong = form.problem(text)
    if wrong:
        raise HookInstallError(f"{file} {wrong}; mend it first, nothing was changed")


def _read(file: Path) -> str | None:
    try:
        return read_file(file).decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError as error:
        raise HookInstallError(f"{file} is not UTF-8 ({error}); nothing was changed") from error
    except OSError as error:
        raise HookInstallError(f"{file} cannot be read: {error.strerror}") from error


def _write(file: Path, text: str) -> None:
    """Replace the file behind a link, not the link, and keep its mode. One that nobody may write is left alone."""
    target = Path(os.path.realpath(file))
    mode = target.stat().st_mode & 0o7777 if target.exists() else 0o600
    if not mode & 0o222:
        raise HookInstallError(f"{file} is read-only; make it writable first, nothing was changed in it")
    try:
        write_atomic(target, text.encode())
        target.chmod(mode)
    except OSError as error:
        raise HookInstallError(f"{file} cannot be written: {error.strerror}") from error


def _change(plan: Plan) -> None:
    """Make the change of an installation in the exclude list and in the file."""
    if plan.exclude is not None:
        try:
            git_exclude.add(plan.exclude, plan.line)
        except OSError as error:
            raise HookInstallError(f"{plan.exclude} cannot be written: {error.strerror}") from error
    _make_folder(plan.file)
    if plan.changes and plan.after is not None:
        _write(plan.file, plan.after)


def _take_back(data: Path, plan: Plan, entry: Installed, known: Installed | None) -> None:
    """Leave the machine as it was before an installation that failed."""
    if known is not None:
        hook_registry.record(data, known)
        return
    with contextlib.suppress(OSError):
        _clear_away(data, entry)
    hook_registry.drop(data, entry)


def _clear_away(data: Path, entry: Installed) -> None:
    """Remove what we made around a file: parts of it that a crash left, folders, the line in git's list."""
    remove_parts(Path(os.path.realpath(entry.file)))
    for folder in map(Path, entry.folders):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
    if entry.exclude and not _others(data, entry.exclude, entry.line, Path(entry.file)):
        git_exclude.take_out(Path(entry.exclude), entry.line)


def _make_folder(file: Path) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HookInstallError(f"{file.parent} cannot be made: {error.strerror}") from error


def _missing_folders(file: Path) -> tuple[str, ...]:
    """Return the folders that have to be made for a file, the innermost first."""
    return tuple(str(folder) for folder in file.parents if not folder.exists())


def _keep(data: Path, plan: Plan, known: Installed | None) -> str:
    """Keep what removal will give back; after a change by somebody else that is their text without ours."""
    if known is not None and plan.before is not None and sha(plan.before) == known.after:
        return known.before
    if plan.before is None:
        return ""
    made = known is not None and not known.before
    without = plan.form.take(plan.before, made=made)
    return "" if without is None else hook_registry.back_up(data, plan.file, without)
