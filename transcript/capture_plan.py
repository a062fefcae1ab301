"""Which sources belong to which workspace, and in which order they are taken in.

A session belongs to the workspace of the first folder it names, its sub-agents follow it. The name of the folder a
transcript lies in says nothing: different projects share one.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transcript.adapters.base import Adapter, SourceFile
from transcript.adapters.jsonl import parse_line, raw_lines
from transcript.capture_state import SourceState
from transcript.kept_out import kept_out
from transcript.workspace import Workspace, excluded, owner_root

HEAD_BYTES = 4 << 20
# By source: inode and size when it was read, folder, time and session of its first records, path.
Heads = dict[str, list[Any]]


@dataclass(frozen=True, slots=True)
class Head:
    """What the first records of a source say; `known` is whether they are this harness's."""

    cwd: str
    ts: str
    session: str
    known: bool
    empty: bool


@dataclass(frozen=True, slots=True)
class Planned:
    """A source, whose it is, and why it is skipped (`reason` is "" when it is not)."""

    source: SourceFile
    head: Head
    owner: Workspace | None
    reason: str


def read_head(adapter: Adapter, source: SourceFile) -> Head:
    """Return what the first records of a file say; it is read until its folder and time are known."""
    values: list[dict[str, Any]] = []
    empty = True
    with adapter.open(source) as file:
        for number, (start, end, raw, _) in enumerate(raw_lines(file, 0, limit=HEAD_BYTES), 1):
            empty = empty and not raw.strip(b" \t\r\0")
            values += parse_line(number, start, end, raw, adapter.is_record).objects
            if all(adapter.head(values[-1:])) or (number % 50 == 0 and all(adapter.head(values))):
                break
    return Head(*adapter.head(values), adapter.recognises(values), empty)


def plan(
    adapter: Adapter,
    sources: Iterable[SourceFile],
    states: dict[str, SourceState],
    data: Path,
    *,
    all_roots: bool,
    heads: Heads | None = None,
) -> tuple[list[Planned], list[tuple[str, str]]]:
    """Return every source in the order of capture, and (file, reason) of those that cannot be read.

    Main files come before sub-agents', each by first time, then by identity. heads is what is known of other files'
    first records, and is brought up to date: most sessions on a machine are of other projects.
    """
    found: list[tuple[SourceFile, Head]] = []
    unread: list[tuple[str, str]] = []
    for source in _distinct(sources, states):
        try:
            found.append((source, _head(adapter, source, states.get(source.source), {} if heads is None else heads)))
        except OSError as error:
            unread.append((str(source.path), error.strerror or "unreadable"))
    for name in (heads or {}).keys() - {source.source for source, _ in found}:
        if heads is not None and not Path(heads[name][-1]).exists():
            del heads[name]
    parents = {head.session: head.cwd for source, head in found if not source.worker and head.session and head.cwd}
    owners = _Owners(data)
    never = kept_out(data)
    planned = []
    for source, head in found:
        cwd = parents.get(head.session, head.cwd) if source.worker else head.cwd
        reason = never.get(head.session, "")  # a sub-agent's file names its parent's session
        owner, reason = (None, reason) if reason else owners.of(head, cwd, all_roots=all_roots)
        planned.append(Planned(source, head, owner, reason))
    return sorted(planned, key=order), unread


def order(item: Planned) -> tuple[bool, str, str]:
    """Return what sources are sorted by, of one harness or of several: the newest session is to end the record."""
    return bool(item.source.worker), item.head.ts.rstrip("Z"), item.source.identity


def named_folders(adapter: Adapter, env: Mapping[str, str], heads: Heads) -> set[str]:
    """Return the folders that sessions were begun in: those in the harness's own place, and those known from heads."""
    found = {str(known[2]) for known in heads.values()}
    for source in adapter.discover(adapter.roots(env))[0]:
        try:
            found.add(_head(adapter, source, None, heads).cwd)
        except OSError:
            continue
    return found - {""}


def _distinct(sources: Iterable[SourceFile], states: dict[str, SourceState]) -> Iterable[SourceFile]:
    """Yield sources; a second file of the same identity, in another folder, is a source of its own."""
    paths: dict[str, str] = {}
    for source in sources:
        state = states.get(source.source)
        path = str(source.path)
        other = paths.get(source.source) or (
            state.path if state is not None and state.path != path and Path(state.path).exists() else path
        )
        if other != path:
            source = SourceFile(source.harness, source.path, path, source.session, source.worker, source.companion)
        paths[source.source] = path
        yield source


def _head(adapter: Adapter, source: SourceFile, state: SourceState | None, heads: Heads) -> Head:
    if state is not None and state.cwd and state.first:
        return Head(state.cwd, state.first, state.session, True, False)
    status = source.path.stat()
    known = heads.get(source.source)
    if known is not None and known[0] == status.st_ino and known[1] <= status.st_size:
        cwd, ts, session = known[2:5]
        return Head(cwd, ts, session, True, False)
    head = read_head(adapter, source)
    session = source.session or head.session or source.path.stem
    if head.known and head.cwd and head.ts:
        heads[source.source] = [status.st_ino, status.st_size, head.cwd, head.ts, session, str(source.path)]
    else:
        heads.pop(source.source, None)
    return Head(head.cwd, head.ts, session, head.known, head.empty)


class _Owners:
    """Answers whose a folder is, asking once for each."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._found: dict[str, tuple[Workspace | None, str]] = {}
        self._excluded: dict[str, bool] = {}

    def of(self, head: Head, cwd: str, *, all_roots: bool) -> tuple[Workspace | None, str]:
        """Return (owner, why the source is skipped); with all_roots only what was forbidden is skipped."""
        if head.empty:
            return None, "empty"
        if not head.known:
            return None, "other_format"
        if all_roots:
            return None, "excluded" if cwd and self._is_excluded(cwd) else ""
        if not cwd:
            return None, "no_cwd"
        if cwd not in self._found:
            self._found[cwd] = owner_root(cwd, self._data)
        owner, reason = self._found[cwd]
        return owner, "" if owner is not None else {"unknown_root": "foreign", "refused": "foreign"}.get(reason, reason)

    def _is_excluded(self, cwd: str) -> bool:
        if cwd not in self._excluded:
            self._excluded[cwd] = excluded(Path(cwd), self._data)
        return self._excluded[cwd]


def count(planned: Iterable[Planned]) -> Counter[str]:
    """Return how many sources are skipped, by reason."""
    return Counter(item.reason for item in planned if item.reason)


def gone_folders(planned: Iterable[Planned]) -> Counter[str]:
    """Return the folders that are no more, with how many sources say that they ran there: what 'recall adopt' takes."""
    return Counter(item.head.cwd for item in planned if item.reason == "root_gone")
