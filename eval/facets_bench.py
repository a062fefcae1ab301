"""What a file of facets costs a turn that names no role: the same turns without it and with a large one, read anew.

Beside the time stands whether the turns came out alike: who names no role, channel or task must not notice the file.
"""

import json
import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from eval.machine import Machine, machine
from eval.tables import table
from indexer.reader import Reader
from recall import facets
from recall.audiences import PRIVATE
from recall.engine import recall
from recall.facets import NOTHING, Facets
from recall.query import Query
from recall.settings import Settings
from recall.turn import CountTokens, Scorer, Turn
from scoring.pool import score_pool
from transcript.canonical import b32id


@dataclass(frozen=True, slots=True)
class FacetsReport:
    """Median milliseconds of a turn by words without the file and with it; `read_ms` is the reading alone."""

    turns: int
    memories: int
    bytes: int
    without_ms: float
    with_ms: float
    read_ms: float
    ratio: float
    alike: int
    machine: Machine

    def to_text(self) -> str:
        """Return one table and the circumstances."""
        rows = [
            ["without a file", f"{self.without_ms:.2f}"],
            [f"with one of {self.memories:,} memories, {self.bytes:,} bytes", f"{self.with_ms:.2f}"],
            ["reading it", f"{self.read_ms:.2f}"],
        ]
        told = f"ratio {self.ratio:.3f}; {self.alike:,} of {self.turns:,} turns came out alike"
        return "\n".join([self.machine.to_text(), table(["turn", "median ms"], rows), told])

    def to_json(self) -> str:
        """Return one JSON object."""
        return json.dumps(asdict(self))


def run(
    reader: Reader,
    prompts: Sequence[str],
    folder: Path,
    settings: Settings,
    *,
    now: datetime,
    memories: int,
    count_tokens: CountTokens,
    scorer: Scorer = score_pool,
) -> FacetsReport:
    """Ask each prompt without facets and with a made-up file below folder; ValueError where there is no prompt."""
    if not prompts or memories < 1:
        raise ValueError("there must be a prompt, and at least 1 memory in the file")
    file = folder / facets.FILE
    file.write_text(json.dumps(made_up(memories), separators=(",", ":")))
    without: list[float] = []
    having: list[float] = []
    reading: list[float] = []
    alike = 0

    def ask(prompt: str, known: Facets) -> Turn:
        query = Query(prompt, audience=PRIVATE)
        return recall(query, reader, None, settings, now=now, count_tokens=count_tokens, scorer=scorer, facets=known)

    ask(prompts[0], NOTHING)
    for prompt in prompts:
        begun = time.perf_counter()
        plain = ask(prompt, NOTHING)
        between = time.perf_counter()
        facets.forget_read()
        known = ask(prompt, facets.load(folder))
        without.append((between - begun) * 1000)
        having.append((time.perf_counter() - between) * 1000)
        reading.append(_reading(folder))
        alike += plain.block == known.block and [r.score for r in plain.ranked] == [r.score for r in known.ranked]
    first, second = statistics.median(without), statistics.median(having)
    sizes = (len(prompts), memories, file.stat().st_size)
    return FacetsReport(*sizes, first, second, statistics.median(reading), second / first, alike, machine())


def _reading(folder: Path) -> float:
    """Return the milliseconds that reading the file takes."""
    facets.forget_read()
    begun = time.perf_counter()
    facets.load(folder).remembers("")
    return (time.perf_counter() - begun) * 1000


def made_up(memories: int) -> dict[str, object]:
    """Return a file of facets of so many memories, each with a project, a role and three tags."""
    tags = ["channel:ops", "deploy"]
    return {
        "version": facets.VERSION,
        "memories": {
            b32id("facets", str(n)): ["lesson", "project", ["shop"], ["reviewer"], [*tags, f"tag-{n}"]]
            for n in range(memories)
        },
        "tasks": {b32id("facets task", str(n)): f"T{n % 40}" for n in range(memories // 4)},
        "grants": {},
        "roles": {"reviewer": ["review"]},
    }
