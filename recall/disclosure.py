"""What of the record a reader may see who opens it by a command: events, memories, candidates, turns of the ledger.

The same classes, audiences and grants as in a turn (`recall.facets`); here the record itself is at hand.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from recall import audiences
from recall.facets import NOTHING, Facets
from transcript.errors import PointerError, RecordError
from transcript.event import Event
from transcript.log import Log
from transcript.memories import MemoryState
from transcript.memory_drafts import written_id
from transcript.sieve import Sieve

_PRIVATE = Sieve(groups=((b'"private":true', b'"privacy":"private"'),))
_ABOUT = ("memory", "candidate", "of", "by")  # where an event names the memory, or the candidate, that it is about


@dataclass(frozen=True, slots=True)
class Door:
    """What leaves to one audience. `audience` is one of `recall.audiences`, `now` when grants are asked."""

    audience: str
    now: datetime
    facets: Facets = NOTHING
    channel: str = ""

    @property
    def is_open(self) -> bool:
        """Whether everything leaves here: only the owner reads along."""
        return self.audience == audiences.PRIVATE

    @property
    def is_wide(self) -> bool:
        """Whether only what is shared or granted leaves here."""
        return audiences.wide(self.audience)

    def lets(self, name: str, *, private: bool = False) -> bool:
        """Say whether an item leaves, a memory or an event by its id; `private` is what it says of itself."""
        return self.facets.seen(name, self.audience, channel=self.channel, private=private, now=self.now)

    def lets_event(self, log: Log, event: Event) -> bool:
        """Say whether the words of an event leave: its own class counts, and that of the memory it is about."""
        if self.is_open or not event.body:
            return True
        if event.type == "recall":
            return self._lets_turn(log, event)
        if event.type.startswith("memory."):
            return self._lets_memory(log, event)
        return self.lets(event.id, private=_claims(event.body))

    def lets_body(self, name: str, body: Mapping[str, Any]) -> bool:
        """Say whether a memory or a candidate leaves that is known by its body."""
        return self.is_open or self._lets_statement(name, body)

    def state(self, held: MemoryState) -> MemoryState:
        """Return what is remembered without the memories and candidates that do not leave."""
        if self.is_open:
            return held
        memories = {n: m for n, m in held.memories.items() if self.lets(n, private=m.privacy == audiences.PRIVATE)}
        candidates = {name: one for name, one in held.candidates.items() if self.lets_body(name, one.body)}
        return replace(held, memories=memories, candidates=candidates)

    def refuse_event(self, log: Log, event: Event) -> None:
        """Raise PointerError where an event does not leave. The message holds nothing of it but its id."""
        if not self.lets_event(log, event):
            raise PointerError(f"{event.pointer} {self.refusal}")

    def kept_back(self, log: Log) -> int:
        """Return how many events of a record say that they are private and do not leave; one pass."""
        return sum(not self.lets_event(log, event) for event in log.read(sieve=_PRIVATE))

    def refuse_record(self, what: str) -> None:
        """Raise PointerError where what belongs to the project as a whole does not leave."""
        if self.is_wide:
            raise PointerError(f"{what} {self.refusal}")

    @property
    def refusal(self) -> str:
        """Why something does not leave, and what would let it."""
        return f"is not for the audience '{self.audience}'; a person can let single items through with 'recall grant'"

    def _lets_turn(self, log: Log, event: Event) -> bool:
        """Whether a row of the ledger leaves: it holds the words of what it showed, to its own audience."""
        to = str(event.body.get("audience") or audiences.PROJECT)
        if audiences.widest(to, self.audience) == to:
            return True
        if self.is_wide or event.body.get("standing"):  # files of the user stand in there, and are no items
            return False
        items = event.body.get("items") or ()
        shown = {name for item in items for name in (item.get("event"), *item.get("also", ()), *item.get("noted", ()))}
        try:
            return all(self.lets_event(log, log.get(name)) for name in shown if name)
        except (PointerError, RecordError):
            return False  # what it showed cannot be looked at

    def _lets_memory(self, log: Log, event: Event) -> bool:
        if event.type == "memory.source":  # a file of the project
            return self.lets(event.id)
        if event.type in ("memory.written", "memory.candidate"):
            return self._lets_statement(event.id, event.body)
        return all(self._lets_named(log, name) for name in _named(event.body))

    def _lets_named(self, log: Log, name: str) -> bool:
        try:
            body = log.get(name).body
        except (PointerError, RecordError):
            return False  # what it is about cannot be looked at
        return self._lets_statement(name, body)

    def _lets_statement(self, name: str, body: Mapping[str, Any]) -> bool:
        """Whether a memory or a candidate leaves; of a candidate its memory counts too, which may be private since."""
        private = _claims(body)
        memory = written_id(name)
        return self.lets(name, private=private) and (
            not self.facets.remembers(memory) or self.lets(memory, private=private)
        )


def _named(body: Mapping[str, Any]) -> list[str]:
    """Return the memories and candidates that an event is about, by id."""
    held = [body.get(key) for key in _ABOUT]
    return [str(one["event"] if isinstance(one, Mapping) else one) for one in held if one]


def _claims(body: Mapping[str, Any]) -> bool:
    """Whether an event's own body says that it is private."""
    return bool(body.get("private")) or body.get("privacy") == audiences.PRIVATE
