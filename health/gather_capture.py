"""Reads what the capture signals look at: the state of the last sync against the harness's files as they stand now."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from health import harness_retention
from health.facts import CaptureFacts, Expiring, Waiting
from transcript.adapters.base import Adapter, SourceFile
from transcript.adapters.jsonl import GLUED
from transcript.adapters.registry import registered
from transcript.capture_claims import places
from transcript.capture_plan import plan
from transcript.capture_state import CaptureState, SourceState
from transcript.workspace import Workspace, excluded

HORIZON_SECONDS = 7 * 86400  # how far ahead deletions are told


@dataclass(frozen=True, slots=True)
class _File:
    """A session file of this workspace as it stands: bytes not taken in, and when it was written last."""

    path: str
    waiting: int
    written: float
    known: bool


def capture_facts(
    workspace: Workspace, data: Path, env: Mapping[str, str], *, now: float
) -> tuple[CaptureFacts, dict[str, float]]:
    """Return the facts of capture, and for each harness when it wrote in this workspace last."""
    state = CaptureState(workspace)
    last_write: dict[str, float] = {}
    files: list[_File] = []
    waiting: list[Waiting] = []
    expiring: list[Expiring] = []
    for adapter in registered().adapters:
        mine = _files(adapter, workspace, state, data, env)
        files += mine
        if mine:
            last_write[adapter.harness] = max(file.written for file in mine)
        waiting += _waiting(adapter.harness, mine)
        after = harness_retention.seconds(adapter, env, workspace.root)
        if after is not None:
            expiring += [
                Expiring(file.path, adapter.harness, file.written + after, after, file.waiting <= 0)
                for file in mine
                if file.written + after - now <= HORIZON_SECONDS
            ]
    behind = [file for file in files if file.waiting > 0]
    damage = state.damage()
    mended = sum(why == GLUED for *_, why in damage)
    facts = CaptureFacts(
        excluded=workspace.root is not None and excluded(workspace.root, data),
        sources=len(state.sources),
        read_bytes=sum(source.offset for source in state.sources.values()),
        missing=tuple(state.missing()),
        behind=len(behind),
        behind_bytes=sum(file.waiting for file in behind),
        behind_oldest=min((file.written for file in behind), default=None),
        uncaptured=sum(not file.known for file in files),
        waiting=tuple(waiting),
        expiring=tuple(sorted(expiring, key=lambda file: (file.at, file.path))),
        unknown_types=dict(state.unknown()),
        skipped=dict(state.skipped),
        damaged=state.damaged() - mended,
        mended=mended,
        damaged_where=tuple(_where(*place) for place in damage if place[-1] != GLUED),
        incomplete_tails=tuple(f"{path} ({size:,} bytes)" for path, size in state.incomplete()),
    )
    return facts, last_write


def _where(path: str, line: int, at: int, why: str) -> str:
    """Return where a damaged line is: what tells it first, for a long line is cut at its end."""
    return f"{Path(path).name} line {line} byte {at}: {why}, in {Path(path).parent}"


def _waiting(harness: str, files: Iterable[_File]) -> list[Waiting]:
    behind = [file for file in files if file.waiting > 0]
    if not behind:
        return []
    oldest = min(file.written for file in behind)
    return [Waiting(harness, len(behind), sum(file.waiting for file in behind), oldest)]


def _files(
    adapter: Adapter, workspace: Workspace, state: CaptureState, data: Path, env: Mapping[str, str]
) -> list[_File]:
    """Return this workspace's sources in the harness's own place, and those taken in from elsewhere."""
    found, _ = adapter.discover(places(adapter, env, None, workspace, data))
    planned, _ = plan(adapter, found, state.sources, data, all_roots=False)
    sources = {
        name: SourceFile(known.harness, Path(known.path), known.identity, known.session, known.worker, known.companion)
        for name, known in state.sources.items()
        if known.harness == adapter.harness and not known.missing
    }
    for item in planned:
        if item.reason:
            sources.pop(item.source.source, None)  # kept out or excluded: not behind
        elif item.owner is not None and item.owner.id == workspace.id:
            sources[item.source.source] = item.source
    return list(_seen(adapter, sources.values(), state.sources))


def _seen(adapter: Adapter, sources: Iterable[SourceFile], states: Mapping[str, SourceState]) -> Iterable[_File]:
    for source in sources:
        state = states.get(source.source)
        try:
            written = source.path.stat().st_mtime
            with adapter.open(source) as lines:  # a view's size is not that of the file behind it
                size = lines.seek(0, os.SEEK_END)
        except OSError:
            continue
        taken = state.offset + state.rest_bytes if state is not None else 0
        yield _File(str(source.path), max(0, size - taken), written, state is not None)
