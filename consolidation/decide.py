"""How a candidate ends: as a memory, as a procedure that a person must approve, or in the transcript only.

Two tiers. The agent's own notes are written under policy once verification has not refuted them. What governs others
(runbooks, role standards), what changes how words of the transcript are read, and what was edited by hand waits for a
person. What waits keeps its reason; nothing is ever dropped without one.
"""

from collections.abc import Callable, Mapping, Sequence

from consolidation.contradiction import GOVERNED
from consolidation.model import LINKS, Candidate, Decision, Touched, Verdict
from consolidation.neighbours import same_meaning
from consolidation.settings import Settings
from consolidation.verify import SUPERSEDED
from transcript.memories import Memory
from transcript.memory_drafts import written_id

SECRET = "[secret:"
COMMANDED = frozenset({"added", "import"})  # kept as an inference where nothing supports them
NEEDS_SUBJECT = frozenset(
    {"cause", "report", "commit", "recovered", "drafter"}
)  # of these only what names something is of use
ACCEPTED = frozenset({"not_refuted", "downgrade", "supersede"})


def decide(
    candidate: Candidate,
    verdicts: Sequence[Verdict],
    touched: Sequence[Touched],
    settings: Settings,
    *,
    sessions_of: Callable[[Candidate | Memory], frozenset[str]],
    cited: Mapping[str, set[str]] | None = None,
    person: bool = False,
) -> Decision:
    """Return how a candidate ends. verdicts are the computed one and, behind it, a reviewer's.

    `sessions_of` names the sessions in which something was said; a memory that was cited in a session (`cited`) is not
    confirmed by what is said there, for that may be its own echo. `person`: a person's command puts it in, so that
    nobody has to be asked.
    """
    computed, last = verdicts[0], verdicts[-1]
    refused = _refused(candidate, computed, last, settings)
    if refused is not None:
        return refused
    if not person and _is_governed(candidate):
        return _governed(candidate)
    same = _said_before(candidate, touched, sessions_of, cited or {})
    if same is not None and last.verdict != "supersede":
        return same
    if last.verdict not in ACCEPTED:
        return _unverified(candidate, computed)
    reason = "accepted" if last.label == "claim" and candidate.why else "accepted_inference"
    return Decision(candidate.id, "memory", reason, memory=written_id(candidate.id), target=last.target)


def _refused(candidate: Candidate, computed: Verdict, last: Verdict, settings: Settings) -> Decision | None:
    """Return the end of what becomes no memory whoever is asked, None for the rest."""
    text = last.kept_text or candidate.text
    if SECRET in text:
        return _kept(candidate, "secret")
    if candidate.kind == "statement" and len(text) > settings.consolidation.statement_chars:
        return _kept(candidate, "too_long")
    if candidate.found_by in NEEDS_SUBJECT and not candidate.subject:
        return _kept(candidate, "no_subject")
    if candidate.found_by == "hand_edit":
        return None
    if computed.verdict == "refuted" and computed.note == SUPERSEDED:
        return _kept(candidate, "superseded_by", computed.target)
    if candidate.found_by in COMMANDED:
        return None
    if computed.verdict == "refuted":
        return _kept(candidate, "unsupported", computed.target)
    if last is not computed and last.verdict == "refuted":
        return _kept(candidate, "reviewer")
    return None


def _kept(candidate: Candidate, reason: str, target: str = "") -> Decision:
    """It stays in the transcript only."""
    return Decision(candidate.id, "transcript_only", reason, target=target)


def _is_governed(candidate: Candidate) -> bool:
    links = candidate.found_by in LINKS and candidate.supersedes is not None
    return candidate.memory_type in GOVERNED or links or candidate.found_by == "hand_edit"


def _governed(candidate: Candidate) -> Decision:
    outcome = "procedure" if candidate.memory_type in GOVERNED else "transcript_only"
    target = candidate.supersedes.event if candidate.supersedes is not None else ""
    return Decision(candidate.id, outcome, "awaits_person", pending=True, tier="governed", target=target)


def _said_before(
    candidate: Candidate,
    touched: Sequence[Touched],
    sessions_of: Callable[[Candidate | Memory], frozenset[str]],
    cited: Mapping[str, set[str]],
) -> Decision | None:
    """Return that a memory which holds says the same; said again in another session confirms it."""
    for item in touched:
        memory = item.memory
        gone = memory.refuted_because or memory.archived or memory.superseded_by or memory.candidate == candidate.id
        if gone or candidate.kind != "statement" or not same_meaning(candidate, memory):
            continue
        elsewhere = sessions_of(candidate) - sessions_of(memory) - cited.get(memory.id, set())
        return _kept(candidate, "confirmed" if elsewhere else "duplicate", memory.id)
    return None


def _unverified(candidate: Candidate, computed: Verdict) -> Decision:
    """Return what waits, and why; what a person puts in without support is kept as an inference at once."""
    conflicts = computed.conflicts
    if candidate.found_by in COMMANDED and not conflicts:
        return Decision(candidate.id, "memory", "accepted_inference", memory=written_id(candidate.id))
    reason = "contradiction" if conflicts else "unverified"
    target = conflicts[0].memory if conflicts else ""
    return Decision(candidate.id, "transcript_only", reason, pending=True, target=target)
