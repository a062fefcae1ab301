"""What somebody does to memories by a command, as the events that say so. Nothing is written here.

A statement is never changed: another memory takes its place. What an agent commands stays below a person's word.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from consolidation import archiving
from consolidation.candidates import candidate_of, memory_draft, outcome_drafts, verdict_draft
from consolidation.contradiction import GOVERNED
from consolidation.decide import SECRET, decide
from consolidation.model import Candidate, Decision, Touched, Verdict
from consolidation.neighbours import touched
from consolidation.plain import seen
from consolidation.settings import Settings
from consolidation.sources import PERSON, authority
from consolidation.steps import Sessions
from consolidation.subject import subject
from consolidation.verify import overlap, verify, writer
from transcript import memory_drafts as drafts
from transcript import secrets
from transcript.curation import Author
from transcript.errors import CurationError
from transcript.event import Draft, moment
from transcript.log import Log
from transcript.memories import CandidateState, Link, Memory, MemoryState, Span
from transcript.memory_fold import closing
from transcript.memory_told import Told

HUMAN = "human"
OURS = "recall"  # the program that a person types into, where no harness runs it
CHANGES = frozenset({"contradiction", "update", "replacement", "retired"})  # what they replaced had not been wrong


@dataclass(frozen=True, slots=True)
class Hand:
    """Who commands, in which record, and what is remembered there."""

    log: Log
    state: MemoryState
    by: Author
    at: Told
    key: bytes
    settings: Settings
    root: Path | None = None

    @property
    def is_person(self) -> bool:
        """Whether a person commands; what an agent types for one, and in one's name, is the agent's all the same."""
        return self.by.kind == HUMAN and self.by.agent == OURS

    @property
    def typed_by(self) -> str:
        """Who types the command: an agent's name, its harness where it gives a person's, or the person's."""
        return self.by.name if self.is_person or self.by.kind != HUMAN else self.by.agent

    @property
    def who(self) -> dict[str, Any]:
        """Who it is, as events name it."""
        return {"actor": self.by.name, "actor_kind": self.by.kind}

    @property
    def decides(self) -> dict[str, Any]:
        """Who it is, as a decision names it."""
        return {"by": self.by.name, "actor_kind": self.by.kind}


@dataclass(frozen=True, slots=True)
class Added:
    """What becomes of a statement that somebody adds; no drafts where a memory says it already."""

    decision: Decision
    verdict: Verdict
    drafts: tuple[Draft, ...] = ()


def said(hand: Hand, text: str, **fields: Any) -> Candidate:
    """Return a statement of somebody's as a candidate, as it is seen and credentials masked.

    CurationError for one without words.
    """
    words, why = " ".join(seen(text).split()), seen(str(fields.pop("why", ""))).strip()
    if not words:
        raise CurationError("the statement has no words")
    masked = secrets.mask(words, hand.key)[0]
    given: dict[str, Any] = {"found_by": "added", "sources": (), "said_at": hand.at.ts, "subject": subject(masked)}
    given |= {"privacy": hand.settings.memory.privacy, "agent_id": hand.settings.memory.agent}
    return Candidate(text=masked, why=secrets.mask(why, hand.key)[0], **(given | fields))


def add(hand: Hand, candidate: Candidate, more: Mapping[str, Any] | None = None) -> Added:
    """Return what a statement that somebody adds becomes; `more` (validity, who must have it) is amended at once.

    CurationError when it contradicts a memory, is too long or holds a credential: then nothing is to be written.
    """
    near = touched(candidate, hand.state)
    verdict = verify(candidate, hand.log, near, key=hand.key, links=hand.state.links)
    held = hand.state.memories.get(drafts.written_id(candidate.id))
    if held is not None:
        _still_holds(held)
        return Added(Decision(candidate.id, "transcript_only", "duplicate", target=held.id), verdict)
    decision = decide(
        candidate,
        [verdict],
        near,
        hand.settings,
        sessions_of=Sessions(hand.log),
        cited=hand.state.cited,
        person=hand.is_person,
    )
    _refuse(hand, candidate, verdict, decision)
    if decision.reason == "duplicate":
        return Added(decision, verdict)
    found = [drafts.candidate(hand.at, candidate.body()), verdict_draft(hand.at, verdict)]
    found += outcome_drafts(
        hand.at,
        candidate,
        [verdict],
        decision,
        hand.state,
        root=hand.root,
        session=min(Sessions(hand.log)(candidate), default=""),
        **hand.decides,
    )
    if more and decision.outcome == "memory":
        found.append(drafts.amended(hand.at, decision.memory, more, because=decision.memory, **hand.who))
    return Added(decision, verdict, tuple(found))


