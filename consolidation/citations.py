"""What answers have used of what was shown to their sessions, told from the record: one event a session and item.

An answer names the pointer of something that the session was shown, in its own turn or before; or it says what stands
in an item of its turn and nowhere else in front of it (`recall.use`), which is the weaker sign.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from consolidation.claims import claims
from consolidation.sessions import project_of
from consolidation.span import marked
from indexer.passages import event_text
from recall.ledger import HOOK_MODES, MODES, START_MODE
from recall.ledger import TYPE as TURN
from recall.use import NAMED, OVERLAP, POINTER_CHARS, Answered, answers, used_in
from transcript import memory_drafts as drafts
from transcript.canonical import ID_ALPHABET, canonical
from transcript.errors import RecallError
from transcript.event import Draft, Event, Position
from transcript.injected import block_spans
from transcript.kept_out import opts_out
from transcript.log import Log
from transcript.memories import MemoryState, Span
from transcript.memory_told import Told
from transcript.sieve import Sieve, type_field

MOST_SESSIONS_SIEVED = 16
MOST_TURNS = 200  # whose answers are held against the words of their items, in one run
_NAME = re.compile(rf"(?<![{ID_ALPHABET}0-9A-Za-z])[{ID_ALPHABET}]{{{POINTER_CHARS},26}}(?![0-9A-Za-z])")


@dataclass(slots=True)
class _Session:
    """What one session was shown and has answered since."""

    turns: list[Event] = field(default_factory=list)  # ledger rows of the whole session
    replies: list[Event] = field(default_factory=list)  # since the position asked for


def cited(log: Log, since: Position | None, state: MemoryState) -> list[Draft]:
    """Return the citations in the answers since a position, the named ones first, each once a session.

    What sub-agents answer counts as their session's: it was shown what they may name. What was kept out is not looked
    at, nor what recall itself wrote into an answer. Words alone are looked for in the session's own answers to the
    newest MOST_TURNS turns: of a sub-agent nobody knows what it has read.
    """
    found: dict[tuple[str, str], Draft] = {}
    sessions = _sessions(log, since)
    named = (draft for session in sessions.values() for draft in _named(log, session))
    for draft in (*named, *_overlapping(log, sessions.values(), since)):
        key = (str(draft.body["session"]), str(draft.body["of"]))
        weaker = draft.body["how"] == OVERLAP and key[0] in state.cited.get(key[1], ())
        if key not in found and not weaker:
            found[key] = draft
    return list(found.values())


def _sessions(log: Log, since: Position | None) -> dict[str, _Session]:
    """Return the sessions that have answered since, each with everything that it was shown."""
    found: dict[str, _Session] = {}
    out: dict[str, bool] = {}  # whether a session's last prompt keeps its exchange out
    for event in log.read(since, sieve=Sieve((type_field("conversation_turn"),))):
        kind = event.body.get("kind")
        if event.type != "conversation_turn":
            continue
        if kind == "prompt" and not event.body.get("worker"):
            out[event.session] = opts_out(words_of(log, event))
        elif kind == "reply":
            if event.session not in out:
                out[event.session] = _begun_kept_out(log, event.session, since)
            if not out[event.session]:
                found.setdefault(event.session, _Session()).replies.append(event)
    if found:
        names = [canonical(name) for name in sorted(found)]
        groups = (tuple(b'"asked_in":' + name for name in names),) if len(names) <= MOST_SESSIONS_SIEVED else ()
        for event in log.read(sieve=Sieve((type_field(TURN),), groups)):
            asked_in = str(event.body.get("asked_in", ""))
            if event.type == TURN and asked_in in found and event.body.get("mode") in (*MODES, START_MODE):
                found[asked_in].turns.append(event)
    return {name: session for name, session in found.items() if session.turns}


def _begun_kept_out(log: Log, session: str, since: Position | None) -> bool:
    """Say whether a session was in an exchange at a position that a person keeps out."""
    if since is None:
        return False
    sieve = Sieve((type_field("conversation_turn"),), ((b'"session":' + canonical(session),),))
    for event in log.read_back(since, sieve=sieve):
        if event.session == session and event.body.get("kind") == "prompt" and not event.body.get("worker"):
            return opts_out(words_of(log, event))
    return False


def _named(log: Log, session: _Session) -> Iterator[Draft]:
    """Yield a citation for each pointer in an answer of something that the session had been shown by then."""
    for reply in session.replies:
        shown = dict(_shown(turn for turn in session.turns if turn.seq < reply.seq))
        if not shown:
            continue
        text = words_of(log, reply)
        own = block_spans(text)
        for match in _NAME.finditer(text):
            known = shown.get(match[0][:POINTER_CHARS])
            if known is not None and not any(start <= match.start() < end for start, end in own):
                of, turn = known
                place = match.start(), match.end()
                yield from _draft(log, of, NAMED, turn, reply, text, place, (match[0][:POINTER_CHARS],))


def _shown(turns: Iterable[Event]) -> Iterator[tuple[str, tuple[str, Event]]]:
    """Yield each pointer that turns showed, with the event that it stands for and the turn; the newest last."""
    for turn in turns:
        for item in turn.body.get("items") or ():
            of = str(item.get("event", ""))
            for event in (*map(str, item.get("also") or ()), of):
                yield event[:POINTER_CHARS], (of, turn)


def _overlapping(log: Log, sessions: Iterable[_Session], since: Position | None) -> Iterator[Draft]:
    """Yield a citation for each item whose words alone are in the answer to its turn."""
    after = since.seq if since is not None else 0
    turns: list[Event] = []
    for session in sessions:
        own = [turn for turn in session.turns if turn.body.get("mode") in HOOK_MODES and turn.body.get("items")]
        turns += [turn for turn in own if turn.seq <= after][-1:]  # its answer may have gone on
        turns += [turn for turn in own if turn.seq > after]
    newest = sorted(turns, key=lambda turn: turn.seq)[-MOST_TURNS:]
    for turn, given in answers(log, newest):
        uses = used_in(log, turn, given) or []
        items = [item for item in turn.body["items"] if "start" in item]
        for item, use in zip(items, uses, strict=False):
            if use.kind == OVERLAP and given.replies:
                reply, text, place = _saying(given, use.evidence)
                yield from _draft(log, str(item["event"]), OVERLAP, turn, reply, text, place, use.evidence)


def _saying(given: Answered, evidence: Iterable[str]) -> tuple[Event, str, tuple[int, int]]:
    """Return the reply, its words and the place of the sentence that holds most of the evidence."""
    words = {word for part in evidence for word in part.lower().split()}
    best: tuple[int, Event, str, tuple[int, int]] | None = None
    for reply, text in given.replies:
        places = [(claim.start, claim.end) for claim in claims(text)] or [(0, len(text))]
        for place in places:
            held = sum(word in text[place[0] : place[1]].lower() for word in words)
            if best is None or held > best[0]:
                best = held, reply, text, place
    assert best is not None
    return best[1:]


def _draft(
    log: Log,
    of: str,
    how: str,
    turn: Event,
    reply: Event,
    text: str,
    place: tuple[int, int],
    evidence: Iterable[str],
) -> Iterator[Draft]:
    """Yield the citation, dated as the answer; nothing where what is cited, or the answer, has no words any more."""
    try:
        if not log.get(of).body or place[0] >= place[1]:
            return
    except RecallError:
        return
    cwd, root = str(turn.body.get("cwd", "")), log.workspace.root
    yield drafts.cited(
        Told(reply.ts),
        of,
        reply.session,
        how,
        turn=turn.id,
        answer=_place(log, reply, text, place),
        words=evidence,
        project=project_of(cwd, root),
        role=str(turn.body.get("role") or ""),
    )


def _place(log: Log, reply: Event, text: str, place: tuple[int, int]) -> Span:
    return marked(reply.id, text, *place, log.workspace.id_key())[0]


def words_of(log: Log, event: Event) -> str:
    """Return the text of an event that pointers count in, "" where it is erased or damaged."""
    try:
        return event_text(event.type, log.body(event))
    except RecallError:
        return ""
