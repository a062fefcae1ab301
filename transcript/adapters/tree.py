"""The tree of a session whose records name their parents: which of them the conversation left behind.

Every record names its parent, and a parent with two children is a rewind, a retry, or simply two tools that ran at
once. The live branch is the one that the newest leaf descends from, together with everything that belongs to its
messages: other parts of the same message and the results of its tool calls hang beside the path, not on it.
"""

from typing import Any

# A node is [uuid, parent's place, kind, message id, tool ids, event ids]; JSON keeps it, so it is a list.
UUID, PARENT, KIND, MESSAGE, TOOLS, EVENTS = range(6)
NO_PARENT = -1
KINDS = {"user": "u", "assistant": "a", "attachment": "t", "system": "s", "progress": "p", "side": "x"}


def place_of_parent(nodes: list[list[Any]], places: dict[str, int], parent: str, *, new_tree: bool) -> int:
    """Return the place of a record's parent.

    A parent that is not in the file (43 of 100,000 records) is taken to be the record before; only a person's
    message that says it has no parent starts a tree of its own.
    """
    found = places.get(parent)
    if found is not None:
        return found
    if not parent and new_tree:
        return NO_PARENT
    return len(nodes) - 1


def abandoned_events(nodes: list[list[Any]]) -> list[str]:
    """Return the ids of the events that the newest leaf does not descend from, in the order of the file."""
    leaf = next((i for i in range(len(nodes) - 1, -1, -1) if nodes[i][KIND] in "ua"), None)
    if leaf is None:
        return []
    live = bytearray(len(nodes))
    messages: set[str] = set()
    tools: set[str] = set()
    _revive(nodes, live, leaf, messages, tools)
    beside = [i for i, node in enumerate(nodes) if not live[i] and node[KIND] in "ua"]
    while beside:
        missed = []
        for i in beside:
            node = nodes[i]
            if live[i]:
                continue
            if node[MESSAGE] in messages if node[KIND] == "a" else not tools.isdisjoint(node[TOOLS]):
                _revive(nodes, live, i, messages, tools)
            else:
                missed.append(i)
        if len(missed) == len(beside):
            break
        beside = missed
    lost: list[str] = []
    for i, node in enumerate(nodes):
        if live[i] or node[KIND] == "x":
            continue
        # What is no message goes with its parent; a parent always stands before its children here or is no parent.
        if node[KIND] not in "ua" and (node[PARENT] == NO_PARENT or (node[PARENT] < i and live[node[PARENT]])):
            live[i] = 1
        else:
            lost += node[EVENTS]
    return lost


def _revive(nodes: list[list[Any]], live: bytearray, at: int, messages: set[str], tools: set[str]) -> None:
    """Mark a record and all it descends from as live, and note their messages and tool calls."""
    while at != NO_PARENT and not live[at]:
        node = nodes[at]
        live[at] = 1
        if node[KIND] == "a":
            if node[MESSAGE]:
                messages.add(node[MESSAGE])
            tools.update(node[TOOLS])
        at = node[PARENT]
