"""The computed verification of a candidate: does its source say it, and can it stand beside what is remembered.

The most that it says is `not_refuted`. None of it is proof: a paraphrase is not understood, in either direction.
"""

from collections.abc import Sequence
from dataclasses import replace

from consolidation.align import tokens, words_of
from consolidation.claims import claims
from consolidation.contradiction import conflicts, near_twin
from consolidation.model import Candidate, Finding, Support, Touched, Verdict
from consolidation.neighbours import same_meaning
from consolidation.sources import AGENT, OTHERS, PERSON, around, authority
from consolidation.span import words
from consolidation.support import COVERED, LEAST_TOKENS, NONE, QUOTED, SOME, support
from transcript.errors import PointerError, SpanChanged
from transcript.log import Log
from transcript.memories import Link, Memory, Span

REVIEWER = ("computed", "recall-checks/1")
NEAR = 0.6  # likeness of words from which a statement about the same that is no quotation has to be looked at
SAME_TOPIC = 0.7  # cosine from which two statements may contradict each other in other words (docs/verification.md)
SUPERSEDED, NO_SOURCE, LOST_SOURCE, TWIN, NEARBY = "superseded", "no source", "source", "near twin", "near"
_LEANS = words_of("this that it these those they so then but otherwise instead also")


def verify(
    candidate: Candidate, log: Log, touched: Sequence[Touched], *, key: bytes, links: Sequence[Link] = ()
) -> Verdict:
    """Return the computed verdict (round 0) on a candidate beside the memories it touches.

    `links` are the supersessions of the record: a source whose words were replaced refutes (note `superseded`, target
    what took its place). `conflicts` names what a `supersede` replaces, and what an `unverified` waits for.
    """
    held, reason = _held(candidate, log, key)
    table = tuple((c.text, c.start, c.end, support(c.text, held)) for c in claims(candidate.text))
    open_ones = [item for item in touched if _is_open(item.memory, candidate)]
    kept = _kept(candidate.text, table)
    judged = replace(candidate, text=kept or candidate.text)
    against = tuple(conflicts(judged, [*open_ones, *_cycles(candidate, touched)]))
    base = Verdict(candidate.id, 0, REVIEWER, writer(candidate), "unverified", "inference", table, against)
    said = [candidate.sources[found.source] for *_, found in table if found.source >= 0] or list(candidate.sources)
    replaced = _replaced(candidate, said, touched, links)
    if replaced:
        return replace(base, verdict="refuted", note=SUPERSEDED, target=replaced)
    if reason:
        return replace(base, note=reason)
    kinds = {found.kind for *_, found in table}
    findings = _findings(candidate, table)
    base = replace(base, findings=findings)
    if not kept:
        return replace(base, verdict="unverified" if SOME in kinds else "refuted")
    base = replace(base, label="claim")
    if against:
        return _contradicted(base, candidate, log, said, open_ones)
    twin = _twin(judged, open_ones, quoted=kinds == {QUOTED})
    if twin:
        return replace(base, label="inference", note=twin)
    if kept != candidate.text:
        return replace(base, verdict="downgrade", kept_text=kept)
    if candidate.drafted_by and candidate.why and support(candidate.why, held).kind not in (QUOTED, COVERED):
        return replace(base, verdict="not_refuted", label="inference", note="its reason is not in its sources")
    return replace(base, verdict="not_refuted")


def writer(candidate: Candidate) -> str:
    """Return who wrote a candidate: the drafter's id, else the finder."""
    return candidate.drafted_by or f"find/{candidate.found_by}"


def _held(candidate: Candidate, log: Log, key: bytes) -> tuple[list[str], str]:
    """The sentences that the sources touch, and why verification cannot go on, "" where it can."""
    if not candidate.sources:
        return [], NO_SOURCE
    held = []
    for span in candidate.sources:
        try:
            words(log, span, key)
            held.append(around(log, span, key))
        except (PointerError, SpanChanged) as error:
            return [], f"{LOST_SOURCE}: {error}"
    return held, ""


