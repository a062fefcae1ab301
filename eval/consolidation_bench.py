"""Times consolidation: a session's end on a record of real size, nights that find nothing new, and the weights.

On a copy of a project's record and index, brought up to date first; the session is made up, so that every run has the
same work. No reviewer is asked and no model is made to draft. The weights are those of a record of citations alone.
Beside each time stands that of the processors, which is the truer one where the machine does other work.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from consolidation.experience import experience_of
from consolidation.model import Deps
from consolidation.night import Night, night
from consolidation.run import UNCHANGED, consolidate
from consolidation.settings import Settings
from consolidation.triggers import due
from eval.machine import Machine, machine
from eval.tables import table
from recall.memory_settings import ExperienceSettings
from transcript import memory_drafts as drafts
from transcript.canonical import b32id, canonical
from transcript.event import Draft, stamp
from transcript.log import Log
from transcript.memories import Memory, Span, fold_memories
from transcript.memory_told import Told
from transcript.telling import counted
from transcript.workspace import init

MEMORIES = 500
SESSION = "made-up"
Progress = Callable[[str], None]
Done = TypeVar("Done")


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds by the clock and of the processors."""

    seconds: float
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class BenchReport:
    """What each piece of work took, what the session came to, and what it was measured on."""

    events: int  # of the record
    memories: int  # that hold at the end
    weight_events: int
    took: dict[str, Took]
    session_state: str
    night_state: str
    due: tuple[str, ...]  # what was due in the night in which too much was remembered
    due_state: str
    failed: tuple[str, ...]  # parts of the night, here for the copy alone
    machine: Machine

    def to_json(self) -> str:
        """Return everything as one JSON object."""
        return json.dumps(asdict(self))

    def to_text(self) -> str:
        """Return the table."""
        head = f"{counted(self.events, 'event')}, {counted(self.memories, 'memory', 'memories')}, "
        head += (
            f"{counted(self.weight_events, 'citation')}; the session ends {self.session_state}, the second night is "
        )
        head += self.night_state + (f" ({', '.join(self.failed)} failed)" if self.failed else "")
        head += f", that with {' and '.join(self.due) or 'nothing'} due {self.due_state}"
        rows = [[name, round(took.seconds, 2), round(took.cpu_seconds, 2)] for name, took in self.took.items()]
        return f"{head}\n{table(['work', 'seconds', 'of the processors'], rows)}\n{self.machine.to_text()}"


def run(
    deps: Deps, settings: Settings, *, now: datetime, scratch: Path, weight_events: int, progress: Progress
) -> BenchReport:
    """Return the times on the record of deps, which is written to: give it a copy."""
    took: dict[str, Took] = {}
    progress("everything that the record holds")
    took["the whole record, once"] = _timed(lambda: consolidate(deps, settings, trigger="elected", now=now))[1]
    progress("one session more")
    deps.log.append(_session(now), now=now)
    deps.index()
    ended, took["one session"] = _timed(lambda: consolidate(deps, settings, trigger="session_end", now=now))
    progress("two nights")
    night(deps, settings, now=now)
    again, took["a night with nothing new"] = _timed(lambda: night(deps, settings, now=now))
    progress("two nights that find too many memories")
    crowded = _crowded(settings, fold_memories(deps.log).current(now))
    night(deps, crowded, now=now)
    late, took["a night with nothing new, too much remembered"] = _timed(lambda: night(deps, crowded, now=now))
    progress(counted(weight_events, "citation"))
    log = cited(scratch, weight_events, now)
    took["the weights of the citations"] = _timed(lambda: experience_of(log, ExperienceSettings()))[1]
    state = fold_memories(deps.log)
    return BenchReport(
        deps.log.head().seq,
        len(state.current(now)),
        weight_events,
        took,
        ended.state,
        _told(again),
        tuple(one.trigger for one in due(state, crowded.consolidation, now)),
        _told(late),
        again.failed,
        machine(),
    )


def _crowded(settings: Settings, memories: Sequence[Memory]) -> Settings:
    """Return settings under which one memory fewer would be enough."""
    return replace(settings, consolidation=replace(settings.consolidation, bloat_memories=max(1, len(memories) - 1)))


def _told(done: Night) -> str:
    return "idle" if done.report is not None and done.report.state == UNCHANGED else "not idle"


def _timed(work: Callable[[], Done]) -> tuple[Done, Took]:
    wall, cpu = time.perf_counter(), time.process_time()
    done = work()
    return done, Took(time.perf_counter() - wall, time.process_time() - cpu)


def _session(now: datetime) -> list[Draft]:
    """Return a session of twenty exchanges, each with a cause that was found, an edit and a check that passed."""
    found = []
    for number in range(20):
        cause = (
            f"The root cause is that `load_part_{number}()` reads `part{number}.toml` before `setup_{number}()` ran."
        )
        found += [
            _event("conversation_turn", "user", now, {"kind": "prompt", "text": f"why does part {number} fail?"}),
            _event("conversation_turn", "assistant", now, {"kind": "reply", "text": f"{cause} I move the call."}),
            *_call(now, number, "Edit", {"file_path": f"src/part{number}.py", "new_string": "setup()"}),
            *_call(now, number, "Bash", {"command": f"pytest tests/test_part{number}.py"}),
        ]
    return found


def _call(now: datetime, number: int, tool: str, given: dict[str, str]) -> Iterator[Draft]:
    name = f"{tool}{number}"
    yield _event("tool_call", "assistant", now, {"tool": tool, "call_id": name, "input": given})
    yield _event("tool_result", "tool", now, {"call_id": name, "text": "ok", "is_error": False})


def _event(kind: str, actor: str, now: datetime, body: dict[str, Any]) -> Draft:
    name = b32id("eval", SESSION, stamp(now), canonical(body).decode("ascii"))
    return Draft(kind, name, stamp(now), "record", SESSION, "recall", actor, "internal", {}, body)


def cited(folder: Path, count: int, now: datetime) -> Log:
    """Return a record of its own with so many citations of MEMORIES memories, each in a session of its own."""
    project = folder / "project"
    project.mkdir(parents=True)
    log, at = Log(init(project, folder / "data")), Told(stamp(now))
    ids = [b32id("eval", "memory", str(number)) for number in range(MEMORIES)]
    log.append([_memory(at, name, number) for number, name in enumerate(ids)], now=now)
    for _ in log.append_batches(_citations(at, ids, count), now=now):
        pass
    return Log(log.workspace)


def _memory(at: Told, name: str, number: int) -> Draft:
    source = Span(name, 0, 9, "0" * 16)
    return drafts.written(at, name, "project_fact", f"fact {number}", sources=[source], said_at=at.ts, why="made up")


def _citations(at: Told, ids: list[str], count: int) -> Iterator[Draft]:
    for number in range(count):
        of, answer = (
            drafts.written_id(ids[number % MEMORIES]),
            Span(b32id("eval", "answer", str(number)), 0, 9, "0" * 16),
        )
        how, project = ("named", "overlap")[number % 2], f"project {number % 7}"
        yield drafts.cited(at, of, f"session {number}", how, turn=answer.event, answer=answer, project=project)
