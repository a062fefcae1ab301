"""What may become a memory or waits for a person, as `recall memory list --proposals` and `show` tell it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recall.cli.output import emit, head, note, say

if TYPE_CHECKING:
    from collections.abc import Mapping

    from consolidation.model import Candidate
    from transcript.memories import CandidateState, MemoryState
    from transcript.workspace import Workspace


def waiting(workspace: Workspace, held: MemoryState) -> dict[str, tuple[Candidate, CandidateState | None]]:
    """What waits for a person; files that were edited and are not in the record yet too."""
    from consolidation.commands import waiting as in_record
    from consolidation.edits import hand_edits

    return in_record(held, hand_edits(workspace, held).proposed)


def say_proposals(found: Mapping[str, tuple[Candidate, CandidateState | None]], as_json: bool) -> None:
    """Print what waits, oldest statement first."""
    for _, (candidate, held) in sorted(found.items(), key=lambda item: (item[1][0].said_at, item[0])):
        told = proposal_json(candidate, held)
        if as_json:
            emit(told)
            continue
        replaces, archives = told["replaces"], candidate.found_by == "archive"
        said = "for" if candidate.supersedes is not None else "against"
        against = f": {candidate.why}" if archives else f", {said} {replaces}" if replaces else ""
        kind = f"{candidate.memory_type:<15}"
        say(f"{told['id'][:10]} {told['reason']:<13} {kind} {head(candidate.text)} ({candidate.found_by}{against})")
    if not found and not as_json:
        note("nothing waits")


def say_proposal(candidate: Candidate, held: CandidateState | None, as_json: bool) -> None:
    """Print all that is known of one: what it says and why, where that was said, what was found and decided."""
    told = proposal_json(candidate, held)
    verdicts = held.verdicts if held is not None else ()
    decided = held is None or held.decided is not None
    told |= {"waits": decided and (held is None or held.pending), "verdicts": [dict(one) for one in verdicts]}
    if as_json:
        emit(told)
        return
    end = "waits" if told["waits"] else "decided" if decided else "not decided yet"
    say(f"{told['id'][:10]} {end}: {told['reason'] or 'the next checkpoint decides'} {candidate.memory_type}")
    say(candidate.text)
    if candidate.why:
        say(f"Why: {candidate.why}")
    say(f"  found by {candidate.found_by}, said {candidate.said_at[:16]}")
    for pointer in told["sources"]:
        say(f"  source   {pointer}")
    if told["replaces"]:
        say(f"  {'in the place of' if candidate.supersedes is not None else 'beside'} {told['replaces']}")
    if candidate.file:
        say(f"  from {candidate.file[0]}")
    for one in verdicts:
        note_of = f" ({one['note']})" if one.get("note") else ""
        say(f"  {(one.get('reviewer') or {}).get('id', '')}: {one.get('verdict')}{note_of}")
        for conflict in one.get("conflicts") or ():
            say(f"    contradicts {str(conflict['memory'])[:10]} ({conflict['how']}: {conflict['detail']})")
        for finding in one.get("findings") or ():
            say(f"    {finding['severity']} {finding['evidence_pointer']}  {head(finding['text'])}")
    if told["waits"]:
        say(f"  'recall memory accept {told['id'][:10]}' takes it in, 'recall memory decline' turns it down")


def proposal_json(candidate: Candidate, held: CandidateState | None) -> dict[str, Any]:
    """What is proposed, as plain values; sources as pointers."""
    decided = dict(held.decided or {}) if held is not None else {"reason": "awaits_person"}
    return {
        "id": candidate.id,
        "reason": str(decided.get("reason") or ""),
        "found_by": candidate.found_by,
        "type": candidate.memory_type,
        "text": candidate.text,
        "why": candidate.why,
        "sources": [span.pointer for span in candidate.sources],
        "replaces": candidate.supersedes.pointer if candidate.supersedes else str(decided.get("target") or "")[:10],
        "file": candidate.file[0] if candidate.file else "",
    }
