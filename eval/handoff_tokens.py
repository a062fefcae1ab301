"""Counts what a cold agent reads: the handoff with its window, and the short form, against every turn of the record.

The case study's log has no curated events of its own, so a made-up set is recorded on it: what its agents would have
said by command. The counts are cl100k tokens of the words alone, without the envelopes of a record's lines.
"""

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from eval import case_study
from eval.synthetic import made_words
from eval.tables import table
from indexer.tokens import TokenCounter
from recall.session_start import tell
from transcript.adapters.registry import named, registered
from transcript.capture import sync
from transcript.curation import Author, Setting, decision, outcome, question, task
from transcript.event import Draft, stamp
from transcript.filters import words
from transcript.handoff import SHOWN, window
from transcript.log import Log
from transcript.projections import handoff, views
from transcript.projections.handoff import Focus
from transcript.telling import counted
from transcript.workspace import Workspace, init

TASKS, DECISIONS = 5, 12
_TOPIC = slice(60, 64)  # words frequent enough that some thirty turns speak of them
_MOST_BYTES = 9000


@dataclass(frozen=True, slots=True)
class TokenReport:
    """Tokens of the whole record and of what stands for it. `task` is the task of handoff and window, "" for all."""

    events: int
    turns: int
    whole: int
    handoff: int
    window: int
    window_turns: int
    short: int
    task: str = ""

    @property
    def read(self) -> int:
        """Tokens that a cold agent reads instead of the record."""
        return self.handoff + self.window

    def to_text(self) -> str:
        """Return a table of counts and the saving."""
        of = f" of {self.task}" if self.task else ""
        counts = [
            ("every turn of the record", self.whole),
            (f"handoff{of}", self.handoff),
            (f"window: the last {counted(self.window_turns, 'turn')} that belong to it", self.window),
            ("handoff and window", self.read),
            ("short form, told at a session's start", self.short),
        ]
        rows = [[name, tokens, f"{100 * _share(tokens, self.whole):.1f} %"] for name, tokens in counts]
        head = f"{counted(self.events, 'event')}, {counted(self.turns, 'turn')} of a conversation"
        return f"{head}\n{table(['', 'tokens', 'share'], rows)}"

    def to_json(self) -> str:
        """Return the report as one JSON object."""
        return json.dumps({**asdict(self), "read": self.read, "saved": 1 - _share(self.read, self.whole)})


def measure(workspace: Workspace, *, task: str = "", harness: str = "claude-code") -> TokenReport:
    """Count on a workspace's record, messages as far as 'recall handoff' shows them; CurationError: no such task."""
    log, count = Log(workspace), TokenCounter()
    turns = [words(log, event) for event in log.read() if event.type == "conversation_turn" and event.body]
    state, focus = views.folded(log)[0], Focus(task=task)
    shown = window(log, state, focus)
    views.refresh(workspace)
    told = tell(workspace, harness=harness, source="startup", most_bytes=_MOST_BYTES, count_tokens=count)
    return TokenReport(
        events=log.head().seq,
        turns=len(turns),
        whole=sum(map(count, turns)),
        handoff=count("\n".join(handoff.page(state, focus))),
        window=sum(count(message.text[:SHOWN]) for message in shown),
        window_turns=len(shown),
        short=told.tokens,
        task=task,
    )


def run(scratch: Path, *, times: int = 1) -> TokenReport:
    """Count on the case study's log, so many times over, with a made-up set of curated events behind it."""
    project = scratch / "project"
    project.mkdir(parents=True)
    workspace = init(project, scratch / "data")
    case_study.write(scratch / "sessions", project, times=times)
    sync(workspace, scratch / "data", {}, adapters=named(["wire"], registered().adapters), sources=scratch / "sessions")
    log = Log(workspace)
    turns = [event.id for event in log.read() if event.type == "conversation_turn"]
    log.append(_curated(turns), now=datetime(2026, 2, 1, tzinfo=UTC))
    return measure(workspace, task="T1")


def _curated(turns: list[str]) -> list[Draft]:
    """Return tasks, decisions, outcomes and a question, each with a turn as its evidence."""
    vocabulary = made_words(0)
    by = [Author("codex", "agent", "codex"), Author("claude-code", "agent", "claude-code"), Author("ana", "human")]
    first = datetime(2026, 2, 1, tzinfo=UTC)
    made: list[Draft] = []

    def at() -> Setting:
        return Setting(stamp(first + timedelta(minutes=len(made))), "recall:case-study", str(len(made)))

    def said(start: int, count: int) -> str:
        return " ".join(vocabulary[start : start + count])

    for number in range(TASKS):
        title = " ".join(vocabulary[_TOPIC]) if number == 0 else said(1000 + 10 * number, 5)
        made.append(task(by[number % 3], at(), f"T{number + 1}", "add", title=title, evidence=[turns[number * 7]]))
    made.append(task(by[0], at(), "T1", "start", note=said(2000, 6)))
    made.append(task(by[1], at(), "T3", "done", note=said(2100, 6), evidence=[turns[-1]]))
    for number in range(DECISIONS):
        tied = "T1" if number % 4 == 0 else ""
        kind = "constraint" if number % 6 == 5 else "decision"
        statement, why = said(3000 + 50 * number, 12), said(4000 + 50 * number, 8)
        shown = [turns[-2 - number * 11]]
        made.append(decision(by[number % 3], at(), statement, why=why, kind=kind, task=tied, evidence=shown))
    for status in ("verified", "untested", "failed"):
        made.append(outcome(by[0], at(), said(5000 + len(made), 8), status, task="T1", evidence=[turns[-3]]))
    made.append(question(by[2], at(), "Q1", "ask", text=said(6000, 9), task="T1"))
    return made


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
