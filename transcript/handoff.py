"""The window that goes with a handoff: the last messages that belong to it, each with the reason why."""

from dataclasses import dataclass
from typing import Any

from transcript.context import readable
from transcript.errors import CurationError
from transcript.event import Event
from transcript.filters import bound, role_of, tokens
from transcript.injected import strip_blocks
from transcript.log import Log
from transcript.projections.handoff import Focus, tied_decisions, tied_evidence
from transcript.telling import counted, quoted

LAST = 20
SHOWN = 1200  # characters of a message that a page shows; the rest opens with its pointer
_COMMON = frozenset(
    {"the", "and", "for", "with", "from", "that", "this", "into", "are", "was", "not", "but", "all", "any", "its"}
    | {"our", "let", "can", "how", "why", "what", "when", "which", "then", "than", "add", "fix", "make", "use"}
    | {"new", "old", "get", "set", "read", "write"}
)


@dataclass(frozen=True, slots=True)
class Message:
    """A turn of the window, its words, and how it belongs: tag, link, topic, or recent where no task is asked for."""

    event: Event
    text: str
    why: str


def window(log: Log, state: dict[str, Any], focus: Focus, *, last: int = LAST) -> list[Message]:
    """Return the last turns that belong to a focus, in the order of time; CurationError when its task is unknown.

    With a task: turns that name it, that it points to, or that speak of its title. Without one: of the session that
    ends (compaction), what people asked (role), or the newest of all (session). Workers' turns are left out, and what
    recall itself wrote is cut out of the words.
    """
    if focus.task and focus.task not in state["tasks"]:
        raise CurationError(f"there is no task {focus.task}; 'recall task list' shows them")
    ties = _Ties(state, focus)
    found: list[Message] = []
    for event in log.read_back(only="conversation_turn") if last else ():
        if event.type != "conversation_turn" or event.body.get("worker") or not event.body:
            continue
        whole = readable(log, event)
        text = strip_blocks(whole)
        if text != whole and not text.strip():  # a handoff that was handed over says nothing of its own
            continue
        why = ties.of(event, text)
        if why:
            found.append(Message(event, text, why))
            if len(found) == last:
                break
    # Sessions that ran side by side, or were taken in late, stand one behind the other in the record.
    found.reverse()
    return sorted(found, key=lambda message: bound(message.event.ts))


def session_of(state: dict[str, Any], given: str) -> str:
    """Return the id of the one session that begins so, "" for ""; CurationError when none does, or several."""
    if not given or given in state["sessions"]:
        return given
    found: list[str] = sorted(name for name in state["sessions"] if name.startswith(given))
    if len(found) == 1:
        return found[0]
    if found:
        shown = ", ".join(found[:3])
        many = counted(len(found), "session")
        raise CurationError(f"{many} begin with {quoted(given)} ({shown}); write more of the id")
    raise CurationError(f"no session begins with {quoted(given)}; views/state.md lists the newest")


class _Ties:
    """How a turn may belong to a focus."""

    def __init__(self, state: dict[str, Any], focus: Focus) -> None:
        self._focus = focus
        self._linked = tied_evidence(state, focus.task) if focus.task else set()
        said = state["tasks"][focus.task]["title"] if focus.task else ""
        about = [one["statement"] for one in tied_decisions(state, focus.task)] if focus.task else []
        self._topics = [topic for topic in ({*tokens(text)} - _COMMON for text in (said, *about)) if topic]
        newest = max(state["sessions"].items(), key=lambda item: (item[1]["last"], item[0]), default=("", {}))[0]
        self._session = focus.session or newest

    def of(self, event: Event, text: str) -> str:
        """Return why a turn belongs, "" when it does not."""
        focus = self._focus
        if not focus.task:
            if focus.purpose == "compaction":
                return "recent" if event.session == self._session else ""
            if focus.purpose == "role":
                return "recent" if role_of(event) == "user" else ""
            return "recent"
        if event.id in self._linked:
            return "link"
        held = tokens(text)
        if event.body.get("task") == focus.task or focus.task.casefold() in held:
            return "tag"
        return "topic" if any(_speaks_of(held, topic) for topic in self._topics) else ""


def _speaks_of(held: set[str], topic: set[str]) -> bool:
    """Say whether a text holds half of a topic's words, and two of them where it has two."""
    shared = len({word for word in topic if len(word) > 2} & held)
    return shared >= max(min(2, len(topic)), (len(topic) + 1) // 2)
