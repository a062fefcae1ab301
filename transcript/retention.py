"""How long a harness keeps its own transcripts: what is not captured by then is lost."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

DEFAULT_DAYS = 30


@dataclass(frozen=True, slots=True)
class Retention:
    """After how many days Claude Code deletes a transcript, and whether anybody chose that."""

    days: int
    is_default: bool


def retention_warning(config: Path) -> Retention | None:
    """Return the retention to warn of, None when the harness's settings keep transcripts longer than by default.

    config is the harness's configuration folder (`~/.claude`). Unreadable settings count as the default.
    """
    try:
        chosen = json.loads((config / "settings.json").read_bytes()).get("cleanupPeriodDays")
    except (OSError, ValueError, AttributeError):
        chosen = None
    if isinstance(chosen, bool) or not isinstance(chosen, int | float):
        return Retention(DEFAULT_DAYS, True)
    return Retention(int(chosen), False) if chosen <= DEFAULT_DAYS else None


def expiring(paths: Iterable[Path], days: int, *, within_days: int, now: datetime) -> list[Path]:
    """Return the files that the harness, which goes by change times, deletes within so many days, oldest first."""
    due = []
    for path in paths:
        try:
            age = (now.timestamp() - path.stat().st_mtime) / 86400
        except OSError:
            continue
        if age >= days - within_days:
            due.append((-age, path))
    return [path for _, path in sorted(due)]
