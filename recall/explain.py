"""Says why a turn showed what it showed, for people and as JSON."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from indexer.rows import FROM_WORKER
from recall.injection import label, pointer_text
from recall.selection import POLICY, REASONS
from recall.turn import Ranked, Turn
from transcript.telling import counted

SILENCE = {
    "empty": "the prompt is empty",
    "norecall": "the prompt asked for no recall",
    "envelope": "the prompt is text of the harness, not of a person",
    "command": "the prompt is a bare command",
    "continuation": "the prompt only moves the work on",
    "no_words": "the prompt holds no content word",
    "twin": "the same call runs twice, and the other one answered",
    "no_workspace": "this was the project's first prompt: it had no record yet",
    "no_index": "there is no index yet; 'recall index' makes one",
    "index_newer": "the index is of a newer version of recall",
    "index_unreadable": "the index could not be read; 'recall health' says more",
    "no_fts5": "the hook's interpreter cannot search words; 'recall health' says more",
    "deadline": "the time was over before the search was",
    **REASONS,
}
NOTES = {
    "no_service": "no service was running; one is started for the next prompt",
    "service_gone": "the service had left without a word; one is started for the next prompt",
    "service_broke_off": "the service ended in the middle of the answer; one is started for the next prompt",
    "service_late": "the service took too long, so words had to do",
    "service_old": "the service was of another version; a new one is started for the next prompt",
    "service_not_ours": "the service belongs to another user and was not asked",
    "service_failed": "the service failed on this prompt; 'recall health' counts such failures",
    "model_missing": "the service has no model; 'recall health' says why",
    "model_loading": "the model was still being loaded",
    "model_busy": "the model was at work on another prompt",
    "model_slow": "the model took too long",
    "model_failed": "the model failed on this prompt; 'recall health' says more",
    "vector_unusable": "the model gave no usable vector for this prompt",
    "no_vectors": "the index holds no vectors yet",
    "other_model": "the vectors are of another model; 'recall index rebuild' makes them anew",
}
WHERE = {
    "connect": "while it was called",
    "send": "while it took the prompt",
    "receive": "while it answered",
}
DEMOTIONS = {
    "announcement": "only says what comes next",
    "question": "asks rather than tells",
    "pasted": "looks pasted",
    "narration": "said on the way, not at the end",
    "tool": "a tool's record",
    "summary": "written by a model about the transcript",
    "worker": "a sub-agent's text",
    "reasoning": "thinking",
    "abandoned": "stands on an abandoned branch",
    "rewound": "was taken back by a rewind",
    "external": "came from outside",
    "outside_role": "lies outside what the role may speak of",
    "conflict": "something that holds says otherwise",
    "stale": "what it speaks of has changed since",
    "superseded": "replaced, and shown because the past was asked for",
}


def silence(reason: str) -> str:
    """Why nothing was injected, in words."""
    return SILENCE.get(reason, f"for a reason this version does not know ({reason or 'none given'})")


def note_text(note: str) -> str:
    """A turn's note in words: its code may carry a detail behind a colon."""
    code, _, detail = note.partition(":")
    if code not in NOTES:
        return note
    return f"{NOTES[code]} ({WHERE.get(detail, detail)})" if detail else NOTES[code]


def budget_text(decision: Mapping[str, Any]) -> str:
    """How much was to be injected and why, with the signals, in one line; takes a decision as the ledger has it."""
    signals = decision.get("signals", {})
    used = {True: "used", False: "not used"}.get(signals.get("used"), "not known")
    return (
        f"budget: {decision.get('mode')}, {decision.get('branch')} ({decision.get('reason')}); "
        f"evidence {signals.get('best', 0.0):.2f} against {signals.get('threshold', 0.0):.2f}, "
        f"{counted(signals.get('memories', 0), 'memory', 'memories')}; of the prompt "
        f"{signals.get('continues', 0.0):.0%} stands in the last injection, whose use is: {used}"
    )


def explain_json(turn: Turn) -> dict[str, Any]:
    """The whole turn: words, counts, and every item with its terms, its R and its verdict."""
    return {
        "words": list(turn.terms),
        "candidates": turn.candidates,
        "shown": len(turn.items),
        "empty_reason": turn.empty_reason,
        "words_only": turn.words_only,
        "tokens": turn.tokens,
        "budget": asdict(turn.budget),
        "stages_ms": turn.stages,
        "items": [item_json(r) for r in turn.ranked],
    }


def item_json(ranked: Ranked) -> dict[str, Any]:
    """One item; the words of one that policy keeps out are not in it."""
    item = ranked.candidate
    return {
        "pointer": pointer_text(item.pointer),
        "event": item.pointer.event,
        "source": item.source,
        "label": label(item)[0],
        "worker_id": item.pointer.worker if item.pointer.flags & FROM_WORKER else "",
        "session": item.pointer.session,
        "ts": item.pointer.said,
        "also": [pointer_text(p) for p in item.pointers[1:]],
        "asked": pointer_text(item.asked) if item.asked else "",
        "answered": pointer_text(item.answered) if item.answered else "",
        "verdict": ranked.verdict,
        "demoted": list(item.demoted),
        "reordered": item.moved,
        "notes": list(item.notes),
        "R": round(ranked.score.total, 6),
        "terms": {part.letter: round(part.value, 6) for part in ranked.score.parts},
        "weights": {part.letter: part.weight for part in ranked.score.parts},
        "relevance": round(item.relevance, 6),
        "cosine": None if item.cosine is None else round(item.cosine, 6),
        "bm25": round(item.bm25, 4),
        "matched": sorted(item.matched),
        "text": item.text,
    }


def explain_text(turn: Turn) -> str:
    """A page: what was searched for, each item's sum, and the reason for everything that was not shown."""
    lines = [f"words: {' '.join(turn.terms) or '(none)'}", f"candidates={turn.candidates} shown={len(turn.items)}"]
    if turn.words_only:
        lines.append("searched by words alone")
    if turn.empty_reason:
        lines.append(f"nothing shown: {turn.empty_reason} ({silence(turn.empty_reason)})")
    if turn.ranked:
        lines.append(budget_text(asdict(turn.budget)))
    for number, ranked in enumerate(turn.ranked, start=1):
        lines += ["", *_item_lines(number, ranked)]
    return "\n".join(lines)


def _item_lines(number: int, ranked: Ranked) -> list[str]:
    item = ranked.candidate
    near = "no vector" if item.cosine is None else f"cosine {item.cosine:.3f}"
    reason = "shown" if ranked.shown else f"left out: {ranked.verdict} ({REASONS.get(ranked.verdict, '?')})"
    words = " ".join(sorted(item.matched)) or "-"
    lines = [
        f"{number}. {label(item)[0]} {pointer_text(item.pointer)}  {reason}",
        f"   {ranked.score.explain()}",
        f"   relevance {item.relevance:.3f}, {near}, bm25 {item.bm25:.2f}, words: {words}",
    ]
    if item.demoted:
        lines.append("   demoted: " + "; ".join(f"{d} ({DEMOTIONS.get(d, '?')})" for d in item.demoted))
    if item.moved:
        lines.append("   reordered by time among equals")
    lines += [f"   {note}" for note in item.notes]
    if item.text and ranked.verdict not in POLICY:
        lines.append("   " + " ".join(item.text.split())[:160])
    return lines
