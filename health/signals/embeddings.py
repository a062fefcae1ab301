"""Vectors: which rows have none, or a bad one, and why."""

from health.facts import IndexFacts
from health.known import Area, Known, indexed
from health.signal import NO_LIMIT, NONE_ALLOWED_FAIL, NONE_ALLOWED_WARN, Level, Limits, Signal, count
from transcript.telling import counted

RETRY = "run 'recall index' to try again; 'recall index status' lists them with their reasons"


def failed(index: IndexFacts) -> Signal:
    """Return rows whose embedding failed and will be tried again."""
    limits = Limits(warn=0, fail=max(0.01 * index.rows, 0))
    return count(
        "embeddings_failed",
        index.failed,
        ("failed embedding", "failed embeddings"),
        limits=limits,
        meaning="Rows the model refused; they are found by words only.",
        action=RETRY,
        details=index.failures,
    )


def set_aside(index: IndexFacts) -> Signal:
    """Return rows that ended the embedding process twice and are not tried again."""
    return count(
        "embeddings_set_aside",
        index.set_aside,
        ("row set aside", "rows set aside"),
        limits=NONE_ALLOWED_WARN,
        meaning="Rows during which the process died twice; they are found by words only.",
        action="look at them with 'recall index status'; 'recall index --retry' tries them again",
        details=index.aside,
    )


def pending(index: IndexFacts, now: float, *, idle_seconds: float = 3600) -> Signal:
    """Return rows that wait for their vector; warns when nothing has worked on them lately."""
    idle = index.last_run is None or now - index.last_run > idle_seconds
    level = Level.WARN if index.pending and idle else Level.OK
    done = index.wanted_vectors - index.pending
    share = done / index.wanted_vectors if index.wanted_vectors else 1.0
    return Signal(
        id="embeddings_pending",
        value=index.pending,
        unit="count",
        level=level,
        text=f"{counted(index.pending, 'row waits', 'rows wait')} for a vector "
        f"({share:.0%} of {index.wanted_vectors:,} done)",
        meaning="They are found by words until then.",
        action="run 'recall index'" if level else "",
    )


def truncated(index: IndexFacts) -> Signal:
    """Return rows longer than the model's limit."""
    return count(
        "embeddings_truncated",
        index.truncated,
        ("truncated embedding", "truncated embeddings"),
        limits=NONE_ALLOWED_WARN,
        meaning="The model saw only the beginning of these rows; none is expected.",
        action="run 'recall index rebuild'",
    )


def zero(index: IndexFacts) -> Signal:
    """Return vectors without a direction, which would match everything; not known in a very large index."""
    if index.zero is None:
        return Signal("embeddings_zero", None, "count", Level.OK, "not counted", "The writer refuses such vectors.")
    return count(
        "embeddings_zero",
        index.zero,
        ("zero or non-finite vector", "zero or non-finite vectors"),
        limits=NONE_ALLOWED_FAIL,
        meaning="Such a vector has no distance to anything; the writer refuses them.",
        action="run 'recall index rebuild'",
    )


def stale(index: IndexFacts) -> Signal:
    """Return vectors made from another text or by another revision of the model."""
    return count(
        "embeddings_stale",
        index.stale,
        ("stale vector", "stale vectors"),
        limits=NONE_ALLOWED_WARN,
        meaning="Vectors that no longer belong to their row's text or to the model in use.",
        action="run 'recall index rebuild'",
        details=(f"{index.vectors_compared:,} of {index.vectors:,} compared with what the model makes of their texts",)
        if index.vectors_compared
        else (),
    )


def mixed_models(index: IndexFacts) -> Signal:
    """Return how many models made the vectors that answer together; more than one cannot be compared."""
    names = tuple(f"{name}: {counted(n, 'vector')}" for name, n in sorted(index.models.items()))
    return count(
        "embedding_models",
        len(index.models),
        ("model among the vectors in use", "models among the vectors in use"),
        limits=Limits(fail=1),
        meaning="Vectors of two models cannot be compared.",
        action="run 'recall index rebuild'",
        details=names,
    )


def wanted_model(index: IndexFacts) -> Signal:
    """Return whether the index in use was made by the model and settings that are configured now."""
    changed = []
    if index.wanted_model and index.model and index.model != index.wanted_model:
        changed.append(f"model {index.model}, configured {index.wanted_model}")
    if index.wanted_config_hash and index.config_hash and index.config_hash != index.wanted_config_hash:
        changed.append(f"settings {index.config_hash[:8]}, configured {index.wanted_config_hash[:8]}")
    level = Level.WARN if changed else Level.OK
    return Signal(
        id="index_settings",
        value=index.model,
        unit="name",
        level=level,
        text="; ".join(changed) or f"made by {index.model or 'no model yet'}, as configured",
        meaning="The old generation serves until a new one is whole.",
        action="run 'recall index rebuild'" if changed else "",
    )


def vector_share(index: IndexFacts) -> Signal:
    """Return how many rows have a vector."""
    return Signal(
        id="vectors",
        value=index.vectors,
        unit="count",
        level=NO_LIMIT.level(0),
        text=f"{index.vectors:,} of {counted(index.rows, 'row has', 'rows have')} a vector",
        meaning="Tool calls and results are found by words only, unless index.embed_tools is on.",
    )


KNOWN = (
    Known(
        "embeddings_failed",
        indexed(lambda f: failed(f.index)),
        Area.INDEXING,
        "index.sqlite",
        warn="> 0",
        fail="> 1 % of the rows",
        remedy="index",
        safe=True,
        rows="LCA-10.6-04",
    ),
    Known(
        "embeddings_set_aside",
        indexed(lambda f: set_aside(f.index)),
        Area.INDEXING,
        "index.sqlite",
        warn="> 0",
        why_never="such rows are found by words",
        remedy="index status",
        rows="LCA-10.6-04",
    ),
    Known(
        "embeddings_pending",
        indexed(lambda f: pending(f.index, f.now)),
        Area.INDEXING,
        "index.sqlite",
        warn="> 0 and idle > 1 h",
        why_never="they are found by words until then",
        remedy="index",
        safe=True,
    ),
    Known(
        "embeddings_truncated",
        indexed(lambda f: truncated(f.index)),
        Area.INDEXING,
        "index.sqlite",
        warn="> 0",
        why_never="such rows are found by their beginning and by words",
        remedy="index rebuild",
        safe=True,
    ),
    Known(
        "embeddings_zero",
        indexed(lambda f: zero(f.index)),
        Area.INDEXING,
        "index.sqlite",
        fail="> 0",
        why_never="wrong at the first one",
        remedy="index rebuild",
        safe=True,
    ),
    Known(
        "embeddings_stale",
        indexed(lambda f: stale(f.index)),
        Area.INDEXING,
        "index.sqlite",
        warn="> 0",
        why_never="words still find them",
        remedy="index rebuild",
        safe=True,
    ),
    Known(
        "embedding_models",
        indexed(lambda f: mixed_models(f.index)),
        Area.INDEXING,
        "index.sqlite",
        fail="> 1",
        why_never="vectors of two models cannot be compared at all",
        remedy="index rebuild",
        safe=True,
    ),
    Known(
        "index_settings",
        indexed(lambda f: wanted_model(f.index)),
        Area.INDEXING,
        "index.sqlite, settings",
        warn="made by another model or other settings",
        why_never="the old generation serves until a new one is whole",
        remedy="index rebuild",
        safe=True,
    ),
    Known(
        "vectors",
        indexed(lambda f: vector_share(f.index)),
        Area.INDEXING,
        "index.sqlite",
        why_never="tool calls go without vectors by default",
    ),
)
