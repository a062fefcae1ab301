"""Sizes on disk (LCA-12.1-02 to LCA-12.1-04)."""

from dataclasses import replace

from support.health_cases import OK, WARN, WELL, Case, well


def brought(session_hours):
    """1.5 MB of transcript in three sessions of so many hours."""
    return replace(well("capture", read_bytes=1_500_000), index=replace(WELL.index, session_hours=session_hours))


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
    "session_growth": Case(
        brought(0.0),
        well("capture", read_bytes=0),
        ("500.0 KB a session, 250.0 KB a session hour", "500.0 KB a session", "no session file was read yet"),
        (OK, OK, OK),
        healthy=brought(6.0),
    ),
    "sizes": Case(
        well("record", log_bytes=2_000),
        well("index", pages=25, free_pages=10),
        ("log 0 B", "log 2.0 KB, native copies 0 B, blobs 0 B, index 100.0 KB", "100.0 KB (40% of its pages free)"),
        (OK, OK, OK),
    ),
}
