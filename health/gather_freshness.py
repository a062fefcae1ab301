"""Reads which version each part of the installation states, and of which schema each file is; writes nothing."""

import base64
import contextlib
import hashlib
import json
import os
import re
import subprocess
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

from health.facts_machine import FreshnessFacts
from indexer import schema
from indexer.reader import SCHEMA_VERSION
from recall import calibration, facets, freshness, hook_registry, launcher, service, service_control, standing_context
from recall.version import VERSION
from transcript import bring_up, capture_state, event, roots
from transcript.errors import HookInstallError, LockBusy, RecordError, StoreError
from transcript.log import Log
from transcript.paths import open_file, read_file, user_path
from transcript.projections import memory_files
from transcript.projections.views import folder_of, memory_folder
from transcript.workspace import Workspace

NAME = "lca-recall"
PACKAGES = ("transcript", "indexer", "scoring", "recall", "consolidation", "health", "eval")
GIT_S = 10.0
TAIL = 4096  # of the record: the last line's end
_STATED = re.compile(
    r"""^\s*(?:(?:__)?version(?:__)?\s*[:=]\s*)?["']?v?(\d+(?:\.\d+)+[0-9A-Za-z.+-]*)["']?\s*$""", re.I | re.M
)
_ENVELOPE = re.compile(rb'"v":(\d+)\}\n?$')


def freshness_facts(
    workspace: Workspace,
    data: Path,
    canon: str,
    *,
    site: Path | None = None,
    version: str = VERSION,
    asked: service.Question | None = None,
) -> FreshnessFacts:
    """Return the versions of command, hooks, service and files, and how far the code that answers is behind.

    asked is the question how the service is, where that has left already. canon is the setting `freshness.canon`: a
    git ref, read as it was last fetched, or the absolute path of a file.
    """
    site = site or launcher.site_folder()
    stated = launcher.stated(data)
    hook_site = Path(stated.site) if stated is not None and stated.site else site
    answering = version if hook_site == site else _version_of(hook_site) or (stated.version if stated else "")
    running = (asked or service_control.question(data)).answer() or {}
    newest, _ = freshness.newest(data)
    canonical, behind, fault = _against(
        canon, answering or version, max(newest, version, key=freshness.ordered), hook_site
    )
    return FreshnessFacts(
        version=version,
        site=str(site),
        canon=canon,
        canonical=canonical,
        behind=behind,
        canon_fault=fault,
        edited=edited(hook_site),
        launcher=answering if stated is not None else "",
        launcher_site=stated.site if stated is not None else "",
        launcher_gone=bool(stated is not None and stated.client and not Path(stated.client).exists()),
        launcher_edited=stated is not None and stated.edited,
        service=str(running.get("version", "")),
        service_site=str(running.get("site", "")),
        hooks=_hooks(data),
        schemas=schemas(workspace, data),
    )


def _version_of(site: Path) -> str:
    """The version of the copy in a folder; "" where there is none."""
    return _stated_in(site / "recall" / "version.py")


def _stated_in(path: Path) -> str:
    """The version that a file states on a line of its own, as `1.2.0` or `version = "1.2.0"`; "" for none."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            found = _STATED.search(file.read(65536))
    except (OSError, ValueError):
        return ""
    return found[1] if found else ""


def _against(canon: str, code: str, newest: str, site: Path) -> tuple[str, int | None, str]:
    """(canonical version, versions or commits behind it, why that is not known)."""
    if not canon:
        return (newest, 1, "") if freshness.ordered(newest) > freshness.ordered(code) else ("", None, "")
    path = user_path(canon)
    if path.is_absolute():
        stated = _stated_in(path)
        if not stated:
            return "", None, f"{canon} states no version"
        return stated, int(freshness.ordered(stated) > freshness.ordered(code)), ""
    if not (site / ".git").exists():
        return "", None, f"{site} is no git checkout, so {canon} is not known there"
    commit = _git(site, "rev-parse", "--verify", "--quiet", "--short", "--end-of-options", f"{canon}^{{commit}}")
    count = _git(site, "rev-list", "--count", f"HEAD..{commit.strip()}", "--") if commit else ""
    if not (commit and count):
        return "", None, f"{site} has no commit {canon}"
    return f"{canon} {commit.strip()}", int(count), ""


def _git(site: Path, *words: str) -> str | None:
    """What git says in a checkout of ours, as it stands: nothing is fetched, no lock taken; None where it fails."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-C", str(site), "-c", "core.fsmonitor=false", *words]
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=GIT_S, check=True, env={**kept, "GIT_OPTIONAL_LOCKS": "0"}
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace")


