"""Builds the memory events, one function a kind. What the closed words do not know is refused with a ValueError.

Every id but those of what a person commands follows from what the event says: building one twice gives one event.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from transcript import memory_words as closed
from transcript.canonical import b32id, canonical
from transcript.event import Draft, moment
from transcript.memories import Span, text_of
from transcript.memory_told import ACTOR_KINDS, Told, a_moment, commanded, one_of, place_of, told, whole_id

HOW_CITED = ("named", "overlap")


def candidate(at: Told, body: Mapping[str, Any]) -> Draft:
    """Return what may become a memory; body as `consolidation.model.Candidate.body` gives it."""
    one_of("found_by", body["found_by"], closed.FINDERS)
    one_of("memory_type", body["memory_type"], closed.MEMORY_TYPES)
    one_of("kind", body["kind"], closed.KINDS)
    one_of("privacy", body["privacy"], closed.PRIVACY)
    if not str(body["text"]).strip():
        raise ValueError("a candidate has no words")
    a_moment("said_at", body["said_at"])
    return told("memory.candidate", at, dict(body), str(body["key"]), origin="external" if body["peer"] else "")


def verdict(
    at: Told,
    of: str,
    *,
    round: int,
    reviewer: tuple[str, str],
    writer: str,
    verdict: str,
    label: str,
    claims: Sequence[Mapping[str, Any]] = (),
    conflicts: Sequence[Mapping[str, Any]] = (),
    findings: Sequence[Mapping[str, Any]] = (),
    set_aside: Sequence[Mapping[str, Any]] = (),
    target: str = "",
    kept_text: str = "",
    request_sha256: str = "",
    answer_sha256: str = "",
    seconds: float = 0.0,
    note: str = "",
) -> Draft:
    """Return what one round of verification found; reviewer is kind and id. The writer is never the reviewer."""
    one_of("verdict", verdict, closed.VERDICTS)
    one_of("label", label, closed.LABELS)
    for claim in claims:
        one_of("support", claim["support"], closed.SUPPORT)
    for conflict in conflicts:
        one_of("how", conflict["how"], closed.CONFLICTS)
    if reviewer[1] == writer:
        raise ValueError(f"{writer} wrote the candidate and cannot review it")
    body = {
        "of": whole_id("of", of),
        "round": round,
        "reviewer": {"kind": reviewer[0], "id": reviewer[1]},
        "writer": writer,
        "verdict": verdict,
        "label": label,
        "claims": list(map(dict, claims)),
        "conflicts": list(map(dict, conflicts)),
        "findings": list(map(dict, findings)),
        "set_aside": list(map(dict, set_aside)),
        "target": target,
        "kept_text": kept_text,
        "request_sha256": request_sha256,
        "answer_sha256": answer_sha256,
        "seconds": seconds,
        "note": note,
    }
    said = canonical({**body, "seconds": 0.0}).decode("ascii")  # asked again and answered otherwise is another verdict
    return told("memory.verdict", at, body, of, str(round), reviewer[1], said)


def decided(
    at: Told,
    of: str,
    outcome: str,
    reason: str,
    *,
    pending: bool = False,
    tier: str = "own",
    memory: str = "",
    target: str = "",
    by: str = "policy",
    actor_kind: str = "policy",
) -> Draft:
    """Return how a candidate ends: as a memory, as a procedure to be approved, or in the transcript only."""
    one_of("outcome", outcome, closed.OUTCOMES)
    one_of("reason", reason, closed.DECIDED)
    one_of("tier", tier, ("own", "governed"))
    one_of("actor_kind", actor_kind, ACTOR_KINDS)
    if pending and outcome == "memory":
        raise ValueError("what waits is no memory yet: pending goes with procedure or transcript_only")
    if outcome == "memory" and not memory:
        raise ValueError("an accepted candidate names its memory")
    body = {"of": whole_id("of", of), "outcome": outcome, "pending": pending, "reason": reason, "tier": tier}
    body |= {"memory": memory, "target": target, "by": by, "actor_kind": actor_kind}
    return told("memory.decided", at, body, of, outcome, str(pending).lower(), reason, by)


def written_id(candidate: str) -> str:
    """Return the id of the memory that a candidate becomes."""
    return b32id("memory.written", candidate)


def written(
    at: Told,
    candidate: str,
    memory_type: str,
    statement: str,
    *,
    sources: Iterable[Span],
    said_at: str,
    why: str = "",
    kind: str = "statement",
    label: str = "claim",
    verified: str = "not_refuted",
    subject: Iterable[str] = (),
    tags: Iterable[str] = (),
    projects: Iterable[str] = (),
    roles: Iterable[str] = (),
    critical_for: Iterable[str] = (),
    privacy: str = "project",
    agent_id: str = "self",
    files: Iterable[tuple[str, str]] = (),
    valid_from: str | None = None,
    valid_to: str = "",
    supersedes: Iterable[str] = (),
    reason: str = "new",
    mistake: tuple[str, str] | None = None,
    covers: tuple[str, int, int] | None = None,
    actor: str = "policy",
    actor_kind: str = "policy",
) -> Draft:
    """Return a memory. Without a why or without a source it is labelled an inference, whatever label says.

    `valid_from` is `said_at` where none is given, "" where nothing says since when it held. `mistake` is what to avoid
    and what to do instead.
    """
    one_of("memory_type", memory_type, closed.MEMORY_TYPES)
    one_of("kind", kind, closed.KINDS)
    one_of("label", label, closed.LABELS)
    one_of("verified", verified, closed.VERIFIED)
    one_of("privacy", privacy, closed.PRIVACY)
    one_of("reason", reason, closed.REASONS)
    one_of("actor_kind", actor_kind, ACTOR_KINDS)
    if not statement.strip():
        raise ValueError("a memory has no words")
    if kind == "summary" and covers is None:
        raise ValueError("a summary names what it covers")
    spans = list(sources)
    why = why.strip()
    since = said_at if valid_from is None else valid_from
    body = {
        "candidate": whole_id("candidate", candidate),
        "memory_type": memory_type,
        "kind": kind,
        "label": label if why and spans else "inference",
        "verified": verified,
        "statement": statement,
        "text": text_of(statement, why),
        "why": why,
        "subject": list(subject),
        "tags": list(tags),
        "projects": list(projects),
        "roles": list(roles),
        "critical_for": list(critical_for),
        "privacy": privacy,
        "agent_id": agent_id,
        "sources": [span.body() for span in spans],
        "files": [{"path": path, "sha256": sha256} for path, sha256 in files],
        "said_at": a_moment("said_at", said_at),
        "valid_from": a_moment("valid_from", since) if since else "",
        "valid_to": a_moment("valid_to", valid_to) if valid_to else "",
        "supersedes": list(supersedes),
        "reason": reason,
        "mistake": {"avoid": mistake[0], "instead": mistake[1]} if mistake else None,
        "covers": {"session": covers[0], "from": covers[1], "to": covers[2]} if covers else None,
        "actor": actor,
        "actor_kind": actor_kind,
        "private": privacy == "private",
    }
    if valid_to and since and moment(valid_to) <= moment(since):
        raise ValueError(f"valid_to {valid_to} does not lie behind valid_from {since}")
    return told("memory.written", at, body, candidate)


def amended(
    at: Told, memory: str, new: Mapping[str, Any], *, because: str, actor: str, actor_kind: str = "human"
) -> Draft:
    """Return a change of what stands around a memory's statement; the statement itself never changes (`superseded`)."""
    if not new or not new.keys() <= set(closed.AMENDED):
        raise ValueError(
            f"a memory is amended in {', '.join(closed.AMENDED)}, not {', '.join(sorted(new)) or 'nothing'}"
        )
    if "type" in new:
        one_of("type", new["type"], closed.MEMORY_TYPES)
    if "privacy" in new:
        one_of("privacy", new["privacy"], closed.PRIVACY)
    for name in ("valid_from", "valid_to"):
        if new.get(name):
            a_moment(name, new[name])
    body = {"memory": whole_id("memory", memory), "set": dict(new), "because": because}
    return commanded("memory.amended", at, body, actor, actor_kind)


