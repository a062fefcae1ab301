"""Takes recall off a machine: hooks out of every settings file, service and launcher gone; with purge the data too."""

import contextlib
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from recall import hooks_install, launcher, schedule_install, service, service_control, spawn
from recall.hook_client import ADDRESS
from transcript import git_exclude, kept_out, marks
from transcript.belonging import ID_FILE
from transcript.errors import RecallError, ServiceError, WorkspaceError
from transcript.gitdir import git_tree_at
from transcript.roots import read_table

GOODBYE_S = 6.0
OURS = ("views", "memory", "config.toml")  # what stands in a project's .recall; by the last we know that it is ours
DATA = ("workspaces", "bin", "run", "heartbeat", "hooks-backup", "demo", "models", "eval", "logs", "config.toml")
DATA_FILES = (
    "roots.*",
    "excluded.json",
    "hooks.json",
    "hook-counters.*",
    "newest",
    ".newest.*",
    f"{kept_out.LIST}*",
    ".*.json.*",
)

# What stays when the data goes, and why.
STAYS = {
    "identity": "what you wrote for every session",
    "keys": "a backup of what was signed can be checked only with them",
}


@dataclass(frozen=True, slots=True)
class Marks:
    """What one project carries of us: the folder `.recall`, the id and ignore lines in git's own folder."""

    folder: Path | None
    id_file: Path | None
    exclude: Path | None


@dataclass(frozen=True, slots=True)
class Leaving:
    """What an uninstallation takes away. Nothing has been touched yet."""

    hooks: tuple[hooks_install.Plan, ...]
    stuck: tuple[str, ...]  # why ours stays in a file, a sentence a file
    launcher: Path | None
    schedule: str  # the scheduler that calls the nights, "" for none
    service: str  # the running service in a few words, "" when none runs
    data: Path | None  # only with purge
    projects: tuple[Marks, ...]

    def lines(self) -> list[str]:
        """Return what goes, one line a thing."""
        found = [f"hooks     {plan.file}" for plan in self.hooks]
        found += [f"git       {plan.line} in {plan.exclude}" for plan in self.hooks if plan.exclude is not None]
        if self.service:
            found.append(f"service   {self.service} is stopped")
        if self.schedule:
            found.append(f"schedule  the nightly call in {self.schedule}")
        if self.launcher is not None:
            found.append(f"launcher  {self.launcher}")
        for project in self.projects:
            found += [f"project   {path}" for path in (project.folder, project.id_file) if path is not None]
            found += [f"git       {line} in {project.exclude}" for line in _lines_that_go(project)]
        if self.data is not None:
            found.append(f"data      {self.data}: every record, index and setting")
            found += [
                f"stays     {self.data / name}: {why}; delete it yourself where nobody needs it"
                for name, why in STAYS.items()
                if (self.data / name).exists()
            ]
        return found + [f"stays     {sentence}" for sentence in self.stuck]


def plan(data: Path, env: Mapping[str, str], *, purge: bool) -> Leaving:
    """Return what would go. Writes nothing."""
    path = launcher.launcher_path(data)
    hooks, stuck = hooks_install.plan_removals(data)
    return Leaving(
        hooks=tuple(hooks),
        stuck=tuple(stuck),
        launcher=path if path.exists() else None,
        schedule=schedule_install.holder(data, env),
        service=_running_service(data),
        data=data if purge and data.exists() else None,
        projects=tuple(_projects(data)) if purge else (),
    )


def carry_out(leaving: Leaving, data: Path, env: Mapping[str, str], *, say: Callable[[str], None]) -> None:
    """Take it all away. A settings file that cannot be edited is named and the rest goes on."""
    for change in leaving.hooks:
        try:
            hooks_install.remove(change, data)
        except RecallError as error:
            say(str(error))
    try:
        schedule_install.take_out(data, env)
    except RecallError as error:
        say(str(error))
    stop_service(data)
    if leaving.launcher is not None:
        leaving.launcher.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            leaving.launcher.parent.rmdir()
    if leaving.data is None:
        return
    for project in leaving.projects:
        _unmark(project)
    _remove_socket(data, env)
    _remove_data(leaving.data, say)