def _kept(text: str, table: Sequence[tuple[str, int, int, Support]]) -> str:
    """The text without the claims that no source holds; "" where nothing that says anything is left.

    A sentence that leans on the one that goes ("This …") goes with it.
    """
    out, end, gone = "", 0, False
    for said, start, stop, found in table:
        leans = gone and bool(first := _first_word(said)) and first in _LEANS
        gone = found.kind not in (QUOTED, COVERED) or leans
        if not gone:
            out += (text[end:start] if out and end else "") + said
        end = stop
    if all(found.kind in (QUOTED, COVERED) for *_, found in table) and table:
        return text
    return out.strip() if len(tokens(out)) >= LEAST_TOKENS else ""


def _first_word(text: str) -> str:
    """The first word of a sentence, lower case."""
    head = text.split(maxsplit=1)
    return head[0].strip(",.;:*_`\"'").lower() if head else ""


def _findings(candidate: Candidate, table: Sequence[tuple[str, int, int, Support]]) -> tuple[Finding, ...]:
    """What of the candidate its sources do not say, each with the place that was read."""
    places = [span.pointer for span in candidate.sources]
    return tuple(
        Finding(
            "high" if found.kind == NONE else "medium",
            places[max(found.source, 0)] if places else "",
            f"{said[:160]}: {found.reason}" + (f" ({', '.join(found.missing)})" if found.missing else ""),
            "support",
        )
        for said, _, _, found in table
        if found.kind not in (QUOTED, COVERED)
    )


def _is_open(memory: Memory, candidate: Candidate) -> bool:
    """Whether a memory still holds, or will, where the candidate begins to."""
    if memory.refuted_because or memory.archived or memory.superseded_by:
        return False
    return not memory.valid_to or memory.valid_to > candidate.said_at


def _cycles(candidate: Candidate, touched: Sequence[Touched]) -> list[Touched]:
    """The memory that this very candidate once became, where something has taken its place."""
    return [t for t in touched if t.memory.candidate == candidate.id and t.memory.superseded_by]


def _replaced(candidate: Candidate, said: Sequence[Span], touched: Sequence[Touched], links: Sequence[Link]) -> str:
    """What has taken the place of the candidate's words or of a memory that says the same, "" where nothing has."""
    for link in links:
        if any(overlap(link.of, span) for span in said) and link.at >= candidate.said_at:
            return link.by.event
    for item in touched:
        memory = item.memory
        if not same_meaning(candidate, memory):
            continue
        if memory.refuted_because and memory.said_at >= candidate.said_at:
            return memory.refuted_because
        if memory.superseded_by and (not memory.valid_to or candidate.said_at < memory.valid_to):
            return memory.superseded_by
    return ""


def overlap(one: Span, other: Span) -> bool:
    """Say whether two places have words in common."""
    return one.event == other.event and one.start < other.end and other.start < one.end


def _contradicted(
    base: Verdict, candidate: Candidate, log: Log, said: Sequence[Span], open_ones: Sequence[Touched]
) -> Verdict:
    """Supersede what is older and has no higher authority; wait where any conflict is of another kind."""
    memories = {item.memory.id: item.memory for item in open_ones}
    ours = OTHERS if candidate.worker or candidate.peer else authority(log, said)
    for conflict in base.conflicts:
        memory = memories.get(conflict.memory)
        if memory is None or conflict.how in ("cycle", "procedure"):
            return base
        theirs = PERSON if memory.actor_kind == "human" else max(authority(log, memory.sources), AGENT)
        if not (candidate.said_at > memory.said_at and ours >= theirs):
            return base
    return replace(base, verdict="supersede", target=base.conflicts[0].memory)


def _twin(candidate: Candidate, open_ones: Sequence[Touched], *, quoted: bool) -> str:
    """Why a candidate that nothing contradicts has to be looked at beside a memory, "" where it has not."""
    if any(same_meaning(candidate, item.memory) for item in open_ones):
        return ""
    for item in open_ones:
        apart = near_twin(candidate, item)
        if apart is not None:
            return f"{TWIN} of {item.memory.id[:10]}"
        words_near = not quoted and item.shared and item.likeness >= NEAR
        if words_near or item.cosine >= SAME_TOPIC:
            return f"{NEARBY} {item.memory.id[:10]}"
    return ""
