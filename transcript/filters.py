"""Which events of the record are wanted: every filter of `recall context`, all of which hold together.

Events of older forms lack fields; what is missing is taken from the fields that say the same.
"""

import json
import re
from dataclasses import dataclass

from transcript.canonical import canonical
from transcript.event import Event
from transcript.log import Log
from transcript.sieve import Sieve, type_field, words_of

TURN = frozenset({"conversation_turn"})
ROLES = {"prompt": "user", "worker_prompt": "assistant", "reply": "assistant", "summary": "assistant"}
SHORT_SESSION = 8  # from this length on, the beginning of a session's id will do
_TOKEN = re.compile(r"[^\W_]+")
_JOINED = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True)
class Filter:
    """What is asked of an event; None and empty ask nothing. Times are moments as the record writes them."""

    session: str | None = None
    agent: str | None = None
    role: str | None = None
    types: frozenset[str] = TURN
    topic: str = ""
    since: str = ""
    until: str = ""
    workers: bool = False
    surface: str = ""
    session_key: str = ""
    only: frozenset[str] | None = None  # ids of events, where something else has found them

    def __call__(self, event: Event, log: Log) -> bool:
        """Say whether an event passes all of it; the words are looked at last."""
        return (
            event.type in self.types
            and (self.only is None or event.id in self.only)
            and (self.workers or not event.body.get("worker"))
            and self._session(event)
            and (self.agent is None or agent_of(event) == self.agent)
            and (self.role is None or role_of(event) == self.role)
            and (not self.since or event.ts.rstrip("Z") >= bound(self.since))
            and (not self.until or event.ts.rstrip("Z") < bound(self.until))
            and (not self.surface or event.body.get("surface") == self.surface)
            and (not self.topic or matches(words(log, event), self.topic))
        )

    def sieve(self) -> Sieve:
        """Return what passes over most lines whose event this filter would refuse, and none that it would let in."""
        groups: list[tuple[bytes, ...]] = []
        if self.session:
            whole = canonical(self.session)
            groups.append((b',"session":' + (whole if len(self.session) < SHORT_SESSION else whole[:-1]),))
        if self.role:
            kinds = [kind for kind, role in ROLES.items() if role == self.role]
            groups.append(tuple(canonical(name) for name in (self.role, *kinds)))
        groups += [(canonical(value),) for value in (self.agent, self.surface, self.session_key) if value]
        words = words_of(tokens(self.topic))
        return Sieve(
            tuple(map(type_field, sorted(self.types))), tuple(groups), words, bound(self.since), bound(self.until)
        )

    def _session(self, event: Event) -> bool:
        if self.session_key and self.session_key not in (event.body.get("session_key"), event.session):
            return False
        if self.session is None or event.session == self.session:
            return True
        return len(self.session) >= SHORT_SESSION and event.session.startswith(self.session)


def bound(moment: str) -> str:
    """Return a moment in its shortest form: as text, no way of writing that moment or a later one is less."""
    whole, mark, fraction = moment.rstrip("Z").partition(".")
    digits = fraction.rstrip("0")
    return f"{whole}{mark}{digits}" if digits else whole


def agent_of(event: Event) -> str:
    """Return the agent of an event; of one that names none, the harness it was taken from."""
    named = event.agent if event.agent not in ("", "unknown") else ""
    return str(named or event.body.get("agent") or event.native.get("harness") or event.agent)


def role_of(event: Event) -> str:
    """Return user, assistant, tool, system or human; the kind of a turn says more than an actor that is missing."""
    if event.type == "conversation_turn":
        kind = ROLES.get(str(event.body.get("kind", "")), "")
        return kind or str(event.body.get("role") or event.actor)
    return event.actor


def words(log: Log, event: Event) -> str:
    """Return what an event says: its text, of a tool call its name and input."""
    if event.type != "tool_call":
        return log.text(event)
    body = log.body(event)
    return f"{body.get('tool', '')} {json.dumps(body.get('input', {}), ensure_ascii=False, sort_keys=True)}".strip()


def tokens(text: str) -> set[str]:
    """Return the words of a text, joined names in parts too, case folded, a plural's s left off."""
    found: set[str] = set()
    for part in _TOKEN.findall(text):
        found.update(_stem(piece.casefold()) for piece in (part, *_JOINED.split(part)))
    return found


def matches(text: str, topic: str) -> bool:
    """Say whether a text holds every word of a topic; in scripts without blanks, the words as they stand."""
    wanted = tokens(topic)
    folded = text.casefold()
    if not wanted or any(word not in folded for word in wanted):
        return False  # cheaper than taking the text apart
    held = tokens(text)
    return all(word in held or (_UNSPACED.search(word) is not None and word in folded) for word in wanted)


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
