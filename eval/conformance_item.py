"""What an item of Appendix C (LCA) is, and the made-up project on which it is run by the commands that a user has."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from recall.turn import Turn
from transcript.workspace import Workspace

ACTOR = ("--actor", "ana", "--as", "human")
SHOWN = 6  # results of a question
TURN = "conversation_turn"


class Ran(Protocol):
    """What a command did."""

    @property
    def code(self) -> int: ...
    @property
    def out(self) -> str: ...
    @property
    def err(self) -> str: ...


class Project(Protocol):
    """A made-up project with sessions, taken in and indexed by words."""

    def __call__(self, *words: str) -> Ran: ...
    def ask(self, prompt: str) -> Turn: ...
    def say(self, session: str, exchanges: Sequence[tuple[str, str]], *, hour: int = ..., **header: str) -> Path: ...
    def hook(self, session: str, prompt: str = ...) -> str: ...
    @property
    def workspace(self) -> Workspace: ...
    @property
    def root(self) -> Path: ...
    @property
    def data(self) -> Path: ...
    @property
    def budget(self) -> int: ...


Seen = tuple[bool | None, str]  # whether it holds, None where that cannot be known here, and what was seen


@dataclass(frozen=True, slots=True)
class Claim:
    """What is claimed, the rows that ask for it, what shows it, and what holding it does not mean ("" for nothing)."""

    title: str
    rows: str
    show: Callable[[Project], Seen]
    limit: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """One claim: whether it holds here (None: not known), what was seen, and what it does not cover."""

    number: int
    title: str
    rows: str
    holds: bool | None
    evidence: str
    limit: str = ""

    def to_dict(self) -> dict[str, object]:
        """Return the item as plain JSON values."""
        return asdict(self)


def run(claims: Sequence[Claim], project: Project) -> Iterator[Item]:
    """Yield claims shown on one project, each as soon as it was looked at; what raises does not hold."""
    for number, one in enumerate(claims, start=1):
        yield Item(number, one.title, one.rows, *seen(one.show, project), one.limit)


def seen(show: Callable[[Project], Seen], project: Project) -> Seen:
    """Return what was seen of one claim."""
    try:
        return show(project)
    except Exception as error:  # the other items are still to be looked at
        return False, f"{type(error).__name__}: {error}"[:160]


def json_of(ran: Ran) -> Any:
    """Return the JSON that a command printed."""
    return json.loads(ran.out)


def rows(project: Project, question: str, *words: str) -> list[dict[str, Any]]:
    """Return the results of a question, the best first, found by words alone."""
    found = project("query", question, "--words-only", "-n", str(SHOWN), "--json", *words).out
    return [json.loads(line) for line in found.splitlines()]


def log_file(project: Project) -> Path:
    """Return the file of the record."""
    return project.workspace.log_dir / "activity.jsonl"


def plain(text: str) -> str:
    """Return a text without line breaks and without the sign that it goes on."""
    return " ".join(text.split()).rstrip(" …")
