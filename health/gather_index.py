"""Reads what the index's signals look at; opens it read-only and writes nothing."""

import contextlib
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from health import index_cache
from health.facts import IndexFacts
from health.facts_machine import BackendFacts
from health.gather_record import waiting
from indexer import audit, noise, text_audit, vector_check
from indexer.embedder import Embedder, Identity
from indexer.exchange import INDEXED_TYPES
from indexer.queue import FAILURES, pending, wanted_chunks
from indexer.schema import MARKS
from indexer.settings import IndexSettings, config_hash
from indexer.store import Store
from recall import calibration
from transcript.errors import EmbedderUnavailable, IndexMissing, StoreError
from transcript.workspace import Workspace


def index_facts(
    workspace: Workspace,
    settings: IndexSettings,
    load: Callable[[], Identity],
    *,
    recount: bool = False,
    day: int = 0,
) -> tuple[IndexFacts, BackendFacts]:
    """Return the index's facts and the backend's; a missing or broken index is a fact, not an error.

    Figures that were counted of the very same files are taken as they were then, unless recount is set. Where load
    returns a model that is at work, a sample of the vectors, another one each day, is compared with what it makes now.
    """
    embedder, reason = _embedder(load)
    backend = BackendFacts(
        embedder="up" if embedder else "down",
        embedder_model=settings.model,
        embedder_path=str(getattr(embedder, "path", "")),
        embedder_reason=reason,
    )
    try:
        store = Store.open(workspace.index_path)
    except IndexMissing:
        unindexed, oldest = waiting(workspace, 0, INDEXED_TYPES)
        return IndexFacts(unindexed=unindexed, unindexed_oldest=oldest), replace(backend, vectors="unknown")
    except StoreError as error:
        return IndexFacts(present=True, error=str(error)), replace(backend, vectors="unknown")
    with store:
        try:
            facts = _facts(workspace, store, settings, embedder, recount)
            return _compared(store, facts, embedder, day), _backend(store, backend)
        except StoreError as error:
            return IndexFacts(present=True, error=str(error)), _backend(store, backend)


def light_facts(workspace: Workspace, known: IndexFacts) -> tuple[IndexFacts, BackendFacts]:
    """Return the same without counting anything: known figures, and whether the index opens and what it lacks."""
    try:
        with Store.open(workspace.index_path) as store:
            unindexed, oldest = waiting(workspace, audit.watermark_seq(store), INDEXED_TYPES)
            facts = replace(known, present=True, error="", unindexed=unindexed, unindexed_oldest=oldest)
            return facts, _backend(store, BackendFacts())
    except IndexMissing:
        unindexed, oldest = waiting(workspace, 0, INDEXED_TYPES)
        return IndexFacts(unindexed=unindexed, unindexed_oldest=oldest), BackendFacts(vectors="unknown")
    except StoreError as error:
        return IndexFacts(present=True, error=str(error)), BackendFacts(vectors="unknown")


def _facts(
    workspace: Workspace, store: Store, settings: IndexSettings, model: Identity | None, recount: bool
) -> IndexFacts:
    """Return the counted figures, and beside them what does not follow from the index's files alone."""
    state = index_cache.state(workspace, settings)
    counted = None if recount else index_cache.kept(workspace, state)
    if counted is None:
        counted = _counted(workspace, store, settings)
        with contextlib.suppress(OSError):  # a folder that cannot be written to is counted again each time
            index_cache.keep(workspace, counted, state)
    meta = store.meta()
    unindexed, oldest = waiting(workspace, audit.watermark_seq(store), INDEXED_TYPES)
    same = model is None or store.serves(model.id, model.revision, model.dimension)
    return replace(
        counted,
        wanted_model=model.id if model else "",
        wanted_config_hash=config_hash(settings, max_tokens=model.max_tokens) if model else "",
        stale=counted.vectors if meta.n_vectors and not same else 0,
        unindexed=unindexed,
        unindexed_oldest=oldest,
        **_gate(workspace),
    )