def proposed(hand: Hand, candidate: Candidate) -> list[Draft]:
    """Return a statement as a candidate alone: the next run of consolidation decides on it."""
    if SECRET in candidate.text:
        raise CurationError("the statement holds a credential; say it without one")
    return [drafts.candidate(hand.at, candidate.body())]


def _still_holds(memory: Memory) -> None:
    """CurationError for a memory that was put away: said again, it would be the very same one."""
    if memory.archived:
        raise CurationError(f"{memory.id[:10]} says that and is archived; 'recall memory restore {memory.id[:10]}'")
    if memory.superseded_by or memory.refuted_because:
        end = f"superseded by {memory.superseded_by[:10]}" if memory.superseded_by else "refuted"
        raise CurationError(f"{memory.id[:10]} said that and is {end}; say it with other evidence (--evidence)")


def _refuse(hand: Hand, candidate: Candidate, verdict: Verdict, decision: Decision) -> None:
    if decision.reason == "secret":
        raise CurationError("the statement holds a credential; say it without one")
    if decision.reason == "too_long":
        most = hand.settings.consolidation.statement_chars
        raise CurationError(
            f"the statement has {len(candidate.text):,} characters, at most {most:,} (consolidation.statement_chars)"
        )
    if decision.reason == "superseded_by":
        raise CurationError(
            f"{decision.target[:10]} took the place of what its evidence says; "
            f"'recall memory show {decision.target[:10]}', or give newer evidence (--evidence)"
        )
    if decision.reason == "contradiction":
        conflict = verdict.conflicts[0]
        memory = hand.state.memories[conflict.memory]
        shown = f"; shown by {candidate.sources[0].pointer}" if candidate.sources else ""
        raise CurationError(
            f"it contradicts {_pointer(memory)} ({conflict.how}: {conflict.detail}){shown}; "
            f"'recall memory correct {memory.id[:10]} --because POINTER STATEMENT' puts it in its place"
        )


def restated(
    hand: Hand,
    memory: Memory,
    text: str | None,
    *,
    reason: str,
    why: str | None = None,
    sources: Sequence[Span] = (),
    since: str = "",
    **fields: Any,
) -> list[Draft]:
    """Return another statement in the place of a memory's, which keeps what stands around it unless `fields` says else.

    With None for `text` the statement stays as it is, with another reason: both are words that pointers open. `since`
    is when the new one began to hold, by default when the old one did: it is then the same truth in other words.
    CurationError when a third memory says otherwise, or when an agent would replace a person's word.
    """
    may_change(hand, memory, sources)
    around: dict[str, Any] = {name: getattr(memory, name) for name in ("projects", "roles", "tags", "privacy")}
    around |= {"memory_type": memory.memory_type, "agent_id": memory.agent_id, "mistake": memory.mistake}
    around |= {"said_at": since or memory.said_at, "sources": tuple(sources) or memory.sources, **fields}
    whole = Span(memory.id, 0, len(memory.text))
    words = memory.statement if text is None else text
    candidate = said(hand, words, why=memory.why if why is None else why, supersedes=whole, **around)
    if text is None:
        candidate = replace(candidate, text=memory.statement, kind=memory.kind, covers=memory.covers)
    if candidate.id == memory.candidate and candidate.why == memory.why:
        raise CurationError(f"{memory.id[:10]} says that already")
    if candidate.id in hand.state.candidates:  # said before, perhaps with another reason: now it is another memory
        candidate = replace(candidate, sources=(*candidate.sources, whole))
    near = [one for one in touched(candidate, hand.state) if one.memory.id != memory.id]
    verdict = verify(candidate, hand.log, near, key=hand.key, links=hand.state.links)
    limits = hand.settings.consolidation.statement_chars if text is not None else len(candidate.text)
    end = "secret" if SECRET in candidate.text else "too_long" if len(candidate.text) > limits else ""
    end = end or ("contradiction" if verdict.conflicts else "accepted")
    _refuse(hand, candidate, verdict, Decision(candidate.id, "transcript_only", end))
    begins = since or memory.valid_from
    ends = memory.valid_to if not begins or (memory.valid_to and moment(begins) < moment(memory.valid_to)) else ""
    interval = {"valid_from": begins, "valid_to": ends}
    return [
        drafts.candidate(hand.at, candidate.body()),
        verdict_draft(hand.at, verdict),
        *_in_place(hand, candidate, verdict, memory, reason, since=begins or candidate.said_at, **interval),
    ]


