"""Questions with known sources, made from a user's own record: deterministically, and without any model.

Each kind asks for what the record answers in one place only:

topic       the rarest words of a person's prompt; the source is the answer that closed the exchange
restated    a person's later prompt as it was typed; the sources are the one earlier exchange that asked the same
identifier  a name, path, flag or code that was stated once; the source is that statement
error       an error's line as a tool printed it, in one exchange only; the source is the answer that closed it

The same record gives the same questions. Which of them are asked is decided by the ids of their sources, so that most
stay the same while the record grows.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from eval.dataset import Dataset, Dialogue, Question
from indexer.rows import CURATED, FINAL, NARRATION, PROMPT, TOOL_RESULT
from indexer.said import Said
from indexer.segment import segment
from recall.cues import read_cues
from recall.forms import is_pasted

EACH = 50  # questions of a kind
MOST_WORDS, FEWEST_WORDS, LONGEST_WORD = 6, 4, 20  # of a topic; what is longer is a joined identifier
RARE_SHARE = 0.05  # a word of a topic stands in at most this share of the exchanges, or in three
SHORTEST_ANSWER = 80  # characters; a shorter one ("Done.") answers nothing that could be asked
LONGEST_PROMPT = 2000  # a longer one is material, not a question
LONGEST_LINE = 200
SAME, RELATED = 0.5, 0.3  # Jaccard of content words: asked again; still too near to have one source
FEWEST_TERMS = 4

_IDENTIFIER = re.compile(
    r"(?<![\w./\\@-])(?:"
    r"[A-Za-z]\w*(?:[-.]\w+)*(?:/[\w.-]+)+\.[a-z]\w{0,4}"  # a path with a suffix
    r"|[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+"  # snake_case, UPPER_CASE
    r"|[a-z]+(?:[A-Z][a-z0-9]+)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+"  # camelCase, PascalCase
    r"|[A-Z]{1,6}-?\d{2,6}"  # an error code, an issue's number
    r"|--[a-z]+(?:-[a-z]+)+"  # a flag
    r")(?![\w/\\@-])"
)
_ERROR = re.compile(
    r"^[^\S\n]*(?:E\s+)?((?:[\w.]*(?:Error|Exception)|error(?:\[\w+\])?|ERROR|fatal|panic)\s*:\s*\S.{9,})$",
    re.MULTILINE,
)
_DIGITS, _PATH = re.compile(r"\d+"), re.compile(r"\S*[/\\]\S*")


@dataclass(slots=True)
class Exchange:
    """A prompt with the answer that closed it."""

    prompts: list[Said] = field(default_factory=list)
    finals: list[Said] = field(default_factory=list)
    terms: frozenset[str] = frozenset()  # content words of a prompt that may be asked; empty where it may not

    @property
    def sources(self) -> frozenset[str]:
        """The events of the answer."""
        return frozenset(said.event for said in self.finals)

    @property
    def answered(self) -> bool:
        """Whether the answer says enough to be found."""
        return sum(len(said.text) for said in self.finals) >= SHORTEST_ANSWER


@dataclass(frozen=True, slots=True)
class Made:
    """A question before it is chosen; `session` is the one it is typed in, "" for none."""

    kind: str
    text: str
    sources: frozenset[str]
    asked: int
    session: str = ""

    @property
    def id(self) -> str:
        """Sixteen hex digits over all of it but its time, which moves as the record grows."""
        return _digest(self.kind, self.text, *sorted(self.sources))

    @property
    def place(self) -> str:
        """What decides whether it is among those asked."""
        return _digest(self.kind, *sorted(self.sources))


def dataset(events: Sequence[Said], *, each: int = EACH) -> Dataset:
    """Return at most `each` questions of every kind; an event's id is the id of its turn."""
    exchanges, newest = _exchanges(events), max((said.said for said in events), default=0) + 2
    found: list[Made] = []
    for make in (_topics, _restated, _identifiers, _errors):
        made: dict[frozenset[str], Made] = {}
        for question in make(events, exchanges, newest):
            made.setdefault(question.sources, question)
        found += sorted(made.values(), key=lambda q: q.place)[:each]
    session_of = {said.event: min(said.sessions) for said in events}
    questions = tuple(_question(made, session_of) for made in found)
    digest = hashlib.sha256("\n".join(f"{q.id} {q.text}" for q in questions).encode("utf-8", "surrogatepass"))
    return Dataset("self", digest.hexdigest(), (Dialogue("own record", (), questions),))


def _question(made: Made, session_of: dict[str, str]) -> Question:
    at = datetime.fromtimestamp(made.asked, UTC)
    sessions = frozenset(session_of[event] for event in made.sources)
    return Question(made.id, made.text, made.kind, at, made.sources, sessions, session=made.session)