def edited(site: Path) -> tuple[str, ...] | None:
    """Return the files of our packages that are not as committed or installed; None where neither is known."""
    if (site / ".git").exists():
        told = _git(site, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=no", "--", *PACKAGES)
        return None if told is None else tuple(line[3:] for line in told.split("\0") if line)
    found = next((one for one in distributions(path=[str(site)], name=NAME) if _located(one, site)), None)
    if found is None or found.files is None:
        return None
    ours = {
        str(file): file.hash.value
        for file in found.files
        if file.parts[0] in PACKAGES and file.suffix == ".py" and file.hash is not None
    }
    return tuple(name for name, kept in ours.items() if _hash(site / name) != kept) if ours else None


def _located(found: Distribution, site: Path) -> bool:
    return Path(str(found.locate_file(""))).resolve() == site.resolve()


def _hash(path: Path) -> str:
    """A file's SHA-256 as RECORD writes it; "" where the file is gone."""
    try:
        return base64.urlsafe_b64encode(hashlib.sha256(read_file(path)).digest()).decode().rstrip("=")
    except OSError:
        return ""


def _hooks(data: Path) -> dict[str, str]:
    """harness -> the oldest version that wrote one of its entries."""
    found: dict[str, str] = {}
    try:
        entries = hook_registry.registered(data)
    except HookInstallError:  # hook_installed says it
        return found
    for entry in entries:
        held = found.get(entry.harness, entry.version)
        found[entry.harness] = min(held, entry.version, key=freshness.ordered)
    return found


def schemas(workspace: Workspace, data: Path) -> tuple[tuple[str, int | None, int], ...]:
    """Return (file, version held, version that this code reads) of every file that is there.

    None is one that states no version. Files that are made anew by whoever finds an older one are listed when newer.
    """
    kept: list[tuple[str, int | None, int]] = []
    if bring_up.held(workspace.log_dir) == bring_up.FIRST:
        kept.append(("log/head", bring_up.FIRST, bring_up.NOW))
    elif workspace.head_file.exists() and workspace.activity.exists() and workspace.activity.stat().st_size:
        kept.append(("record", _record_version(workspace), event.VERSION))
    with contextlib.suppress(StoreError, LockBusy):  # an index that may not be opened has a signal of its own
        if workspace.index_path.exists():
            kept.append((workspace.index_path.name, schema.held(workspace.index_path), SCHEMA_VERSION))
    if (data / roots.TABLE).exists():
        kept.append((roots.TABLE, _json_version(data / roots.TABLE), roots.VERSION))
    derived = (
        (workspace.run_dir / standing_context.FILE, standing_context.VERSION),
        (workspace.run_dir / facets.FILE, facets.VERSION),
        (workspace.home / calibration.FILE, calibration.VERSION),
        (workspace.run_dir / capture_state.FILE, capture_state.STATE_VERSION),
    )
    for path, wanted in derived:
        held = _json_version(path)
        if held is not None and held > wanted:
            kept.append((path.name, held, wanted))
    return (*kept, *_memory_files(workspace))


def _memory_files(workspace: Workspace) -> Iterator[tuple[str, int | None, int]]:
    """The files of memories that another version wrote: the loader reads none of them."""
    views, (prefix, _, wanted) = folder_of(workspace.root), memory_files.SCHEMA.rpartition("/")
    written = re.compile(rb"---\nschema: " + re.escape(prefix).encode() + rb"/(\d{1,9})\n")
    for path in sorted(memory_folder(views).rglob("*.md")) if views is not None else ():
        try:
            with open_file(path) as file:
                found = written.match(file.read(64))
        except OSError:
            continue
        if found is not None and found[1] != wanted.encode():
            yield f"{memory_files.FOLDER}/{path.name}", int(found[1]), int(wanted)


def _record_version(workspace: Workspace) -> int | None:
    """The version of the newest event; None where its line does not end as an event does."""
    try:
        head = Log(workspace).head()
        with open_file(workspace.activity) as file:
            file.seek(max(head.length - TAIL, 0))
            found = _ENVELOPE.search(file.read(min(TAIL, head.length)))
    except (OSError, RecordError):
        return None
    return int(found[1]) if found else None


def _json_version(path: Path) -> int | None:
    """The number under "version" of a JSON object; None where there is none."""
    try:
        held: Any = json.loads(read_file(path))
    except (OSError, ValueError, RecursionError):
        return None
    version = held.get("version") if isinstance(held, dict) else None
    return version if type(version) is int else None
