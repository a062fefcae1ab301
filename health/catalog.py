"""Every signal there is, in the order of the report."""

from health.known import Known
from health.signals import (
    approvals,
    backend,
    backup,
    capture,
    checkpoints,
    duplicates,
    embeddings,
    freshness,
    gathering,
    hooks,
    index,
    judged,
    loader,
    memories,
    noise,
    quality,
    record,
    refusals,
    runs,
    schedule,
    series,
    service,
    standing,
    storage,
    turns,
    window,
    workers,
    writers,
)

CATALOG: tuple[Known, ...] = (
    *gathering.KNOWN,
    *record.KNOWN,
    *index.KNOWN,
    *duplicates.KNOWN,
    *embeddings.KNOWN,
    *writers.KNOWN,
    *workers.KNOWN,
    *storage.KNOWN,
    *series.KNOWN,
    *noise.KNOWN,
    *capture.KNOWN,
    *hooks.KNOWN,
    *freshness.KNOWN,
    *backend.KNOWN,
    *service.KNOWN,
    *turns.KNOWN,
    *quality.KNOWN,
    *judged.KNOWN,
    *runs.KNOWN,
    *refusals.KNOWN,
    *memories.KNOWN,
    *checkpoints.KNOWN,
    *approvals.KNOWN,
    *standing.KNOWN,
    *loader.KNOWN,
    *window.KNOWN,
    *schedule.KNOWN,
    *backup.KNOWN,
)
BROKEN = "signal_broken."  # of a signal that could not be read: a fault of ours
_BY_ID = {one.id: one for one in CATALOG}


def known(id: str) -> Known:
    """Return what is known of the signal with this id; KeyError names one that is not in the catalogue."""
    if id.startswith(BROKEN):
        of = known(id.removeprefix(BROKEN))
        return Known(id, lambda facts: (), of.area, of.source, fail="always")
    return _BY_ID[id] if id in _BY_ID else _BY_ID[f"{id.partition('.')[0]}.*"]
