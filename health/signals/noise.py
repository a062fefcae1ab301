"""What came back from recall itself, what nobody typed, and what searches could not do."""

from health.facts import Facts, IndexFacts, TurnFacts
from health.known import Area, Known, indexed, one
from health.signal import NONE_ALLOWED_FAIL, NONE_ALLOWED_WARN, Level, Limits, Signal, count
from transcript.telling import counted

ENOUGH = 50
ENVELOPES = Limits(warn=0.2, fail=0.6)
MOST_SHOWN = 5
_FAILED = {
    "words_no_fts5": "no FTS5 in the hook's interpreter",
    "words_index_unreadable": "the index was unreadable for the hook",
    "IndexUnreadable": "the index was unreadable",
    "LockBusy": "the index was locked",
    "StoreError": "the index could not be used",
}


def own_injections(facts: Facts) -> Signal:
    """Return the share of passages that hold what recall itself had shown, and how many notices are kept out for it."""
    index, kept_out = facts.index, facts.record.own_text
    found = f"what recall had shown stands in {counted(index.own_text, 'passage')} of {index.rows:,}"
    level = NONE_ALLOWED_FAIL.level(index.own_text)
    return Signal(
        id="own_injections",
        value={
            "passages": index.own_text,
            "share": round(index.own_text / index.rows, 6) if index.rows else 0.0,
            "kept_out": kept_out,
            "kept_out_share": round(kept_out / facts.record.events, 6) if facts.record.events else 0.0,
        },
        unit="share",
        level=level,
        text=f"{found}; {counted(kept_out, 'notice')} of agents left out",
        meaning="What was only recalled must not come back as if it had been said: each recall would feed the next.",
        action="run 'recall index rebuild'" if level else "",
        limits=NONE_ALLOWED_FAIL,
    )


def envelope_noise(index: IndexFacts) -> Signal:
    """Return the share of the passages of prompts that are a client's: notices, wrappers, lines of its log."""
    share = index.envelopes / index.prompts if index.prompts else 0.0
    level = ENVELOPES.level(share) if index.prompts >= ENOUGH else Level.OK
    return Signal(
        id="envelope_noise",
        value=round(share, 4),
        unit="share",
        level=level,
        text=f"{index.envelopes:,} of {counted(index.prompts, 'passage')} of prompts are a client's own ({share:.0%})",
        meaning="Notices and wrappers that nobody typed crowd out what somebody did; a pasted log counts, too.",
        action="name the agent and its version in a report; 'recall forget' takes out what hurts" if level else "",
        limits=ENVELOPES,
    )


def superseded_injected(turns: TurnFacts) -> Signal:
    """Return items that turns were shown though something had replaced them; answers about the past do not count."""
    read = sum(one.read for one in turns.replaced)
    late = len(turns.replaced) - read
    level = Level.FAIL if read else Level.WARN if late else Level.OK
    text = f"{counted(len(turns.replaced), 'replaced item')} shown in {counted(turns.seen, 'turn')}"
    return Signal(
        id="superseded_injected",
        value={"read": read, "late": late},
        unit="count",
        level=level,
        text=f"{text}; {late:,} before the index had read of it" if late else text,
        meaning="A replaced, refuted or archived statement answers questions about the past alone.",
        action="run 'recall index'; if the index had read of it, 'recall index rebuild'" if level else "",
        details=tuple(
            f"{one.pointer} in turn {one.turn}" + ("" if one.read else " (index behind)")
            for one in turns.replaced[:MOST_SHOWN]
        ),
    )


def searches_cut(turns: TurnFacts) -> Signal:
    """Return turns in which more passages answered than are weighed."""
    return Signal(
        id="searches_cut",
        value=turns.cut,
        unit="count",
        level=Level.OK,
        text=f"{turns.cut:,} of {counted(turns.seen, 'turn')} found more than is weighed",
        meaning="The best are weighed ('retrieval.k'); those beyond had no place.",
    )


def lexical_failures(turns: TurnFacts) -> Signal:
    """Return turns whose search by words could not be done, by reason; a turn that finds nothing is none."""
    return count(
        "lexical_failures",
        sum(turns.lexical_failures.values()),
        ("search by words failed", "searches by words failed"),
        limits=NONE_ALLOWED_WARN,
        meaning="Such a turn was told nothing, which is not the same as having found nothing.",
        action="see 'index' and 'full_text'; if both are well, it was passing: 'recall health --since 1d'",
        details=tuple(f"{_FAILED.get(kind, kind)}: {n:,}" for kind, n in sorted(turns.lexical_failures.items())),
    )


def token_estimates(facts: Facts) -> Signal:
    """Return token counts of the index, and turns, that were estimated because the counter failed."""
    counts, turns = facts.index_runs.estimated, facts.turns.estimated
    level = NONE_ALLOWED_WARN.level(counts + turns)
    return Signal(
        id="token_estimates",
        value={"index": counts, "turns": turns},
        unit="count",
        level=level,
        text=f"{counted(counts, 'token count')} of the index and those of {counted(turns, 'turn')} estimated",
        meaning="An estimate errs on the high side: less is shown than there was room for.",
        action="reinstall bpe-openai, then run 'recall index rebuild'" if level else "",
        limits=NONE_ALLOWED_WARN,
    )


def backfill_failed(facts: Facts) -> Signal:
    """Return events that runs of the index could not take in and that it lacks to this day."""
    failures = facts.index_runs.failures
    return count(
        "backfill_failed",
        len(failures),
        ("event could not be indexed", "events could not be indexed"),
        limits=NONE_ALLOWED_WARN,
        meaning="They are in the record, and neither words nor meaning find them.",
        action="run 'recall index backfill --since 2000-01-01'; 'recall verify' says what is damaged",
        details=failures[:MOST_SHOWN],
    )


KNOWN = (
    Known(
        "backfill_failed",
        indexed(backfill_failed),
        Area.INDEXING,
        "record, index.sqlite",
        warn="> 0",
        why_never="the record holds them",
        remedy="index backfill --since 2000-01-01",
        safe=True,
        rows="LCA-10.6-04",
    ),
    Known(
        "own_injections",
        indexed(own_injections),
        Area.INDEXING,
        "index.sqlite, record",
        fail="> 0 passages",
        why_never="one feeds the next",
        remedy="index rebuild",
        safe=True,
    ),
    Known(
        "envelope_noise",
        indexed(lambda f: envelope_noise(f.index)),
        Area.INDEXING,
        "index.sqlite",
        warn="> 20 %, from 50 prompts on",
        fail="> 60 %",
    ),
    Known(
        "superseded_injected",
        one(lambda f: superseded_injected(f.turns)),
        Area.RECALL,
        "ledger, record",
        warn="> 0, and the index had not read of it",
        fail="> 0, and it had",
        remedy="index",
        safe=True,
    ),
    Known(
        "searches_cut",
        one(lambda f: searches_cut(f.turns)),
        Area.RECALL,
        "ledger",
        why_never="the best are weighed",
    ),
    Known(
        "lexical_failures",
        one(lambda f: lexical_failures(f.turns)),
        Area.RECALL,
        "hook counters",
        warn="> 0",
        why_never="the hook is silent rather than wrong",
    ),
    Known(
        "token_estimates",
        one(token_estimates),
        Area.RECALL,
        "record, hook counters",
        warn="> 0",
        why_never="an estimate errs on the high side",
        remedy="index rebuild",
        safe=True,
    ),
)
