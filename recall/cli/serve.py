"""`recall serve`: the resident service. Hooks start it by themselves; by hand it runs in the foreground."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import click

from recall import config, spawn
from recall.allocator import restrain
from recall.freshness import note_newest
from recall.hook_counters import add
from recall.launcher import site_folder
from recall.service import Limits, Service, call, memory_mb, stop_on_signal
from recall.service_control import note_end, note_start
from recall.version import VERSION
from transcript.errors import LockBusy, RecallError
from transcript.paths import data_home


@click.command("serve")
@click.option("--status", is_flag=True, help="Say whether a service runs, and leave.")
@click.option("--stop", is_flag=True, help="End the running service.")
def command(status: bool, stop: bool) -> None:
    """Keep model and indexes warm and answer hooks until idle.

    The first hook starts a service by itself; every command and every hook also works without one. In the
    foreground it ends with Ctrl-C.

    \b
        recall serve --status
    """
    data = data_home(os.environ)
    if status or stop:
        found = call(data, "stop" if stop else "status", site=site_folder())
        click.echo("no service runs" if found is None else ", ".join(f"{k} {v}" for k, v in found.items() if v != ""))
        return
    locked = spawn.take_lock(f"{data}/{spawn.SERVICE_LOCK}")
    if locked is None:
        raise LockBusy("a service runs already; 'recall serve --status' shows it")
    try:
        reason = serve(data, dict(os.environ))
    except KeyboardInterrupt:
        reason = "interrupted"
    click.echo(f"ended: {reason}", err=True)


def main(arguments: list[str]) -> None:
    """Run as the detached process that a hook started: DATA --lock DESCRIPTOR."""
    data, _, locked = arguments
    spawn.settle(int(locked))
    code = 0
    try:
        stop_on_signal()
        serve(Path(data), dict(os.environ))
    except RecallError:
        add(Path(data), "service", "start_failed")
        code = 1
    except Exception as error:  # nobody watches this process: the failure is counted for health
        add(Path(data), "service", f"start_failed:{type(error).__name__}")
        code = 1
    os._exit(code)  # libraries' threads must not hold the process


def serve(data: Path, env: dict[str, str]) -> str:
    """Answer hooks until the end, and return its reason. The caller holds the service's lock."""
    restrain()
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # a turn is too short to wait for a second processor
    from recall.logs import logger

    note_newest(data)
    note_start(data, now=time.time())
    log, began, reason = logger(data, "service"), time.monotonic(), "interrupted"
    try:
        settings = config.load(data, None, env)
        log = logger(data, "service", settings.logs())
        log.info("service_started", pid=os.getpid(), version=VERSION)
        reason = _serve(data, env, settings, lambda error: log.error("answer_failed", error=error))
    except Exception as error:
        reason = f"failed: {type(error).__name__}"
        log.error("service_failed", pid=os.getpid(), error=error)
        raise
    finally:
        note_end(data, reason, now=time.time())
        seconds = time.monotonic() - began
        log.info(
            "service_ended", pid=os.getpid(), reason=reason.partition(":")[0], seconds=seconds, memory_mb=memory_mb()
        )
    return reason


def _serve(data: Path, env: dict[str, str], settings: config.Config, failed: Callable[[BaseException], None]) -> str:
    from indexer.embedder import load
    from recall.resident import Resident
    from recall.warm_model import WarmModel

    model = settings.index().model
    limits = Limits(
        idle_s=settings.service().idle_minutes * 60,
        memory_mb=settings.service().memory_mb,
        deadline_ms=settings.hook().deadline_ms,
    )
    warm = WarmModel(lambda: load(model, data_home=str(data), threads=1))
    resident = Resident(data, site_folder(), warm, env)
    return Service(data, site_folder(), resident.respond, limits, env, failed=failed).run()
