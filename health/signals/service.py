"""The resident service: how large, how often it died, how many there are; and the size of its logs."""

from health.facts_machine import ServiceFacts
from health.known import Area, Known, one
from health.signal import Level, Limits, Signal, size
from transcript.telling import counted

CRASHES = Limits(warn=0, fail=9)


def running(service: ServiceFacts) -> Signal:
    """Return whether the service runs; the next hook starts it where it does not, unless one is there that hangs."""
    state = "stuck" if service.stuck else "running" if service.up else "not running"
    texts = {
        "stuck": f"process {service.pid} holds the service and does not answer",
        "running": f"running, version {service.version}",
        "not running": "not running; the next hook starts it",
    }
    return Signal(
        id="service",
        value=state,
        unit="state",
        level=Level.WARN if service.stuck else Level.OK,
        text=texts[state],
        meaning="It keeps model and index warm; the first hook starts it and it leaves when idle.",
        action="run 'recall service stop'; turns go by words until then" if service.stuck else "",
    )


def service_memory(service: ServiceFacts, *, warn_share: float = 0.8) -> Signal:
    """Return the resident memory of the service against the bound at which it leaves."""
    used, limit = service.memory_mb, service.limit_mb
    limits = Limits(limit * warn_share * 1e6, limit * 1e6) if limit else Limits()
    level = limits.level(used * 1e6) if used is not None else Level.OK
    text = "no service runs" if used is None else f"{used:,.0f} MB"
    if used is not None and limit:
        text += f" of at most {limit:,.0f} MB"
    return Signal(
        id="service_memory",
        value=None if used is None else int(used * 1e6),
        unit="bytes",
        level=level,
        text=text,
        meaning="A service over service.memory_mb ends itself after the next turn; the one that follows starts small.",
        action="run 'recall service stop'; if it is back soon, raise what 'recall config service.memory_mb' shows"
        if level
        else "",
        limits=limits,
    )


def service_crashes(service: ServiceFacts) -> Signal:
    """Return how often the service ended without saying why, within a week."""
    level = CRASHES.level(service.crashes_7d)
    return Signal(
        id="service_crashes",
        value=service.crashes_7d,
        unit="count",
        level=level,
        text=f"{counted(service.crashes_7d, 'crash', 'crashes')} in {counted(service.starts_7d, 'start')} of 7 days",
        meaning="A service that is killed or crashes leaves turns to words; the next hook starts another.",
        action="run 'recall service logs' to see what came before" if level else "",
        limits=CRASHES,
    )


def service_processes(service: ServiceFacts) -> Signal:
    """Return how many processes serve this data folder: none or one."""
    limits = Limits(fail=1)
    level = limits.level(service.processes or 0)
    known = (
        "not known on this system" if service.processes is None else counted(service.processes, "process", "processes")
    )
    return Signal(
        id="service_processes",
        value=service.processes,
        unit="count",
        level=level,
        text=known,
        meaning="One service serves a user; a second one holds memory and answers nobody.",
        action="run 'recall service stop', then end what 'ps' still shows of recall.cli.serve" if level else "",
        limits=limits,
    )


def log_files(service: ServiceFacts) -> Signal:
    """Return the bytes of recall's own logs against what rotation lets them grow to."""
    limits = Limits(warn=2 * service.log_limit) if service.log_limit else Limits()
    level = limits.level(service.log_bytes)
    return Signal(
        id="log_files",
        value=service.log_bytes,
        unit="bytes",
        level=level,
        text=size(service.log_bytes),
        meaning="Logs turn over at logs.megabytes and logs.keep old ones stay; more than that was not turned over.",
        action="run 'recall service stop' and delete the oldest files of <data>/logs" if level else "",
        limits=limits,
    )


KNOWN = (
    Known(
        "service",
        one(lambda f: running(f.service)),
        Area.OPERATIONS,
        "the service's socket, <data>/run/service.json",
        warn="there, and does not answer",
        why_never="turns go by words without it",
        remedy="service stop",
        safe=True,
    ),
    Known(
        "service_memory",
        one(lambda f: service_memory(f.service)),
        Area.OPERATIONS,
        "service",
        warn="> 80 % of service.memory_mb",
        fail="> service.memory_mb",
        remedy="service stop",
        safe=True,
    ),
    Known(
        "service_crashes",
        one(lambda f: service_crashes(f.service)),
        Area.OPERATIONS,
        "<data>/run/service.json",
        warn="> 0 in 7 days",
        fail=">= 10 in 7 days",
        remedy="service logs",
    ),
    Known(
        "service_processes",
        one(lambda f: service_processes(f.service)),
        Area.OPERATIONS,
        "/proc",
        fail="> 1",
        why_never="there is nothing between one and too many",
        remedy="service stop",
        safe=True,
    ),
    Known(
        "log_files",
        one(lambda f: log_files(f.service)),
        Area.OPERATIONS,
        "<data>/logs",
        warn="> 2x what rotation keeps",
        why_never="a large log loses nothing",
        remedy="service stop",
    ),
)
