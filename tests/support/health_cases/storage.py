"""Sizes on disk."""

from support.health_cases import OK, WARN, Case, well

CASES = {
    "bytes_per_chunk": Case(
        well("index", rows=1000, distinct=1000, file_bytes=4_097_000),
        well("index", rows=1000, distinct=1000, file_bytes=40_960_000),
        ("4,096 bytes", "4,097 bytes", "40,960 bytes"),
        (OK, WARN, WARN),
        healthy=well("index", rows=1000, distinct=1000, file_bytes=4_096_000),
    ),
    "sizes": Case(
        well("record", log_bytes=2_000),
        well("record", log_bytes=9 * 10**12),
        ("log 0 B", "log 2.0 KB, native copies 0 B, blobs 0 B, index 100.0 KB", "log 9,000.0 GB"),
        (OK, OK, OK),
    ),
}
