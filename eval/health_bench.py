"""How long `recall health` takes: whole processes, with the index's figures counted and with those that were kept."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from eval.machine import Machine, machine
from transcript.errors import RecallError
from transcript.telling import counted

PROGRAM = (sys.executable, "-I", "-m", "recall.cli.main", "health", "--json")


@dataclass(frozen=True, slots=True)
class HealthReport:
    """Seconds of each run, wall and CPU; counted: with --recount, kept: without."""

    rows: int
    events: int
    counted_wall_s: tuple[float, ...]
    counted_cpu_s: tuple[float, ...]
    kept_wall_s: tuple[float, ...]
    kept_cpu_s: tuple[float, ...]
    machine: Machine

    def to_json(self) -> str:
        """Return one JSON object with every single time."""
        return json.dumps(asdict(self))

    def to_text(self) -> str:
        """Return the medians for people."""
        runs = len(self.kept_wall_s)
        return "\n".join(
            [
                f"recall health over {counted(self.events, 'event')} and {counted(self.rows, 'row')}, "
                f"median of {counted(runs, 'run')}",
                f"counted anew     {_told(self.counted_wall_s, self.counted_cpu_s)}",
                f"figures as kept  {_told(self.kept_wall_s, self.kept_cpu_s)}",
                self.machine.to_text(),
            ]
        )


def run(folder: Path, env: Mapping[str, str], *, runs: int, options: Sequence[str] = ()) -> HealthReport:
    """Time processes of `recall health` in a project's folder, both ways by turns after one run for the disk.

    RecallError where the report cannot be made.
    """
    first = _time(folder, env, options)[2]
    values = {signal["id"]: signal["value"] for signal in json.loads(first)["signals"]}
    anew, kept = [], []
    for _ in range(runs):
        anew.append(_time(folder, env, [*options, "--recount"])[:2])
        kept.append(_time(folder, env, options)[:2])
    return HealthReport(
        rows=int(values.get("distinct_texts") or 0) + int(values.get("duplicate_rows") or 0),
        events=int(values["stored"]),
        counted_wall_s=tuple(wall for wall, _ in anew),
        counted_cpu_s=tuple(cpu for _, cpu in anew),
        kept_wall_s=tuple(wall for wall, _ in kept),
        kept_cpu_s=tuple(cpu for _, cpu in kept),
        machine=machine(),
    )


def _time(folder: Path, env: Mapping[str, str], options: Sequence[str]) -> tuple[float, float, str]:
    """Return wall and CPU seconds of one process, and what it printed."""
    begun, before = time.perf_counter(), os.times()
    done = subprocess.run(
        [*PROGRAM, *options], cwd=folder, env=dict(env), capture_output=True, text=True, encoding="utf-8"
    )
    wall, after = time.perf_counter() - begun, os.times()
    if not done.stdout.startswith("{"):
        raise RecallError(f"'recall health' made no report: {done.stderr.strip().splitlines()[-1:]}")
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return round(wall, 3), round(cpu, 3), done.stdout


def _told(wall: Sequence[float], cpu: Sequence[float]) -> str:
    return f"{median(wall):.2f} s, {median(cpu):.2f} s of CPU"
