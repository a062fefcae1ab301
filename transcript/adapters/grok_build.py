"""Grok Build: `~/.grok/sessions/<url-encoded cwd>/<session id>/chat_history.jsonl` and what lies beside it.

`chat_history.jsonl` is what the model saw, without times; `updates.jsonl` has the times, `summary.json` the folder.
They are read as one view (`grok_view`). A fork is a folder of its own with the parent's rows copied; a sub-agent's
session lies beside its parent's, which names it under `subagents/*/meta.json`. Rewinding and compacting rewrite the
history.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from transcript.adapters.base import Options, SourceFile
from transcript.adapters.grok_reader import GrokReader
from transcript.adapters.grok_view import HISTORY, VIEW, is_row, parent_of, view
from transcript.adapters.tree_memory import TreeAdapter
from transcript.adapters.walk import begins, find, first, home
from transcript.paths import user_path

_PROMPTS = "prompt_history.jsonl"


class GrokBuild(TreeAdapter):
    """The adapter of Grok Build's session folders."""

    harness = "grok-build"
    version = GrokReader.adapter
    origin = "internal"

    def roots(self, env: Mapping[str, str]) -> list[Path]:
        """Return the folder of all sessions, under `GROK_HOME` or `~/.grok`."""
        given = env.get("GROK_HOME")
        return [(user_path(given) if given else home(env) / ".grok") / "sessions"]

    def discover(self, roots: Iterable[Path]) -> tuple[list[SourceFile], Counter[str]]:
        """Return the history of every session under roots; a sub-agent's belongs to the session that began it."""
        found, refused = find(roots, lambda path: path.name == HISTORY)
        sources = []
        for path in found:
            if not any(is_row(value) for value in begins(path)):
                continue
            folder = path.parent
            parent = parent_of(folder)
            identity = f"{folder.parent.name}/{folder.name}/{path.name}"
            session, worker = (parent, folder.name) if parent else (folder.name, "")
            beside = folder.parent if (folder.parent / _PROMPTS).exists() else folder
            sources.append(SourceFile(self.harness, path, identity, session, worker, str(beside)))
        return sources, refused

    def open(self, source: SourceFile) -> BinaryIO:
        """Return the session's rows as lines, each with its time and the session it was first said in."""
        return view(source.path.parent, source.path)

    def is_record(self, value: dict[str, Any]) -> bool:
        """Return whether an object behind damage is a whole row."""
        return is_row(value)

    def recognises(self, values: Sequence[dict[str, Any]]) -> bool:
        """Return whether the first records are those of the view."""
        return any(value.get("view") == VIEW for value in values)

    def restarted(self, memory: dict[str, Any]) -> dict[str, Any]:
        """Return the memory to read a rewritten history from its first row with."""
        return {**super().restarted(memory), "at": memory.get("at", {})}

    def reader(self, source: SourceFile, memory: dict[str, Any], options: Options) -> GrokReader:
        """Return a reader that goes on where memory stands."""
        return GrokReader(source, memory, options)

    def head(self, values: Sequence[dict[str, Any]]) -> tuple[str, str, str]:
        """Return (cwd, time, session) as the head of the view says them."""
        heads = [value for value in values if value.get("view") == VIEW]
        return first(heads, "cwd"), first(heads, "created"), first(heads, "session")
