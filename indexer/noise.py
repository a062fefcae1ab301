"""Counts passages of prompts that nobody said: what clients wrap around them."""

import re

from indexer.rows import ROLES, SOURCE_CLASSES
from indexer.store import Store
from transcript.adapters import claude_envelopes, codex_content

_RECORD_LINE = re.compile(r'\s*\{"(?:parentUuid|isSidechain|sessionId|leafUuid|timestamp|type|uuid)":')


def envelopes(store: Store) -> tuple[int, int]:
    """Return how many passages of prompts are a client's wrapping or lines of its log, and how many there are."""
    rows = store.run(
        f"SELECT plain_text(text) FROM chunk_{store.generation} WHERE source_class = ? AND role = ?",
        (SOURCE_CLASSES.index("conversation"), ROLES.index("user")),
    )
    found = [is_envelope(text) for (text,) in rows]
    return sum(found), len(found)


def is_envelope(text: str) -> bool:
    """Say whether a passage of a prompt is wholly a client's: a notice, a wrapper, a line of a session's file."""
    wrapped = claude_envelopes.envelope(text)
    whole = wrapped is not None and wrapped.end == len(text)
    return whole or bool(codex_content.envelope(text)) or _RECORD_LINE.match(text) is not None
