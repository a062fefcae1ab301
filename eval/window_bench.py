"""How long a plan of a live window takes, from a harness's own file to what may leave it."""

import json
import shutil
import statistics
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from eval.machine import Machine, machine
from indexer.tokens import TokenCounter
from recall.governance_settings import WindowSettings
from recall.live_window import look
from recall.window_host import given
from recall.window_items import SAID
from recall.window_policy import plan
from transcript.capture import sync
from transcript.log import Log
from transcript.workspace import init

TARGET_S = 2.0
_ALL = WindowSettings(policy="sliding", keep_exchanges=6)


@dataclass(frozen=True, slots=True)
class WindowReport:
    """Seconds of each plan, from the file and from the record, and what was planned."""

    file_mb: float
    harness: str
    from_file_s: tuple[float, ...]
    from_record_s: tuple[float, ...]
    events: int
    pieces: int
    leaving: int
    whole_events: int  # said in the session, without regard to its compactions
    machine: Machine

    def to_text(self) -> str:
        """Return the report for people."""
        return "\n".join(
            [
                f"window plan of a file of {self.file_mb:.1f} MB ({self.harness}): {self.events:,} of"
                f" {self.whole_events:,} events stand in its window, in {self.pieces:,} pieces, {self.leaving:,} leave",
                f"from the file    median {statistics.median(self.from_file_s):.2f} s,"
                f" most {max(self.from_file_s):.2f} s of {len(self.from_file_s):,}; target {TARGET_S:g} s",
                f"from the record  median {statistics.median(self.from_record_s):.2f} s,"
                f" most {max(self.from_record_s):.2f} s",
                self.machine.to_text(),
            ]
        )

    def to_json(self) -> str:
        """Return the report as one JSON object."""
        return json.dumps(asdict(self))


def run(file: Path, harness: str, *, runs: int, env: Mapping[str, str]) -> WindowReport:
    """Take the file into a record of its own and plan its window so many times each way.

    The tokens are counted anew in each run, as a command does. CaptureError for a file that holds no session.
    """
    with tempfile.TemporaryDirectory(prefix="recall-window-") as name:
        scratch = Path(name)
        root, data, own = scratch / "project", scratch / "data", scratch / "sessions" / file.parent.name
        root.mkdir()
        own.mkdir(parents=True)
        file = Path(shutil.copy2(file, own))  # alone: other sessions lie beside it
        workspace = init(root, data)
        sync(workspace, data, env, sources=own, all_roots=True)
        log = Log(workspace)
        from_file, from_record = [], []
        for _ in range(runs):
            started = time.perf_counter()
            seen = look(log, file=file, harness=harness, host=given(1), settings=_ALL, env=env, count=TokenCounter())
            made = plan(seen.pieces, seen.pressure, _ALL)
            from_file.append(time.perf_counter() - started)
            started = time.perf_counter()
            again = look(log, session=seen.session, host=given(1), settings=_ALL, env=env, count=TokenCounter())
            plan(again.pieces, again.pressure, _ALL)
            from_record.append(time.perf_counter() - started)
        return WindowReport(
            file_mb=file.stat().st_size / 1e6,
            harness=seen.items.harness,
            from_file_s=tuple(from_file),
            from_record_s=tuple(from_record),
            events=len(seen.items.items),
            pieces=len(seen.pieces),
            leaving=len(made.steps),
            whole_events=sum(event.session == seen.session and event.type in SAID for event in log.read()),
            machine=machine(),
        )
