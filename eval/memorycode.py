"""Reads MemoryCode: mentor and mentee talk about coding conventions over up to 100 sessions, and some rules change.

Every session names the exact rule and version it states (`instructions`). For each rule of a dialogue with ten
sessions or more one question is asked, in two forms: what all versions of the rule say, and the bare label ("function
argument"). A rule that changed wants the newest version's session above every session that states another version and
not the current one; a rule that never changed wants a session that states it first. Dialogues 1 to 120 are for
development; as most of them have one to four sessions, histories are made of them by joining them in a fixed order.
"""

import hashlib
import json
import re
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from eval.dataset import DEV, TEST, Dataset, Dialogue, Question, Turn

DEV_DIALOGUES = 120
LEAST_SESSIONS = 10
JOINED = 30  # sessions of a development history, about
RULE, LABEL = "rule", "label"
_ASKED = {RULE: "what all versions of the rule say", LABEL: "the rule's bare label"}
_START = datetime(2024, 1, 8, 9, tzinfo=UTC)
_SPEAKER = re.compile(r"^([^\W\d_][\w' .-]{0,40}): ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Session:
    """One session of the file: its text, and the (rule, version) pairs it states."""

    text: str
    states: tuple[tuple[int, int], ...]
    labels: tuple[str, ...]


def load(path: Path, *, form: str = RULE, split: str = TEST) -> Dataset:
    """Read the archive; of split "dev" the joined histories, of "test" the dialogues with ten sessions or more."""
    raw = path.read_bytes()
    rules, talks = _read(path)
    if split == DEV:
        held = histories([sessions for number, sessions in sorted(talks.items()) if number <= DEV_DIALOGUES])
    else:
        held = [
            (f"dialogue_{number}", sessions)
            for number, sessions in sorted(talks.items())
            if number > DEV_DIALOGUES and len(sessions) >= LEAST_SESSIONS
        ]
    dialogues = tuple(_dialogue(name, sessions, rules, form, split) for name, sessions in held)
    labels = f"refined (the exact rule and version that a session states), asked for by {_ASKED[form]}"
    return Dataset(f"memorycode-{split}-{form}", hashlib.sha256(raw).hexdigest(), dialogues, labels)


def histories(talks: Sequence[Sequence[Session]]) -> list[tuple[str, list[Session]]]:
    """Join short dialogues into histories of about 30 sessions, every seventh beside every seventh."""
    order = sorted(range(len(talks)), key=lambda i: (i % 7, i))
    made: list[tuple[str, list[Session]]] = []
    sessions: list[Session] = []
    for i in order:
        sessions.extend(talks[i])
        if len(sessions) >= JOINED:
            made.append((f"history_{len(made)}", sessions))
            sessions = []
    return made


def _read(path: Path) -> tuple[dict[int, list[str]], dict[int, list[Session]]]:
    rules: dict[int, list[str]] = {}
    talks: dict[int, list[Session]] = {}
    with tarfile.open(path) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.name.endswith(".json") else None
            if file is None:
                continue
            held = json.loads(file.read())
            if Path(member.name).name == "topics.json":
                rules = {rule["id"]: rule["text"] for rule in held["instructions"]}
            else:
                number = int(re.sub(r"\D", "", Path(member.name).stem))
                talks[number] = [_session(s, p) for s, p in zip(held["sessions"], held["instructions"], strict=True)]
    return rules, talks


def _session(session: dict[str, Any], pairs: list[Any]) -> Session:
    states = tuple((pair[0], pair[1]) for pair in pairs if isinstance(pair, list))
    labels = tuple(label for label, _ in session.get("session_regex", []))
    return Session(session["text"], states, labels)


def _dialogue(name: str, sessions: Sequence[Session], rules: dict[int, list[str]], form: str, split: str) -> Dialogue:
    turns = [turn for number, session in enumerate(sessions) for turn in _turns(number, session.text)]
    after = turns[-1].said + timedelta(days=1)
    stated: dict[int, list[tuple[int, int, str]]] = {}
    for number, session in enumerate(sessions):
        labels = session.labels if len(session.labels) == len(session.states) else ("",) * len(session.states)
        for (rule, version), label in zip(session.states, labels, strict=True):
            stated.setdefault(rule, []).append((number, version, label))
    questions = []
    for rule, held in sorted(stated.items()):
        current = held[-1][1]
        gold = frozenset(f"s{number}" for number, version, _ in held if version == current)
        stale = frozenset(f"s{number}" for number, version, _ in held if version != current) - gold
        text = held[-1][2] if form == LABEL else without_value(rules[rule])
        if text:
            kind = "changed" if stale else "stable"
            questions.append(Question(f"{name}/{rule}", text, kind, after, sessions=gold, stale=stale, split=split))
    return Dialogue(name, tuple(turns), tuple(questions))


def _turns(number: int, text: str) -> Iterator[Turn]:
    """Cut a session's text at its speakers' names; a week lies between two sessions, a minute between two turns."""
    began = _START + timedelta(weeks=number)
    marks = list(_SPEAKER.finditer(text))
    parts = [("", text[: marks[0].start() if marks else len(text)])]
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    parts += [(mark[1], text[mark.end() : end]) for mark, end in zip(marks, ends[: len(marks)], strict=True)]
    for place, (speaker, said) in enumerate((s, t.strip()) for s, t in parts if t.strip()):
        yield Turn(f"s{number}:{place}", f"s{number}", speaker, said, began + timedelta(minutes=place))


def without_value(versions: Sequence[str]) -> str:
    """Return the words that all versions of a rule share: what differs is its value.

    A rule with one version is returned whole. What it names is its subject: "add the '@retry' decorator to all
    methods" and the same of '@validate' are two rules, both in force, that nothing else tells apart.
    """
    words = [version.split() for version in versions]
    return " ".join(word for word in words[0] if all(word in other for other in words[1:]))
