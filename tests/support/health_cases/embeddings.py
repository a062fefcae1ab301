"""Vectors: failed, waiting, bad, of other models."""

from support.health_cases import FAIL, HOUR, NOW, OK, WARN, Case, well

NEVER = (OK, OK, OK)
AT_ONCE = (OK, FAIL, FAIL)
WARNS = (OK, WARN, WARN)

CASES = {
    "embeddings_failed": Case(
        well("index", rows=1000, distinct=1000, failed=10, failures=("chunk 7: refused",)),
        well("index", failed=1),
        ("0 failed", "chunk 7: refused", "1 failed embedding"),
    ),
    "embeddings_set_aside": Case(
        well("index", set_aside=1, aside=("chunk 7: 2 processes died on it",)), well("index", set_aside=900),
        ("0", "chunk 7: 2 processes", "900 rows"), WARNS
    ),
    "embeddings_pending": Case(
        well("index", pending=16, last_run=NOW - 2 * HOUR),
        well("index", pending=64, last_run=None),
        ("50 rows wait", "16 rows wait for a vector (75% of 64 done)", "64 rows wait for a vector (0%"),
        WARNS,
        healthy=well("index", pending=50),
    ),
    "embeddings_truncated": Case(
        well("index", truncated=1), well("index", truncated=900), ("0", "1 truncated", "900 truncated"), WARNS
    ),
    "embeddings_zero": Case(
        well("index", zero=1), well("index", zero=900), ("not counted", "1 zero", "900 zero"), AT_ONCE,
        healthy=well("index", zero=None),
    ),
    "embeddings_stale": Case(well("index", stale=1), well("index", stale=900), ("0", "1 stale", "900 stale"), WARNS),
    "embedding_models": Case(
        well("index", models={"a": 1, "b": 2}),
        well("index", models={"a": 1, "b": 2, "c": 3}),
        ("1 model", "b: 2 vectors", "3 models"),
        AT_ONCE,
    ),
    "index_settings": Case(
        well("index", wanted_model="n"),
        well("index", wanted_model="n", config_hash="a" * 64, wanted_config_hash="b" * 64),
        ("as configured", "model m, configured n", "settings aaaaaaaa, configured bbbbbbbb"),
        WARNS,
    ),
    "vectors": Case(
        well("index", vectors=1), well("index", vectors=0), ("64 of 64", "1 of 64", "0 of 64"), NEVER
    ),
}  # fmt: skip
