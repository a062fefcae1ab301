"""The vector half of a search over one open index, outside the service."""

from indexer.embedder import Embedder
from indexer.rows import RowFilter
from indexer.store import Store
from recall.turn import Vectors


def vector_search(store: Store, embedder: Embedder, k: int) -> Vectors | None:
    """Return the search for the k nearest passages; None where the index holds vectors of another model."""
    if not store.serves(embedder.id, embedder.revision, embedder.dimension):
        return None

    def search(text: str, allowed: RowFilter | None) -> list[tuple[int, float]]:
        hits = store.nearest(embedder.encode([text])[0], k, allowed)
        return [(hit.chunk_id, hit.similarity) for hit in hits]

    return search
