"""Reads what the record's signals look at; writes nothing."""

import json
import os
import stat
from datetime import datetime
from pathlib import Path

from health.facts import RecordFacts
from transcript.errors import RecordError
from transcript.event import envelope_hash, genesis
from transcript.injected import OPEN_PHRASE, has_block
from transcript.log import Log
from transcript.projections import views
from transcript.segments import lines_back, open_segment, read_head
from transcript.sieve import Sieve, type_field
from transcript.workspace import Workspace

RECENT = 5000  # events whose chain is checked; `recall verify` checks all of them
GROUP_AND_OTHERS = stat.S_IRWXG | stat.S_IRWXO
MOST_FILES = 100_000
_MARKS = Sieve(types=(type_field("mark"),))
_SHOWN = Sieve(types=(type_field("system"),), groups=((OPEN_PHRASE.encode("ascii"),),))


def record_facts(workspace: Workspace, *, sessions: int, recent: int = RECENT, log: Log | None = None) -> RecordFacts:
    """Return the record's sizes, its end, the links of its newest events, the spool and who may read it."""
    log_dir = workspace.log_dir
    try:
        head = read_head(log_dir)
        Log(workspace).head()  # without a head beside a record it is not empty, but cut off
    except RecordError as error:
        return RecordFacts(chain_problems=(str(error),), head_ok=False, log_bytes=_size(log_dir, ("native", "blobs")))
    first, last, problems = _links(workspace, recent)
    spool = sorted((workspace.run_dir / "spool").glob("*.json")) if workspace.run_dir.is_dir() else []
    return RecordFacts(
        events=head.seq if head else 0,
        sessions=sessions,
        last_event_seq=head.seq if head else 0,
        log_bytes=_size(log_dir, ("native", "blobs")),
        native_bytes=_size(workspace.native_dir),
        blob_bytes=_size(workspace.blobs_dir),
        quarantine_bytes=_size(log_dir / "quarantine"),
        chain_checked_from=first,
        chain_checked_to=last,
        chain_problems=problems,
        head_ok=_ends_at_head(workspace) if head else None,
        spooled=len(spool),
        spool_oldest=min((path.stat().st_mtime for path in spool), default=None),
        reasoning_withheld=_marks(log or Log(workspace), "reasoning_withheld"),
        own_text=_shown(log or Log(workspace)),
        open_to_others=_open_to_others(workspace),
        view_lag=_view_lag(workspace),
    )


def _view_lag(workspace: Workspace) -> dict[str, int] | None:
    try:
        return views.lag(workspace)
    except (OSError, RecordError):  # what is wrong with the record has signals of its own
        return None


def _links(workspace: Workspace, recent: int) -> tuple[int | None, int | None, tuple[str, ...]]:
    """Check that each of the newest events names the hash of the one before it; the oldest may stand alone."""
    head = read_head(workspace.log_dir)
    if head is None or head.seq == 0:
        return None, None, ()
    wanted, above, first = head.hash, head.seq + 1, None
    problems = []
    try:
        for number, (_, _, line) in enumerate(lines_back(workspace.log_dir, segment=head.segment, offset=head.length)):
            fields = json.loads(line)
            seq = int(fields["seq"])
            if envelope_hash(line) != wanted:
                problems.append(f"event {seq} is not the one that event {above} follows")
            wanted, above, first = str(fields["prev"]), seq, seq
            if number + 1 >= recent:
                break
        else:
            if wanted != genesis(workspace.id):
                problems.append("the first event belongs to another record")
    except (ValueError, KeyError, TypeError, OSError, RecordError) as error:
        problems.append(f"unreadable before event {above} ({type(error).__name__})")
    return first, head.seq, tuple(problems)


def _ends_at_head(workspace: Workspace) -> bool:
    head = read_head(workspace.log_dir)
    if head is None:
        return False
    try:
        with open_segment(workspace.log_dir, head.segment) as handle:
            return os.fstat(handle.fileno()).st_size >= head.length
    except (OSError, RecordError):
        return head.length == 0


def _marks(log: Log, name: str) -> int:
    """Count the marks of one kind."""
    try:
        return sum(event.body.get("mark") == name for event in log.read(sieve=_MARKS) if event.type == "mark")
    except RecordError:  # what is wrong with the record has signals of its own
        return 0


def _shown(log: Log) -> int:
    """Count notices of harnesses that hold what recall had put in front of a model."""
    try:
        return sum(has_block(log.text(event)) for event in log.read(sieve=_SHOWN))
    except RecordError:  # what is wrong with the record has signals of its own
        return 0


def waiting(workspace: Workspace, after: int, types: frozenset[str]) -> tuple[int, float | None]:
    """Return how many events of these types stand behind event `after`, and when the first was written.

    Of a record that cannot be read, those up to the damage: what is wrong with it has signals of its own.
    """
    count, oldest = 0, None
    try:
        head = read_head(workspace.log_dir)
        if head is None or head.seq <= after:
            return 0, None
        for _, _, line in lines_back(workspace.log_dir, segment=head.segment, offset=head.length):
            fields = json.loads(line)
            if int(fields["seq"]) <= after:
                break
            if fields["type"] in types:
                said = datetime.fromisoformat(str(fields["ts"])).timestamp()
                count, oldest = count + 1, said if oldest is None else min(oldest, said)
    except (ValueError, KeyError, TypeError, RecordError):
        pass
    return count, oldest


def _size(folder: Path, without: tuple[str, ...] = ()) -> int:
    """Return the bytes of all files below folder, folders named in without left out."""
    total = 0
    for parent, names, files in os.walk(folder):
        names[:] = [name for name in names if name not in without]
        for name in files:
            try:
                total += (Path(parent) / name).lstat().st_size
            except OSError:
                continue
    return total


def _open_to_others(workspace: Workspace) -> tuple[str, ...]:
    """Return files and folders of the workspace that group or others have rights on; none on Windows."""
    if os.name == "nt" or not workspace.home.is_dir():
        return ()
    found = []
    paths = [workspace.home]
    for number, (parent, names, files) in enumerate(os.walk(workspace.home)):
        paths += [Path(parent) / name for name in (*names, *files)]
        if number > MOST_FILES:
            break
    for path in paths:
        try:
            mode = stat.S_IMODE(path.lstat().st_mode)
        except (OSError, RecordError):
            continue
        if mode & GROUP_AND_OTHERS and not path.is_symlink():
            found.append(f"{path.relative_to(workspace.home.parent)} {mode:04o}")
    return tuple(sorted(found))
