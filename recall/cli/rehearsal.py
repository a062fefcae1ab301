"""What a run would take in and write, tried on a copy of the record that is thrown away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from recall.cli.app import App
from recall.cli.work import deps_of, take_files
from transcript.telling import counted

if TYPE_CHECKING:
    from consolidation.model import Deps, Report
    from transcript.log import Log
    from transcript.workspace import Workspace


class Rehearsal:
    """A copy of the record into which everything new has been taken in; nothing else is written."""

    def __init__(self, deps: Deps, taken: list[dict[str, Any]]) -> None:
        self.deps, self._taken = deps, taken

    def whole(self, report: Report) -> Report:
        """A dry run's report together with what would be taken in before it."""
        return replace(report, would_write=(*self._taken, *report.would_write))


@contextmanager
def rehearsal(app: App, workspace: Workspace, *, review: bool = True) -> Iterator[Rehearsal]:
    """Take in what is new into a copy of the record, and yield what a dry run works with. The index is the real one."""
    import shutil

    from recall.cli.memory_folder import take_folders
    from transcript.capture import sync
    from transcript.log import Log

    with TemporaryDirectory(prefix="recall-") as folder:
        home = Path(folder) / "workspaces" / workspace.id
        home.parent.mkdir()
        shutil.copytree(workspace.home, home, ignore=shutil.ignore_patterns("index.sqlite*", "*.lock"))
        copy = replace(workspace, home=home)
        before = Log(copy).head().position
        sync(copy, app.data, app.env, settings=app.capture_settings(), now=app.now())
        take_files(app, copy)
        take_folders(app, copy)
        deps = replace(deps_of(app, copy, review=review), open_store=lambda: app.store(workspace))
        yield Rehearsal(deps, list(_rows(Log(copy), before)))


def _rows(log: Log, before: Any) -> Iterator[dict[str, Any]]:
    """Every memory event behind a position, and how many others there are of each session."""
    sessions: dict[str, int] = {}
    for event in log.read(before):
        if event.type.startswith("memory."):
            body = log.body(event)
            path = body.get("path")
            yield {"type": event.type, "id": event.id, "body": {"text": path} if path else body}
        else:
            sessions[event.session] = sessions.get(event.session, 0) + 1
    for session, number in sessions.items():
        yield {"type": "session", "id": session, "body": {"text": counted(number, "event")}}
