"""Letta Code with its local backend: `~/.letta/lc-local-backend/conversations/<name>/messages.jsonl`.

A conversation is a session file of pi, version 3, with `conversation.json` beside it. Conversations are numbered in one
backend only (`local-conv-2`, or `default`), so the agent's id is part of the session.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from transcript.adapters.base import Options, SourceFile
from transcript.adapters.pi import LETTA_FILE, Pi, is_session
from transcript.adapters.pi_reader import PiReader
from transcript.adapters.values import text_of
from transcript.adapters.walk import begins, find, home, read_object
from transcript.paths import user_path

_FORMAT = "pi-session-entry-jsonl"


class LettaReader(PiReader):
    """Reads one conversation on: pi's entries, with Letta's own envelopes in front of what was typed."""

    harness = "letta-code"
    tags: ClassVar[Mapping[str, str]] = {
        "system-reminder": "reminder",
        "system-alert": "reminder",
        "task-notification": "task_notification",
        "bash-input": "bash_input",
        "bash-output": "bash_output",
        **PiReader.tags,
    }


class LettaCode(Pi):
    """The adapter of Letta Code's local conversations: files of pi in another place."""

    harness = "letta-code"
    version = LettaReader.adapter
    origin = "internal"

    def roots(self, env: Mapping[str, str]) -> list[Path]:
        """Return the folder of all conversations, under `LETTA_LOCAL_BACKEND_DIR` or `~/.letta/lc-local-backend`."""
        given = env.get("LETTA_LOCAL_BACKEND_DIR")
        base = user_path(given) if given else home(env) / ".letta" / "lc-local-backend"
        return [base / "conversations"]

    def discover(self, roots: Iterable[Path]) -> tuple[list[SourceFile], Counter[str]]:
        """Return every conversation under roots that has messages."""
        found, refused = find(roots, lambda path: path.name == LETTA_FILE)
        sources = []
        for path in found:
            values = begins(path)
            if not values or not is_session(values[0]) or not _is_letta(path, values):
                continue
            agent = _agent(path, values)
            session = ":".join(name for name in (text_of(values[0].get("id")), agent) if name)
            identity = "/".join((agent, path.parent.name, path.name))
            sources.append(SourceFile(self.harness, path, identity, session, "", str(path.parent)))
        return sources, refused

    def reader(self, source: SourceFile, memory: dict[str, Any], options: Options) -> LettaReader:
        """Return a reader that goes on where memory stands."""
        return LettaReader(source, memory, options)


def _is_letta(path: Path, values: Sequence[dict[str, Any]]) -> bool:
    """Return whether a conversation is Letta's: by what lies beside it, else by what its messages say."""
    if read_object(path.with_name("manifest.json")).get("message_format") == _FORMAT:
        return True
    return bool(_agent(path, values))


def _agent(path: Path, values: Sequence[dict[str, Any]]) -> str:
    """Return the id of the agent that a conversation belongs to, "" when nothing tells."""
    given = text_of(read_object(path.with_name("conversation.json")).get("agent_id"))
    for value in () if given else values:
        message = value.get("message")
        metadata = message.get("metadata") if isinstance(message, dict) else None
        if isinstance(metadata, dict) and text_of(metadata.get("agent_id")):
            return str(metadata["agent_id"])
    return given