def _in_place(
    hand: Hand, candidate: Candidate, verdict: Verdict, old: Memory, reason: str, *, since: str, **interval: Any
) -> list[Draft]:
    made = memory_draft(
        hand.at,
        candidate,
        verdict,
        reason=reason,
        root=hand.root,
        by=hand.by.name,
        actor_kind=hand.by.kind,
        critical_for=old.critical_for,
        supersedes=[old.id],
        **interval,
    )
    decision = "accepted" if made.body["label"] == "claim" else "accepted_inference"
    named = verdict_draft(hand.at, verdict).id
    places = Span(old.id, 0, len(old.text)), Span(made.id, 0, len(str(made.body["text"])))
    return [
        drafts.decided(hand.at, candidate.id, "memory", decision, memory=made.id, target=old.id, **hand.decides),
        made,
        drafts.superseded(hand.at, *places, reason=reason, since=since, verdict=named, **hand.who),
    ]


def refuted(hand: Hand, memory: Memory, because: str, reason: str, sources: Sequence[Span] = ()) -> list[Draft]:
    """Return that a memory is wrong, shown by the event `because`; what it alone had taken the place of holds again.

    That is said by a memory of its own, in the old words: what was replaced stays what it was. What a person had
    corrected, or what said the same in other words, does not come back: it is as wrong as before. Words of the
    transcript come back by themselves (`freed`).
    """
    may_change(hand, memory, sources)
    found = [drafts.refuted(hand.at, memory.id, because=because, reason=reason, **hand.who)]
    if memory.superseded_by:
        return found
    for link in (one for one in hand.state.links if one.by.event == memory.id and one.reason in CHANGES):
        old = hand.state.memories.get(link.of.event)
        if old is not None and old.superseded_by == memory.id and not (old.refuted_because or old.archived):
            found += _again(hand, old, memory, link)
    return found


def freed(state: MemoryState, wrong: Memory) -> list[Span]:
    """Return the words of the transcript that hold again once a memory is wrong: whose place it alone had taken."""
    if wrong.superseded_by:
        return []
    told = [link for link in state.links if link.of.event not in state.memories]
    others = [link.of for link in told if link.by.event != wrong.id]
    return [link.of for link in told if link.by.event == wrong.id and not any(overlap(link.of, of) for of in others)]


def _again(hand: Hand, old: Memory, wrong: Memory, link: Link) -> list[Draft]:
    """Say the words of a memory again, whose replacement was wrong; nothing where a third one denies it."""
    places = (*old.sources, Span(old.id, 0, len(old.text)))  # what was wrong about it may be erased, and this stay
    around: dict[str, Any] = {name: getattr(old, name) for name in ("projects", "roles", "tags", "privacy", "kind")}
    around |= {"memory_type": old.memory_type, "agent_id": old.agent_id, "mistake": old.mistake, "covers": old.covers}
    candidate = said(hand, old.statement, why=old.why, said_at=old.said_at, sources=places, **around)
    candidate = replace(candidate, text=old.statement)
    near = [one for one in touched(candidate, hand.state) if one.memory.id not in (old.id, wrong.id)]
    verdict = verify(candidate, hand.log, near, key=hand.key)
    if verdict.conflicts:
        return []
    told = [drafts.candidate(hand.at, candidate.body()), verdict_draft(hand.at, verdict)]
    ends = old.valid_to
    if ends == closing(old.valid_from, link.at):  # which closed it; its own end, if any, stands where it was written
        ends = str(hand.log.body(hand.log.get(old.id)).get("valid_to") or "")
    around = {"valid_from": old.valid_from, "valid_to": ends}
    return [*told, *_in_place(hand, candidate, verdict, old, "correction", since=link.at, **around)]


