"""What came back from recall itself, what nobody typed, what searches could not do."""

from dataclasses import replace

from health.facts import IndexRunFacts, Replaced, TurnFacts
from support.health_cases import FAIL, OK, WARN, WELL, Case, well

NEVER, AT_ONCE, WARNS = (OK, OK, OK), (OK, FAIL, FAIL), (OK, WARN, WARN)
LATE, READ = Replaced("aaaa", "m1#0-9", False), Replaced("bbbb", "m2#0-9", True)


def turns(**changes):
    return replace(WELL, turns=TurnFacts(modes={"warm": 10}, **changes))


def runs(*failures, estimated=0):
    return replace(WELL, index_runs=IndexRunFacts(failures, estimated))


CASES = {
    "backfill_failed": Case(
        runs("ab12cd34ef: blob is missing, 2026-06-20"), runs(*(f"ab{n}: damaged, 2026-06-20" for n in range(40))),
        ("0 events", "ab12cd34ef: blob is missing", "40 events could not be indexed"), WARNS,
    ),
    "own_injections": Case(
        well("index", own_text=1), well("index", own_text=64),
        ("stands in 0 passages of 64", "1 passage of 64", "64 passages of 64"), AT_ONCE,
    ),
    "envelope_noise": Case(
        well("index", prompts=50, envelopes=11), well("index", prompts=50, envelopes=31),
        ("of 49 passages of prompts", "11 of 50 passages", "31 of 50"), healthy=well("index", prompts=49, envelopes=49),
    ),
    "superseded_injected": Case(
        turns(replaced=(LATE,)), turns(replaced=(READ, LATE)),
        ("0 replaced items", "m1#0-9 in turn aaaa (index behind)", "2 replaced items shown in 10 turns; 1"),
    ),
    "searches_cut": Case(turns(cut=1), turns(cut=10), ("0 of 10 turns", "1 of 10", "10 of 10"), NEVER, turns()),
    "lexical_failures": Case(
        turns(lexical_failures={"words_no_fts5": 1}), turns(lexical_failures={"StoreError": 2, "LockBusy": 1}),
        ("0 searches", "no FTS5 in the hook's interpreter: 1", "the index was locked: 1"), WARNS,
    ),
    "token_estimates": Case(
        turns(estimated=2), runs(estimated=500),
        ("0 token counts of the index", "those of 2 turns estimated", "500 token counts"), WARNS,
    ),
}  # fmt: skip
