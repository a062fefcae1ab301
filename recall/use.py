"""Whether an answer used what was injected into its session: read from the record, never on a turn's path.

Two kinds of evidence, kept apart:

- named: the answer writes an item's pointer. Strong.
- overlap: the answer says what stands in the item and nowhere else that the session had seen: neither in the prompt,
  nor earlier in the session, nor in a tool's output of the same turn. Weaker, and marked so.

Of an item's words only those count that no other item of the block holds as well. What is only taken to heart, with no
word of it in the answer, is not seen.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from indexer.passages import event_text
from indexer.segment import STOP, segment
from recall import ledger
from recall.likeness import folded
from recall.turnstate import TurnState
from transcript.canonical import canonical
from transcript.errors import RecallError
from transcript.event import Event
from transcript.injected import strip_blocks
from transcript.log import Log
from transcript.paths import read_derived, write_atomic
from transcript.sieve import Sieve, type_field
from transcript.workspace import Workspace

NAMED, OVERLAP, UNUSED = "named", "overlap", ""
POINTER_CHARS = 10
RUN = 5  # words in a row, three of them new, that are the item's own phrase
RUN_NEW = 3
FACTS = 2  # values or names that are new
WORDS = 5  # new content words, values and names counted twice...
SHARE = 0.3  # ...which are also this share of the item's new content words
LOOK_BACK = 1000  # events before a turn that are looked through for what the session had seen
LOOK_AHEAD = 2000  # messages and tool results of a session after it
MOST_SESSIONS_SIEVED = 16
_FOLLOWS = (type_field("conversation_turn"), type_field("tool_result"))
KEPT_TURNS = 500
FILE = "use.json"
_WORD = re.compile(r"[^\W_]+(?:[._/:@-][^\W_]+)*", re.UNICODE)
_FACT = re.compile(r"\d|[._/:@]\w|_|[a-z][A-Z]")


@dataclass(frozen=True, slots=True)
class Injected:
    """An item of a block: the ids of its events, and its words."""

    events: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Use:
    """What became of one item: named, overlap, or "" for no sign of use, and the words that say so."""

    kind: str
    evidence: tuple[str, ...] = ()


def judge_use(items: Sequence[Injected], answer: str, seen: Iterable[str]) -> list[Use]:
    """Hold an answer against each item; `seen` is every other text that the session had in front of it."""
    return judge_known(items, answer, {stem for text in seen for stem in stems_of(text)})


def judge_known(items: Sequence[Injected], answer: str, known: set[str]) -> list[Use]:
    """Hold an answer against each item, where the stems of what the session had seen are known already."""
    said = _Said(answer)
    stems = [stems_of(item.text) for item in items]
    found = []
    for place, item in enumerate(items):
        others = {stem for other, held in enumerate(stems) if other != place for stem in held}
        found.append(_judge(item, said, known | others))
    return found


class _Said:
    """An answer, read once for all items."""

    def __init__(self, answer: str) -> None:
        self.text = answer.lower()
        self.stems = stems_of(answer)
        self.runs = set(_runs(answer))


def _judge(item: Injected, said: _Said, known: set[str]) -> Use:
    for event in item.events:
        if event and event[:POINTER_CHARS].lower() in said.text:
            return Use(NAMED, (event[:POINTER_CHARS],))
    own = {s: fact for s, fact in stems_of(item.text).items() if s not in known}
    shared = {s for s in own if s in said.stems}
    for run in _runs(item.text):
        if run in said.runs and sum(word in own for word in run) >= RUN_NEW:
            return Use(OVERLAP, (" ".join(run),))
    facts = sorted(s for s in shared if own[s])
    words = len(shared) + len(facts)
    if len(facts) >= FACTS or (words >= WORDS and len(shared) >= SHARE * len(own)):
        return Use(OVERLAP, tuple(sorted(shared)[:8]))
    return Use(UNUSED)


def stems_of(text: str) -> dict[str, bool]:
    """Return the content words of a text, endings off, and whether each is a value or a name (a digit, a dot, a _)."""
    found: dict[str, bool] = {}
    for match in _WORD.finditer(text):
        whole = match[0]
        if _FACT.search(whole) and (len(whole) > 1 or not whole.isdigit()):
            found[whole.lower()] = True
        for part in segment(whole):
            if part not in STOP and len(part) > 1:
                found.setdefault(_stem(part), part.isdigit() and len(part) > 1)
    return found


def _runs(text: str) -> list[tuple[str, ...]]:
    words = [_stem(m[0].lower()) for m in _WORD.finditer(text)]
    return [tuple(words[i : i + RUN]) for i in range(len(words) - RUN + 1)]


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and word.isalpha():
            return word[: -len(ending)].rstrip("e") or word
    return word.rstrip("e") if len(word) > 3 and word.isalpha() else word


# -- from the record -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Answered:
    """What followed a turn in its session up to the next prompt: replies with their words, and what tools showed."""

    replies: tuple[tuple[Event, str], ...] = ()
    seen: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The whole answer."""
        return "\n".join(text for _, text in self.replies)


def used(log: Log, turn: Event) -> list[Use] | None:
    """Return what became of each item of a recorded turn, in the order of its block; None while no answer is known."""
    return used_in(log, turn, answered(log, turn))


