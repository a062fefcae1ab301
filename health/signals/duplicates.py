"""Copies in the index: one text stored once is the rule, and near copies are counted, never removed."""

from health.facts import IndexFacts
from health.known import Area, Known, indexed
from health.signal import NO_LIMIT, Limits, Signal, count, size
from transcript.telling import counted

RATIO = Limits(warn=0.001, fail=0.01)


def duplicate_ratio(index: IndexFacts) -> Signal:
    """Return duplicate rows / rows; 0 for an empty index."""
    copies = index.rows - index.distinct
    ratio = copies / index.rows if index.rows else 0.0
    level = RATIO.level(ratio)
    return Signal(
        id="duplicate_ratio",
        value=round(ratio, 6),
        unit="ratio",
        level=level,
        text=f"{ratio:.1%} of {counted(index.rows, 'row')} "
        f"({index.distinct:,} distinct, {counted(copies, 'copy', 'copies')})",
        meaning="Rows of the index that repeat another row of the same class, role and text.",
        action="run 'recall index compact'; if copies return, something else writes this index" if level else "",
        limits=RATIO,
    )


def duplicate_rows(index: IndexFacts) -> Signal:
    """Return rows - distinct rows, with the classes they stand in."""
    return count(
        "duplicate_rows",
        index.rows - index.distinct,
        ("duplicate row", "duplicate rows"),
        limits=Limits(warn=0.001 * index.rows, fail=0.01 * index.rows),
        meaning="The numerator of the duplicate ratio, by source class.",
        action="run 'recall index compact'",
        details=tuple(f"{name}: {n:,}" for name, n in sorted(index.duplicates_by_class.items()) if n),
    )


def distinct_texts(index: IndexFacts) -> Signal:
    """Return how many distinct rows there are."""
    return count(
        "distinct_texts",
        index.distinct,
        ("distinct text", "distinct texts"),
        limits=NO_LIMIT,
        meaning="Rows that would be left if every text stood once.",
        action="",
    )


def most_repeated(index: IndexFacts) -> Signal:
    """Return how often the most repeated text is stored."""
    limits = Limits(warn=1)
    level = limits.level(index.most_repeated)
    return Signal(
        id="most_repeated_text",
        value=index.most_repeated,
        unit="count",
        level=level,
        text=f"the most repeated text is stored {counted(index.most_repeated, 'time')}",
        meaning="Once is right: a second sighting of a text adds a pointer, not a row.",
        action="run 'recall index compact'" if level else "",
        limits=limits,
    )


def duplicate_bytes(index: IndexFacts) -> Signal:
    """Return bytes stored over bytes needed."""
    ratio = index.bytes / index.bytes_needed if index.bytes_needed else 1.0
    limits = Limits(warn=1.001, fail=1.01)
    level = limits.level(ratio)
    return Signal(
        id="duplicate_bytes",
        value={"bytes": index.bytes, "needed": index.bytes_needed},
        unit="bytes",
        level=level,
        text=f"{size(index.bytes)} of texts and vectors stored, {size(index.bytes_needed)} needed",
        meaning="What the copies cost.",
        action="run 'recall index compact'" if level else "",
        limits=limits,
    )


def near_copies(index: IndexFacts) -> Signal:
    """Return how many pairs differ in case, quotes or spaces only; not known unless counted."""
    n, differ = index.near_copies, "case, quotes or spaces"
    return Signal(
        id="near_copies",
        value=n,
        unit="count",
        level=NO_LIMIT.level(0),
        text="not counted" if n is None else f"{counted(n, 'row equals', 'rows equal')} another but for {differ}",
        meaning="They are kept on purpose: names that differ in case are two facts. A turn shows one of them.",
    )


def near_pairs(index: IndexFacts) -> Signal:
    """Return how many pairs of vectors are nearly one (cosine of at least 0.98), among the newest."""
    of = f"{index.near_compared:,} newest of {counted(index.vectors, 'vector')}"
    pairs = counted(index.near_pairs, "pair of texts is", "pairs of texts are")
    return Signal(
        id="near_pairs",
        value=index.near_pairs,
        unit="count",
        level=NO_LIMIT.level(0),
        text=f"{pairs} nearly one (cosine 0.98 and more) among the {of}",
        meaning="Near copies are kept, for a changed number is another fact, and collapsed when results are chosen.",
    )


KNOWN = (
    Known(
        "duplicate_ratio",
        indexed(lambda f: duplicate_ratio(f.index)),
        Area.INDEXING,
        "index.sqlite",
        warn="> 0.1 %",
        fail="> 1 %",
        remedy="index compact",
        safe=True,
        rows="LCA-D-11H, LCA-6.1-10",
    ),
    Known(
        "duplicate_rows",
        indexed(lambda f: duplicate_rows(f.index)),
        Area.INDEXING,
        "index.sqlite",
        warn="> 0.1 % of the rows",
        fail="> 1 % of the rows",
        remedy="index compact",
        safe=True,
        rows="LCA-D-11H",
    ),
    Known(
        "distinct_texts",
        indexed(lambda f: distinct_texts(f.index)),
        Area.INDEXING,
        "index.sqlite",
        why_never="every number is right",
    ),
    Known(
        "most_repeated_text",
        indexed(lambda f: most_repeated(f.index)),
        Area.INDEXING,
        "index.sqlite",
        warn="> 1",
        why_never="the duplicate ratio says how bad it is",
        remedy="index compact",
        safe=True,
        rows="LCA-D-11H",
    ),
    Known(
        "duplicate_bytes",
        indexed(lambda f: duplicate_bytes(f.index)),
        Area.INDEXING,
        "index.sqlite",
        warn="> 1.001 times what is needed",
        fail="> 1.01 times what is needed",
        remedy="index compact",
        safe=True,
        rows="LCA-D-11H",
    ),
    Known(
        "near_copies",
        indexed(lambda f: near_copies(f.index)),
        Area.INDEXING,
        "index.sqlite",
        why_never="near copies are kept on purpose",
    ),
    Known(
        "near_pairs",
        indexed(lambda f: near_pairs(f.index)),
        Area.INDEXING,
        "index.sqlite",
        why_never="near copies are kept on purpose",
    ),
)
