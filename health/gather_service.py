"""Reads what the signals of the resident service and its logs look at; starts and ends nothing, writes nothing."""

from collections.abc import Mapping
from pathlib import Path

from health.facts_machine import ServiceFacts
from recall import config, service_control
from recall.log_reader import FOLDER
from recall.service import Question


def service_facts(data: Path, env: Mapping[str, str], *, now: float, asked: Question | None = None) -> ServiceFacts:
    """Return whether the service runs, how large it is, how often it died within a week, and how large the logs are.

    asked is the question how it is, where that has left already.
    """
    status = service_control.status(data, now=now, asked=asked)
    kept = config.load(data, None, env).logs()
    files = [path for path in (data / FOLDER).glob("*.jsonl*") if path.is_file()]
    names = {path.name.partition(".")[0] for path in files}
    return ServiceFacts(
        up=status.up,
        stuck=status.stuck,
        pid=status.pid,
        version=status.version,
        memory_mb=status.memory_mb,
        limit_mb=status.limit_mb,
        starts_7d=status.starts_7d,
        crashes_7d=status.crashes_7d,
        processes=service_control.processes(data),
        log_bytes=sum(path.stat().st_size for path in files),
        log_limit=round(len(names) * (kept.keep + 1) * kept.megabytes * 1e6),
    )
