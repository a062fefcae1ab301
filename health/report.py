"""The health report: every signal over the facts, in one model with a human and a JSON rendering."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime

from health.facts import Facts
from health.signal import Level, Signal
from health.signals import (
    approvals,
    backend,
    capture,
    duplicates,
    embeddings,
    hooks,
    index,
    memories,
    record,
    standing,
    storage,
    turns,
    window,
)
from transcript.telling import counted, minute

FIRST_SCREEN = ("duplicate_ratio", "embeddings_failed", "capture_lag", "unindexed", "vector_search", "embedder")


@dataclass(frozen=True, slots=True)
class Report:
    """All signals of one moment; the worst of them is the verdict."""

    workspace: str
    at: float
    signals: tuple[Signal, ...]

    @property
    def level(self) -> Level:
        """Return the worst level of all signals."""
        return max((signal.level for signal in self.signals), default=Level.FAIL)

    @property
    def exit_code(self) -> int:
        """Return 0 for ok, 1 for warn, 2 for fail."""
        return int(self.level)

    def to_json(self) -> str:
        """Return the report as one JSON object."""
        return json.dumps(
            {
                "workspace": self.workspace,
                "at": _stamp(self.at),
                "level": self.level.name.lower(),
                "signals": [signal.to_dict() for signal in self.signals],
            },
            ensure_ascii=False,
            sort_keys=False,
        )

    def to_text(self, *, every: bool = False) -> str:
        """Return the report for people: verdict, problems, the first screen, and on request the rest."""
        bad = sorted((s for s in self.signals if s.level), key=lambda s: -s.level)
        shown = {s.id for s in bad}
        first = [s for s in self.signals if _is_first(s) and s.id not in shown]
        shown |= {s.id for s in first}
        rest = [s for s in self.signals if s.id not in shown]
        lines = [f"{self.level.name.lower()}  workspace {self.workspace}  {minute(self.at)}", ""]
        for signal in bad:
            lines += _block(signal)
        lines += [_line(signal) for signal in first]
        if every:
            lines += ["", *(_line(signal) for signal in rest)]
        else:
            lines += ["", f"{counted(len(rest), 'more signal is', 'more signals are')} ok; --all shows them"]
        return "\n".join(lines)


def assess(facts: Facts) -> Report:
    """Return every signal over the facts; an empty store is never well."""
    i, c, b, t, r, m = facts.index, facts.capture, facts.backend, facts.turns, facts.record, facts.memories
    signals: list[Signal] = [record.stored(r), index.presence(facts)]
    if i.present and not i.error:
        signals += [
            duplicates.duplicate_ratio(i),
            embeddings.failed(i),
            embeddings.set_aside(i),
            embeddings.pending(i, facts.now),
            embeddings.truncated(i),
            embeddings.zero(i),
            embeddings.stale(i),
            embeddings.mixed_models(i),
            embeddings.wanted_model(i),
            embeddings.vector_share(i),
            duplicates.duplicate_rows(i),
            duplicates.distinct_texts(i),
            duplicates.most_repeated(i),
            duplicates.duplicate_bytes(i),
            duplicates.near_copies(i),
            duplicates.near_pairs(i),
            index.chunks_by_class(i),
            index.orphan_vectors(i),
            index.orphan_pointers(i),
            index.word_index(i),
            index.unindexed(facts),
            index.implausible_times(i),
            index.secrets_masked(i),
            index.marks(i),
            index.gate(facts),
            storage.bytes_per_chunk(facts),
        ]
    signals += [
        capture.excluded(c),
        capture.capture_lag(facts),
        capture.sources_uncaptured(c),
        capture.near_retention(facts),
        capture.harness_deletes(facts),
        capture.sources_missing(c),
        capture.unknown_types(c),
        capture.damaged_lines(c),
        capture.mended_lines(c),
        capture.incomplete_tails(c),
        capture.skipped(c),
    ]
    for hook in facts.hooks:
        signals += [hooks.installed(hook), hooks.heartbeat(hook, facts.now), hooks.failures(hook)]
    signals += [
        backend.vector_search(b),
        backend.full_text(b),
        backend.embedder(b),
        backend.service(b),
        backend.versions(b),
        turns.modes(t),
        turns.latency(t),
        turns.injected_tokens(t),
        turns.used_items(t),
        turns.empty_turns(t),
        turns.deadline_misses(t),
        turns.bad_query_vectors(t),
        memories.memories(m),
        memories.files(m),
        memories.verification(m),
        memories.last_checkpoint(facts),
        memories.triggers(m),
        memories.due(m),
        memories.compactions(m),
        memories.nightly(facts),
        memories.approval_key(m),
        approvals.proposals(facts),
        approvals.files(facts.approvals),
        approvals.signatures(facts.approvals),
        memories.gone(m),
        standing.identity(facts.standing),
        standing.critical(facts.standing),
        standing.files(facts.standing),
        standing.governed(facts.standing),
        standing.conflicts(facts),
        standing.rules(facts.standing),
        window.trigger(facts.window),
        window.refused(facts.window),
        window.emergencies(facts.window),
        window.truncated(facts.window),
        window.covered(facts.window),
        record.chain(r),
        record.head(r),
        record.quarantine(r),
        record.spool(facts),
        record.projection_lag(r),
        record.reasoning_withheld(r),
        record.file_modes(r),
        storage.sizes(facts),
    ]
    return Report(facts.workspace, facts.now, tuple(signals))


def _is_first(signal: Signal) -> bool:
    return signal.id in FIRST_SCREEN or signal.id.startswith("hook_last_fired.")


def _line(signal: Signal) -> str:
    return f"{signal.level.name.lower():<5} {signal.id:<28} {signal.text}"


def _block(signal: Signal) -> list[str]:
    lines = [_line(signal), f"{'':<6}{signal.meaning}"]
    lines += [f"{'':<8}{detail}" for detail in signal.details[:5]]
    if len(signal.details) > 5:
        lines.append(f"{'':<8}and {len(signal.details) - 5} more; --json lists them")
    return [*lines, f"{'':<6}-> {signal.action}", ""] if signal.action else [*lines, ""]


def _stamp(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
