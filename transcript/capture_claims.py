"""Where session files are looked for, and which adapter takes a file that several could claim.

In its own folder each harness is alone. In a folder given by hand every adapter looks, and then: a file belongs to
the adapter that read it before; else to the first, in the order of the registry, that recognises its first records;
a file that nobody recognises is counted once, by the last that looked at it. What lies in the folder of a session
(its `companion`) and is nobody's record goes with that session and is no oddity.
"""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from transcript.adapters.base import Adapter, InProject, SourceFile
from transcript.capture_plan import read_head
from transcript.roots import read_table
from transcript.workspace import Workspace


@dataclass(slots=True)
class Claims:
    """What one adapter takes: its sources in the order of their paths, and what it refused by reason."""

    adapter: Adapter
    sources: list[SourceFile]
    refused: Counter[str] = field(default_factory=Counter)


def places(
    adapter: Adapter, env: Mapping[str, str], sources: Path | None, workspace: Workspace | None, data: Path
) -> list[Path]:
    """Return where an adapter looks: in the folder given, else in its harness's own and in the projects themselves."""
    if sources is not None:
        return [sources]
    found = list(adapter.roots(env))
    if isinstance(adapter, InProject):
        for root in project_roots(workspace, data):
            found += [path for path in adapter.in_project(root) if path not in found]
    return found


def project_roots(workspace: Workspace | None, data: Path) -> list[Path]:
    """Return the folders of a workspace's project, of every known one for none."""
    table = read_table(data)
    names = sorted(table) if workspace is None else [workspace.id]
    roots = {str(workspace.root)} if workspace is not None and workspace.root is not None else set()
    for name in names:
        if name in table:
            roots.update(table[name].roots)
    return [Path(root) for root in sorted(roots)]


def claim(
    adapters: Iterable[Adapter],
    env: Mapping[str, str],
    sources: Path | None,
    workspace: Workspace | None,
    data: Path,
    known: Container[str] = (),
) -> list[Claims]:
    """Return what each adapter takes; known are the sources that were read before."""
    found = []
    for adapter in adapters:
        mine, refused = adapter.discover(places(adapter, env, sources, workspace, data))
        found.append(Claims(adapter, mine, refused))
    if len(found) > 1:
        _settle(found, known)
    return found


def _settle(found: Sequence[Claims], known: Container[str]) -> None:
    """Leave every file to one adapter."""
    claimed: dict[Path, list[Claims]] = {}
    for claims in found:
        for path in {source.path for source in claims.sources}:
            claimed.setdefault(path, []).append(claims)
    lost: dict[int, set[Path]] = {}
    for path, several in claimed.items():
        if len(several) < 2:
            continue
        owner = next((claims for claims in several if _is_known(claims, path, known)), None)
        owner = owner or next((claims for claims in several if _recognised(claims, path)), several[-1])
        for claims in several:
            if claims is not owner:
                lost.setdefault(id(claims), set()).add(path)
    for claims in found:
        gone = lost.get(id(claims), set())
        claims.sources = [source for source in claims.sources if source.path not in gone]
    for claims in found:
        folders = {
            Path(source.companion)
            for others in found
            if others is not claims
            for source in others.sources
            if source.companion
        }
        if folders:
            claims.sources = [source for source in claims.sources if not _beside(claims, source, folders, known)]


def _is_known(claims: Claims, path: Path, known: Container[str]) -> bool:
    return any(source.source in known for source in claims.sources if source.path == path)


def _recognised(claims: Claims, path: Path) -> bool:
    return any(_recognises(claims.adapter, source) for source in claims.sources if source.path == path)


def _recognises(adapter: Adapter, source: SourceFile) -> bool:
    try:
        return read_head(adapter, source).known
    except OSError:
        return False


def _beside(claims: Claims, source: SourceFile, folders: set[Path], known: Container[str]) -> bool:
    """Return whether a file is only a part of another adapter's session."""
    if source.source in known or folders.isdisjoint((source.path, *source.path.parents)):
        return False
    return not _recognises(claims.adapter, source)
