"""A project in which consolidation can run: a record of talk, its index by words, and what a run is given."""

from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from consolidation.apply import apply
from consolidation.model import Deps, Report
from consolidation.run import consolidate
from consolidation.settings import Settings
from indexer import writer
from indexer.audit import watermark_seq
from indexer.settings import IndexSettings
from indexer.store import Store
from support.dialogue import Dialogue
from support.record import NOW
from transcript.event import Event
from transcript.log import Log
from transcript.memories import MemoryState, fold_memories
from transcript.workspace import Workspace

CAUSE = "The issue is that `IsGitHookInstalled()` runs in the current folder, not in the test's repository."


@dataclass
class Running:
    """A project and the dependencies of its runs; each may be replaced by a test."""

    log: Log
    settings: Settings = field(default_factory=Settings)
    changes: dict[str, Any] = field(default_factory=dict)
    indexed: int = 0

    @property
    def workspace(self) -> Workspace:
        """Whose record it is."""
        return self.log.workspace

    def deps(self) -> Deps:
        """What a run is given."""
        made = Deps(
            log=Log(self.workspace),
            workspace=self.workspace,
            open_store=lambda: Store.open(self.workspace.index_path),
            embedder=lambda: None,
            capture=lambda: 0,
            index=self.index,
            health=lambda light, keep: {"level": "ok", "failing": []},
            probe=len,
        )
        return replace(made, **self.changes)

    def index(self) -> dict[str, Any]:
        """Index by words."""
        self.indexed += 1
        with Store.open(self.workspace.index_path, "w") as store:
            report = writer.index(self.workspace, store, IndexSettings(), now=NOW)
            weighed = apply(self.workspace, store, self.settings)
            meta, seq = store.meta(), watermark_seq(store)
        held = {"watermark": seq, "data_version": meta.data_version, "chunks": meta.n_chunks}
        return {**held, "pending": 0, "new": report.chunks, "weighed": weighed}

    def run(self, trigger: str = "elected", *, later: int = 0, **options: Any) -> Report:
        """Do one run, some hours after the first."""
        return consolidate(self.deps(), self.settings, trigger=trigger, now=NOW + timedelta(hours=later), **options)

    def goes_on(self, talk: Dialogue) -> None:
        """Write what was said since into the record."""
        self.log.append(talk.drafts, now=NOW)

    def events(self, kind: str = "") -> list[Event]:
        """The events of the record, or those of a kind."""
        return [event for event in Log(self.workspace).read() if not kind or event.type == kind]

    def state(self) -> MemoryState:
        """What the memory events add up to."""
        return fold_memories(Log(self.workspace))


def make_running(folder: Path, talk: Dialogue, **changes: Any) -> Running:
    """Return a project whose sessions are taken in and indexed."""
    made = Running(talk.log(folder), changes=changes)
    (folder / "project" / ".recall").mkdir(exist_ok=True)
    made.index()
    return made


def talk_of_causes(*sentences: str, session: str = "s1") -> Dialogue:
    """Return a session in which each sentence is said as a cause, acted upon and checked."""
    talk = Dialogue(session)
    for number, sentence in enumerate(sentences):
        talk.prompt(f"why does test {number} fail")
        talk.reply(f"I looked into it. {sentence} Let me fix that.")
        talk.edit(f"src/part{number}.go")
        talk.bash("go test ./...")
    return talk
