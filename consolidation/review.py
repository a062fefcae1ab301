"""A reviewer's rounds: the whole candidate first, later what the round before changed, until nothing severe is found.

A reviewer can only take away: it refutes, narrows or leaves a candidate alone. What the computed checks refuted is not
shown to it, what they found in conflict stays so, and a word that it puts into a candidate has to stand in the sources
like any other. No answer, or one of another form, means unverified.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any

from consolidation.align import find_run, tokens
from consolidation.claims import claims
from consolidation.model import Candidate, Finding, Reviewer, Touched, Verdict
from consolidation.review_protocol import SEVERITIES, Answer, Edit, answer, request, sha256_of
from consolidation.subject import same_subject
from consolidation.support import COVERED, NONE, QUOTED, support
from consolidation.verify import LOST_SOURCE, NO_SOURCE, writer
from recall.memory_settings import ReviewerSettings
from transcript.errors import ConfigError, ReviewFailed

QUOTED_WORDS = 4  # in a row of a memory, from which a finding quotes it
NEW_MECHANISM = "new_mechanism"  # an idea of the reviewer's own: looked at in the first round only


@dataclass(frozen=True, slots=True)
class _Reply:
    """What came back in one round; `failed` says why it is no answer, `text` is the candidate with its edits made."""

    text: str
    answer: Answer | None = None
    sha256: str = ""
    seconds: float = 0.0
    failed: str = ""


def review(
    candidate: Candidate,
    verdict: Verdict,
    touched: Sequence[Touched],
    sources: Sequence[tuple[str, str]],
    reviewer: Reviewer,
    settings: ReviewerSettings,
    *,
    past: Sequence[Mapping[str, Any]] = (),
) -> list[Verdict]:
    """Return a verdict a round, the last of them the reviewer's; none for what is not to be reviewed.

    `verdict` is the computed one, `sources` are (pointer, words), `past` the verdicts that the record holds: one of the
    same round, reviewer and request is not asked for again. Private candidates and memories are shown with
    `reviewer.private` alone. What is accepted is `kept_text` of the last verdict, else the candidate's text.
    ConfigError when the writer would review itself.
    """
    if reviewer.id == writer(candidate):
        raise ConfigError(f"{reviewer.id} wrote the candidate and cannot review it; set another reviewer.id")
    if not _is_reviewable(candidate, verdict, settings):
        return []
    shown = [item for item in touched if settings.private or item.memory.privacy != "private"]
    held = [said for _, said in sources]
    text, before = verdict.kept_text or candidate.text, ""
    found: list[Verdict] = []
    for number in range(1, settings.rounds + 1):
        asked = _request(replace(candidate, text=text), verdict.label, shown, sources, before, number, settings)
        known = _past(past, number, reviewer, asked)
        if known is not None:
            found.append(_again(known, verdict))
            now = found[-1].kept_text or text
        else:
            reply = _ask(reviewer, asked, text, held)
            now = reply.text
            found.append(_verdict(candidate, verdict, reviewer, number, asked, reply, held, settings))
        if now == text or not now or not _severe(found[-1].findings, settings.severity):
            return found
        text, before = now, text
    return [*found[:-1], replace(found[-1], verdict="unverified", note="the last edits were not reviewed any more")]


def _is_reviewable(candidate: Candidate, verdict: Verdict, settings: ReviewerSettings) -> bool:
    """Whether a reviewer can still change anything, and may see it."""
    if candidate.privacy == "private" and not settings.private:
        return False
    if verdict.verdict == "unverified":
        return not (verdict.conflicts or verdict.note.startswith((LOST_SOURCE, NO_SOURCE)))
    return verdict.verdict != "refuted"


def _request(
    candidate: Candidate,
    label: str,
    shown: Sequence[Touched],
    sources: Sequence[tuple[str, str]],
    before: str,
    number: int,
    settings: ReviewerSettings,
) -> dict[str, Any]:
    """What a round asks: all of the candidate, or what changed since the text before and what belongs to that."""
    edits = changes(before, candidate.text) if before else None
    if edits is not None:
        after = " ".join(edit.after for edit in edits)
        shown = [item for item in shown if same_subject(after, item.memory.statement)]
        sources = [(p, said) for p, said in sources if any(support(e.after, [said]).kind != NONE for e in edits)]
    return request(candidate, label, shown, sources, number=number, severity=settings.severity, edits=edits)


def changes(before: str, after: str) -> list[Edit]:
    """Return the sentences of a text that another has in place of its own; "" stands for none."""
    old, new = [c.text for c in claims(before)], [c.text for c in claims(after)]
    return [
        Edit(" ".join(old[i:j]), " ".join(new[k:m]))
        for kind, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        if kind != "equal"
    ]


def _past(
    past: Sequence[Mapping[str, Any]], number: int, reviewer: Reviewer, asked: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """The verdict of the record on the very same question, None without one or where no answer came."""
    wanted = number, reviewer.id, sha256_of(asked)
    for held in past:
        asked_then = held.get("round"), (held.get("reviewer") or {}).get("id"), held.get("request_sha256")
        if asked_then == wanted and held.get("answer_sha256"):
            return held
    return None


def _again(held: Mapping[str, Any], verdict: Verdict) -> Verdict:
    """A verdict of the record as a value."""
    return replace(
        verdict,
        round=int(held["round"]),
        reviewer=(str(held["reviewer"]["kind"]), str(held["reviewer"]["id"])),
        claims=(),
        findings=tuple(Finding(**one) for one in held.get("findings") or ()),
        set_aside=tuple(Finding(**one) for one in held.get("set_aside") or ()),
        seconds=float(held.get("seconds") or 0.0),
        verdict=str(held["verdict"]),
        label=str(held["label"]),
        target=str(held.get("target") or ""),
        kept_text=str(held.get("kept_text") or ""),
        request_sha256=str(held.get("request_sha256") or ""),
        answer_sha256=str(held.get("answer_sha256") or ""),
        note=str(held.get("note") or ""),
    )


def _ask(reviewer: Reviewer, asked: Mapping[str, Any], text: str, held: Sequence[str]) -> _Reply:
    began = time.monotonic()
    digest = ""
    try:
        raw = reviewer.ask(asked)
        digest = sha256_of(raw)
        found = answer(raw, asked)
        return _Reply(_edited(text, found.edits, held), found, digest, _seconds(began))
    except ReviewFailed as error:
        return _Reply(text, None, digest, _seconds(began), str(error))


def _seconds(began: float) -> float:
    return round(time.monotonic() - began, 3)


def _edited(text: str, edits: Sequence[Edit], held: Sequence[str]) -> str:
    """The text with edits made; words that no source holds are not put in, their sentence is only taken out."""
    for edit in edits:
        if edit.before not in text:
            raise ReviewFailed("an edit changes words that the candidate does not have")
        text = text.replace(edit.before, edit.after if _is_said(edit.after, held) else "", 1)
    return text.strip()


def _severe(findings: Sequence[Finding], severity: str) -> bool:
    return any(SEVERITIES.index(one.severity) >= SEVERITIES.index(severity) for one in findings)


def _verdict(
    candidate: Candidate,
    computed: Verdict,
    reviewer: Reviewer,
    number: int,
    asked: Mapping[str, Any],
    reply: _Reply,
    held: Sequence[str],
    settings: ReviewerSettings,
) -> Verdict:
    """What one round says about the candidate."""
    found = tuple(_pointed(one, asked) for one in reply.answer.findings) if reply.answer else ()
    aside = tuple(one for one in found if number > 1 and one.kind == NEW_MECHANISM)
    base = replace(
        computed,
        round=number,
        reviewer=(reviewer.kind, reviewer.id),
        claims=(),
        findings=tuple(one for one in found if one not in aside),
        set_aside=aside,
        kept_text=reply.text if reply.text != candidate.text else "",
        request_sha256=sha256_of(asked),
        answer_sha256=reply.sha256,
        seconds=reply.seconds,
        note=reply.failed,
    )
    said = reply.answer
    if said is None:
        return replace(base, verdict="unverified", kept_text=computed.kept_text)
    if said.verdict == "refuted" or not claims(reply.text):
        return replace(base, verdict="refuted", kept_text="")
    if said.verdict == "supersede" and (computed.verdict, computed.target) != ("supersede", said.target):
        return replace(base, verdict="unverified", note=f"the reviewer alone sees {said.target[:10]} superseded")
    narrowed = reply.text != (computed.kept_text or candidate.text)
    if said.verdict == "not_refuted" and _severe(base.findings, settings.severity) and not narrowed:
        return replace(base, verdict="unverified", note="the reviewer found faults and changed nothing")
    label = computed.label
    if narrowed:
        label = "claim" if _is_said(reply.text, held) and not computed.note else "inference"
    elif said.verdict == "downgrade":
        label = "inference"
    outcome = computed.verdict if computed.verdict == "supersede" else "downgrade" if base.kept_text else "not_refuted"
    return replace(base, verdict=outcome, label=label)


def _pointed(finding: Finding, asked: Mapping[str, Any]) -> Finding:
    """A finding that quotes a memory names it, whatever it points to: when the memory is forgotten, it goes as well."""
    said = tokens(finding.text)
    for memory in (*asked["memories"], *asked["procedures"]):
        words = tokens(memory["text"])
        if any(find_run(words[at : at + QUOTED_WORDS], said) for at in range(max(1, len(words) - QUOTED_WORDS + 1))):
            return replace(finding, evidence_pointer=memory["id"][:10])
    return finding


def _is_said(text: str, held: Sequence[str]) -> bool:
    """Whether every claim of a text is quoted or covered by the sources."""
    return all(support(claim.text, held).kind in (QUOTED, COVERED) for claim in claims(text))
