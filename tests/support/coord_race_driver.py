"""Runs one command of recall at the moment at which others do the same, a person being at its terminal.

    python coord_race_driver.py READY GO WORD...

The process makes the file READY once everything is loaded, and goes on when the file GO is there.
"""

import sys
import time
from pathlib import Path

import recall.cli.coord_write  # loaded before the others go
import recall.cli.person
from recall.cli.group import run
from support.person import Typist


def main() -> None:
    """Run it; the exit code is the command's."""
    ready, go, *words = sys.argv[1:]
    recall.cli.person.open_terminal = Typist  # type: ignore[assignment]
    Path(ready).touch()
    while not Path(go).exists():
        time.sleep(0.0005)
    sys.exit(run(words))


if __name__ == "__main__":
    main()
