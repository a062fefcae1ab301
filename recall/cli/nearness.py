"""Which events are near to a text in meaning, for windows that are asked for so."""

from recall.cli.app import App, vector_search
from transcript.errors import EmbedderUnavailable

MOST = 4096  # passages that one scan gives


def near(app: App, text: str) -> frozenset[str]:
    """Return the ids of the events that have a passage near to text: a cosine of `gate.similarity_floor` or more.

    Of the 4,096 nearest passages; what no vector was made of (tools' inputs and results) is never among them.
    EmbedderUnavailable where there are no vectors or no model, IndexMissing where there is no index.
    """
    floor = app.config.settings().gate.similarity_floor
    with app.store(app.workspace()) as store, store.snapshot():
        embedder = app.embedder() if store.meta().n_vectors else None
        search = vector_search(store, embedder, MOST) if embedder is not None else None
        if search is None:
            raise EmbedderUnavailable("nothing can be found by meaning yet; run 'recall index', or ask with --topic")
        hits = [chunk for chunk, cosine in search(text, None) or () if cosine >= floor]
        return frozenset(place.event_id for row in store.passages(hits).values() for place in row.pointers)
