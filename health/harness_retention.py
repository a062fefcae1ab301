"""After how long a harness deletes its own session files: its settings, read as it reads them."""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from transcript.adapters.base import Adapter
from transcript.paths import read_file

DAY = 86400
CLAUDE_DAYS = 30  # cleanupPeriodDays where nobody set it
GEMINI_AGE = "30d"  # general.sessionRetention.maxAge where nobody set it
_UNITS = {"h": 3600, "d": DAY, "w": 7 * DAY, "m": 30 * DAY}


def seconds(adapter: Adapter, env: Mapping[str, str], project: Path | None) -> float | None:
    """Return how old a session file of this harness may get, in seconds; None where it keeps them for ever.

    Claude Code deletes by the age of the file whenever it starts, those of all projects: the shortest period that holds
    anywhere counts. Gemini CLI deletes those of the project it starts in. Of no other harness we know that it deletes.
    """
    read = _HARNESSES.get(adapter.harness)
    if read is None:
        return None
    users = [root.parent / "settings.json" for root in adapter.roots(env)]
    return read([_settings(path) for path in users], _project_settings(adapter, users, project))


def _claude(users: Iterable[dict[str, Any]], project: Iterable[dict[str, Any]]) -> float | None:
    days = [_positive(settings.get("cleanupPeriodDays")) or CLAUDE_DAYS for settings in users] or [CLAUDE_DAYS]
    days += [period for settings in project if (period := _positive(settings.get("cleanupPeriodDays")))]
    return min(days) * DAY


def _gemini(users: Iterable[dict[str, Any]], project: Iterable[dict[str, Any]]) -> float | None:
    merged: dict[str, Any] = {"enabled": True, "maxAge": GEMINI_AGE}
    for settings in (*users, *project):
        general = settings.get("general")
        said = general.get("sessionRetention") if isinstance(general, dict) else None
        merged |= said if isinstance(said, dict) else {}
    age = merged["maxAge"]
    if not merged["enabled"] or not isinstance(age, str):
        return None
    number, unit = age[:-1], age[-1:]
    return int(number) * _UNITS[unit] if number.isascii() and number.isdigit() and unit in _UNITS else None


Read = Callable[[Iterable[dict[str, Any]], Iterable[dict[str, Any]]], float | None]
_HARNESSES: dict[str, Read] = {"claude-code": _claude, "gemini-cli": _gemini}


def _project_settings(adapter: Adapter, users: Iterable[Path], project: Path | None) -> list[dict[str, Any]]:
    if project is None:
        return []
    folder = project / (".claude" if adapter.harness == "claude-code" else ".gemini")
    paths = (folder / "settings.json", folder / "settings.local.json")
    return [_settings(path) for path in paths if path not in users]


def _settings(path: Path) -> dict[str, Any]:
    """Return a settings file as an object; of one that cannot be read, nothing: the harness then goes by its own."""
    try:
        held = json.loads(read_file(path))
    except (OSError, ValueError):
        return {}
    return held if isinstance(held, dict) else {}


def _positive(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
