"""Sizes on disk (LCA-12.1-04)."""

from support.health_cases import OK, WARN, Case, well

CASES = {
    "bytes_per_chunk": Case(
        well("index", rows=1000, distinct=1000, file_bytes=4_097_000),
        well("index", rows=1000, distinct=1000, file_bytes=40_960_000),
        ("4,096 bytes", "4,097 bytes", "40,960 bytes"),
        (OK, WARN, WARN),
        healthy=well("index", rows=1000, distinct=1000, file_bytes=4_096_000),
    ),
    "index_share": Case(
        well("capture", read_bytes=500_000),
        well("capture", read_bytes=50_000),
        (
            "no session file was read yet",
            "takes 20.0% of the transcript, 100.0 KB beside 500.0 KB",
            "takes 200.0% of the transcript, 100.0 KB beside 50.0 KB",
        ),
        (OK, OK, OK),
        healthy=well("capture", read_bytes=0),
    ),
    "sizes": Case(
        well("record", log_bytes=2_000),
        well("index", pages=25, free_pages=10),
        ("log 0 B", "log 2.0 KB, native copies 0 B, blobs 0 B, index 100.0 KB", "100.0 KB (40% of its pages free)"),
        (OK, OK, OK),
    ),
}
