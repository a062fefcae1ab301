"""The record: what it holds, whether it is whole."""

from support.health_cases import DAY, FAIL, HOUR, NOW, OK, WARN, Case, well

NEVER = (OK, OK, OK)
AT_ONCE = (OK, FAIL, FAIL)
WARNS = (OK, WARN, WARN)

CASES = {
    "stored": Case(
        well("record", events=0), well("record", events=0, sessions=0), ("100 events", "nothing", "nothing"), AT_ONCE
    ),
    "chain": Case(
        well("record", chain_problems=("prev does not match at 7",)),
        well("record", chain_problems=("prev does not match at 7", "seq 9 is missing")),
        ("up to event 100 of 100", "1 problem: prev does not match at 7", "2 problems"),
        AT_ONCE,
    ),
    "head": Case(
        well("record", head_ok=None), well("record", head_ok=False), ("ends where", "no head yet", "before its head"),
        (OK, OK, FAIL),
    ),
    "quarantine": Case(
        well("record", quarantine_bytes=1),
        well("record", quarantine_bytes=10**9),
        ("0 bytes", "1 byte in quarantine", "1,000,000,000 bytes"),
        NEVER,
    ),
    "spool": Case(
        well("record", spooled=2, spool_oldest=NOW - 2 * DAY),
        well("record", spooled=900, spool_oldest=NOW - 90 * DAY),
        ("0 events wait", "2 events wait in the spool, the oldest 2.0 days old", "90.0 days"),
        WARNS,
        healthy=well("record", spooled=0, spool_oldest=NOW - HOUR),
    ),
    "projection_lag": Case(
        well("record", view_lag={"state.md": 3, "tasks.json": 0}),
        well("record", view_lag={"state.md": 3_000, "tasks.json": 1}),
        ("every view is up to date", "3 events behind (state.md)", "3,000 events behind (state.md, tasks.json)"),
        WARNS,
        healthy=well("record", view_lag={"state.md": 0}),
    ),
    "reasoning_withheld": Case(
        well("record", reasoning_withheld=1), well("record", reasoning_withheld=900), ("0 s", "1 session", "900"), NEVER
    ),
    "file_modes": Case(
        well("record", events=0, open_to_others=("log 0755",)),
        well("record", open_to_others=("log 0755", "blobs 0755")),
        ("0 files", "log 0755", "2 files or folders"),
    ),
}  # fmt: skip