def stop_service(data: Path) -> None:
    """End a running service, and wait until it holds no file any more; one that does not listen is ended hard."""
    with contextlib.suppress(ServiceError):  # a process nobody can name holds its lock
        service_control.stop(data, wait_s=GOODBYE_S, hard=True)


def _running_service(data: Path) -> str:
    lock = data / spawn.SERVICE_LOCK
    if not lock.exists():
        return ""
    free = spawn.take_lock(str(lock))
    if free is not None:
        os.close(free)
        return ""
    pid = _service_pid(data)
    return f"process {pid}" if pid is not None else "a process that does not answer"


def _service_pid(data: Path) -> int | None:
    """The running service's process, as it says itself."""
    found = service.call(data, "status", site=launcher.site_folder())
    pid = (found or {}).get("pid")
    return pid if isinstance(pid, int) else None


def _projects(data: Path) -> list[Marks]:
    try:
        table = read_table(data)
    except WorkspaceError:
        return []
    found = []
    for name, entry in table.items():
        for root in map(Path, entry.roots):
            if not root.is_dir():
                continue
            tree = git_tree_at(root)
            common = tree.common if tree is not None and tree.owned else None
            folder = root / ".recall"
            id_file = common / ID_FILE if common is not None else None
            found.append(
                Marks(
                    folder if _is_ours(folder, name) else None,
                    id_file if id_file is not None and marks.read_id(id_file) == name else None,
                    common / "info" / "exclude" if common is not None else None,
                )
            )
    return found


def _is_ours(folder: Path, name: str) -> bool:
    """Whether a project's .recall is this workspace's, or the empty rest of one that was being removed."""
    return marks.config_id(folder / "config.toml") == name or (folder.is_dir() and not any(folder.iterdir()))


def _unmark(project: Marks) -> None:
    """Remove our files; the folder `.recall` goes when nothing of anybody else is in it."""
    if project.folder is not None:
        for name in OURS:
            path = project.folder / name
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            project.folder.rmdir()
    if project.id_file is not None:
        project.id_file.unlink(missing_ok=True)
    if project.exclude is not None:
        for line in _lines_that_go(project):
            git_exclude.take_out(project.exclude, line)


def _lines_that_go(project: Marks) -> list[str]:
    """Return our ignore lines of a project, but for those of a folder that stays."""
    if project.exclude is None:
        return []
    root = project.exclude.parent.parent.parent
    return [
        line
        for line in marks.IGNORED
        if git_exclude.holds(project.exclude, line) and not _stays(root / line.strip("/"), project.folder)
    ]


def _stays(folder: Path, ours: Path | None) -> bool:
    """Say whether a folder will be there afterwards: ours goes when nothing of anybody else is in it."""
    return folder.exists() and (folder != ours or any(path.name not in OURS for path in folder.iterdir()))


def _remove_data(data: Path, say: Callable[[str], None]) -> None:
    """Delete what we keep, by name: RECALL_HOME may have been set to a folder that holds other things."""
    known = [data / name for name in DATA] + [path for pattern in DATA_FILES for path in data.glob(pattern)]
    for path in known:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    left = sorted({path.name for path in data.iterdir()} - STAYS.keys())
    if left:
        say(f"{data} holds what recall did not write ({', '.join(left[:3])}); it stays")
    with contextlib.suppress(OSError):
        data.rmdir()


def _remove_socket(data: Path, env: Mapping[str, str]) -> None:
    with contextlib.suppress(OSError, WorkspaceError):
        path = service.socket_path(data, env)
        path.unlink(missing_ok=True)
        (data / ADDRESS).unlink(missing_ok=True)
        path.parent.rmdir()
