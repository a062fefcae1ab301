"""Runs one consolidation in a process that a test kills or holds; the stages it came to stand in a file.

    python consolidation_driver.py DATA PROJECT STAGES [HOLD]

Each stage adds a line to STAGES. With HOLD the process waits in that stage until a file STAGES.go stands beside it.
The index is by words: no model is loaded.
"""

import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from support.running import Running
from transcript.log import Log
from transcript.workspace import open_workspace

NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)


def main() -> None:
    """Run it; exit code 0 when it is whole, had nothing to do, or another one works."""
    data, project, stages, *hold = sys.argv[1:]
    workspace = open_workspace(Path(project), Path(data), create=None)

    def on_stage(name: str) -> None:
        with open(stages, "a", encoding="ascii") as file:
            file.write(f"{name}\n")
        while [name] == hold and not Path(f"{stages}.go").exists():
            time.sleep(0.01)

    report = Running(Log(workspace)).run("session_end", on_stage=on_stage)
    print(report.state, report.steps[-1].note)
    sys.exit(1 if report.state in ("failed", "incomplete") else 0)


if __name__ == "__main__":
    main()
