"""The three forms in which something of ours stands in a harness's files: entries, an extension, a block of rules.

Each works on text alone: what is wrong with it, the text with ours in it, the text without, which parts stand there.
"""

import json
from importlib.resources import files
from pathlib import Path
from typing import Protocol

from recall import hook_entries, launcher, rules_block
from recall.hook_entries import Entries

PLACEHOLDER = "@RECALL_HOOK@"
MARK = "Written by `recall enable-hooks"


class Form(Protocol):
    """One of the forms."""

    kind: str
    command: str

    def problem(self, text: str) -> str:
        """Return why this text cannot be edited with certainty, or ""."""

    def put(self, text: str | None) -> str:
        """Return the file's text with ours in it; None: there is no file."""

    def take(self, text: str, *, made: bool) -> str | None:
        """Return the text without ours; None when nothing else stands in a file that we made."""

    def parts(self, text: str) -> tuple[str, ...]:
        """Return what of ours stands in text, by name."""

    def described(self) -> str:
        """Return in one line what comes or goes."""


class EntriesForm:
    """Hooks of ours among those of others in a JSON file."""

    kind = "hooks"

    def __init__(self, entries: Entries) -> None:
        self._entries = entries
        self.command = entries.command

    def problem(self, text: str) -> str:
        """Return why this text cannot be edited with certainty, or ""."""
        return hook_entries.problem(text, self._entries) if text.removeprefix("\ufeff").strip() else ""

    def put(self, text: str | None) -> str:
        """Return the text with one hook of ours at each of our events."""
        return hook_entries.with_entries(text or "", self._entries)

    def take(self, text: str, *, made: bool) -> str | None:
        """Return the text without our hooks."""
        if not text.removeprefix("\ufeff").strip():
            return text
        rest = hook_entries.without_entries(text, self._entries)
        return None if made and hook_entries.is_empty(rest, self._entries) else rest

    def parts(self, text: str) -> tuple[str, ...]:
        """Return the events at which our hook stands."""
        if not text.removeprefix("\ufeff").strip():
            return ()
        return tuple(hook_entries.events(text, self.command))

    def described(self) -> str:
        """Return the first hook; the others differ in their time limit at most."""
        first = next(iter(self._entries.hooks.values()))
        return f"entry     {json.dumps(dict(first), ensure_ascii=False)}"


class ExtensionForm:
    """A file of ours as a whole."""

    kind = "extension"

    def __init__(self, harness: str, data: Path) -> None:
        self.command = str(launcher.launcher_path(data))
        self._text = extension(harness, self.command)

    def problem(self, text: str) -> str:
        """Refuse a file of somebody else under our name."""
        return "" if MARK in text or not text.strip() else "is somebody else's file under our name"

    def put(self, text: str | None) -> str:
        """Return our file."""
        return self._text

    def take(self, text: str, *, made: bool) -> str | None:
        """Return None for a file of ours."""
        return None if MARK in text else text

    def parts(self, text: str) -> tuple[str, ...]:
        """Return whether our file stands there."""
        return ("extension",) if MARK in text else ()

    def described(self) -> str:
        """Return how long the file is and what it calls."""
        return f"file      {len(self._text.splitlines())} lines that call {self.command}"


class RulesForm:
    """Our block in a rules file."""

    kind = "rules"
    command = ""

    def __init__(self, block: str) -> None:
        self._block = block

    def problem(self, text: str) -> str:
        """Any text can hold a block."""
        return ""

    def put(self, text: str | None) -> str:
        """Return the text with our block; one that is there already is left to the captures that keep it fresh."""
        return text if text and rules_block.has_block(text) else rules_block.with_block(text or "", self._block)

    def take(self, text: str, *, made: bool) -> str | None:
        """Return the text without our block."""
        rest = rules_block.without_block(text)
        return None if made and not rest.strip() else rest

    def parts(self, text: str) -> tuple[str, ...]:
        """Return whether our block stands there."""
        return ("block",) if rules_block.has_block(text) else ()

    def described(self) -> str:
        """Return what the block is."""
        return "block     how to ask for earlier work, and where the work stands; written anew after each turn"


def extension(harness: str, launcher: str) -> str:
    """Return a harness's extension file that calls this launcher: its own part, then how all of them call it."""
    parts = (files("recall") / "extensions" / f"{name}.js" for name in (harness, "calls"))
    text = "\n".join(part.read_text(encoding="utf-8") for part in parts)
    return text.replace(PLACEHOLDER, json.dumps(launcher))
