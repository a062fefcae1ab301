"""The index as a view of the record: how far it has read, and whether its parts agree."""

from health.facts import Facts, IndexFacts
from health.known import Area, Known, indexed, one
from health.signal import NO_LIMIT, NONE_ALLOWED_FAIL, NONE_ALLOWED_WARN, Level, Limits, Signal, count, span
from indexer.store import WRITER_BUSY_MS
from transcript.telling import counted

HOLD_MS = Limits(warn=WRITER_BUSY_MS)
REBUILD = "run 'recall index rebuild'"


def presence(facts: Facts) -> Signal:
    """Return whether there is an index that can be read; a record without one fails."""
    index = facts.index
    if index.error:
        return Signal(
            id="index",
            value=False,
            unit="flag",
            level=Level.FAIL,
            text=index.error,
            meaning="Recall works from the index.",
            action="do what the message says, then run 'recall index'",
        )
    if not index.present:
        return Signal(
            id="index",
            value=False,
            unit="flag",
            level=Level.FAIL,
            text="no index",
            meaning="Recall works from the index.",
            action="run 'recall index'",
        )
    return Signal(
        id="index",
        value=True,
        unit="flag",
        level=Level.OK,
        text=f"generation {index.generation}, schema {index.schema}"
        + (f"; generation {index.building_generation} is being built" if index.building_generation else ""),
        meaning="Recall works from the index.",
    )


def rebuild_unfinished(facts: Facts, *, warn_seconds: float = 6 * 3600) -> Signal:
    """Return how long a generation has been in the making; one that nobody goes on with takes space alone."""
    index = facts.index
    age = None if index.building_since is None else max(0.0, facts.now - index.building_since)
    building = index.building_generation is not None
    level = Level.WARN if building and (age is None or age > warn_seconds) else Level.OK
    text = "no rebuild is under way"
    if building:
        begun = "begun long ago" if age is None else f"begun {span(age)} ago"
        text = f"generation {index.building_generation} was {begun}: {index.building_rows:,} of"
        text += f" {counted(index.rows, 'passage')}, {counted(index.building_vectors, 'vector')}"
    return Signal(
        id="rebuild_unfinished",
        value=None if age is None else round(age),
        unit="seconds",
        level=level,
        text=text,
        meaning="Until it is whole the generation before serves; a rebuild that was stopped goes on where it was.",
        action=REBUILD if level else "",
    )


def write_hold(index: IndexFacts) -> Signal:
    """Return the longest time for which a run held the index's write lock at once; warns past what others wait."""
    ms, kind = index.longest_hold or (0.0, "")
    level = HOLD_MS.level(ms)
    return Signal(
        id="index_write_hold",
        value=ms if index.longest_hold else None,
        unit="ms",
        level=level,
        text=f"another writer waits {ms:,.0f} ms at most (in a run of '{kind}')" if kind else "no run yet",
        meaning="How long a run held the index at once; whoever reads waits for no writer.",
        action="look at the machine's load and disk; run 'recall index rebuild' at a quiet hour" if level else "",
        limits=HOLD_MS,
    )


def chunks_by_class(index: IndexFacts) -> Signal:
    """Return how many chunks each source class has."""
    parts = ", ".join(f"{name} {n:,}" for name, n in sorted(index.chunks_by_class.items()) if n)
    return Signal(
        id="chunks_by_class",
        value=dict(index.chunks_by_class),
        unit="count",
        level=Level.OK,
        text=parts or "none",
        meaning="What can be found, by where it comes from.",
    )


def orphan_vectors(index: IndexFacts) -> Signal:
    """Return vectors whose chunk is gone."""
    return count(
        "orphan_vectors",
        index.orphan_vectors,
        ("vector without a chunk", "vectors without a chunk"),
        limits=NONE_ALLOWED_FAIL,
        meaning="They would take places in the nearest results and show nothing.",
        action="run 'recall index compact'",
    )


def orphan_pointers(index: IndexFacts) -> Signal:
    """Return pointers whose chunk is gone, and chunks no pointer leads to."""
    return count(
        "orphan_pointers",
        index.orphan_pointers,
        (
            "pointer without a chunk, or chunk without a pointer",
            "pointers without a chunk, or chunks without a pointer",
        ),
        limits=NONE_ALLOWED_FAIL,
        meaning="A result must say where it was said.",
        action=REBUILD,
    )


def word_index(index: IndexFacts) -> Signal:
    """Return rows on which the word index and the store disagree."""
    where = f"words and store ({index.words_missing:,} missing, {index.words_extra:,} extra)"
    return count(
        "word_index",
        index.words_missing + index.words_extra,
        (f"row differs between {where}", f"rows differ between {where}"),
        limits=NONE_ALLOWED_FAIL,
        meaning="Every chunk is found by its words, and nothing else is.",
        action=REBUILD,
    )


def unindexed(facts: Facts, *, warn_seconds: float = 3600, fail_seconds: float = 86400) -> Signal:
    """Return how many events the index has not read, and since when."""
    index = facts.index
    age = None if index.unindexed_oldest is None else max(0.0, facts.now - index.unindexed_oldest)
    level = Level.OK
    if index.unindexed and age is not None:
        level = Level.FAIL if age > fail_seconds else Level.WARN if age > warn_seconds else Level.OK
    elif index.unindexed:
        level = Level.WARN
    since = f", the first {span(age)} old" if index.unindexed and age is not None else ""
    return Signal(
        id="unindexed",
        value={"events": index.unindexed, "age_seconds": None if age is None else round(age)},
        unit="count",
        level=level,
        text=f"{counted(index.unindexed, 'event')} not indexed{since}",
        meaning="They are in the record and cannot be recalled yet.",
        action="run 'recall index'" if level else "",
    )


