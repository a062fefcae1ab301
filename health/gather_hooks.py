"""Reads what the signals of hooks, turns and interpreters look at; writes nothing."""

import json
import platform
import shlex
import subprocess
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

from health.facts import HookFacts, TurnFacts
from health.facts_machine import BackendFacts
from health.gather_replaced import replaced_items
from health.hook_trust import untrusted
from recall import hook_counters, hook_registry, hooks_install, launcher, ledger
from recall.contracts import CONTRACTS
from recall.gate import BELOW_FLOOR
from recall.harness import CLAUDE_CODE
from recall.hook_registry import Installed
from recall.hook_turn import read_beat
from recall.settings import RetrievalSettings
from recall.use import read_uses
from transcript.errors import HookInstallError, RecordError
from transcript.event import moment
from transcript.log import Log
from transcript.workspace import Workspace

COUNTED_DAYS = 7
WORDS_FAILED = ("words_no_fts5", "words_index_unreadable")
ESTIMATED = "tokens_estimated"
# Kinds of hook_counters that kept no call from its answer.
ORDINARY = ("service_", "payload_other_harness", "reader_gone", ESTIMATED)
_PROBE = (
    "import sqlite3,json,sys;c=sqlite3.connect(':memory:');"
    "f=any('FTS5' in r[0] for r in c.execute('pragma compile_options'));"
    "print(json.dumps([sys.version.split()[0],sqlite3.sqlite_version,f]))"
)


def hook_facts(
    workspace: Workspace,
    data: Path,
    env: Mapping[str, str],
    *,
    now: float,
    native_last_write: Mapping[str, float],
    since: float | None = None,
) -> tuple[HookFacts, ...]:
    """Return the hook of each harness that has one here: installed where, when it fired, how often it failed lately.

    Lately is within a week, or since a moment. Where there is none at all, Claude Code's is said to be missing.
    """
    counted = hook_counters.read(data, since=_from(since, now))
    try:
        here = [entry for entry in hook_registry.registered(data) if _reaches(entry, workspace)]
    except HookInstallError as error:
        return (replace(_fired(data, CLAUDE_CODE, counted, native_last_write, workspace.id), drift=str(error)),)
    names = [name for name in CONTRACTS if any(entry.harness == name for entry in here)] or [CLAUDE_CODE]
    return tuple(
        _hook(
            _fired(data, name, counted, native_last_write, workspace.id),
            [entry for entry in here if entry.harness == name],
            data,
            workspace.root,
            env,
        )
        for name in names
    )


def _fired(
    data: Path,
    harness: str,
    counted: list[hook_counters.Count],
    native_last_write: Mapping[str, float],
    workspace: str,
) -> HookFacts:
    return HookFacts(
        harness,
        last_fired=read_beat(data, harness, of="workspaces").get(workspace),
        native_last_write=native_last_write.get(harness),
        failures={c.kind: c.times for c in counted if c.harness == harness and not c.kind.startswith(ORDINARY)},
    )


def _hook(known: HookFacts, here: list[Installed], data: Path, root: Path | None, env: Mapping[str, str]) -> HookFacts:
    if not here:
        return known
    return replace(
        known,
        installed=True,
        installed_at=min(datetime.fromisoformat(entry.at).timestamp() for entry in here),
        drift="; ".join(filter(None, (_drift(entry, data) for entry in here))),
        untrusted="; ".join(filter(None, (untrusted(entry, root, env) for entry in here))),
        launcher_ok=not launcher.problem(data),
    )


def _reaches(entry: Installed, workspace: Workspace) -> bool:
    """Whether an installed entry covers this workspace: the user's always, a project's only its own."""
    root = workspace.root
    return entry.scope == "user" or (root is not None and Path(entry.file).is_relative_to(root))


def _drift(entry: Installed, data: Path) -> str:
    if not Path(entry.file).exists():
        return f"{entry.file} is gone"
    try:
        plan = hooks_install.plan_again(entry, data)
    except HookInstallError as error:
        return str(error)
    return f"{entry.file} no longer holds all that we wrote" if plan.changes else ""


def _from(since: float | None, now: float) -> int:
    """The moment from which on failures count."""
    return int(now - COUNTED_DAYS * 86400 if since is None else since)