def _exchanges(events: Iterable[Said]) -> list[Exchange]:
    held: dict[int, Exchange] = defaultdict(Exchange)
    for said in events:
        if said.exchange and said.kind in (PROMPT, FINAL):
            (held[said.exchange].prompts if said.kind == PROMPT else held[said.exchange].finals).append(said)
    for exchange in held.values():
        text = "\n".join(said.text for said in exchange.prompts)
        if exchange.prompts and len(text) <= LONGEST_PROMPT and not is_pasted(text):
            cues = read_cues(text, gloss=False)
            exchange.terms = frozenset() if cues.reason else frozenset(cues.terms)
    return list(held.values())


def _topics(events: Sequence[Said], exchanges: Sequence[Exchange], newest: int) -> Iterator[Made]:
    """Ask with the rarest plain words of a prompt, in no sentence; no other exchange may hold all of them."""
    holders: dict[str, set[int]] = defaultdict(set)
    for number, exchange in enumerate(exchanges):
        for said in (*exchange.prompts, *exchange.finals):
            for word in segment(said.text):
                holders[word].add(number)
    most = max(3, int(RARE_SHARE * len(exchanges)))
    for exchange in exchanges:
        plain = [word for word in exchange.terms if word.isalpha() and 2 < len(word) <= LONGEST_WORD]
        rare = sorted((len(holders[word]), word) for word in plain if 0 < len(holders[word]) <= most)
        rarest = [word for _, word in rare[:MOST_WORDS]]
        if not exchange.answered or len(rarest) < FEWEST_WORDS:
            continue
        if len(set.intersection(*(holders[word] for word in rarest))) == 1:
            yield Made("topic", " ".join(rarest), exchange.sources, newest)


def _restated(events: Sequence[Said], exchanges: Sequence[Exchange], newest: int) -> Iterator[Made]:
    """Ask a person's prompt again that one earlier exchange of another session had asked in much the same words."""
    holders: dict[str, list[int]] = defaultdict(list)
    asked = [e for e in exchanges if len(e.terms) >= FEWEST_TERMS]
    for number, exchange in enumerate(asked):
        for word in exchange.terms:
            holders[word].append(number)
    for number, exchange in enumerate(asked):
        prompt = exchange.prompts[0]
        shared: dict[int, int] = defaultdict(int)
        for word in exchange.terms:
            for other in holders[word]:
                shared[other] += 1
        near = [
            (both / (len(exchange.terms) + len(asked[other].terms) - both), asked[other])
            for other, both in shared.items()
            if other != number
            and asked[other].prompts[0].said < prompt.said
            and not prompt.sessions & asked[other].prompts[0].sessions
        ]
        related = [(likeness, other) for likeness, other in near if likeness >= RELATED]
        if len(related) == 1 and related[0][0] >= SAME and related[0][1].answered:
            earlier = related[0][1]
            sources = earlier.sources | {said.event for said in earlier.prompts}
            yield Made("restated", _line(prompt.text, LONGEST_PROMPT), sources, prompt.said, min(prompt.sessions))


def _identifiers(events: Sequence[Said], exchanges: Sequence[Exchange], newest: int) -> Iterator[Made]:
    """Ask for a name that stands in one event of all that was said; tools' output does not count."""
    holders: dict[str, set[str]] = defaultdict(set)
    first: dict[str, tuple[str, Said]] = {}
    for said in events:
        if said.kind in (PROMPT, FINAL, NARRATION, CURATED):
            for name in _IDENTIFIER.findall(said.text):
                holders[name.lower()].add(said.event)
                first.setdefault(name.lower(), (name, said))
    for key, (name, said) in first.items():
        if len(holders[key]) == 1 and 6 <= len(name) <= 60 and said.kind != NARRATION:
            yield Made("identifier", f"what about {name}?", frozenset({said.event}), newest)


def _errors(events: Sequence[Said], exchanges: Sequence[Exchange], newest: int) -> Iterator[Made]:
    """Ask with an error's line that no other exchange met, numbers and paths aside."""
    answer = {final.exchange: exchange for exchange in exchanges for final in exchange.finals}
    met: dict[str, set[int]] = defaultdict(set)
    lines: dict[str, str] = {}
    for said in events:
        if said.kind == TOOL_RESULT and said.exchange:
            for line in _ERROR.findall(said.text):
                signature = _DIGITS.sub("0", _PATH.sub("", line)).lower()
                met[signature].add(said.exchange)
                lines.setdefault(signature, line)
    for signature, where in met.items():
        exchange = answer.get(next(iter(where))) if len(where) == 1 else None
        if exchange is not None and exchange.answered:
            yield Made("error", _line(lines[signature], LONGEST_LINE), exchange.sources, newest)


def _line(text: str, most: int) -> str:
    return " ".join(text.split())[:most]


def _digest(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
