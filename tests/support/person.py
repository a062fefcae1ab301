"""A person at a terminal, without a terminal: types what is asked for."""

import os
import re
from pathlib import Path
from typing import Any

from consolidation.keys import KeyStore

_DIGITS = re.compile("type ([0-9a-f]{6}) ")


class Typist:
    """Types the digits that confirm a decision, and `answers` for other questions; remembers what was shown."""

    def __init__(self, *answers: str) -> None:
        self.answers, self.shown, self.asked = list(answers), list[str](), list[str]()

    def say(self, text: str) -> None:
        self.shown.append(text)

    def ask(self, text: str) -> str:
        self.asked.append(text)
        digits = _DIGITS.search(text)
        if digits is not None and not self.answers:
            return digits[1]
        return self.answers.pop(0)


def sit_down(monkeypatch: Any, *answers: str, key: bool = True, data: Path | None = None) -> Typist:
    """Put a person at the terminal of the commands that run in this process; with key, one to sign with."""
    typist = Typist(*answers)
    monkeypatch.setattr("recall.cli.person.open_terminal", lambda: typist)
    if key:
        make_key(data or Path(os.environ["RECALL_HOME"]))
    return typist


def make_key(data: Path) -> None:
    """Make the key that decisions are signed with, unless there is one."""
    keys = KeyStore(data)
    if not keys.list():
        keys.create()
