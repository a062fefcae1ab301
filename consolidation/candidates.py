"""A candidate out of the record, and the drafts that tell what became of one."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from consolidation.model import LINKS, Candidate, Decision, Verdict
from transcript import memory_drafts as drafts
from transcript.canonical import sha256_hex
from transcript.event import Draft
from transcript.memories import MemoryState, Span, span_of_body
from transcript.memory_told import Told
from transcript.paths import read_file

MOST_FILES = 8
FILE_BYTES = 1 << 20
WHOLE = frozenset({"not_refuted", "supersede"})  # verdicts that passed every word
NARROWED = WHOLE | {"downgrade"}  # or those that are kept
_PATH = re.compile(r"(?<![\w/.-])(?:[\w.-]+/)*[\w-][\w.-]*\.[A-Za-z]\w{0,7}(?![\w/])")
_WHY_SUPERSEDED = {
    "correction": "correction",
    "wish": "correction",
    "preference": "correction",
    "hand_edit": "hand_edit",
    "retired": "retired",
    "replaced": "replacement",
    "value_link": "update",
}


def candidate_of(body: Mapping[str, Any]) -> Candidate:
    """Return the candidate that an event's body holds."""
    texts = ("found_by", "memory_type", "text", "said_at", "kind", "why", "privacy", "agent_id", "worker", "peer")
    held: dict[str, Any] = {name: str(body.get(name) or "") for name in (*texts, "drafted_by")}
    held |= {name: tuple(map(str, body.get(name) or ())) for name in ("subject", "projects", "roles", "tags")}
    held |= {name: tuple(map(span_of_body, body.get(name) or ())) for name in ("sources", "closed_by")}
    mistake, file, covers = body.get("mistake"), body.get("file"), body.get("covers")
    return Candidate(
        supersedes=span_of_body(body["supersedes"]) if body.get("supersedes") else None,
        mistake=(str(mistake["avoid"]), str(mistake["instead"])) if mistake else None,
        file=(str(file["path"]), str(file["sha256"])) if file else None,
        covers=(str(covers["session"]), int(covers["from"]), int(covers["to"])) if covers else None,
        **held,
    )


def verdict_draft(at: Told, verdict: Verdict) -> Draft:
    """Return the event of a verdict."""
    return drafts.verdict(
        at,
        verdict.of,
        round=verdict.round,
        reviewer=verdict.reviewer,
        writer=verdict.writer,
        verdict=verdict.verdict,
        label=verdict.label,
        claims=[
            {
                "text": text,
                "start": start,
                "end": end,
                "source": found.source,
                "support": found.kind,
                "missing": list(found.missing),
            }
            for text, start, end, found in verdict.claims
        ],
        conflicts=[{"memory": c.memory, "how": c.how, "detail": c.detail} for c in verdict.conflicts],
        findings=_findings(verdict.findings),
        set_aside=_findings(verdict.set_aside),
        target=verdict.target,
        kept_text=verdict.kept_text,
        request_sha256=verdict.request_sha256,
        answer_sha256=verdict.answer_sha256,
        seconds=verdict.seconds,
        note=verdict.note,
    )


def _findings(found: Iterable[Any]) -> list[dict[str, str]]:
    return [
        {"severity": f.severity, "evidence_pointer": f.evidence_pointer, "text": f.text, "kind": f.kind} for f in found
    ]


