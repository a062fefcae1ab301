"""What the signals look at of memories: how they came about, who approved them, what a session carries of them.

As in facts.py, a None means "not known".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class MemoryFacts:
    """Memories: how many hold, what was decided, when the last checkpoint was made and what it missed."""

    states: Mapping[str, int] = field(default_factory=dict)
    conflicts: int = 0
    waiting: int = 0  # for a person, or for a review that did not come
    edited: tuple[str, ...] = ()  # files changed by hand, that are to be written anew or are missing
    shown_though_gone: tuple[str, ...] = ()  # memories that no longer hold and that the index does not know of
    decided: Mapping[str, int] = field(default_factory=dict)
    reasons: Mapping[str, int] = field(default_factory=dict)
    checkpoint_at: float | None = None
    checkpoint_state: str = ""
    checkpoint_failed: str = ""  # the step
    elected: int = 0
    fixed: int = 0
    triggers: Mapping[str, int] = field(default_factory=dict)
    due: Mapping[str, str] = field(default_factory=dict)  # trigger -> why
    compactions: Mapping[str, int] = field(default_factory=dict)  # state -> sessions
    compactions_unprepared: int = 0  # of those, before which no checkpoint was made
    nightly_at: float | None = None
    nightly_state: str = ""
    nightly_failed: tuple[str, ...] = ()  # parts
    approvals: int = 0
    key_fault: str = "key_missing"  # the code of what is wrong with the key that signs, "" for nothing


@dataclass(frozen=True, slots=True)
class CheckpointFacts:
    """What the last checkpoint that had new turns came to in the index, and what waits for the next."""

    expected: int = 0  # turns that it read
    embedded: int | None = 0  # of those, in the index
    waiting_since: float | None = None


@dataclass(frozen=True, slots=True)
class ApprovalFacts:
    """Proposals and their decisions."""

    waiting: int = 0
    oldest_at: float | None = None  # when the record learned of the one that has waited longest
    approved: int = 0
    applied: int = 0
    refused: Mapping[str, int] = field(default_factory=dict)  # code -> attempts, of proposals that are still open
    problems: tuple[str, ...] = ()
    signed_through: int = 0  # the event that the last signature goes through
    signature_fault: str = ""  # what is wrong with that


@dataclass(frozen=True, slots=True)
class WindowFacts:
    """Live windows: what left them, what could not, and where a checkpoint stands against the harness's compaction."""

    refused: tuple[str, ...] = ()  # sessions whose last pruning was refused, each with why
    emergencies: int = 0
    truncated: int = 0  # files whose beginning their harness dropped
    covered: int = 0  # summaries of compactions
    absent: int = 0  # turns that they cover and the record lacks
    harness: str = ""  # of the newest session
    host_tokens: int = 0  # what its model's window takes
    window_tokens: int = 0  # what our own thresholds are shares of
    limit_tokens: int = 0  # at which it compacts
    limit_known: bool = False
    checkpoint_tokens: int = 0  # at which we make a checkpoint, 0 for never
    fault: str = ""  # why that comes too late


@dataclass(frozen=True, slots=True)
class StandingFacts:
    """What a session always carries, as it was last put together and as its files stand now."""

    expected: bool = False  # whether anybody has begun to say who the agent and the user are
    identity: int = 0  # files of identity and user that are told
    entries: int = 0
    critical: int = 0
    critical_loaded: int = 0
    critical_chars: int = 0
    budget: int = 0
    chars: int = 0  # of all that is told, or would be if it had room
    no_room: tuple[str, ...] = ()  # identity, role, instructions, user, commands and skills that do not fit
    left_out: tuple[str, ...] = ()
    files: int = 0  # in folders of memories
    loaded: int = 0
    failed: tuple[str, ...] = ()
    ungoverned: tuple[str, ...] = ()  # edited since somebody took responsibility, or gone
    new: tuple[str, ...] = ()
    conflicts: Mapping[str, float] = field(default_factory=dict)  # memory against procedure -> since when
    rules: int = 0  # cited so often that they should be procedures, and in none


@dataclass(frozen=True, slots=True)
class LoaderFacts:
    """Memories in folders of files: by type on disk and loaded, and which are lost."""

    disk: Mapping[str, int] = field(default_factory=dict)  # "" for files that state no type
    loaded: Mapping[str, int] = field(default_factory=dict)
    lost: tuple[str, ...] = ()  # critical ones first, then those of another schema
    critical_missing: int = 0
    other_schema: int = 0  # of the lost ones, those that another version of recall wrote
