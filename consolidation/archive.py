"""What of the sessions' own files is kept, and that it can be read: a hash for each source."""

import hashlib
from collections.abc import Iterable
from typing import Any

from transcript.event import Position
from transcript.idmap import place_source
from transcript.log import Log
from transcript.native import NativeStore
from transcript.workspace import Workspace


def sources(log: Log, since: Position | None) -> list[tuple[str, str]]:
    """Return (harness, source) of every file that anything came in from since a position, sorted."""
    found = set()
    for event in log.read(since):
        source = place_source(event.type, event.native)
        if source:
            found.add((str(event.native.get("harness", "")), source))
    return sorted(found)


def manifest(workspace: Workspace, named: Iterable[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return harness, source, bytes and hash of the kept bytes of each source, read back; none for what is not kept.

    RecordError when kept bytes are damaged.
    """
    store, found = NativeStore(workspace), []
    kept = set(store.sources())
    for harness, source in named:
        if (harness, source) not in kept:
            continue
        digest, size = hashlib.sha256(), 0
        for _, _, data in store.read(harness, source):
            digest.update(data)
            size += len(data)
        found.append({"harness": harness, "source": source, "bytes": size, "sha256": digest.hexdigest()})
    return found
