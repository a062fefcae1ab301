"""Where a sentence stands word for word in the record, looked up by the index."""

from typing import TYPE_CHECKING

from consolidation.find_repeated import bare
from consolidation.finding import Places, spoken
from consolidation.model import folded
from consolidation.span import marked
from indexer.passages import event_text
from indexer.rows import PROMPT
from indexer.segment import query_terms
from transcript.errors import PointerError
from transcript.log import Log
from transcript.memories import Span

if TYPE_CHECKING:
    from indexer.store import Store

NEAREST = 50


def word_for_word(log: Log, store: "Store | None", key: bytes) -> Places:
    """Return a function that names every place where a person said a sentence, oldest first; none without an index."""

    def places(sentence: str) -> list[Span]:
        terms = query_terms(sentence) if store is not None else []
        if store is None or not terms:
            return []
        near = store.places(chunk for chunk, _ in store.lexical(terms, limit=NEAREST).hits)
        said = {(row.ts, row.seq, row.event_id) for rows in near.values() for row in rows if row.kind == PROMPT}
        return [span for *_, event in sorted(said) for span in _in_event(log, event, folded(sentence), key)]

    return places


def _in_event(log: Log, name: str, wanted: str, key: bytes) -> list[Span]:
    try:
        event = log.get(name)
    except PointerError:
        return []
    text = event_text(event.type, log.body(event))
    said = map(bare, spoken(text))
    return [marked(event.id, text, one.start, one.end, key)[0] for one in said if folded(one.text) == wanted]