def superseded(
    at: Told,
    of: Span,
    by: Span,
    *,
    reason: str,
    since: str,
    verdict: str = "",
    actor: str = "policy",
    actor_kind: str = "policy",
) -> Draft:
    """Return that one statement takes another's place from `since` on, when the new one was said."""
    one_of("reason", reason, closed.REASONS)
    one_of("actor_kind", actor_kind, ACTOR_KINDS)
    if (of.event, of.start, of.end) == (by.event, by.start, by.end):
        raise ValueError(f"{of.pointer} cannot take its own place")
    body = {"of": place_of(of), "by": place_of(by), "reason": reason, "at": a_moment("since", since)}
    body |= {"verdict": verdict, "actor": actor, "actor_kind": actor_kind}
    names = [f"{span.event}#{span.start}-{span.end}" for span in (of, by)]
    return told("memory.superseded", at, body, *names)


def refuted(at: Told, memory: str, *, because: str, reason: str, actor: str, actor_kind: str = "human") -> Draft:
    """Return that a memory is wrong."""
    if not because:
        raise ValueError("what refutes a memory is named by a pointer")
    body = {"memory": whole_id("memory", memory), "because": because, "reason": reason}
    return commanded("memory.refuted", at, body, actor, actor_kind)


def archived(at: Told, memory: str, *, reason: str, actor: str) -> Draft:
    """Return that a person puts a memory away; it stays readable."""
    return commanded("memory.archived", at, {"memory": whole_id("memory", memory), "reason": reason}, actor, "human")


def restored(at: Told, memory: str, *, reason: str, actor: str) -> Draft:
    """Return that a person takes a memory out of the archive."""
    return commanded("memory.restored", at, {"memory": whole_id("memory", memory), "reason": reason}, actor, "human")


