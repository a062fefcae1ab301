"""Mistakes that a memory kept from being made: computed, with the words that cited it and the action that differed.

The memory names what to avoid and what to do in its place. It was shown and cited; in that exchange the agent did the
one where the record holds the other, done earlier with the same tool at the same place of a like command. It has to be
a change: where the like command before this one did it right already, nothing was prevented. Whether the
memory was the reason no program can know: `recall eval imprint` has a sample judged by a reader who sees no verdict.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from consolidation.citations import words_of
from consolidation.span import marked
from transcript import memory_drafts as drafts
from transcript.canonical import canonical
from transcript.errors import RecallError
from transcript.event import Draft, Event
from transcript.log import Log
from transcript.memories import MemoryState, span_of_body
from transcript.memory_told import Told
from transcript.sieve import Sieve, type_field

SHOWN_CHARS = 200
MOST_EVENTS = 4000  # of a session, on either side of an answer
_NEXT_COMMAND = re.compile(r"&&|\|\||[;|&]")


@dataclass(frozen=True, slots=True)
class _Place:
    """A word in a tool's input: the line it stands in, and its neighbours there ("" at the beginning of a command)."""

    event: Event
    text: str
    start: int
    end: int
    before: str
    after: str


def prevented(log: Log, citations: Iterable[Draft], state: MemoryState) -> list[Draft]:
    """Return the mistakes that the memories cited prevented, at most one a session and memory, in order.

    A citation of anything but a memory with a known mistake gives none, and neither does an action that only goes on
    with what was done since.
    """
    found: dict[tuple[str, str], Draft] = {}
    earlier: dict[str, list[_Place]] = {}  # word -> where calls of the record hold it, oldest first
    for citation in citations:
        memory = state.memories.get(str(citation.body["of"]))
        if memory is None or memory.mistake is None:
            continue
        avoid, instead = memory.mistake
        try:
            turn, reply = log.get(str(citation.body["turn"])), log.get(str(citation.body["answer"]["event"]))
        except RecallError:
            continue
        done = [place for call in _calls(log, reply, turn) for place in _done(log, call, avoid, instead)]
        if not done:
            continue
        for word in memory.mistake:
            if word not in earlier:
                earlier[word] = _ever(log, word)
        pair = next(_changed(done, earlier[avoid], earlier[instead], before=turn.seq), None)
        if pair is not None:
            found.setdefault((memory.id, reply.session), _draft(log, memory.id, citation, *pair))
    return list(found.values())


def _changed(
    done: Iterable[_Place], wrong: Sequence[_Place], right: Sequence[_Place], *, before: int
) -> Iterator[tuple[_Place, _Place]]:
    """Yield what was done and the mistake that the newest like call behind it made, where that one made it."""
    for new in done:
        mistake, good = (
            next((old for old in reversed(made) if old.event.seq < before and _are_alike(old, new)), None)
            for made in (wrong, right)
        )
        if mistake is not None and (good is None or good.event.seq <= mistake.event.seq):
            yield mistake, new


def _calls(log: Log, reply: Event, turn: Event) -> list[Event]:
    """Return the tool calls behind a turn that belong to the exchange of an answer, in order."""
    sieve = Sieve((type_field("conversation_turn"), type_field("tool_call")), (_session(reply),))
    before = _of_exchange(log.read_back(reply.position, sieve=sieve), reply.session)
    after = _of_exchange(log.read(reply.position, sieve=sieve), reply.session)
    return [event for event in (*reversed(list(before)), *after) if event.seq > turn.seq]


def _session(event: Event) -> tuple[bytes]:
    return (b'"session":' + canonical(event.session),)


def _of_exchange(events: Iterable[Event], session: str) -> Iterator[Event]:
    """Yield the agent's own calls up to the first prompt."""
    for event in islice((event for event in events if event.session == session), MOST_EVENTS):
        if event.body.get("worker"):
            continue
        if event.type == "conversation_turn" and event.body.get("kind") == "prompt":
            return
        if event.type == "tool_call":
            yield event


def _done(log: Log, call: Event, avoid: str, instead: str) -> list[_Place]:
    """Return where a call does the one, none where it does the other as well."""
    text = words_of(log, call)
    return [] if _word(avoid).search(text) else list(_places(call, text, instead))


def _ever(log: Log, avoid: str) -> list[_Place]:
    """Return where the calls of the record hold what is to be avoided, oldest first."""
    words = (canonical(avoid)[1:-1].lower(),) if avoid.isascii() else ()
    calls = (e for e in log.read(sieve=Sieve((type_field("tool_call"),), words=words)) if e.type == "tool_call")
    return [place for call in calls for place in _places(call, words_of(log, call), avoid)]


def _places(call: Event, text: str, word: str) -> Iterator[_Place]:
    """Yield the places of a word in what a tool was given."""
    for match in _word(word).finditer(text, len(str(call.body.get("tool", "")))):
        start = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", match.end())
        end = len(text) if end < 0 else end
        led = _NEXT_COMMAND.split(text[start : match.start()].partition(": ")[2])[-1].split()
        follows = _NEXT_COMMAND.split(text[match.end() : end])[0].split()
        yield _Place(call, text, start, end, "".join(led[-1:]), "".join(follows[:1]))


def _word(word: str) -> re.Pattern[str]:
    """Return what finds a word standing alone: npm is not in pnpm, npm-run or npm.json."""
    return re.compile(rf"(?<![\w.@/-]){re.escape(word)}(?![\w@/-]|\.\w)", re.IGNORECASE)


def _are_alike(old: _Place, new: _Place) -> bool:
    """Say whether two words stand at one place of a like call: the same tool, and one neighbour alike."""
    if old.event.body.get("tool") != new.event.body.get("tool"):
        return False
    return old.before.lower() == new.before.lower() or (old.after.lower() == new.after.lower() != "")


def _draft(log: Log, memory: str, citation: Draft, old: _Place, new: _Place) -> Draft:
    key = log.workspace.id_key()
    (_, avoided), (action, did) = (marked(p.event.id, p.text, p.start, p.end, key) for p in (old, new))
    return drafts.prevented(
        Told(max(citation.ts, new.event.ts)),
        memory,
        str(citation.body["session"]),
        turn=str(citation.body["turn"]),
        cited=span_of_body(citation.body["answer"]),
        action=action,
        avoided=avoided[:SHOWN_CHARS],
        did=did[:SHOWN_CHARS],
    )
