"""A small whole project that faults are planted in: a record, its index with vectors, hooks, a checkpoint.

It needs no model and no network: vectors are hashed words, and the clock is a date of its own.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consolidation.model import Deps
from consolidation.run import consolidate
from consolidation.settings import Settings
from health.facts import Facts
from health.facts_machine import DiskFacts
from health.gather import gather
from health.report import assess
from health.signal import Signal
from indexer import audit, writer
from indexer.embedder import Identity
from indexer.queue import embed
from indexer.settings import IndexSettings
from indexer.store import Store
from recall import hooks_install
from recall.memory_settings import ConsolidationSettings
from transcript.canonical import b32id
from transcript.event import Draft, stamp
from transcript.log import Log
from transcript.workspace import init

HARNESS = "claude-code"
NOW = datetime(2026, 6, 20, 12, 0, tzinfo=UTC)
SESSIONS, EXCHANGES = 4, 8  # 64 passages
DIMENSION = 64
MAX_TOKENS = 256
_PARTS = ("anchor", "bearing", "clutch", "damper", "exhaust", "flywheel", "governor", "hopper")


@dataclass(frozen=True, slots=True)
class Words:
    """An embedder of hashed words: equal words give equal vectors on every machine."""

    id: str = "planted"
    revision: str = "1"
    dimension: int = DIMENSION
    max_tokens: int = MAX_TOKENS
    refuses: tuple[str, ...] = ()  # texts with one of these words get no direction
    longer: tuple[str, ...] = ()  # texts with one of these count as longer than the model reads, once they are embedded

    def count(self, text: str) -> int:
        """Return how many tokens a text has."""
        return MAX_TOKENS + 1 if any(word in text for word in self.longer) else len(text.split()) + 2

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a row a text."""
        return np.array([self._row(text) for text in texts], dtype=np.float32)

    def _row(self, text: str) -> NDArray[np.float32]:
        row = np.zeros(DIMENSION, dtype=np.float32)
        if any(word in text for word in self.refuses):
            return row
        for word in ("", *text.lower().split()):
            row[int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big") % DIMENSION] += 1.0
        return row / np.linalg.norm(row)


@dataclass
class Project:
    """A project below a folder of its own, with what a person and an agent said in it."""

    folder: Path
    embedder: Words = field(default_factory=Words)
    consolidation: ConsolidationSettings = field(default_factory=ConsolidationSettings)
    now: datetime = NOW
    memory_folders: str = ""
    load: Callable[[], Identity] | None = None  # what health finds for a model, where that is not the embedder
    during: list[AbstractContextManager[object]] = field(default_factory=list)  # what holds while health reads

    def __post_init__(self) -> None:
        self.root, self.data, self.home = (self.folder / name for name in ("project", "data", "home"))
        for made in (self.root / ".recall", self.home / ".claude"):
            made.mkdir(parents=True)
        self.env = {"HOME": str(self.home), "RECALL_HOME": str(self.data)}
        self.settings = IndexSettings()
        self.workspace = init(self.root, self.data)
        self._said = 0

    @property
    def log(self) -> Log:
        """The record."""
        return Log(self.workspace)

    def tell(self, *drafts: Draft) -> None:
        """Put events into the record."""
        self.log.append(drafts, now=self.now)

    def say(self, session: str, prompt: str, answer: str) -> tuple[Draft, Draft]:
        """Add an exchange; return its two events."""
        exchange = self.exchange(session, prompt, answer)
        self.tell(*exchange)
        return exchange

    def exchange(self, session: str, prompt: str, answer: str) -> tuple[Draft, Draft]:
        """Return the two events of an exchange; nothing is written."""
        asked = self.event(session, "conversation_turn", {"kind": "prompt", "text": prompt}, actor="user")
        return asked, self.event(session, "conversation_turn", {"kind": "reply", "text": answer})

    def event(self, session: str, kind: str, body: Mapping[str, Any], *, actor: str = "assistant") -> Draft:
        """Return an event of the harness, a second after the last one; nothing is written."""
        self._said += 1
        return Draft(
            type=kind,
            id=b32id("planted", session, str(self._said)),
            ts=stamp(self.now - timedelta(hours=2) + timedelta(seconds=self._said)),
            ts_source="record",
            session=session,
            agent=HARNESS,
            actor=actor,
            origin="internal",
            native={
                "harness": HARNESS,
                "version": "2.1",
                "id": str(self._said),
                "part": 0,
                "adapter": "1",
                "source": "",
            },
            body=dict(body),
        )

    def talk(self) -> None:
        """Let the sessions be held."""
        said: list[Draft] = []
        for session in range(SESSIONS):
            for number, part in enumerate(_PARTS[:EXCHANGES]):
                what = f"the {part} of pump {session}"
                answer = f"It stands at {session * 10 + number} turns for {what}."
                said += self.exchange(f"session-{session}", f"What is the setting of {what}?", answer)
        self.tell(*said)

    def install_hooks(self) -> None:
        """Install them where this project's home has its harness."""
        for plan in hooks_install.plan_install(HARNESS, "user", self.root, self.data, self.env):
            hooks_install.install(plan, self.data, now=self.now)

    def index(self) -> Mapping[str, Any]:
        """Bring words and vectors up to the end of the record."""
        plain = replace(self.embedder, longer=())
        with Store.open(self.workspace.index_path, "w") as store:
            report = writer.index(self.workspace, store, self.settings, now=self.now, embedder=plain)
            embed(store, self.embedder, self.settings)
            meta, seq = store.meta(), audit.watermark_seq(store)
        held = {"watermark": seq, "data_version": meta.data_version, "chunks": meta.n_chunks}
        return {**held, "pending": 0, "new": report.chunks, "weighed": 0}

    def checkpoint(self, index: Callable[[], Mapping[str, Any]] | None = None) -> str:
        """Make a checkpoint and return its state; index is what stands in the place of the indexing step."""
        deps = Deps(
            log=self.log,
            workspace=self.workspace,
            open_store=lambda: Store.open(self.workspace.index_path),
            embedder=lambda: None,
            capture=lambda: 0,
            index=index or self.index,
            health=lambda light, keep: {"level": "ok", "failing": []},
            probe=len,
        )
        settings = Settings(consolidation=self.consolidation)
        return consolidate(deps, settings, trigger="elected", now=self.now).state

    def damage(self, how: Callable[..., None], *given: Any, **more: Any) -> None:
        """Damage the index by a function of `indexer.damage`."""
        with Store.open(self.workspace.index_path, "w") as store:
            how(store, *given, **more)

    def facts(self, *, now: datetime | None = None) -> Facts:
        """Return what health reads here. What belongs to this machine and this program is left out: disk and edits."""
        with ExitStack() as held:
            for one in self.during:
                held.enter_context(one)
            found = gather(
                self.workspace,
                self.data,
                self.env,
                now=now or self.now,
                settings=self.settings,
                load=self.load or (lambda: replace(self.embedder, longer=())),
                recount=True,
                consolidation=self.consolidation,
                memory_folders=self.memory_folders,
            )
        return replace(found, disk=DiskFacts(), freshness=replace(found.freshness, edited=()))

    def signals(self, *, now: datetime | None = None) -> dict[str, Signal]:
        """Return the report's signals by id."""
        return {signal.id: signal for signal in assess(self.facts(now=now)).signals}


def healthy(folder: Path, embedder: Words | None = None) -> Project:
    """Return a project in which nothing is wrong, below a folder that is not there yet."""
    project = Project(folder, embedder or Words())
    project.talk()
    project.install_hooks()
    project.index()
    project.checkpoint()
    return project
