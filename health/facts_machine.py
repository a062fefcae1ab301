"""What the signals look at of the machine: the backend, the installation, the service, the job, backups, the disk.

As in facts.py, a None means "not known".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class BackendFacts:
    """What this machine can do: SQLite, its extension, words, the model."""

    vectors: str = "off"
    vectors_reason: str = ""
    sqlite: str = ""
    extension: str = ""
    fts5: bool | None = None
    python: str = ""
    hook_python: str = ""
    hook_sqlite: str = ""
    hook_fts5: bool | None = None
    embedder: str = "unknown"
    embedder_model: str = ""
    embedder_path: str = ""  # "" where it is no file
    embedder_reason: str = ""


@dataclass(frozen=True, slots=True)
class FreshnessFacts:
    """Which version each part of the installation states."""

    version: str = ""
    site: str = ""  # the folder of packages that this command runs from
    canon: str = ""  # the setting: "", a git ref, a file
    canonical: str = ""  # what it says
    behind: int | None = None  # commits or versions
    edited: tuple[str, ...] | None = None  # files that differ from the commit or the installed wheel
    canon_fault: str = ""  # why there is no canonical version, where one is set
    launcher: str = ""  # version of the copy that hooks run
    launcher_site: str = ""
    launcher_gone: bool = False  # that copy is not there any more
    launcher_edited: bool = False
    service: str = ""
    service_site: str = ""
    hooks: Mapping[str, str] = field(default_factory=dict)  # harness -> version that wrote the entry
    schemas: tuple[tuple[str, int | None, int], ...] = ()  # (file, held, expected)


@dataclass(frozen=True, slots=True)
class ServiceFacts:
    """The resident service: whether it runs, how large it is, how often it died."""

    up: bool | None = None
    stuck: bool = False  # there, and does not answer
    pid: int | None = None
    version: str = ""
    memory_mb: float | None = None
    limit_mb: float | None = None
    starts_7d: int = 0
    crashes_7d: int = 0
    processes: int | None = None  # of this data folder
    log_bytes: int = 0
    log_limit: int = 0  # that rotation lets them grow to


@dataclass(frozen=True, slots=True)
class ScheduleFacts:
    """The nightly job: whether something calls it, when it was due, when it ran."""

    kind: str = ""  # systemd, cron, launchd, windows; "" for none
    installed_text_ok: bool = True
    enabled: bool | None = None
    due: float | None = None
    last: float | None = None
    failed_projects: Mapping[str, int] = field(default_factory=dict)  # workspace -> failures in a row
    missed: int = 0


@dataclass(frozen=True, slots=True)
class BackupFacts:
    """The newest backup of this workspace."""

    at: float | None = None
    path: str = ""
    behind_events: int = 0


@dataclass(frozen=True, slots=True)
class DiskFacts:
    """The disk that holds the data."""

    free_bytes: int | None = None
    total_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class MachineFacts:
    """Where the report was made."""

    system: str = ""
    python: str = ""
    cpus: int | None = None
