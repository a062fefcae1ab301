"""The steps of a run, each a function of the run: find, search, draft, verify, write; the rest in steps_*."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from consolidation import archiving, find_retired, steps_after, steps_standing
from consolidation.adopt import adopt
from consolidation.candidates import candidate_of, hash_of, outcome_drafts, verdict_draft
from consolidation.citations import cited
from consolidation.decide import decide
from consolidation.edits import hand_edits
from consolidation.find import find as find_in
from consolidation.model import Candidate, Decision, StepResult, Touched, Verdict, folded
from consolidation.neighbours import touched as near
from consolidation.places import word_for_word
from consolidation.prevented import prevented
from consolidation.review import review
from consolidation.run import DONE, SAME, SKIPPED, Judged, Run, Step
from consolidation.sessions import views
from consolidation.sources import read as read_sources
from consolidation.triggers import BLOAT, STALE
from consolidation.verify import verify as computed
from transcript import memory_drafts as drafts
from transcript.errors import EmbedderUnavailable, PointerError, StoreError
from transcript.event import Draft, Event, Position, moment
from transcript.log import Log
from transcript.memories import Link, Memory, MemoryState, fold_events, span_of_body
from transcript.memory_fold import closing
from transcript.projections.views import refresh
from transcript.telling import counted

if TYPE_CHECKING:
    from indexer.embedder import Embedder
    from indexer.store import Store

FIND = "find"


def find(run: Run) -> StepResult:
    """Look for candidates in the sessions in which anything is new, and for those that an earlier run left."""
    key = run.workspace.id_key()
    found: dict[str, Candidate] = {}
    sessions = 0
    if run.through != run.since:
        with _store(run) as store:
            places = word_for_word(run.log, store, key)
            for view in views(run.log, run.since):
                sessions += 1
                found |= {one.id: one for one in find_in(view, run.state, key, places)}
                found |= {one.id: one for one in find_retired.find(view, run.log, store, key)}
                if run.deps.draft is not None:
                    run.views.append(view)
            found |= {one.id: one for one in find_retired.differing(run.log, store, key)}
    if not run.settings.consolidation.summaries:
        found = {name: one for name, one in found.items() if one.kind != "summary"}
    edits = hand_edits(run.workspace, run.state)
    run.unread = edits.unread
    if run.trigger in (BLOAT, STALE):
        found |= {one.id: one for one in archiving.proposed(run.state, run.settings.consolidation, run.now)}
    found |= {one.id: one for one in edits.proposed}
    run.candidates = _in_order([*_open(run), *(one for one in found.values() if one.id not in run.state.candidates)])
    run.checks = list(_file_checks(run))
    new = sum(one.id not in run.state.candidates for one in run.candidates)
    run.counts["candidates"] = new
    note = f"{counted(new, 'new candidate')} in {counted(sessions, 'session')}"
    return StepResult(FIND, DONE if run.candidates or sessions else SAME, new, note)


def _open(run: Run) -> Iterator[Candidate]:
    """Yield the candidates of the record that no run has decided, and those that wait for something but a person."""
    for held in run.state.candidates.values():
        waits = held.pending and (held.decided or {}).get("tier") != "governed"
        if held.decided is None or (waits and (run.through != run.state.through or _unasked(run, held.verdicts))):
            yield candidate_of(held.body)


def _unasked(run: Run, verdicts: Iterable[object]) -> bool:
    """Say whether the reviewer has not answered about a candidate yet."""
    reviewer = run.deps.reviewer
    if reviewer is None:
        return False
    return not any(
        isinstance(one, dict) and one.get("answer_sha256") and (one.get("reviewer") or {}).get("id") == reviewer.id
        for one in verdicts
    )


def _in_order(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return candidates as they were said: what comes later may take the place of what came before."""
    return sorted(candidates, key=lambda one: (moment(one.said_at), one.id))


def _file_checks(run: Run) -> Iterator[Draft]:
    """Yield what is to be told of the files that current memories speak of."""
    root = run.workspace.root
    if root is None or not root.is_dir():
        return
    for memory in run.state.current(run.now):
        for path, sha256 in memory.files:
            now = hash_of(root, path)
            if (now != sha256) != (path in memory.stale_paths):
                before = dict(memory.checked).get(path, "")
                yield drafts.checked(run.at, memory.id, path, now, stale=now != sha256, before=before)


