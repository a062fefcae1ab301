"""A copy of an index that lacks what its words are cut and folded by, as any word search has it.

What a step gives that is done when passages are indexed shows only against an index without it: taken out of the
prompt alone, its work would still stand in the index.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from indexer.segment import plain_words
from indexer.store import Store
from indexer.words_table import refill

PARTS, ACCENTS = "parts", "accents"
LACKS = (PARTS, ACCENTS)


@contextmanager
def plain_index(store: Store, lacks: Collection[str]) -> Iterator[Store]:
    """Open a copy of an index without some of LACKS; it is gone afterwards. Chunks keep their ids.

    `parts`: words are runs of letters and digits, no identifier or path in parts, no unspaced text in pairs.
    `accents`: a letter with its accent is another letter.
    """
    g = store.generation
    with TemporaryDirectory() as folder:
        path = Path(folder) / store.path.name
        store.run("VACUUM INTO ?", (str(path),))
        with Store.open(path, "w") as copy:
            with copy.transaction():
                whole = list(copy.run(f"SELECT id, plain_text(text) FROM chunk_{g} ORDER BY id"))
                plain = ((number, plain_words(text)) for number, text in whole) if PARTS in lacks else None
                refill(copy.run, copy.packing, g, accents=ACCENTS in lacks, given=plain)
            yield copy
