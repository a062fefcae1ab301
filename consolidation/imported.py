"""Takes the memories of another tool's folder in, as events: each once, however often the folder is read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from consolidation.candidates import memory_draft, outcome_drafts, verdict_draft
from consolidation.commands import Hand, is_governed, said
from consolidation.loader import Document, Loaded
from consolidation.model import Candidate, Decision, Verdict
from consolidation.neighbours import touched
from consolidation.span import span_of
from consolidation.steps import take_in
from consolidation.verify import SUPERSEDED, verify
from transcript import memory_drafts as drafts
from transcript import secrets
from transcript.errors import PointerError
from transcript.event import Draft, moment
from transcript.memories import Memory, Span

PERSON = "any"  # for whom a memory is critical that a foreign file only calls critical


@dataclass(slots=True)
class Imported:
    """What a folder came to: events, files that are new, known, wait for a person, were replaced before, or failed."""

    drafts: list[Draft] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    waiting: list[tuple[str, str]] = field(default_factory=list)
    replaced: list[tuple[str, str]] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)


def imported(hand: Hand, loaded: Loaded, folder: str, on_file: Callable[[], None] = lambda: None) -> Imported:
    """Return what the memories of a folder become. The state of `hand` knows them afterwards.

    A file that changed takes the place of what it said before. A statement that no source of the record supports is an
    inference; one that contradicts a memory waits, and so does what governs others where no person commands. What was
    replaced since the file says it, stays replaced.
    """
    found = Imported(failed=list(loaded.failed))
    ids: dict[str, str] = {}
    read = _read(hand)
    for document in loaded.memories:
        on_file()
        memory = read.get((f"{folder}/{document.path}", document.sha256))
        if memory is not None:
            ids[document.path] = memory
            found.known.append(document.path)
            continue
        try:
            _take(hand, document, f"{folder}/{document.path}", found, ids)
        except ValueError as error:
            found.failed.append((document.path, str(error)))
    found.drafts += _links(hand, loaded.memories, ids)
    return found


def _take(hand: Hand, document: Document, path: str, found: Imported, ids: dict[str, str]) -> None:
    old = _before(hand, path)
    candidate = _candidate(hand, document, path)
    same = hand.state.memories.get(drafts.written_id(candidate.id))
    if same is not None and same.superseded_by and old is not None:  # the file says again what it said once
        candidate = replace(candidate, sources=(*candidate.sources, Span(old.id, 0, len(old.text))))
    ids[document.path] = drafts.written_id(candidate.id)
    known = document.id in hand.state.memories or ids[document.path] in hand.state.memories
    if known or candidate.id in hand.state.candidates:
        found.known.append(document.path)
        return
    near = [one for one in touched(candidate, hand.state) if old is None or one.memory.id != old.id]
    verdict = verify(candidate, hand.log, near, key=hand.key, links=hand.state.links)
    decision = _decision(hand, candidate, verdict, may_be_past=bool(old or document.superseded_by or document.valid_to))
    told = [drafts.candidate(hand.at, candidate.body()), verdict_draft(hand.at, verdict)]
    if decision.outcome == "memory":
        told += _written(hand, candidate, document, verdict, decision, old)
        found.new.append(document.path)
    else:
        told += outcome_drafts(hand.at, candidate, [verdict], decision, hand.state, root=hand.root, **hand.decides)
        ends = found.waiting if decision.pending else found.replaced
        ends.append((document.path, _why(verdict, decision)))
    found.drafts += told
    take_in(hand.state, told)


def _read(hand: Hand) -> dict[tuple[str, str], str]:
    """Return the memories of files that are as they were when they were taken in, by path and hash."""
    found = {}
    for held in hand.state.candidates.values():
        file, memory = held.body.get("file"), drafts.written_id(held.id)
        current = memory in hand.state.memories and not hand.state.memories[memory].superseded_by
        if file and held.body.get("found_by") == "import" and (current or held.pending):
            found[str(file.get("path")), str(file.get("sha256"))] = memory
    return found


def _candidate(hand: Hand, document: Document, path: str) -> Candidate:
    made = said(
        hand,
        document.statement,
        why=document.why,
        found_by="import",
        memory_type=document.memory_type,
        kind=document.kind,
        covers=(f"import:{path}", 0, 0) if document.kind == "summary" else None,
        sources=tuple(_sources(hand, document)),
        said_at=document.valid_from or document.created or hand.at.ts,
        projects=document.projects,
        roles=document.roles,
        tags=document.tags,
        privacy=_privacy(hand, document),
        file=(path, document.sha256),
    )
    whole = secrets.mask(document.statement, hand.key)[0]  # a text of several paragraphs keeps them
    return replace(made, text=whole)


def _privacy(hand: Hand, document: Document) -> str:
    """Who may see it, as the file says: that others may is not for an agent to say."""
    named = document.privacy or hand.settings.memory.privacy
    return "project" if document.privacy == "shared" and not hand.is_person else named


def _sources(hand: Hand, document: Document) -> list[Span]:
    found = []
    for pointer in document.sources:
        try:
            found.append(span_of(hand.log, pointer.split(" ")[0], key=hand.key))
        except PointerError:
            continue  # of another record
    return found


def _before(hand: Hand, path: str) -> Memory | None:
    """Return the memory that a file became when it said something else."""
    for memory in hand.state.memories.values():
        held = hand.state.candidates.get(memory.candidate)
        file = held.body.get("file") if held is not None and held.body.get("found_by") == "import" else None
        if file and file.get("path") == path and not memory.superseded_by:
            return memory
    return None


def _decision(hand: Hand, candidate: Candidate, verdict: Verdict, *, may_be_past: bool) -> Decision:
    """May be past: what a file says now that said something else before, and what it says no longer holds."""
    if verdict.verdict == "refuted" and verdict.note == SUPERSEDED and not may_be_past:
        return Decision(candidate.id, "transcript_only", "superseded_by", target=verdict.target)
    if verdict.conflicts:
        target = verdict.conflicts[0].memory
        return Decision(candidate.id, "transcript_only", "contradiction", pending=True, target=target)
    if not hand.is_person and is_governed(candidate.memory_type):
        return Decision(candidate.id, "procedure", "awaits_person", pending=True, tier="governed")
    reason = "accepted" if verdict.verdict == "not_refuted" and candidate.why else "accepted_inference"
    return Decision(candidate.id, "memory", reason, memory=drafts.written_id(candidate.id))


def _written(
    hand: Hand, candidate: Candidate, document: Document, verdict: Verdict, decision: Decision, old: Memory | None
) -> list[Draft]:
    begins, ends = _interval(hand, document, candidate.said_at)
    critical = document.critical_for or ((PERSON,) if document.critical else ())
    made = memory_draft(
        hand.at,
        candidate,
        verdict,
        reason="import",
        root=hand.root,
        by=hand.by.name,
        actor_kind=hand.by.kind,
        critical_for=critical if hand.is_person else (),
        valid_from=begins,
        valid_to=ends,
        supersedes=[old.id] if old is not None else (),
    )
    told = [drafts.decided(hand.at, candidate.id, "memory", decision.reason, memory=made.id, **hand.decides), made]
    if old is not None:
        since = candidate.said_at if candidate.said_at > old.said_at else hand.at.ts
        told.append(_link(hand, old.id, len(old.text), made, since))
    return told


def _interval(hand: Hand, document: Document, said_at: str) -> tuple[str, str]:
    """Return since when and until when a file's memory holds; since "" where it ended before anything says it began.

    What its file says was superseded ends now, unless it says when.
    """
    begins, ends = document.valid_from, document.valid_to
    if ends and moment(ends) <= moment(said_at):
        return begins, ends
    if not ends and document.superseded_by and moment(hand.at.ts) > moment(said_at):
        ends = hand.at.ts
    return begins or said_at, ends


def _link(hand: Hand, of: str, length: int, new: Draft, since: str) -> Draft:
    place = Span(new.id, 0, len(str(new.body["text"])))
    return drafts.superseded(hand.at, Span(of, 0, length), place, reason="import", since=since, **hand.who)


def _links(hand: Hand, documents: Sequence[Document], ids: dict[str, str]) -> list[Draft]:
    """Return the supersessions that files of the folder state of each other, by path, name or title."""
    names: dict[str, str] = {}
    for one in documents:
        stem = one.path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
        for name in filter(None, (one.path, f"{stem}.md", stem, one.name)):
            names.setdefault(name, one.path)
    told = []
    for one in (one for one in documents if one.superseded_by):
        by = ids.get(names.get(one.superseded_by, ""), "")
        old, new = hand.state.memories.get(ids.get(one.path, "")), hand.state.memories.get(by)
        if old is not None and new is not None and old.id != new.id and not old.superseded_by:
            places = (Span(old.id, 0, len(old.text)), Span(new.id, 0, len(new.text)))
            told.append(drafts.superseded(hand.at, *places, reason="import", since=new.said_at, **hand.who))
    take_in(hand.state, told)
    return told


def _why(verdict: Verdict, decision: Decision) -> str:
    if decision.reason == "superseded_by":
        return f"{decision.target[:10]} took the place of what it says"
    if decision.reason == "contradiction":
        conflict = verdict.conflicts[0]
        return f"contradicts {conflict.memory[:10]} ({conflict.how}: {conflict.detail})"
    return "a person must accept it"
