"""What goes from one step of consolidation to the next: values only."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol
from unicodedata import normalize

from transcript.canonical import b32id
from transcript.log import Log
from transcript.lookalike import compared
from transcript.memories import Memory, Span
from transcript.workspace import Workspace

if TYPE_CHECKING:
    from indexer.embedder import Embedder
    from indexer.store import Store


LINKS = frozenset({"retired", "replaced", "value_link"})  # they propose that older words no longer hold


@dataclass(frozen=True, slots=True)
class Step:
    """One event of a session as the finders read it.

    kind is prompt, reply, call, error, ok, curated, boundary, or rejection: what a person said in rejecting a call,
    beside the error that the call then ends in. `text` is the event's text as pointers count in it, long results cut,
    of a rejection with line ends for what the harness says; `final` marks the last reply of an exchange.
    """

    kind: str
    event: str
    seq: int
    ts: str
    text: str = ""
    tool: str = ""
    input: Mapping[str, Any] | None = None
    actor_kind: str = ""
    worker: str = ""
    final: bool = False
    body: Mapping[str, Any] | None = None

    @property
    def is_typed(self) -> bool:
        """Say whether a person typed it to the agent."""
        return self.kind in ("prompt", "rejection") and not self.worker


@dataclass(frozen=True, slots=True)
class SessionView:
    """A whole session in the order of the record."""

    session: str
    project: str
    role: str
    agent: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """What may become a memory, before it is written; `key` and `id` follow from what it says and where it stands."""

    found_by: str
    memory_type: str
    text: str
    sources: tuple[Span, ...]
    said_at: str
    kind: str = "statement"
    why: str = ""
    closed_by: tuple[Span, ...] = ()
    subject: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    privacy: str = "project"
    agent_id: str = "self"
    worker: str = ""
    peer: str = ""
    supersedes: Span | None = None
    mistake: tuple[str, str] | None = None  # what to avoid, what to do instead
    drafted_by: str = ""
    file: tuple[str, str] | None = None  # path and sha256 of the file it was taken from
    covers: tuple[str, int, int] | None = None  # session, first and last seq that a summary tells

    @property
    def key(self) -> str:
        """What tells two candidates apart: type, folded words, places; of a proposed link also what it replaces."""
        places = sorted(f"{span.event}#{span.start}-{span.end}" for span in self.sources)
        if self.supersedes is not None and self.found_by in LINKS:
            places.append(f"over {self.supersedes.event}#{self.supersedes.start}-{self.supersedes.end}")
        return b32id("memory", self.memory_type, folded(self.text), *places)

    @property
    def id(self) -> str:
        """The id of its event."""
        return b32id("memory.candidate", self.key)

    def body(self) -> dict[str, Any]:
        """Return the body of its event."""
        file, covers = self.file, self.covers
        return {
            "key": self.key,
            "found_by": self.found_by,
            "memory_type": self.memory_type,
            "kind": self.kind,
            "text": self.text,
            "why": self.why,
            "sources": [span.body() for span in self.sources],
            "closed_by": [span.body() for span in self.closed_by],
            "subject": list(self.subject),
            "agent_id": self.agent_id,
            "worker": self.worker,
            "peer": self.peer,
            "projects": list(self.projects),
            "roles": list(self.roles),
            "tags": list(self.tags),
            "privacy": self.privacy,
            "said_at": self.said_at,
            "supersedes": self.supersedes.body() if self.supersedes else None,
            "mistake": {"avoid": self.mistake[0], "instead": self.mistake[1]} if self.mistake else None,
            "drafted_by": self.drafted_by,
            "file": {"path": file[0], "sha256": file[1]} if file else None,
            "covers": {"session": covers[0], "from": covers[1], "to": covers[2]} if covers else None,
        }


def folded(text: str) -> str:
    """Return text as equality of statements sees it: NFC, look-alikes and case folded, blanks alike."""
    return " ".join(normalize("NFC", compared(text)).casefold().split())


@dataclass(frozen=True, slots=True)
class Support:
    """How far a claim is held by its sources: quoted, covered, partial or none; `source` is -1 where none holds it."""

    kind: str
    source: int = -1
    missing: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Conflict:
    """A memory that says otherwise, how, and the two values."""

    memory: str
    how: str
    detail: str


@dataclass(frozen=True, slots=True)
class Finding:
    """What a reviewer holds against a candidate, and where that is to be read."""

    severity: str
    evidence_pointer: str
    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one round of verification found about the candidate `of`; round 0 is the computed one."""

    of: str
    round: int
    reviewer: tuple[str, str]  # kind and id
    writer: str
    verdict: str
    label: str
    claims: tuple[tuple[str, int, int, Support], ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    findings: tuple[Finding, ...] = ()
    set_aside: tuple[Finding, ...] = ()
    target: str = ""
    kept_text: str = ""
    request_sha256: str = ""
    answer_sha256: str = ""
    seconds: float = 0.0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Touched:
    """A memory that a candidate may repeat, contradict or replace."""

    memory: Memory
    likeness: float  # of the words, in [0, 1]
    shared: frozenset[str] = frozenset()
    cosine: float = 0.0  # of the meaning; 0 where no model was at hand


@dataclass(frozen=True, slots=True)
class Decision:
    """How a candidate ends."""

    of: str
    outcome: str
    reason: str
    pending: bool = False
    tier: str = "own"
    memory: str = ""
    target: str = ""


class Reviewer(Protocol):
    """Somebody other than the writer who tries to refute."""

    @property
    def kind(self) -> str: ...

    @property
    def id(self) -> str: ...

    def ask(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the answer; ReviewFailed when it is late, malformed or does not come."""
        ...


@dataclass(frozen=True, slots=True)
class Deps:
    """What a run is given to work with; each may be called again."""

    log: Log
    workspace: Workspace
    open_store: "Callable[[], Store]"
    embedder: "Callable[[], Embedder | None]"
    capture: Callable[[], int]
    index: Callable[[], Mapping[str, Any]]
    health: Callable[[bool, bool], Mapping[str, Any]]  # light, and whether the record keeps it
    probe: Callable[[Sequence[str]], int]
    reclaim: Callable[[float], tuple[str, int, str]] | None = None  # seconds -> state, bytes given back, note
    quality: Callable[[bool, float], tuple[str, int, str]] | None = None  # idle, seconds -> state, questions, note
    reviewer: Reviewer | None = None
    draft: Callable[[Sequence[SessionView]], list[Candidate]] | None = None


@dataclass(frozen=True, slots=True)
class StepResult:
    """What one step of a run did; state is done, unchanged, skipped or failed."""

    name: str
    state: str
    count: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """What a run did."""

    trigger: str
    state: str
    steps: tuple[StepResult, ...]
    counts: Mapping[str, int] = field(default_factory=dict)
    checkpoint: str = ""
    would_write: tuple[Mapping[str, Any], ...] = ()
    unread: tuple[tuple[str, str], ...] = ()  # edited files of memories, and why each cannot be taken in
