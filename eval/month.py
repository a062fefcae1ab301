"""What E and T change over a stretch of real work: its prompts asked again in order, each as of its own moment.

Every prompt is asked as a hook asks it, and what is shown is held against the answer that was really given: what that
says and had nowhere else counts as used (`recall.use`). What is used is a citation, and from the next prompt on it
weighs, for each variant what it found itself. The answers were given without any of these blocks: who never saw an
item cannot name it, so a use is agreement, and the figures compare variants with each other and with nothing else.
Weights are held in memory; nothing is written.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, cast

from consolidation.apply import weighed
from consolidation.experience import fold_experience
from consolidation.sessions import project_of
from eval.lineup import OURS, Search, Variant
from eval.scorers import actr
from indexer.passages import event_text
from indexer.reader import Reader
from indexer.rows import RowFilter, StandingRow
from indexer.standing import Weighed
from indexer.store import Store
from recall.engine import recall
from recall.memory_settings import ExperienceSettings
from recall.query import Query
from recall.settings import Settings
from recall.turn import CountTokens, Turn, Vectors
from recall.use import Injected, Use, judge_known, stems_of
from transcript import memory_drafts as drafts
from transcript.errors import RecallError
from transcript.event import Draft, Event, Position, moment, stamp
from transcript.injected import strip_blocks
from transcript.kept_out import opts_out
from transcript.log import Log
from transcript.memory_told import Told

SEEN_CHARS = 20_000  # of a tool's output that counts as seen
READ = frozenset({"conversation_turn", "tool_call", "tool_result", "reasoning"})
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Asked:
    """A real prompt with the answer that was given, and what the session had seen since the prompt before it."""

    event: str
    session: str
    at: datetime
    cwd: str
    prompt: str
    answer: str
    seen: tuple[str, ...]  # with what the tools of the exchange showed
    since: tuple[str, ...]  # what the answer leaves behind in the session


@dataclass(frozen=True, slots=True)
class Shown:
    """What one variant showed for one prompt, best first: the events, and which of them the answer used."""

    prompt: str
    events: tuple[str, ...]
    uses: tuple[Use, ...]
    tokens: int = 0

    @property
    def used(self) -> int:
        """How many items the answer used."""
        return sum(bool(use.kind) for use in self.uses)

    @property
    def share(self) -> float | None:
        """The share of the items that was used, None where none was shown."""
        return self.used / len(self.uses) if self.uses else None

    @property
    def first(self) -> float | None:
        """The reciprocal place of the first item used, None where none was."""
        return next((1 / place for place, use in enumerate(self.uses, 1) if use.kind), None)


def variants(settings: Settings) -> dict[str, Variant]:
    """Return the variants by name: as it is, without each term, without both, and E as activation."""
    no_e = replace(settings, weights=replace(settings.weights, beta=0.0), scales=replace(settings.scales, stretch=0.0))
    no_t = replace(settings, weights=replace(settings.weights, gamma=0.0))
    return {
        OURS: Variant(settings),
        "without E": Variant(no_e),
        "without T": Variant(no_t),
        "without both": Variant(replace(no_e, weights=replace(no_e.weights, gamma=0.0))),
        "E as ACT-R": Variant(settings, actr),
    }


def asked_between(log: Log, begin: datetime, end: datetime) -> list[Asked]:
    """Return the answered prompts of persons in [begin, end), in the order of time.

    Left out are sub-agents and what a person kept out.
    """
    found: list[Asked] = []
    sessions: dict[str, _Session] = {}
    for event in log.read():
        if event.type in READ and event.body and not event.body.get("worker"):
            found += sessions.setdefault(event.session, _Session()).take(log, event)
    for session in sessions.values():
        found += session.close()
    return sorted((one for one in found if begin <= one.at < end), key=lambda one: (one.at, one.event))


class _Session:
    """A session while it is read: the prompt that waits for its answer, and what was seen since."""

    def __init__(self) -> None:
        self._prompt: Event | None = None
        self._text = ""
        self._before: list[str] = []  # seen since the last prompt that was asked again
        self._seen: list[str] = []
        self._replies: list[str] = []

    def take(self, log: Log, event: Event) -> list[Asked]:
        """Take one event in; return the exchange that it ends, if it ends one."""
        text = _words(log, event)
        kind = event.body.get("kind")
        if event.type == "conversation_turn" and kind == "prompt":
            ended = self.close()
            self._prompt, self._text = event, strip_blocks(text)
            return ended
        if event.type == "conversation_turn" and kind == "reply":
            self._replies.append(text)
        else:
            self._seen.append(text[:SEEN_CHARS])
        return []

    def close(self) -> list[Asked]:
        """Return the exchange at hand where it was answered and not kept out, and forget it."""
        prompt, answer = self._prompt, "\n".join(self._replies)
        seen, replies = [*self._before, *self._seen], tuple(self._replies)
        self._prompt, self._seen, self._replies = None, [], []
        if prompt is None or not answer.strip() or opts_out(self._text) or not self._text.strip():
            self._before = [*seen, *replies, self._text]
            return []
        self._before = []
        cwd = str(prompt.body.get("cwd", ""))
        return [Asked(prompt.id, prompt.session, moment(prompt.ts), cwd, self._text, answer, tuple(seen), replies)]


def replay(
    asked: Sequence[Asked],
    store: Store,
    search: Search,
    tried: Mapping[str, Variant],
    *,
    count_tokens: CountTokens,
    weights: ExperienceSettings,
    progress: Progress = lambda _done, _total: None,
) -> dict[str, list[Shown]]:
    """Return for each variant what it showed for each prompt, in their order."""
    learned = {name: _Learned(store, weights) for name in tried}
    near = {v.settings.retrieval.vector_limit: _Once(search(v.settings.retrieval.vector_limit)) for v in tried.values()}
    known: dict[str, set[str]] = {}
    shown: dict[tuple[str, str], set[str]] = {}
    found: dict[str, list[Shown]] = {name: [] for name in tried}
    for number, one in enumerate(asked):
        stems = known.setdefault(one.session, set())
        stems.update(stem for text in (*one.seen, one.prompt) for stem in stems_of(text))
        for held in near.values():
            held.forget()
        for name, variant in tried.items():
            already = shown.setdefault((name, one.session), set())
            query = Query(one.prompt, session=one.session, cwd=one.cwd, as_of=one.at)
            turn = recall(
                query,
                cast(Reader, learned[name]),
                near[variant.settings.retrieval.vector_limit],
                variant.settings,
                now=one.at,
                count_tokens=count_tokens,
                scorer=variant.scorer,
                already=frozenset(already),
            )
            made = _judged(one, turn, stems)
            found[name].append(made)
            already.update(made.events)
            learned[name].take(one, made)
        stems.update(stem for text in one.since for stem in stems_of(text))
        progress(number + 1, len(asked))
    return found


class _Once:
    """A search by vectors that is done once a prompt: the variants ask for the same, from among the same."""

    def __init__(self, search: Vectors | None) -> None:
        self._search = search
        self._found: Sequence[tuple[int, float]] | None = None
        self._asked = False

    def __call__(self, prompt: str, allowed: RowFilter | None) -> Sequence[tuple[int, float]] | None:
        """Return what is near to the prompt, None where only words can be searched."""
        if not self._asked:
            self._asked = True
            self._found = None if self._search is None else self._search(prompt, allowed)
        return self._found

    def forget(self) -> None:
        """Forget what was found: another prompt comes."""
        self._asked = False


def _judged(one: Asked, turn: Turn, known: set[str]) -> Shown:
    items = [Injected(tuple(p.event for p in r.candidate.pointers), r.candidate.text) for r in turn.items]
    uses = tuple(judge_known(items, one.answer, known))
    return Shown(one.event, tuple(item.events[0] for item in items), uses, turn.tokens)


@dataclass(slots=True)
class _Learned:
    """The index with what one variant's answers have proved so far in the place of what it holds itself."""

    store: Store
    weights: ExperienceSettings
    cited: list[Event] = field(default_factory=list)
    rows: dict[str, Weighed] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    def has_standing(self) -> bool:
        """Whether the index knows of a memory, or anything was cited."""
        return bool(self.rows) or self.store.has_standing()

    def standing(self, events: Iterable[str]) -> dict[str, StandingRow]:
        """Return what the index knows of these events, with what they have proved here in the place of its own."""
        names = list(events)
        held = self.store.standing(names)
        return {name: self._row(name, held.get(name)) for name in names if name in held or name in self.rows}

    def _row(self, name: str, held: StandingRow | None) -> StandingRow:
        row = held or StandingRow(name, None, None, "", 0, "", 0, 0.0, 0, 0, "", "")
        earned = self.rows.get(name, Weighed())
        return row._replace(raw=earned.raw, hits=earned.hits, applied=earned.applied)

    def most_hits(self) -> int:
        """Return in how many sessions the most cited event was cited."""
        return max((row.hits for row in self.rows.values()), default=0)

    def take(self, one: Asked, shown: Shown) -> None:
        """Let what an answer used count from here on."""
        new = list(_citations(one, shown, len(self.cited)))
        if new:
            self.cited += new
            worth = fold_experience(self.cited, self.weights, authorised=lambda _body: False)
            self.rows = {name: weighed(experience, None) for name, experience in worth.items()}


def _citations(one: Asked, shown: Shown, seq: int) -> Iterator[Event]:
    for event, use in zip(shown.events, shown.uses, strict=True):
        if use.kind:
            told = Told(stamp(one.at))
            yield _event(drafts.cited(told, event, one.session, use.kind, project=project_of(one.cwd, None)), seq)


def _event(draft: Draft, seq: int) -> Event:
    values = {name: getattr(draft, name) for name in Draft.__slots__}
    return Event(**values, v=1, seq=seq, commit="", prev="", salt="", position=Position(1, 0, seq, ""))


def _words(log: Log, event: Event) -> str:
    try:
        return event_text(event.type, log.body(event))
    except RecallError:
        return ""