def may_change(hand: Hand, memory: Memory, sources: Sequence[Span] = ()) -> None:
    """CurationError where an agent would change a person's word, unless a person's words are what it goes by."""
    if hand.is_person or authority(hand.log, sources) >= PERSON:
        return
    if memory.actor_kind == HUMAN or memory.approved or authority(hand.log, memory.sources) >= PERSON:
        raise CurationError(
            f"{memory.id[:10]} is a person's word; only a person, or a message of theirs (--because), takes its place"
        )


def accepted(hand: Hand, candidate: Candidate, held: CandidateState | None) -> list[Draft]:
    """Return that a person takes in what waited: their word is the last verdict on it, and replaces what it conflicts
    with; a memory that was proposed to be put away is archived. CurationError where nothing waits, or where no person
    commands.
    """
    _waits(hand, candidate, held)
    if candidate.found_by == archiving.FINDER:
        return _put_away(hand, candidate)
    near: list[Touched] = touched(candidate, hand.state)
    computed = verify(candidate, hand.log, near, key=hand.key, links=hand.state.links)
    replaces = computed.conflicts or candidate.supersedes is not None
    word = replace(
        computed,
        round=1 + max((int(one.get("round", 0)) for one in held.verdicts), default=0) if held is not None else 1,
        reviewer=(HUMAN, hand.by.name),
        writer=writer(candidate),
        verdict="supersede" if replaces else "not_refuted",
        findings=(),
        target=computed.conflicts[0].memory if computed.conflicts else "",
        kept_text="",
        note="accepted by a person",
    )
    reason = "accepted" if word.label == "claim" and candidate.why else "accepted_inference"
    decision = Decision(candidate.id, "memory", reason, memory=drafts.written_id(candidate.id), target=word.target)
    return [
        *_known(hand, candidate, held),
        verdict_draft(hand.at, computed),
        verdict_draft(hand.at, word),
        *outcome_drafts(
            hand.at,
            candidate,
            [computed, word],
            decision,
            hand.state,
            root=hand.root,
            **hand.decides,
        ),
    ]


def _put_away(hand: Hand, candidate: Candidate) -> list[Draft]:
    memory = hand.state.memories[candidate.sources[0].event]
    told = drafts.decided(hand.at, candidate.id, "transcript_only", "accepted", target=memory.id, **hand.decides)
    if memory.archived:
        return [told]
    return [told, drafts.archived(hand.at, memory.id, reason=candidate.why, actor=hand.by.name)]


def declined(hand: Hand, candidate: Candidate, held: CandidateState | None) -> list[Draft]:
    """Return that a person turns down what waited: it is not proposed again."""
    _waits(hand, candidate, held)
    return [
        *_known(hand, candidate, held),
        drafts.decided(hand.at, candidate.id, "transcript_only", "declined", **hand.decides),
    ]


def _waits(hand: Hand, candidate: Candidate, held: CandidateState | None) -> None:
    if not hand.is_person:
        raise CurationError(
            f"{hand.typed_by} is an agent; a person accepts or declines ('recall memory accept' typed by them)"
        )
    if held is not None and held.decided is not None and not held.pending:
        end = held.decided
        raise CurationError(f"{candidate.id[:10]} was decided already: {end.get('outcome')} ({end.get('reason')})")


def _known(hand: Hand, candidate: Candidate, held: CandidateState | None) -> list[Draft]:
    return [] if held is not None else [drafts.candidate(hand.at, candidate.body())]


def waiting(state: MemoryState, others: Sequence[Candidate] = ()) -> dict[str, tuple[Candidate, CandidateState | None]]:
    """Return what waits for a person, by id: candidates of the record, and `others` that it does not have yet."""
    found: dict[str, tuple[Candidate, CandidateState | None]] = {
        name: (candidate_of(held.body), held) for name, held in state.candidates.items() if held.pending
    }
    return found | {one.id: (one, None) for one in others if one.id not in state.candidates}


def is_governed(memory_type: str) -> bool:
    """Say whether memories of a type govern others and are laid down by a person."""
    return memory_type in GOVERNED


def _pointer(memory: Memory) -> str:
    return Span(memory.id, 0, len(memory.text)).pointer
