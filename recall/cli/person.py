"""Who may decide: a person at a terminal of their own. What they answer is read from that terminal, never from a pipe.

A program that runs as this user can do what the user can; these checks keep an agent from deciding by its ordinary way
of running commands, and make whatever else it would have to do a deliberate deception (docs/approval.md).
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from recall.cli.caller import agent_of, user
from recall.cli.output import visible
from transcript.coord_codes import Refusal
from transcript.errors import NotConfirmed

DIGITS = 6  # of the hash of what was shown, which a person types to say that they looked


class Terminal(Protocol):
    """A terminal with a person before it."""

    def say(self, text: str) -> None:
        """Print a line."""

    def ask(self, text: str) -> str:
        """Return the line that is typed after text, without its end; NotConfirmed when there is none."""


@dataclass(frozen=True, slots=True)
class Person:
    """Who decides, as the decision names them."""

    name: str


class _Console:
    """The terminal that controls this process, whatever standard input and output are."""

    def __init__(self, descriptors: tuple[int, int]) -> None:
        self._input, self._output = descriptors

    def say(self, text: str) -> None:
        self._write(visible(text) + "\n")

    def ask(self, text: str) -> str:
        line = b""
        try:
            _forget_typed(self._input)
            self._write(visible(text) + " ")
            while not line.endswith(b"\n"):
                part = os.read(self._input, 4096)
                if not part:
                    raise EOFError
                line += part
        except (OSError, EOFError):  # the terminal was closed
            raise NotConfirmed("nobody answered; nothing was decided") from None
        return line.decode("utf-8", "replace").strip()

    def _write(self, text: str) -> None:
        data = text.encode("utf-8", "backslashreplace")
        while data:
            data = data[os.write(self._output, data) :]


def open_terminal() -> Terminal | None:
    """Return the controlling terminal, None where there is none or another job has it."""
    names = ("CONIN$", "CONOUT$") if sys.platform == "win32" else ("/dev/tty",)
    flags = os.O_RDWR | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        opened = [os.open(name, flags) for name in names]
        if not all(map(os.isatty, opened)) or not in_front(opened[0]):
            return None
    except OSError:
        return None
    return _Console((opened[0], opened[-1]))


def columns() -> int:
    """Return how wide the controlling terminal is, 80 where that cannot be told."""
    with contextlib.suppress(OSError, AttributeError):
        descriptor = os.open("CONOUT$" if sys.platform == "win32" else "/dev/tty", os.O_RDWR)
        try:
            return os.get_terminal_size(descriptor).columns or 80
        finally:
            os.close(descriptor)
    return 80


def in_front(descriptor: int) -> bool:
    """Whether what is typed comes to us: a job in the background would be stopped by the question."""
    return sys.platform == "win32" or os.tcgetpgrp(descriptor) == os.getpgrp()


def _forget_typed(descriptor: int) -> None:
    """Drop what was typed, or pushed into the terminal, before the question stood there."""
    if sys.platform != "win32":
        import termios

        with contextlib.suppress(termios.error):
            termios.tcflush(descriptor, termios.TCIFLUSH)


def at_terminal(
    env: Mapping[str, str], *, actor: str | None = None, said_as: str | None = None
) -> tuple[Person, Terminal]:
    """Return who decides, and the terminal to ask them at. CoordError `agent` or `no_terminal` where that is no person.

    The variables that harnesses set count whatever `--as human` says.
    """
    terminal = open_terminal()
    agent = agent_of(env) or (actor or "an agent" if said_as == "agent" else "")
    if agent:
        raise Refusal("agent", note=f"{agent} is no person; a person decides, at a terminal of theirs").error()
    if terminal is None:
        raise Refusal("no_terminal", note="there is no terminal to ask a person at; run it in one").error()
    kind, mark, name = env.get("RECALL_ACTOR", "").partition(":")
    said = name if mark and kind == "human" else ""
    return Person(" ".join((actor or said or user()).split()) or user()), terminal


def confirm(terminal: Terminal, shown_hash: str, word: str, *, of: str = "the action") -> None:
    """Let a person say that they looked, by the first digits of a hash `of` that; NotConfirmed for anything else."""
    digits = shown_hash[:DIGITS]
    if terminal.ask(f"To {word}, type {digits} (the beginning of {of}'s hash):").lower() != digits:
        raise NotConfirmed("not confirmed; nothing was decided")