def checked(at: Told, memory: str, path: str, sha256: str, *, stale: bool, before: str = "") -> Draft:
    """Return whether a file that a memory speaks of is another one now; `before` is the event that told of it last."""
    body = {"memory": whole_id("memory", memory), "path": path, "sha256": sha256, "stale": stale}
    return told("memory.checked", at, body, memory, path, sha256, before)


def source(at: Told, path: str, sha256: str, text: str, *, before: str = "") -> Draft:
    """Return a file of the project as it stands, gone without words; `before` is the event that told of it last."""
    return told("memory.source", at, {"path": path, "sha256": sha256, "text": text}, path, sha256, before)


def cited(
    at: Told,
    of: str,
    session: str,
    how: str,
    *,
    turn: str = "",
    answer: Span | None = None,
    words: Iterable[str] = (),
    project: str = "",
    role: str = "",
    agent_id: str = "self",
    worker: str = "",
) -> Draft:
    """Return that an answer used a memory or an event, once a session; `at.ts` is when the answer was given."""
    one_of("how", how, HOW_CITED)
    body: dict[str, Any] = {"of": whole_id("of", of), "session": session, "turn": turn}
    body["answer"] = answer.body() if answer else None
    body |= {"how": how, "words": list(words), "project": project, "role": role, "agent_id": agent_id, "worker": worker}
    return told("memory.cited", at, body, of, session, how)


def promoted(at: Told, memory: str, session: str, *, because: str, to: str = "checkpoint") -> Draft:
    """Return that a memory was said again in another session."""
    body = {"memory": whole_id("memory", memory), "because": because, "to": to, "session": session}
    return told("memory.promoted", at, body, memory, session)


def prevented(
    at: Told, memory: str, session: str, *, turn: str, cited: Span, action: Span, avoided: str, did: str
) -> Draft:
    """Return that a memory kept a known mistake from being made: what was cited, and the action that differed."""
    for name, span in (("cited", cited), ("action", action)):
        if not span.event or span.start >= span.end:
            raise ValueError(f"a prevented mistake needs the span of `{name}`")
    if not avoided or not did:
        raise ValueError("a prevented mistake names what was avoided and what was done")
    body = {"memory": whole_id("memory", memory), "session": session, "turn": turn, "cited": cited.body()}
    body |= {"action": action.body(), "avoided": avoided, "did": did, "judged_by": "computed"}
    place = f"{action.event}#{action.start}-{action.end}"
    return told("memory.prevented_mistake", at, body, memory, session, place)


def adopted(at: Told, memory: str, event: str, *, cause: str, sender: str) -> Draft:
    """Return that what a worker or a peer said of a memory counts, because verification did not refute it."""
    one_of("cause", cause, ("correction", "outcome", "citation"))
    if not sender.startswith(("worker:", "peer:")):
        raise ValueError(f"adopted from a worker or a peer (worker:NAME, peer:NAME), not {sender!r}")
    body = {"memory": whole_id("memory", memory), "event": whole_id("event", event), "cause": cause}
    return told("memory.adopted", at, {**body, "from": sender, "via": "consolidation"}, memory, event, cause)


def approved(at: Told, memory: str, approval: Mapping[str, Any]) -> Draft:
    """Return a person's signed approval with the action it covers; whether it is authentic is asked where it counts."""
    fields: tuple[str, ...] = (
        "canon_version",
        "store_id",
        "proposal_id",
        "proposal_hash",
        "affected_action_hash",
        "evidence_hashes",
    )
    fields += ("decision", "actor", "timestamp", "rationale", "nonce", "expires_at", "mac", "key_id", "action")
    missing = [name for name in fields if name not in approval]
    if missing:
        raise ValueError(f"an approval lacks {', '.join(missing)}")
    body = {"memory": whole_id("memory", memory), **{name: approval[name] for name in fields}}
    return told("memory.approved", at, body, memory, canonical(body).decode("ascii"))


def checkpoint(
    at: Told,
    trigger: str,
    through: Mapping[str, Any],
    state: str,
    *,
    steps: Sequence[Mapping[str, Any]],
    counts: Mapping[str, int],
    artifacts: Mapping[str, Any],
    link: str = "",
    failed_step: str = "",
    reviewer: str = "none",
    text: str = "",
    besides: Iterable[str] = (),
) -> Draft:
    """Return what a run did; its last event. `through` is the position of the last input that it read.

    `besides` are the events of a run to which nothing had come in: they tell it from the one before it.
    """
    one_of("trigger", trigger, closed.TRIGGERS)
    one_of("state", state, ("complete", "incomplete", "failed"))
    if (state == "complete") == bool(failed_step):
        raise ValueError(f"state is {state} and failed_step {failed_step!r}: one names a failure, the other none")
    elected = trigger in ("elected", "task", "mistake")  # the others are the safety net
    body = {"trigger": trigger, "elected": elected, "link": link, "through": dict(through)}
    body |= {"state": state, "failed_step": failed_step, "steps": list(map(dict, steps)), "counts": dict(counts)}
    body |= {"artifacts": dict(artifacts), "reviewer": reviewer, "text": text}
    return told("checkpoint", at, body, trigger, link, str(through["seq"]), state, *besides)