def answered(log: Log, turn: Event) -> Answered:
    """Return what followed a recorded turn; empty while no answer is known."""
    return next((given for _, given in answers(log, [turn])), Answered())


def answers(log: Log, turns: Iterable[Event]) -> Iterator[tuple[Event, Answered]]:
    """Yield recorded turns, each with what followed it, as their answers end; the record is read once for all.

    Turns that showed nothing, or that name no session, are left out.
    """
    asked = [t for t in sorted(turns, key=lambda t: t.seq) if t.body.get("asked_in") and t.body.get("items")]
    if not asked:
        return
    names = {str(turn.body["asked_in"]) for turn in asked}
    written = tuple(b',"session":' + canonical(name) for name in sorted(names))
    sieve = Sieve(_FOLLOWS, (written,) if len(written) <= MOST_SESSIONS_SIEVED else ())
    waiting: dict[str, list[_Waiting]] = {name: [] for name in names}
    begun = ended = 0
    for event in log.read(asked[0].position, sieve=sieve):
        if event.session not in names or event.body.get("worker"):
            continue
        while begun < len(asked) and asked[begun].seq < event.seq:
            turn = asked[begun]
            waiting[str(turn.body["asked_in"])].append(_Waiting(turn, str(log.body(turn).get("prompt", ""))))
            begun += 1
        for one in [one for one in waiting[event.session] if one.ends_with(log, event)]:
            waiting[event.session].remove(one)
            yield one.turn, one.answered()
            ended += 1
        if ended == len(asked):
            return
    for held in waiting.values():
        yield from ((one.turn, one.answered()) for one in held)
    yield from ((turn, Answered()) for turn in asked[begun:])


class _Waiting:
    """A turn whose answer is being read: what the assistant said to its prompt, and what tools showed meanwhile."""

    def __init__(self, turn: Event, prompt: str) -> None:
        self.turn = turn
        self._prompt = folded(strip_blocks(prompt))
        self._begun = False
        self._left = LOOK_AHEAD
        self._replies: list[tuple[Event, str]] = []
        self._seen: list[str] = []

    def ends_with(self, log: Log, event: Event) -> bool:
        """Take an event of the session in; say whether the answer is over."""
        self._left -= 1
        kind = event.body.get("kind")
        if event.type == "conversation_turn" and kind == "prompt":
            if self._begun:
                return True
            self._begun = folded(strip_blocks(_text(log, event))) == self._prompt
        elif self._begun and event.type == "conversation_turn" and kind == "reply":
            self._replies.append((event, _text(log, event)))
        elif self._begun and event.type == "tool_result":
            self._seen.append(_text(log, event))
        return self._left <= 0

    def answered(self) -> Answered:
        """Return what there was."""
        return Answered(tuple(self._replies), tuple(self._seen))


def used_in(log: Log, turn: Event, given: Answered) -> list[Use] | None:
    """Return what became of each item of a recorded turn in the answer given; None when that is empty."""
    body = log.body(turn)
    items = _items(log, body)
    if not items or not given.text:
        return None
    before = islice(log.read_back(turn.position), LOOK_BACK)
    asked_in = str(body.get("asked_in", ""))
    seen = [_text(log, e) for e in before if e.session == asked_in and e.id != turn.id and e.type != ledger.TYPE]
    return judge_use(items, given.text, [str(body.get("prompt", "")), *given.seen, *seen])


def _items(log: Log, body: Mapping[str, Any]) -> list[Injected]:
    found = []
    for item in body.get("items", ()):
        if "start" not in item:
            continue
        try:
            event = log.get(item["event"])
            text = _text(log, event)[item["start"] : item["end"]]
        except RecallError:
            text = ""
        found.append(Injected((item["event"], *item.get("also", ())), text))
    return found


def _text(log: Log, event: Event) -> str:
    try:
        return event_text(event.type, log.body(event))
    except RecallError:
        return ""


# -- kept beside the record ----------------------------------------------------------------


def note_uses(workspace: Workspace, *, last: int = 20) -> int:
    """Judge the newest turns whose answers are in the record by now; return how many were judged.

    The counts stand in a derived file for `recall health`; the session's state learns whether its last injection was
    used. A turn is judged once: nothing that comes later changes what its answer said.
    """
    log, path = Log(workspace), workspace.run_dir / FILE
    held = read_uses(workspace.run_dir)
    judged = 0
    for turn in islice(ledger.turns(log, modes=ledger.HOOK_MODES), last):
        if turn.id in held or not turn.body.get("items"):
            continue
        found = used(log, turn)
        if found is None:
            continue
        kinds = [use.kind for use in found]
        held[turn.id] = [len(kinds), kinds.count(NAMED), kinds.count(OVERLAP)]
        TurnState(workspace.run_dir, turn.session).mark(turn.id, used=any(kinds))
        judged += 1
    if judged:
        kept = dict(list(held.items())[-KEPT_TURNS:])
        write_atomic(path, json.dumps(kept, separators=(",", ":")).encode("ascii"), durable=False)
    return judged


def read_uses(run_dir: Path) -> dict[str, list[int]]:
    """Turn -> [items, named ones, overlapping ones] of the turns judged so far; empty before the first."""
    try:
        held = read_derived(run_dir / FILE)
        return {str(turn): [int(n) for n in counts] for turn, counts in held.items() if len(counts) == 3}
    except (ValueError, TypeError):
        return {}