def search(run: Run) -> StepResult:
    """Look up what answers have used since, which tells what memories are worth."""
    used = cited(run.log, run.since, run.state)
    run.proofs = [*used, *prevented(run.log, used, run.state)]
    for one in used:
        run.state.cited.setdefault(one.body["of"], set()).add(one.body["session"])
    return StepResult(
        "search",
        DONE if run.proofs else SAME,
        len(run.proofs),
        counted(len(run.proofs), "proof of use", "proofs of use"),
    )


def draft(run: Run) -> StepResult:
    """Ask the drafter, if there is one; what it proposes is verified like anything else."""
    if run.deps.draft is None:
        return StepResult("draft", SKIPPED, note="no drafter is set")
    if not run.views:
        return StepResult("draft", SAME, note="no session is new")
    made = [one for one in run.deps.draft(run.views) if one.id not in run.state.candidates]
    run.views = []
    run.candidates = _in_order([*run.candidates, *made])
    run.counts["candidates"] += len(made)
    return StepResult("draft", DONE, len(made), counted(len(made), "draft"))


def verify(run: Run) -> StepResult:
    """Hold each candidate against its sources and the memories it touches, and decide how it ends.

    The next candidate sees what was accepted of those before it. What was found is written as it is found when a
    reviewer is asked, so that a run which dies asks nothing twice.
    """
    if not run.candidates:
        return StepResult("verify", SAME, note="no candidates")
    key, waiting = run.workspace.id_key(), list[Draft]()
    with _store(run) as store:
        embedder = _embedder(run)
        for candidate in run.candidates:
            if candidate.found_by == archiving.FINDER:  # of what is remembered already there is nothing to verify
                judged = _ended(run, candidate, (), archiving.decided(candidate))
            else:
                judged = _judge(run, candidate, near(candidate, run.state, store, embedder), key)
            run.judged.append(judged)
            take_in(run.state, judged.outcome)
            waiting += judged.found
            if run.deps.reviewer is not None:
                run.write(waiting)
                waiting = []
    run.write(waiting)
    return StepResult(
        "verify", DONE, len(run.judged), counted(len(run.judged), "candidate verified", "candidates verified")
    )


def _judge(run: Run, candidate: Candidate, touched: list[Touched], key: bytes) -> Judged:
    verdicts = [computed(candidate, run.log, touched, key=key, links=run.state.links)]
    reviewer, held = run.deps.reviewer, run.state.candidates.get(candidate.id)
    if reviewer is not None:
        sources = read_sources(run.log, candidate.sources, key)
        past = held.verdicts if held is not None else ()
        verdicts += review(candidate, verdicts[0], touched, sources, reviewer, run.settings.reviewer, past=past)
    said_in = Sessions(run.log)
    decision = decide(candidate, verdicts, touched, run.settings, sessions_of=said_in, cited=run.state.cited)
    same = _waits_already(run, candidate) if decision.pending else ""
    if same:
        decision = Decision(candidate.id, "transcript_only", "duplicate", target=same)
    return _ended(run, candidate, tuple(verdicts), decision)


def _waits_already(run: Run, candidate: Candidate) -> str:
    """Return what says the same and waits, "" for nothing: a person is asked once."""
    for other, waits in (
        *((candidate_of(held.body), held.pending) for held in run.state.candidates.values()),
        *((judged.candidate, judged.decision.pending) for judged in run.judged),
    ):
        if waits and other.id != candidate.id and _asked(other) == _asked(candidate):
            return other.id
    return ""


def _asked(candidate: Candidate) -> tuple[str, ...]:
    """What a person is asked about in a candidate."""
    over = candidate.supersedes
    what = "archive" if candidate.found_by == archiving.FINDER else ""
    return what, candidate.memory_type, folded(candidate.text), over.pointer if over is not None else ""