def turn_facts(
    workspace: Workspace, *, last: int, data: Path, now: float, since: float | None = None, log: Log | None = None
) -> TurnFacts:
    """Return the newest turns of hooks from the ledger, at most `last`, from `since` on.

    Searches by command do not count as turns.
    """
    log = log or Log(workspace)
    try:
        found = ledger.turns(log, modes=ledger.HOOK_MODES)
        if since is not None:
            found = takewhile(lambda row: moment(row.ts).timestamp() >= since, found)
        rows = list(islice(found, last))
        replaced = replaced_items(log, rows)
    except (RecordError, OSError):
        rows, replaced = [], ()
    bodies = [row.body for row in rows]
    held = read_uses(workspace.run_dir)
    uses = [held[row.id] for row in rows if row.id in held]
    counted = hook_counters.read(data, since=_from(since, now))
    return TurnFacts(
        modes=dict(Counter(_mode(body) for body in bodies)),
        latencies_ms=tuple(float(body["latency_ms"]) for body in bodies if "latency_ms" in body),
        tokens=tuple(int(body.get("tokens", 0)) for body in bodies),
        items=tuple(len(body.get("items", ())) for body in bodies),
        empty=sum(not body.get("block_hash") for body in bodies),
        empty_reasons=dict(Counter(str(body["empty_reason"]) for body in bodies if body.get("empty_reason"))),
        candidates=_weighed(bodies, "candidates"),
        below_floor=_weighed(bodies, BELOW_FLOOR),
        deadline_misses=_staged(counted, "deadline"),
        items_judged=sum(items for items, _, _ in uses),
        items_named=sum(named for _, named, _ in uses),
        items_overlapping=sum(overlapping for _, _, overlapping in uses),
        bad_query_vectors=sum("vector_unusable" in (body.get("note"), body.get("words_only")) for body in bodies),
        cut=sum(map(_is_cut, bodies)),
        replaced=replaced,
        lexical_failures={**_whole(counted, WORDS_FAILED), **_staged(counted, "index")},
        estimated=sum(_whole(counted, (ESTIMATED,)).values()),
    )


def _weighed(bodies: list[dict[str, Any]], verdict: str) -> int:
    """How many candidates of these turns had a verdict, "candidates" for all."""
    return sum(int(body.get("counts", {}).get(verdict, 0)) for body in bodies)


def _is_cut(body: Mapping[str, Any]) -> bool:
    """Whether a turn found at least as many candidates as are weighed at most."""
    most = body.get("settings", {}).get("retrieval.k", RetrievalSettings().k)
    return int(body.get("counts", {}).get("candidates", 0)) >= int(most)


def _mode(body: Mapping[str, object]) -> str:
    """The mode of a turn; a turn of the service that had no vectors is one of words."""
    mode = str(body.get("mode"))
    return "warm_words" if mode == "warm" and body.get("words_only") else mode


def _staged(counted: list[hook_counters.Count], of: str) -> dict[str, int]:
    """Return counters named "of:stage", by stage."""
    found: Counter[str] = Counter()
    for count in counted:
        kind, _, stage = count.kind.partition(":")
        if kind == of:
            found[stage] += count.times
    return dict(found)


def _whole(counted: list[hook_counters.Count], kinds: tuple[str, ...]) -> dict[str, int]:
    """Return the counters of these kinds, by kind."""
    found: Counter[str] = Counter()
    for count in counted:
        if count.kind in kinds:
            found[count.kind] += count.times
    return dict(found)


def interpreter_facts(data: Path, backend: BackendFacts) -> BackendFacts:
    """Add this interpreter, and the hook's own with its SQLite.

    The hook's SQLite is asked in a process of its own: this one holds another SQLite library.
    """
    version, sqlite, fts5 = _hook_interpreter(data)
    return replace(
        backend,
        python=platform.python_version(),
        hook_python=version,
        hook_sqlite=sqlite,
        hook_fts5=fts5,
    )


def _hook_interpreter(data: Path) -> tuple[str, str, bool | None]:
    try:
        lines = launcher.launcher_path(data).read_text(encoding="utf-8").splitlines()
        python = shlex.split(next(line for line in lines if line.startswith("py="))[3:])[0]
        done = subprocess.run([python, "-I", "-S", "-c", _PROBE], capture_output=True, timeout=10, check=True)
        version, sqlite, fts5 = json.loads(done.stdout)
    except (OSError, StopIteration, IndexError, ValueError, subprocess.SubprocessError):
        return "", "", None
    return str(version), str(sqlite), bool(fts5)
