"""What this machine gives: SQLite, its extension, full text, the model, the service."""

from support.health_cases import FAIL, OK, WARN, Case, well


def backend(**changes):
    return well("backend", **changes)


CASES = {
    "vector_search": Case(
        backend(vectors="fallback", vectors_reason="ImportError: no vec0", extension=""),
        backend(vectors="off", vectors_reason="NumPy is missing"),
        ("native", "fallback: ImportError: no vec0 (SQLite 3.50.0, sqlite-vec not loaded)", "off: NumPy is missing"),
    ),
    "full_text": Case(
        backend(fts5=False), backend(hook_fts5=False),
        ("FTS5", "words are ranked by rank-bm25", "none in the hook's interpreter"), (OK, WARN, WARN),
    ),
    "embedder": Case(
        backend(embedder="unknown"),
        backend(embedder="down", embedder_reason="model.onnx is missing"),
        ("/models/m.onnx", "unknown (m)", "down (m): model.onnx is missing"), (OK, OK, FAIL),
        backend(embedder_path="/models/m.onnx"),
    ),
    "versions": Case(
        backend(hook_python="3.9.2", hook_sqlite="3.34.1"), backend(python="", sqlite=""),
        ("Python 3.11.7, SQLite 3.50.0", "hook: Python 3.9.2, SQLite 3.34.1", "Python"), (OK, OK, OK),
    ),
}  # fmt: skip