def _ended(run: Run, candidate: Candidate, verdicts: tuple[Verdict, ...], decision: Decision) -> Judged:
    ends = outcome_drafts(
        run.at,
        candidate,
        verdicts,
        decision,
        run.state,
        root=run.workspace.root,
        session=min(Sessions(run.log)(candidate), default=""),
    )
    found = (drafts.candidate(run.at, candidate.body()), *(verdict_draft(run.at, one) for one in verdicts))
    return Judged(candidate, verdicts, decision, found, tuple(ends))


class Sessions:
    """The sessions in which a candidate or a memory was said."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def __call__(self, said: Candidate | Memory) -> frozenset[str]:
        found = set()
        for span in said.sources[:1]:  # the place that is quoted; the others are what it was said about
            try:
                found.add(self._log.get(span.event).session)
            except PointerError:
                continue
        return frozenset(found)


def take_in(state: MemoryState, events: Iterable[Draft]) -> None:
    """Let a state know what is about to be written: new memories and whose place they take."""
    for event in events:
        if event.type == "memory.written" and event.id not in state.memories:
            held = fold_events([(_as_event(event), event.body)])
            state.memories.update(held.memories)
        elif event.type == "memory.superseded":
            of, by = span_of_body(event.body["of"]), span_of_body(event.body["by"])
            state.links.append(Link(of, by, event.body["reason"], event.body["at"], event.id))
            old = state.memories.get(of.event)
            if old is not None:
                first = min(filter(None, (old.valid_to, event.body["at"])), key=moment)
                ends = closing(old.valid_from, first)
                state.memories[of.event] = replace(old, superseded_by=by.event, valid_to=ends)


def _as_event(draft: Draft) -> Event:
    values = {name: getattr(draft, name) for name in Draft.__slots__}
    return Event(**values, v=1, seq=0, commit="", prev="", salt="", position=Position(1, 0, 0, ""))


def write(run: Run) -> StepResult:
    """Write the decisions, each with all that follows from it at once; then the files."""
    new = run.write(run.proofs)
    for judged in run.judged:
        if run.write(list(judged.outcome)):
            new += 1
            _count(run, judged)
            run.changed = run.changed or judged.decision.outcome == "memory" or judged.decision.reason == "confirmed"
    new += run.write(adopt(run.log, run.state, run.at))  # of memories that stand by now
    if not run.dry_run:
        refresh(run.workspace)
    return StepResult("write", DONE if new else SAME, run.counts["accepted"], _told(run))


def _count(run: Run, judged: Judged) -> None:
    decision, counts = judged.decision, run.counts
    if decision.pending:
        counts["procedure" if decision.outcome == "procedure" else "pending"] += 1
    elif decision.outcome == "memory":
        counts["accepted"] += 1
        counts["downgraded"] += judged.verdicts[-1].verdict == "downgrade"
        counts["superseded"] += sum(one.type == "memory.superseded" for one in judged.outcome)
    elif decision.reason in ("confirmed", "duplicate"):
        counts[decision.reason] += 1
    else:
        counts["rejected"] += 1


def _told(run: Run) -> str:
    said = [f"{number:,} {name}" for name, number in run.counts.items() if number and name != "candidates"]
    return ", ".join(said) or "nothing decided"


@contextmanager
def _store(run: Run) -> "Iterator[Store | None]":
    """The index to look into, None where there is none yet: likeness by words works without."""
    try:
        store = run.deps.open_store()
    except StoreError:
        yield None
        return
    with store:
        yield store


def _embedder(run: Run) -> "Embedder | None":
    """The model that tells what is near in meaning; not loaded where there are no two statements to compare."""
    if len(run.state.memories) + sum(one.kind == "statement" for one in run.candidates) < 2:
        return None
    try:
        return run.deps.embedder()
    except EmbedderUnavailable:
        return None


STEPS: tuple[tuple[str, Step], ...] = (
    (FIND, find),
    ("search", search),
    ("draft", draft),
    ("verify", verify),
    ("write", write),
    ("archive", steps_after.archive),
    ("standing", steps_standing.standing),
    ("index", steps_after.index),
    ("check", steps_after.check),
    ("handoff", steps_after.handoff),
    ("procedures", steps_standing.procedures),
)