def _counted(workspace: Workspace, store: Store, settings: IndexSettings) -> IndexFacts:
    meta = store.meta()
    texts, made, agree = text_audit.count(store), audit.embeddings(store), audit.agreement(store)
    near, writers = audit.near_pairs(store), audit.writers(store)
    envelopes, prompts = noise.envelopes(store)
    pages = audit.pages(store)
    building = store.building()
    begun = store.meta_of(building) if building is not None else None
    return IndexFacts(
        present=True,
        schema=meta.schema,
        generation=meta.generation,
        longest_hold=audit.longest_hold(store),
        building_generation=building,
        building_since=_seconds(audit.rebuild_begun(store)) if building is not None else None,
        building_rows=begun.n_chunks if begun else 0,
        building_vectors=begun.n_vectors if begun else 0,
        model=meta.model,
        models={meta.model: made.vectors} if made.vectors else {},
        config_hash=meta.config_hash,
        rows=texts.rows,
        distinct=texts.distinct,
        most_repeated=texts.most_repeated,
        file_bytes=workspace.index_path.stat().st_size,
        pages=pages.all,
        free_pages=pages.free,
        bytes=texts.bytes,
        bytes_needed=texts.bytes_needed,
        duplicates_by_class=texts.copies_by_class,
        near_copies=texts.near_copies,
        near_pairs=near.pairs,
        near_compared=near.compared,
        chunks_by_class=audit.by_class(store),
        vectors=made.vectors,
        wanted_vectors=wanted_chunks(store, store.generation, settings),
        pending=len(pending(store, store.generation, settings)),
        failed=made.failed,
        set_aside=made.set_aside,
        truncated=made.truncated,
        zero=made.zero,
        failures=made.failures,
        aside=made.aside,
        orphan_vectors=agree.orphan_vectors,
        orphan_pointers=agree.orphan_pointers,
        words_missing=agree.words_missing,
        words_extra=agree.words_extra,
        last_run=_seconds(audit.last_run(store)),
        implausible_times=audit.implausible_times(store),
        secrets_masked=texts.secrets,
        writers=writers.seen,
        unaccounted=writers.unaccounted,
        own_text=texts.own_text,
        prompts=prompts,
        envelopes=envelopes,
        session_hours=audit.session_hours(store),
        marks_missing=store.marks(store.generation) < MARKS,
    )


def _compared(store: Store, facts: IndexFacts, model: Identity | None, day: int) -> IndexFacts:
    """Return the facts with the vectors of a sample that are no longer those of their texts."""
    if not facts.vectors or facts.stale or not isinstance(model, Embedder):
        return facts
    with contextlib.suppress(*FAILURES):  # a model that fails is told by the signal of the embedder
        checked = vector_check.check(store, model, day=day)
        return replace(facts, stale=len(checked.stale), vectors_compared=checked.compared)
    return facts


def _gate(workspace: Workspace) -> dict[str, Any]:
    made = calibration.read(workspace.home)
    if made is None:
        return {}
    wanted = (made.threshold, made.threshold_words) if made.vectors else (made.threshold_words,)
    return {
        "gate_fitted": _seconds(made.made),
        "gate_passages": made.passages,
        "gate_model": made.model,
        "gate_safe": None not in wanted,
    }


def _backend(store: Store, backend: BackendFacts) -> BackendFacts:
    native = store.backend.vectors == "sqlite-vec"
    return replace(
        backend,
        vectors="native" if native else "fallback",
        vectors_reason=store.backend.reason,
        sqlite=store.backend.sqlite,
        extension=store.backend.extension,
        fts5=store.backend.fts5,
    )


def _embedder(load: Callable[[], Identity]) -> tuple[Identity | None, str]:
    try:
        return load(), ""
    except EmbedderUnavailable as error:
        return None, str(error)


def _seconds(stamp: str | None) -> float | None:
    return datetime.fromisoformat(stamp).timestamp() if stamp else None
