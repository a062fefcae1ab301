"""What the reader of a file whose records form a tree remembers between two looks at it: plain and small JSON.

- `nodes`   the tree of records (`tree.py`), which decides what is abandoned
- `gone`    events of records that an earlier state of the file held and this one has not shown yet
- `said`    the blocks of the latest messages, to know a block that is written again, longer
- `marked`  events marked as abandoned
"""

from typing import Any

from transcript.adapters.tree import EVENTS, KINDS, UUID, abandoned_events, place_of_parent
from transcript.canonical import b32id, canonical, sha256_hex, utf8

_MESSAGES_KEPT = 64


class Memory:
    """A view on the dictionary that is kept; everything in it is JSON."""

    def __init__(self, kept: dict[str, Any]) -> None:
        self.kept = kept
        for name in ("nodes", "marked", "span"):
            kept.setdefault(name, [])
        for name in ("gone", "rewound", "said", "occurrences", "threads"):
            kept.setdefault(name, {})
        for name in ("session", "version", "ts", "reasoning"):
            kept.setdefault(name, "")
        kept.setdefault("marks", 0)
        kept.setdefault("replies", False)
        self.nodes: list[list[Any]] = kept["nodes"]
        self.places: dict[str, int] = {node[UUID]: place for place, node in enumerate(self.nodes)}
        self.restored: list[str] = []

    def occurrence(self, said: str) -> int:
        """Return how many times this was said before in this file, and count it."""
        seen: dict[str, int] = self.kept["occurrences"]
        seen[said] = seen.get(said, 0) + 1
        return seen[said] - 1

    def meet(self, uuid: str, parent: str, kind: str, message: str, tools: list[str], events: list[str]) -> None:
        """Add a record to the tree; a second copy of one adds nothing."""
        back = self.kept["gone"].pop(uuid, None)
        if back is None:
            back = self.kept["rewound"].pop(uuid, None)
            if back is not None:
                self.restored += back
        if uuid in self.places:
            return
        letter = KINDS.get(kind, "s")
        place = place_of_parent(self.nodes, self.places, parent, new_tree=kind == "user")
        self.places[uuid] = len(self.nodes)
        self.nodes.append([uuid, place, letter, message, tools, events])

    def repeats(self, message: str, at: int, kind: str, key: str, text: str, event: str) -> tuple[bool, str]:
        """Compare a block with those of its message that were met before.

        Returns (the same block stands there already, event of the shorter form that this one replaces).
        """
        if not message:
            return False, ""
        said: dict[str, list[list[Any]]] = self.kept["said"]
        known = said.setdefault(message, [])
        data = utf8(text)
        digest = sha256_hex(data)[:16]
        for entry in known:
            old_at, old_kind, old_key, size, old_digest, old_event = entry
            if old_kind != kind or old_key != key:
                continue
            if old_digest == digest and size == len(data):
                return True, ""
            grown = size and size < len(data) and sha256_hex(data[:size])[:16] == old_digest
            if key or (old_at == at and grown):
                entry[:] = [at, kind, key, len(data), digest, event]
                return False, old_event
        known.append([at, kind, key, len(data), digest, event])
        if len(said) > _MESSAGES_KEPT:
            del said[next(iter(said))]
        return False, ""

    def end_messages(self) -> None:
        """Note that nothing said before goes on: a proxy that gives all its messages one id must not lose any."""
        self.kept["said"].clear()

    def cover(self, event: str) -> None:
        """Note an event of the conversation since the last compaction."""
        span: list[str] = self.kept["span"]
        span[1 if span else 0 :] = [event]

    def replace_covered(self, event: str, by: str) -> None:
        """Note that an event's place was taken by another before it was written."""
        self.kept["span"][:] = [by if covered == event else covered for covered in self.kept["span"]]

    def covered(self) -> list[str]:
        """Return the first and last event since the last compaction, and start over."""
        span: list[str] = self.kept["span"]
        covers = [span[0], span[-1]] if span else []
        span.clear()
        return covers

    def abandoned(self) -> tuple[list[str], list[str]]:
        """Return (events newly abandoned, events that came back to the live branch)."""
        lost = abandoned_events(self.nodes)
        before = set(self.kept["marked"])
        now = set(lost)
        standing = {event for node in self.nodes for event in node[EVENTS]}
        fresh = [event for event in lost if event not in before]
        back = [event for event in self.kept["marked"] if event not in now and event in standing]
        if fresh or back:
            self.kept["marked"] = [event for event in self.kept["marked"] if event not in back] + fresh
        return fresh, back

    def rewound(self) -> list[str]:
        """Return the events of records that the file no longer holds."""
        gone: dict[str, list[str]] = self.kept["gone"]
        events = [event for found in gone.values() for event in found]
        self.kept["rewound"].update(gone)
        gone.clear()
        return events

    def mark_id(self, mark: str, source: str, events: list[str]) -> str:
        """Return the id of the next mark of this source."""
        self.kept["marks"] += 1
        return b32id("mark", mark, source, str(self.kept["marks"]), sha256_hex(canonical(events)))


class TreeAdapter:
    """The part of an adapter that its readers' memory decides, where records form a tree."""

    def restarted(self, memory: dict[str, Any]) -> dict[str, Any]:
        """Return the memory to read a rewritten file from its start with: what stood in it is gone until met again."""
        gone: dict[str, list[str]] = {node[UUID]: node[EVENTS] for node in memory.get("nodes", []) if node[EVENTS]}
        still = {uuid: events for uuid, events in memory.get("gone", {}).items() if uuid not in gone}
        names = ("session", "rewound", "marked", "marks", "reasoning", "replies")
        return {"gone": {**still, **gone}, **{name: memory[name] for name in names if name in memory}}

    def recalled(self, abandoned: list[str], rewound: dict[str, list[str]], marks: int) -> dict[str, Any]:
        """Return the memory to read a file from its first line with, of which these marks stand in the record."""
        return {"marked": abandoned, "rewound": rewound, "marks": marks}
