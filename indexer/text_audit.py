"""Counts what the texts of an index say of it: copies, near copies, masked secrets, what recall itself had shown.

One pass, as unpacking the texts is most of the time. Copies are counted from the texts, not from the keys that are
meant to prevent them; a text is told from another by 64 bits of its hash.
"""

from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b

from indexer.rows import SOURCE_CLASSES
from indexer.store import Store
from transcript.injected import block_spans

FLOAT_BYTES = 4
SECRET = "[secret:"
_LEFT_OUT = (" ", "\n", "\t", '"', "'", "`")  # what near copies may differ in


@dataclass(frozen=True, slots=True)
class TextCounts:
    """Rows against distinct (class, role, text); of the rows, those with a mark of a secret or a block of recall.

    `near_copies` are texts that equal another of their class and role but for case, quotes and spaces. Bytes are those
    of texts and vectors, `bytes_needed` what they would be without copies. `secrets` counts marks, not rows.
    """

    rows: int
    distinct: int
    most_repeated: int
    near_copies: int
    bytes: int
    bytes_needed: int
    copies_by_class: dict[str, int]
    secrets: int
    own_text: int


def count(store: Store) -> TextCounts:
    """Read each text of the serving generation once and return what is counted of them."""
    seen: Counter[int] = Counter()
    folded: set[int] = set()
    rows_of, distinct_of = Counter[int](), Counter[int]()
    stored = needed = secrets = own = 0
    for kind, role, text in store.run(f"SELECT source_class, role, plain_text(text) FROM chunk_{store.generation}"):
        data = text.encode("utf-8", "surrogatepass")
        place = b"%d:%d" % (kind, role)
        name = _hashed(place, data)
        rows_of[kind] += 1
        stored += len(data)
        if name not in seen:
            distinct_of[kind] += 1
            needed += len(data)
            folded.add(_hashed(place, _folded(text).encode("utf-8", "surrogatepass")))
        seen[name] += 1
        secrets += text.count(SECRET)
        own += "recall" in text and bool(block_spans(text))
    row_bytes = FLOAT_BYTES * store.meta().dimension
    vectors, held = len(store.vectors.ids()), seen.total() - len(seen)
    return TextCounts(
        rows=seen.total(),
        distinct=len(seen),
        most_repeated=max(seen.values(), default=0),
        near_copies=len(seen) - len(folded),
        bytes=stored + row_bytes * vectors,
        bytes_needed=needed + row_bytes * max(0, vectors - held),
        copies_by_class={SOURCE_CLASSES[kind]: rows_of[kind] - distinct_of[kind] for kind in sorted(rows_of)},
        secrets=secrets,
        own_text=own,
    )


def _folded(text: str) -> str:
    for part in _LEFT_OUT:
        text = text.replace(part, "")
    return text.lower()


def _hashed(place: bytes, data: bytes) -> int:
    return int.from_bytes(blake2b(data, digest_size=8, salt=place).digest(), "big")
