"""Who writes the index: our writer registers and counts its rows, so another one shows."""

from collections.abc import Mapping

from health.facts import IndexFacts
from health.known import Area, Known, indexed
from health.signal import Level, Signal
from indexer.store import WRITER
from transcript.telling import counted


def index_writers(index: IndexFacts) -> Signal:
    """Return who writes the index; fails for a writer that is not ours and for rows that no run accounts for."""
    unknown = [name for name in index.writers if name != WRITER]
    more = index.unaccounted
    parts = [f"unknown: {', '.join(name[:40] for name in unknown[:2])}"] if unknown else []
    if more:
        fewer = "" if more > 0 else f" that {'is' if more == -1 else 'are'} gone"
        parts.append(f"no run accounts for {counted(abs(more), 'row')}{fewer}")
    return Signal(
        id="index_writers",
        value={
            "writers": [{"writer": name, **of} for name, of in index.writers.items()],
            "unknown": len(unknown),
            "unaccounted": more,
        },
        unit="names",
        level=Level.FAIL if parts else Level.OK,
        text="; ".join(parts) or (f"{WRITER} alone" if index.writers else "nobody yet"),
        meaning="What another program writes into the index is not made from the record, and comes back.",
        action="find and stop what else writes this file, then run 'recall index compact'" if parts else "",
        details=tuple(map(_told, index.writers.items())) if parts else (),
    )


def _told(writer: tuple[str, Mapping[str, str]]) -> str:
    name, of = writer
    where = f" on {of['host']}" if of.get("host") else ""
    return f"{name[:40]}: last {of['last_write']}, version {of['version']}{where}"


KNOWN = (
    Known(
        "index_writers",
        indexed(lambda f: index_writers(f.index)),
        Area.INDEXING,
        "index.sqlite",
        fail="another writer registered, or rows that no run accounts for",
        why_never="one foreign row is enough to say that somebody writes",
        remedy="index compact",
        rows="LCA-D-11b, LCA-D-11J",
    ),
)
