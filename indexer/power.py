"""Keeps the work of indexing out of the user's way: low priority, one thread on battery."""

import os
import sys
from pathlib import Path

_SUPPLIES = Path("/sys/class/power_supply")


def thread_count(wanted: int, *, supplies: Path = _SUPPLIES) -> int:
    """Return how many threads the model may use: wanted when given, one on battery, else 0 for the runtime's own."""
    if wanted > 0:
        return wanted
    return 1 if on_battery(supplies) else 0


def on_battery(supplies: Path = _SUPPLIES) -> bool:
    """Tell whether the machine runs on battery; False where that cannot be read."""
    for status in sorted(supplies.glob("*/status")) if supplies.is_dir() else ():
        try:
            if status.read_text(encoding="ascii", errors="replace").strip() == "Discharging":
                return True
        except OSError:
            continue
    return False


def lower_priority() -> None:
    """Give way to everything else. Call before the model is loaded: its threads take over what holds then."""
    if sys.platform != "win32":
        os.setpriority(os.PRIO_PROCESS, 0, max(10, os.getpriority(os.PRIO_PROCESS, 0)))
