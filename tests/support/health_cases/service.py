from dataclasses import replace

from health.facts_machine import ServiceFacts
from support.health_cases import FAIL, OK, WARN, WELL, Case

UP = ServiceFacts(
    up=True, pid=7, version="0.1.0", memory_mb=280, limit_mb=1500, starts_7d=3, processes=1,
    log_bytes=900_000, log_limit=4_000_000,
)  # fmt: skip


def service(**changes):
    return replace(WELL, service=replace(UP, **changes))


CASES = {
    "service": Case(
        healthy=service(),
        warn=service(up=False, stuck=True),
        fail=service(up=False, pid=None),
        says=("running, version 0.1.0", "process 7 holds the service and does not answer", "the next hook starts it"),
        levels=(OK, WARN, OK),
    ),
    "service_memory": Case(
        healthy=service(memory_mb=1200),
        warn=service(memory_mb=1201),
        fail=service(memory_mb=1501),
        says=("1,200 MB of at most 1,500 MB", "1,201 MB", "1,501 MB"),
    ),
    "service_crashes": Case(
        healthy=service(),
        warn=service(crashes_7d=1),
        fail=service(crashes_7d=10, starts_7d=12),
        says=("0 crashes in 3 starts", "1 crash in 3 starts", "10 crashes in 12 starts"),
    ),
    "service_processes": Case(
        healthy=service(),
        warn=service(processes=None),
        fail=service(processes=2),
        says=("1 process", "not known on this system", "2 processes"),
        levels=(OK, OK, FAIL),
    ),
    "log_files": Case(
        healthy=service(log_bytes=8_000_000),
        warn=service(log_bytes=8_000_001),
        fail=service(log_bytes=80_000_000),
        says=("8.0 MB", "8.0 MB", "80.0 MB"),
        levels=(OK, WARN, WARN),
    ),
}
