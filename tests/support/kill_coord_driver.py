"""Runs one command of recall and ends, as if killed, at a numbered write to the disk.

    python kill_coord_driver.py AT STEPS WORD...

Every write, sync and rename is a step, whose name is added to the file STEPS; at the one of number AT (from 1, 0 for
never) the process is gone: a write has then put half of its bytes on the disk, anything else has not happened.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

STEPS = ("write", "fsync", "fdatasync", "replace", "rename", "link", "unlink", "ftruncate")
KILLED = 9


class Steps:
    """Counts the steps and ends the process at one."""

    def __init__(self, at: int, told: str) -> None:
        self._left, self._write = at, os.write
        self._told = os.open(told, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def wrap(self, name: str) -> Callable[..., Any]:
        """Return an operation of the system that is a step."""
        call = getattr(os, name)

        def step(*args: Any, **options: Any) -> Any:
            if name == "write" and args[0] in (1, 2):
                return call(*args, **options)
            self._write(self._told, f"{name} {_about(args)}\n".encode())
            self._left -= 1
            if self._left == 0:
                if name == "write":
                    call(args[0], args[1][: len(args[1]) // 2])
                os._exit(KILLED)
            return call(*args, **options)

        return step


def _about(args: tuple[Any, ...]) -> str:
    """What file a step is about, as far as it says."""
    if isinstance(args[0], int):
        try:
            return Path(f"/proc/self/fd/{args[0]}").readlink().name
        except OSError:
            return ""
    return os.fsdecode(args[-1]).rsplit("/", 1)[-1] if len(args) > 1 else os.fsdecode(args[0]).rsplit("/", 1)[-1]


def main() -> None:
    """Run it; the exit code is the command's, or KILLED."""
    at, told, *words = sys.argv[1:]
    from recall.cli.group import run

    steps = Steps(int(at), told)
    for name in STEPS:
        setattr(os, name, steps.wrap(name))
    sys.exit(run(words))


if __name__ == "__main__":
    main()