def implausible_times(index: IndexFacts) -> Signal:
    """Return rows dated in the future or before harnesses existed."""
    return count(
        "implausible_times",
        index.implausible_times,
        ("row with an implausible time", "rows with an implausible time"),
        limits=NONE_ALLOWED_WARN,
        meaning="They are kept, marked, and count as new as now at most.",
        action="look at the clock of the machine that wrote them",
    )


def marks(index: IndexFacts) -> Signal:
    """Return whether the index keeps what this version notes beside the passages."""
    missing = index.marks_missing
    return Signal(
        id="marks",
        value=not missing,
        unit="flag",
        level=Level.WARN if missing else Level.OK,
        text="made by an earlier version, which did not keep them" if missing else "kept beside the passages",
        meaning="Standing wishes, corrections and replacements are shown with what they are about.",
        action="run 'recall index'" if missing else "",
    )


def secrets_masked(index: IndexFacts) -> Signal:
    """Return how many secrets the index masks."""
    return count(
        "secrets_masked",
        index.secrets_masked,
        ("secret masked in the index", "secrets masked in the index"),
        limits=NO_LIMIT,
        meaning="The record keeps the words as they were; the index and every block show a mark instead.",
        action="",
    )


def gate(facts: Facts, *, grown: int = 2) -> Signal:
    """Return when the gate was fitted to this store; warns where the store is another since: model or size."""
    index = facts.index
    at = index.gate_fitted
    other = bool(index.vectors and index.gate_model != index.model)
    outgrown = at is not None and (other or index.rows >= grown * index.gate_passages)
    if at is None:
        text = "not fitted to this store: the default thresholds hold"
    else:
        found = f"fitted {span(max(0.0, facts.now - at))} ago to {counted(index.gate_passages, 'passage')}"
        text = found if index.gate_safe else f"{found}; no threshold was safe, so a default holds"
        text += f"; now {index.rows:,}, {'another model' if other else 'same model'}" if outgrown else ""
    return Signal(
        id="gate",
        value={"age_seconds": None if at is None else round(facts.now - at), "passages": index.gate_passages},
        unit="age",
        level=Level.WARN if outgrown else Level.OK,
        text=text,
        meaning="Below a threshold a turn stays silent; prompts unrelated to this store set it.",
        action="run 'recall calibrate'" if outgrown else "",
    )


KNOWN = (
    Known(
        "index",
        one(presence),
        Area.INDEXING,
        "index.sqlite",
        fail="missing or unreadable",
        why_never="without an index nothing is recalled",
        remedy="index",
        safe=True,
    ),
    Known(
        "rebuild_unfinished",
        indexed(rebuild_unfinished),
        Area.INDEXING,
        "index.sqlite",
        warn="begun > 6 h ago",
        why_never="the generation before serves",
        remedy="index rebuild",
        safe=True,
    ),
    Known(
        "index_write_hold",
        indexed(lambda f: write_hold(f.index)),
        Area.INDEXING,
        "index.sqlite",
        warn="> what another writer waits",
        why_never="it is indexed later",
    ),
    Known(
        "chunks_by_class",
        indexed(lambda f: chunks_by_class(f.index)),
        Area.INDEXING,
        "index.sqlite",
        why_never="every mixture is right",
        rows="LCA-10.6",
    ),
    Known(
        "orphan_vectors",
        indexed(lambda f: orphan_vectors(f.index)),
        Area.INDEXING,
        "index.sqlite",
        fail="> 0",
        why_never="wrong at the first one",
        remedy="index compact",
        safe=True,
    ),
    Known(
        "orphan_pointers",
        indexed(lambda f: orphan_pointers(f.index)),
        Area.INDEXING,
        "index.sqlite",
        fail="> 0",
        why_never="wrong at the first one",
        remedy="index rebuild",
        safe=True,
    ),
    Known(
        "word_index",
        indexed(lambda f: word_index(f.index)),
        Area.INDEXING,
        "index.sqlite",
        fail="> 0",
        why_never="wrong at the first one",
        remedy="index rebuild",
        safe=True,
    ),
    Known(
        "unindexed",
        indexed(unindexed),
        Area.INDEXING,
        "record, index.sqlite",
        warn="oldest > 1 h",
        fail="oldest > 1 day",
        remedy="index",
        safe=True,
    ),
    Known(
        "implausible_times",
        indexed(lambda f: implausible_times(f.index)),
        Area.INDEXING,
        "index.sqlite",
        warn="> 0",
        why_never="such rows are kept and marked",
    ),
    Known(
        "secrets_masked",
        indexed(lambda f: secrets_masked(f.index)),
        Area.INDEXING,
        "index.sqlite",
        why_never="a masked secret is as it should be",
    ),
    Known(
        "marks",
        indexed(lambda f: marks(f.index)),
        Area.INDEXING,
        "index.sqlite",
        warn="not kept",
        why_never="everything is still found",
        remedy="index",
        safe=True,
    ),
    Known(
        "gate",
        indexed(gate),
        Area.INDEXING,
        "index.sqlite, calibration",
        warn="another model, or twice the passages",
        why_never="the default thresholds still hold",
        remedy="calibrate",
        safe=True,
    ),
)
