"""Forgets a text in a process that dies at one point of the way: python erase_driver.py DATA PROJECT TEXT POINT."""

import os
import signal
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)


def die(*_: Any, **__: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


def after(module: Any, name: str) -> None:
    """Die when a function returns."""
    whole = getattr(module, name)
    setattr(module, name, lambda *args, **options: (whole(*args, **options), die()))


def inside(module: Any, name: str, count: int) -> None:
    """Die at the count-th call of a function."""
    whole: Callable[..., Any] = getattr(module, name)
    left = [count]

    def counted(*args: Any, **options: Any) -> Any:
        left[0] -= 1
        if not left[0]:
            die()
        return whole(*args, **options)

    setattr(module, name, counted)


def points() -> dict[str, Callable[[], None]]:
    """Return each point by its name, as what has to be patched for it."""
    from indexer import forget
    from transcript import log, native, redaction, segments, tombstones

    return {
        "journal": lambda: after(redaction, "write_atomic"),
        "tombstones": lambda: after(tombstones, "add"),
        "note": lambda: after(redaction, "note"),
        "sealing": lambda: inside(segments, "start_segment", 1),
        "sealed": lambda: after(log, "seal"),
        "segment": lambda: inside(redaction, "_emptied", 4),
        "swapped": lambda: after(redaction, "rewrite_sealed"),
        "blob": lambda: after(redaction, "remove"),
        "source": lambda: inside(native, "_blanked", 1),
        "capture": lambda: after(redaction, "_capture"),
        "rows": lambda: inside(forget, "_chunks", 1),
        "vacuum": lambda: inside(forget, "_give_back", 1),
        "index": lambda: after(forget, "_give_back"),
        "done": lambda: after(redaction, "_done"),
    }


POINTS = (
    *("journal", "tombstones", "note", "sealing", "sealed", "segment", "swapped", "blob", "source", "capture"),
    *("rows", "vacuum", "index", "done"),
)


def main() -> None:
    data, project, text, point = sys.argv[1:]
    from recall.forgetting import erase
    from transcript.redaction_plan import plan_text
    from transcript.workspace import locate

    points()[point]()
    workspace = locate(Path(project), Path(data))
    assert workspace is not None
    erase(workspace, lambda: plan_text(workspace, text), now=NOW)
    print("survived")


if __name__ == "__main__":
    main()
