"""Reads how much of the disk that holds the data is free."""

import shutil
from pathlib import Path

from health.facts_machine import DiskFacts


def disk_facts(data: Path) -> DiskFacts:
    """Return free and total bytes of the disk; not known where the folder is not there yet."""
    if not data.is_dir():
        return DiskFacts()
    usage = shutil.disk_usage(data)
    return DiskFacts(usage.free, usage.total)