def outcome_drafts(
    at: Told,
    candidate: Candidate,
    verdicts: Sequence[Verdict],
    decision: Decision,
    state: MemoryState,
    *,
    root: Path | None,
    session: str = "",
    by: str = "policy",
    actor_kind: str = "policy",
) -> list[Draft]:
    """Return the events of a decision: it, the memory, what that takes the place of, what is confirmed in a session."""
    found = [
        drafts.decided(
            at,
            candidate.id,
            decision.outcome,
            decision.reason,
            pending=decision.pending,
            tier=decision.tier,
            memory=decision.memory,
            target=decision.target,
            by=by,
            actor_kind=actor_kind,
        )
    ]
    if decision.reason == "confirmed":
        found.append(drafts.promoted(at, decision.target, session, because=candidate.id))
    if decision.outcome != "memory":
        return found
    old = replaced_by(candidate, verdicts, state)
    reason = _WHY_SUPERSEDED.get(candidate.found_by, "contradiction") if candidate.kind == "statement" else "update"
    new = memory_draft(
        at,
        candidate,
        verdicts[-1] if verdicts else None,
        reason={"added": "added", "import": "import"}.get(candidate.found_by, reason if old else "new"),
        root=root,
        by=by,
        actor_kind=actor_kind,
        narrowed=True,
        supersedes=old,
    )
    place = Span(new.id, 0, len(str(new.body["text"])))
    named = verdict_draft(at, verdicts[-1]).id if verdicts else ""
    since, who = candidate.said_at, {"verdict": named, "actor": by, "actor_kind": actor_kind}
    gone = [Span(name, 0, len(state.memories[name].text)) for name in old]
    over = candidate.supersedes
    if over is not None and candidate.found_by in LINKS and over.event not in state.memories:
        gone.append(over)  # words of the transcript, which a person has agreed hold no longer
    return [*found, new, *(drafts.superseded(at, of, place, reason=reason, since=since, **who) for of in gone)]


def replaced_by(candidate: Candidate, verdicts: Sequence[Verdict], state: MemoryState) -> list[str]:
    """Return the memories that a candidate takes the place of.

    What it contradicts, what the command that said it replaces by name, the older extract of a session.
    """
    if candidate.covers is not None:
        return [
            memory.id
            for memory in state.memories.values()
            if memory.covers is not None and memory.covers[0] == candidate.covers[0] and not memory.superseded_by
        ]
    said = candidate.supersedes.event if candidate.supersedes is not None else ""
    conflicts = verdicts[0].conflicts if verdicts and verdicts[-1].verdict == "supersede" else ()
    return list(dict.fromkeys(name for name in (said, *(c.memory for c in conflicts)) if name in state.memories))


def memory_draft(
    at: Told,
    candidate: Candidate,
    verdict: Verdict | None,
    *,
    reason: str,
    root: Path | None,
    by: str,
    actor_kind: str,
    narrowed: bool = False,
    **more: Any,
) -> Draft:
    """Return the event of the memory that a candidate becomes; `more` says what the candidate does not know.

    It is a claim where the verdict passed the words that are kept: all of them, or, `narrowed`, those that its sources
    say. Without a verdict it is an inference.
    """
    text = (verdict.kept_text if verdict is not None and narrowed else "") or candidate.text
    passed = verdict is not None and verdict.verdict in (NARROWED if narrowed else WHOLE)
    return drafts.written(
        at,
        candidate.id,
        candidate.memory_type,
        text,
        sources=candidate.sources,
        said_at=candidate.said_at,
        why=candidate.why,
        kind=candidate.kind,
        label=verdict.label if verdict is not None and passed else "inference",
        verified="not_refuted" if passed else "unverified",
        subject=candidate.subject,
        tags=candidate.tags,
        projects=candidate.projects,
        roles=candidate.roles,
        privacy=candidate.privacy,
        agent_id=candidate.agent_id,
        files=files_of(text, root),
        reason=reason,
        mistake=candidate.mistake,
        covers=candidate.covers,
        actor=by,
        actor_kind=actor_kind,
        **more,
    )


def files_of(text: str, root: Path | None) -> list[tuple[str, str]]:
    """Return (path, hash) of the project's files that a text names, at most MOST_FILES; none without a project."""
    if root is None:
        return []
    found: dict[str, str] = {}
    for path in dict.fromkeys(match[0] for match in _PATH.finditer(text)):
        sha256 = hash_of(root, path)
        if sha256 and len(found) < MOST_FILES:
            found[path] = sha256
    return list(found.items())


def hash_of(root: Path, path: str) -> str:
    """Return the hash of a file of the project, "" where there is none, it lies outside or is too long to be text."""
    try:
        whole = (root / path).resolve()
        if not whole.is_relative_to(root.resolve()) or not whole.is_file() or whole.stat().st_size > FILE_BYTES:
            return ""
        return sha256_hex(read_file(whole))
    except (OSError, ValueError):
        return ""
