"""What each setting means, for `recall config KEY` and docs/config.md; ranges are asked of the settings themselves."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from recall.config import defaults, sections

MEANINGS = {
    "retrieval.k": "most candidates that are scored",
    "retrieval.arm": "best passages taken from words, and as many from vectors",
    "retrieval.lexical_limit": "most passages the word search returns; those beyond the arm serve to score exchanges",
    "retrieval.vector_limit": "the same of the search by vectors",
    "retrieval.frequent_share": "in a large store, words that more passages hold than this share are not searched for",
    "retrieval.rarest_terms": "most words of a prompt that are searched for, the rarest first",
    "retrieval.gloss": "search for a prompt in another language by its English words too",
    "retrieval.words_half_at": "bm25 at which a passage's words count half: bm25 / (bm25 + this)",
    "retrieval.dense_weight": "weight of the cosine in a passage's relevance",
    "retrieval.prompt_weight": "weight of what a person said",
    "retrieval.final_weight": "weight of the answer that closes an exchange",
    "retrieval.narration_weight": "weight of what the agent said on its way",
    "retrieval.memory_weight": "weight of a memory",
    "retrieval.summary_weight": "weight of a summary that a model wrote about the transcript",
    "retrieval.tool_weight": "weight of tool calls and results",
    "retrieval.worker_weight": "weight of a sub-agent's text",
    "retrieval.reasoning_weight": "weight of thinking that was captured",
    "retrieval.announcement": "factor on a short text that only announces the next step",
    "retrieval.question": "factor on a person's question: it is not its answer",
    "retrieval.pasted": "factor on a pasted plan or review, which ranks high for its topic and hides the sentence",
    "retrieval.link": "share of a prompt's relevance that its final answer inherits",
    "retrieval.session": "weight of how much of the prompt's words the whole session covers",
    "retrieval.neighbour": "in a talk between people, share of the neighbouring turns' match that a turn gets",
    "retrieval.asked": "in a talk, share besides of the match of a question that the turn after it gets",
    "retrieval.speaker": "in a talk, weight of a prompt's naming the speaker of a turn",
    "retrieval.talk_session": "the same as session, for a talk between people",
    "retrieval.respell": "a word that the index does not hold is searched for in the nearest spelling it does",
    "retrieval.parts": "identifiers and paths of a prompt are searched for whole and in parts",
    "retrieval.when": "lift of what was said in the time that the prompt names (yesterday, in May)",
    "retrieval.wish": "lift of standing wishes and corrections for a prompt that is about to act; 0: not sought",
    "retrieval.phrase": "lift of a passage in which the prompt's neighbouring words stand side by side",
    "retrieval.place": "weight of the exchange's place in its session, first to last",
    "selection.near_copy": "share of common words from which two texts are one item with all pointers",
    "selection.diversity": "how much likeness to the items above costs an item; 0 switches it off",
    "selection.since": "a statement that was corrected, or whose name was replaced, stands after that, with a note",
    "selection.newest_first": "among statements that hold all of the prompt's words the newest comes first",
    "selection.same_source": "a memory and the passage whose words it quotes are one item, with both pointers",
    "selection.memory_items": "places kept for memories; what one kind leaves the other may take",
    "selection.transcript_items": "places kept for passages of the transcript",
    "selection.reserve_share": "places are kept only for items whose relevance is at least this share of the best",
    "gate.item": "an item needs a cosine of similarity_floor or a rare word of the prompt",
    "gate.similarity_floor": "least cosine of an item that holds no rare word of the prompt",
    "gate.rare": "an item may pass by a rare word or an identifier of the prompt alone",
    "gate.rare_share": "a word is rare when at most this share of the passages holds it",
    "gate.evidence": "a turn stays silent unless its best item reaches a threshold",
    "gate.threshold": "that threshold; 'recall calibrate' fits it to this project's store",
    "gate.threshold_words": "the same where no vectors were at hand, or most passages have none yet",
    "gate.bare_acts": 'for a bare order ("commit this", "run the tests") only curated memory is shown',
    "gate.margin": "an item far below the best one is left out",
    "gate.margin_share": "least relevance of an item, as a share of the best one's",
    "budget.items": "most items of one injection",
    "budget.item_chars": "most characters of one item",
    "budget.chars": "most characters of one injection",
    "budget.tokens": "most tokens of one injection, headers included",
    "budget.bytes": "most bytes of one injection; the harness's own cap binds besides",
    "budget.head_chars": "most characters of the prompt that is shown above a passage",
    "budget.opening_chars": "most characters shown of the beginning of an answer, with a passage of it or its prompt",
    "budget.mode": "fixed, or adaptive: less is injected where it promises little; 'recall last' says why",
    "weights.alpha": "weight of S, likeness to the prompt",
    "weights.beta": "weight of E, how far an item has proved itself",
    "weights.gamma": "weight of T, how recent it is",
    "weights.delta": "weight of A, who said it",
    "weights.epsilon": "weight of Q, whether it fits role, channel and audience",
    "weights.lambda_": "weight of K, the risk that is subtracted",
    "scales.similarity_half_at": "relevance at which S is one half",
    "scales.similarity_steepness": "how steeply S rises there",
    "scales.experience_cap": "evidence at which E is 1",
    "scales.experience_form": "how E grows with evidence: log, hits, sigmoid or cap",
    "scales.experience_k": "how steep the form sigmoid is",
    "scales.experience_mu": "evidence at which the form sigmoid is 1/2",
    "scales.half_life_days": "days in which T halves for an item without experience",
    "scales.stretch": "how much slower T falls for an item of full experience",
    "index.model": "embedding model; needs 'recall index rebuild'",
    "index.chunk_chars": "most characters of a passage; needs 'recall index rebuild'",
    "index.chunk_overlap_chars": "characters two neighbouring passages share; passages are contiguous",
    "index.tool_head_chars": "characters kept of the beginning of a tool's output; needs 'recall index rebuild'",
    "index.tool_tail_chars": "characters kept of its end; needs 'recall index rebuild'",
    "index.unbroken_run_chars": "longest run without a space that is indexed; needs 'recall index rebuild'",
    "index.prompt_head_chars": "characters of the prompt kept beside each exchange; needs 'recall index rebuild'",
    "index.embed_tools": "make vectors of tool calls and results too",
    "index.embed_batch": "texts given to the model at once",
    "index.batch_events": "events indexed in one transaction",
    "index.threads": "threads of the model; 0 is one a core, and one on battery",
    "capture.native": "keep the source bytes: Claude Code deletes its own files after 30 days",
    "capture.reasoning": "keep the thinking that the harness exposes",
    "hook.deadline_ms": "milliseconds after which a hook prints nothing, at least 50 and at most 4000. For this one a "
    "hook reads no file: it takes the variable, else what the running service told it, else the default",
    "service.idle_minutes": "minutes without a call after which the service leaves",
    "service.memory_mb": "memory in MB above which the service leaves; the next prompt starts a new one",
    "handoff.session_start": "tell a session, when it starts, what was recorded by commands and still holds",
    "handoff.tokens": "most tokens of that, and of the block in a rules file",
    "consolidation.enabled": "make memories at the triggers below; commands make them whatever this says",
    "consolidation.at_session_end": "make them when a session ends",
    "consolidation.before_compaction": "make them when the harness is about to compact, after the handoff is written",
    "consolidation.pressure": "and once a session fills this share of the window; 0 switches it off",
    "consolidation.window_tokens": "tokens of the model's window, for that share; 0: the harness's own, up to where it "
    "compacts by itself",
    "consolidation.bloat_memories": "current memories above which the night says that there are too many",
    "consolidation.stale_share": "share of expired and stale memories above which it says so",
    "consolidation.statement_chars": "most characters of a statement; a longer one stays in the transcript only",
    "consolidation.summaries": "keep one extract of each longer session",
    "consolidation.drafter_command": "a program that proposes memories besides (docs/consolidation.md); empty: none",
    "consolidation.drafter_timeout_s": "seconds after which it has failed, and nothing is written",
    "reviewer.kind": "who tries to refute: none, command (a program), openai (an endpoint) or peer (an agent)",
    "reviewer.command": "that program with its arguments; reads one JSON object, writes one",
    "reviewer.url": "that endpoint, such as http://localhost:8080/v1",
    "reviewer.model": "the model asked for there",
    "reviewer.key_env": "the variable that holds its key; the key itself stands in no file",
    "reviewer.id": "the name that its verdicts carry; empty: the program's or the model's",
    "reviewer.timeout_s": "seconds after which a candidate stays unverified",
    "reviewer.rounds": "most rounds on one candidate; from the second on only the edits are shown",
    "reviewer.severity": "least finding that keeps the rounds going: low, medium, high or critical",
    "reviewer.remote": "allow an endpoint that is not on this machine",
    "reviewer.private": "show it private memories too",
    "reviewer.env": "names of variables that the reviewer gets besides PATH, LANG and TMPDIR, by blanks",
    "memory.agent": "whose memories these are",
    "memory.privacy": "privacy of what is found: private, project or shared",
    "memory.project_files": "files of the project that count as memory, as patterns separated by blanks",
    "memory.folders": "folders of memories of others that the night takes in, separated as in PATH",
    "experience.cited": "what an answer that names a memory adds to its weight, once a session",
    "experience.overlap": "what one adds that uses its words without naming it",
    "experience.again": "times that a citation counts when an earlier session of the same project and role had one",
    "experience.promoted": "what is added when it is said again in another session",
    "experience.role_critical": "what is added for the roles that it is marked critical for",
    "experience.correction": "what is added when it rests on a correction",
    "experience.outcome": "what is added when a verified outcome names it",
    "experience.approval": "what a signed approval adds",
    "experience.prevented": "what a prevented mistake adds",
    "experience.refuted": "what is subtracted when it was wrong",
    "approval.expires_days": "days in which an approved proposal must be applied",
    "approval.timeout_days": "days after which a proposal that nobody decided is said to be old",
    "standing.enabled": "tell a session, when it starts, its identity, role, instructions and critical memories",
    "standing.chars": "most characters of the whole standing set; what has no room is named",
    "standing.start_tokens": "most tokens of it that a session's start is told; the rest is named",
    "standing.folders": "more folders laid out like an identity folder, separated as in PATH",
    "standing.cited_rule": "citations from which a rule that stands in a memory only is proposed as a procedure; 0: "
    "never",
    "audience.session": "who is taken to read a session: private (you alone), project, shared or peer",
    "audience.shared_channels": "names of channels that others read too, by blanks",
    "window.policy": "what is done near the window's end: sliding (plan what may leave), autocompact (checkpoint and "
    "notice only) or off (report only)",
    "window.thresholds": "shares of the window at which that happens, rising, by blanks",
    "window.keep_exchanges": "last exchanges that never leave",
    "window.stub_tokens": "a tool's result above so many tokens is replaced by its pointer first",
    "window.margin_tokens": "tokens kept free between the plan's end and the host's own compaction",
    "signing.kind": "what the record's head is signed with: hmac (a key of recall's own) or ssh (ssh-keygen)",
    "signing.key": "the file of that ssh key",
    "freshness.canon": "what counts as the newest code: empty (the newest version that ran here), a git ref as last "
    "fetched, or the absolute path of a file with a version",
    "schedule.at": "the local time of day at which the nightly jobs are due, as 03:17",
    "schedule.jitter_minutes": "most minutes after it at which they begin; constant for one machine",
    "schedule.minutes": "most minutes that one night takes; the projects left come first in the next",
    "schedule.quality_seconds": "most seconds for a night to ask what `recall eval self` asks; 0: nothing is asked",
    "logs.keep": "how many full log files of each kind are kept",
    "logs.megabytes": "size at which a log file is put aside and a new one begun",
    "ui.idle_minutes": "minutes without a request after which the console ends",
}
TITLES = {
    "retrieval": "which passages become candidates, and how their relevance is put together",
    "selection": "how the ranked list is thinned out",
    "gate": "when a turn stays silent",
    "budget": "most that one injection may take; the smallest wins",
    "weights": "what each term adds to the score (docs/scoring.md)",
    "scales": "the numbers of the terms' curves",
    "index": "how text becomes passages and vectors",
    "capture": "what of a transcript is kept",
    "hook": "how long a turn may take",
    "service": "when the resident service leaves",
    "handoff": "what a session is told when it starts",
    "consolidation": "when memories are made",
    "reviewer": "who tries to refute what is to become a memory",
    "memory": "whose memories they are, and which files count",
    "experience": "what each proof adds to a memory's weight; numbers are summed and then squashed",
    "approval": "how long a proposal and a decision may wait (docs/approval.md)",
    "standing": "what a session always carries (docs/standing-context.md)",
    "audience": "who is taken to read what is shown (docs/roles.md)",
    "window": "what may leave a live window (docs/window.md)",
    "signing": "what the record's head is signed with",
    "freshness": "what the installed code is compared with",
    "schedule": "when the nightly jobs run (docs/operations.md)",
    "logs": "how large logs may grow; they hold no words of conversations",
    "ui": "the console in the browser (docs/console.md)",
}
MOST = 10**9


def variable(key: str) -> str:
    """The environment variable that sets this setting."""
    return f"RECALL_{key.upper().replace('.', '_').rstrip('_')}"


def allowed(key: str) -> str:
    """What values a setting takes, in words, found by trying them on the settings' own checks."""
    section, _, name = key.partition(".")
    part, default = sections()[section], defaults()[key]
    if isinstance(default, bool):
        return "true or false"
    if isinstance(default, str):
        return "text"

    def taken(value: float) -> bool:
        try:
            replace(part, **{name: value})
        except ValueError:
            return False
        return True

    if isinstance(default, float):
        low = "any number" if taken(-1.0) else "0 or more" if taken(0.0) else "above 0"
        return low if taken(float(MOST)) else f"{low}, bounded"
    least, most = _last(taken, default, -MOST), _last(taken, default, MOST)
    if least == most:
        return f"{least} only"
    low = "a whole number" if least == -MOST else f"a whole number from {least}"
    return low if most == MOST else f"{low} to {most}"


def _last(taken: Callable[[int], Any], good: int, far: int) -> int:
    """The value nearest to far that is taken, when all from good up to it are."""
    if taken(far):
        return far
    while abs(far - good) > 1:
        middle = (good + far) // 2
        good, far = (middle, far) if taken(middle) else (good, middle)
    return good


def shown(value: Any) -> str:
    """A value as a config.toml has it."""
    return str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else str(value)
