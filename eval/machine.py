"""What a figure was measured on: hardware, load, versions, commit."""

import os
import platform
import subprocess
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Machine:
    """Printed with every measurement; a figure without it says nothing."""

    processor: str
    cores: int
    memory_gb: float
    system: str
    python: str
    load: tuple[float, float, float]
    commit: str
    version: str

    def to_text(self) -> str:
        """Return one line."""
        load = "/".join(f"{value:.1f}" for value in self.load)
        return (
            f"{self.processor}, {self.cores} cores, {self.memory_gb:.0f} GB, {self.system}, Python {self.python}, "
            f"load {load}, lca-recall {self.version}, commit {self.commit}"
        )


def machine() -> Machine:
    """Return this machine as it is now; the commit is that of the running code, "unknown" outside a checkout."""
    return Machine(
        processor=_processor(),
        cores=os.cpu_count() or 1,
        memory_gb=_memory() / 1e9,
        system=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
        load=load(),
        commit=_commit(),
        version=_version(),
    )


def load() -> tuple[float, float, float]:
    """Return the load averages, zeros where the system has none."""
    try:
        return os.getloadavg()
    except (AttributeError, OSError):
        return (0.0, 0.0, 0.0)


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0


def _commit() -> str:
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return done.stdout.strip() if done.returncode == 0 else "unknown"


def _version() -> str:
    try:
        return version("lca-recall")
    except PackageNotFoundError:
        return "unknown"
