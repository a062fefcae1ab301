"""What is asked of the past: one turn's cues, or one deliberate search."""

from dataclasses import dataclass
from datetime import datetime

from recall.audiences import PROJECT


@dataclass(frozen=True, slots=True)
class Query:
    """The cues of one turn. Only `prompt` is needed; what a harness does not say stays empty."""

    prompt: str
    session: str = ""  # the running session: nothing still in its context is recalled
    harness: str = "claude-code"
    cwd: str = ""
    role: str | None = None
    channel: str | None = None
    audience: str = PROJECT  # who reads along, of recall.audiences; one that nobody knows is shown least
    command: str | None = None
    skill: str | None = None
    task: str | None = None
    project: str = ""  # name of the project at work
    mode: str = "turn"  # turn: a hook before the model; tool: somebody looks on purpose; posthoc: for a draft
    root: str | None = None  # only records of this project root
    as_of: datetime | None = None  # only what was recorded before; off in a turn
    history: bool = False  # a question about what was: superseded items may answer it

    def __post_init__(self) -> None:
        if self.mode not in ("turn", "tool", "posthoc", "demo"):
            raise ValueError(f"mode is {self.mode!r}, must be turn, tool, posthoc or demo")
