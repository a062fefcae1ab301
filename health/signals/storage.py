"""Sizes: what the record and the index take on disk."""

from health.facts import Facts
from health.known import Area, Known, indexed, one
from health.signal import Level, Limits, Signal, size

PER_CHUNK = Limits(warn=4096)


def sizes(facts: Facts) -> Signal:
    """Return bytes of record, native copies, blobs and index."""
    record, index = facts.record, facts.index
    return Signal(
        id="sizes",
        value={
            "log": record.log_bytes,
            "native": record.native_bytes,
            "blobs": record.blob_bytes,
            "index": index.file_bytes,
            "index_pages": index.pages,
            "index_free_pages": index.free_pages,
        },
        unit="bytes",
        level=Level.OK,
        text=f"log {size(record.log_bytes)}, native copies {size(record.native_bytes)}, "
        f"blobs {size(record.blob_bytes)}, index {size(index.file_bytes)}"
        + (f" ({index.free_pages / index.pages:.0%} of its pages free)" if index.free_pages else ""),
        meaning="What is on disk; only the index can be built again.",
    )


def bytes_per_chunk(facts: Facts) -> Signal:
    """Return bytes of index.sqlite for each chunk; warns above 4 KB once the fixed pages no longer decide."""
    index = facts.index
    each = index.file_bytes / index.rows if index.rows else 0.0
    level = PER_CHUNK.level(each) if index.rows >= 1000 else Level.OK
    return Signal(
        id="bytes_per_chunk",
        value=round(each),
        unit="bytes",
        level=level,
        text=f"{each:,.0f} bytes a chunk",
        meaning="The index file divided by its chunks.",
        action="run 'recall index compact'" if level else "",
        limits=PER_CHUNK,
    )


def index_share(facts: Facts) -> Signal:
    """Return the index's share of the transcript: what it takes of the bytes of session files that were read."""
    index, read = facts.index, facts.capture.read_bytes
    share = index.file_bytes / read if read else None
    return Signal(
        id="index_share",
        value=None if share is None else round(share, 4),
        unit="share",
        level=Level.OK,
        text="no session file was read yet"
        if share is None
        else f"the index takes {share:.1%} of the transcript, {size(index.file_bytes)} beside {size(read)}",
        meaning="About 20% where most of the transcript is what tools printed; more where more of it is talk.",
    )


def session_growth(facts: Facts) -> Signal:
    """Return the bytes of transcript that a session, and an hour of one, brought so far; None where none was read."""
    read = facts.capture.read_bytes
    among: dict[str, float] = {"session": facts.record.sessions, "session_hour": facts.index.session_hours}
    each = {name: read / many if read and many else None for name, many in among.items()}
    told = [f"{size(value)} a {name.replace('_', ' ')}" for name, value in each.items() if value is not None]
    return Signal(
        id="session_growth",
        value={name: None if value is None else round(value) for name, value in each.items()},
        unit="bytes",
        level=Level.OK,
        text=", ".join(told) or "no session file was read yet",
        meaning="What sessions bring, before recall adds its index; breaks of over half an hour are no session hours.",
    )


KNOWN = (
    Known(
        "index_share",
        indexed(index_share),
        Area.INDEXING,
        "index.sqlite, run/capture.json",
        why_never="it depends on how much of the transcript is indexed; bytes_per_chunk is held to a limit",
        rows="LCA-12.1-04",
    ),
    Known(
        "bytes_per_chunk",
        indexed(bytes_per_chunk),
        Area.INDEXING,
        "index.sqlite",
        warn="> 4,096 from 1,000 chunks on",
        why_never="a large file is slow, not wrong",
        remedy="index compact",
        safe=True,
        rows="LCA-12.1-04",
    ),
    Known(
        "sizes",
        one(sizes),
        Area.RECORD,
        "files of the workspace",
        why_never="the growth and the free disk have signals of their own",
        rows="LCA-5.4-09",
    ),
    Known(
        "session_growth",
        one(session_growth),
        Area.RECORD,
        "run/capture.json, record, index.sqlite",
        why_never="sessions differ; sizes_growth says when the disk is full",
        rows="LCA-12.1-02, LCA-12.1-03",
    ),
)
