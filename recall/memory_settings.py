"""Settings of memories: when they are made, who reviews them, where they come from, what makes one weigh more.

They stand here and not in consolidation because recall.config, which reads them, may not import it. They change
nothing of what one query returns.
"""

from dataclasses import asdict, dataclass

from recall.settings import check_numbers, check_one_of
from transcript.canonical import canonical, sha256_hex

REVIEWERS = ("none", "command", "openai", "peer")
SEVERITIES = ("low", "medium", "high", "critical")
PRIVACY = ("private", "project", "shared")


@dataclass(frozen=True, slots=True)
class ConsolidationSettings:
    """When memories are made without being asked for, and of what."""

    enabled: bool = True
    at_session_end: bool = True
    before_compaction: bool = True
    pressure: float = 0.7  # share of the window behind the last compaction; 0 switches this trigger off
    window_tokens: int = 0  # 0: as the harness has it
    bloat_memories: int = 500
    stale_share: float = 0.2
    statement_chars: int = 400
    summaries: bool = True
    drafter_command: str = ""
    drafter_timeout_s: float = 60.0

    def __post_init__(self) -> None:
        check_numbers(self, positive=("bloat_memories", "statement_chars", "drafter_timeout_s"))
        for name in ("pressure", "stale_share"):
            if getattr(self, name) > 1:
                raise ValueError(f"{name} is {getattr(self, name)}, must be a share from 0 to 1")


@dataclass(frozen=True, slots=True)
class ReviewerSettings:
    """Who else tries to refute what is to become a memory."""

    kind: str = "none"
    command: str = ""
    url: str = ""
    model: str = ""
    key_env: str = ""  # the variable that holds the key, never the key
    id: str = ""
    timeout_s: float = 60.0
    rounds: int = 3
    severity: str = "medium"
    remote: bool = False
    private: bool = False
    env: str = ""  # names of variables that the reviewer gets besides, by blanks

    def __post_init__(self) -> None:
        check_numbers(self, positive=("timeout_s", "rounds"))
        check_one_of("kind", self.kind, REVIEWERS)
        check_one_of("severity", self.severity, SEVERITIES)
        if self.kind == "command" and not self.command.strip():
            raise ValueError("kind is command, so command must name the program")
        if self.kind == "openai" and not (self.url.strip() and self.model.strip()):
            raise ValueError("kind is openai, so url and model must be set")
        if self.kind == "peer" and not (
            self.id.strip() and (self.command.strip() or (self.url.strip() and self.model.strip()))
        ):
            raise ValueError("kind is peer, so id and either command or url and model must be set")


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """Whose memories they are, who sees them, and which files count besides."""

    agent: str = "self"
    privacy: str = "project"
    project_files: str = "README.md docs/**/*.md"  # patterns by blanks
    folders: str = ""  # memories of others that the night takes in, by the system's path separator

    def __post_init__(self) -> None:
        check_one_of("privacy", self.privacy, PRIVACY)
        if not self.agent.strip():
            raise ValueError("agent is empty, must name whose memories these are")


@dataclass(frozen=True, slots=True)
class ExperienceSettings:
    """What each proof of a memory adds to its weight; `refuted` is subtracted."""

    cited: float = 1.0
    overlap: float = 0.5
    again: float = 1.5
    promoted: float = 2.0
    role_critical: float = 2.0
    correction: float = 3.0
    outcome: float = 3.0
    approval: float = 3.0
    prevented: float = 5.0
    refuted: float = 5.0

    def __post_init__(self) -> None:
        check_numbers(self)

    @property
    def mark(self) -> str:
        """Twelve hex digits that stand for these numbers in an index that was weighed by them."""
        return sha256_hex(canonical(asdict(self)))[:12]
