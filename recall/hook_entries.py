"""Our entries in the text of a JSON settings file: put in, found, taken out. Pure functions over text."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recall import json_edit

COMMAND_KEYS = ("command", "bash", "powershell")


@dataclass(frozen=True, slots=True)
class Entries:
    """What we write into one harness's file: a hook of ours at each of its events.

    `grouped` files hold at each event groups of hooks (`[{"hooks": [...]}]`), the others the hooks themselves.
    `head` is what a file of this harness holds besides, when we make it; `comments` whether it may hold comments.
    `old` is the line that an earlier version wrote, if it was another.
    """

    command: str
    hooks: Mapping[str, Mapping[str, Any]]
    grouped: bool = True
    head: Mapping[str, Any] | None = None
    comments: bool = False
    old: str = ""


def problem(text: str, entries: Entries) -> str:
    """Return why this text cannot be edited with certainty, or ""."""
    try:
        found = json.loads((json_edit.plain(text) if entries.comments else text).removeprefix("\ufeff"))
    except ValueError as error:
        return f"is not valid JSON ({error})"
    except RecursionError:
        return "is nested too deeply to be edited"
    hooks = found.get("hooks", {}) if isinstance(found, dict) else None
    shaped = isinstance(hooks, dict) and all(
        isinstance(listed, list) and all(isinstance(one, dict) and _is_list_of_objects(one) for one in listed)
        for event, listed in hooks.items()
        if event in entries.hooks
    )
    return "" if shaped else "has hooks of an unknown shape"


def commands(text: str, event: str) -> list[str]:
    """Return the commands that run at this event, in their order."""
    return _commands(_parse(text).get("hooks", {}).get(event))


def events(text: str, command: str) -> list[str]:
    """Return the events at which this command runs: ours, one of an earlier version, or where somebody moved it."""
    return [event for event, listed in _parse(text).get("hooks", {}).items() if command in _commands(listed)]


def with_entries(text: str, entries: Entries) -> str:
    """Return text with our hook at each of its events; unchanged where it stands already."""
    if not text.removeprefix("\ufeff").strip():
        text = json.dumps(dict(entries.head or {}), indent=2) + "\n"
    if entries.old and entries.old != entries.command:
        text = without_entries(text, entries, command=entries.old)
    for event in entries.hooks:
        if entries.command not in commands(text, event):
            text = _with_entry(text, event, entries)
    return text


def without_entries(text: str, entries: Entries, *, command: str = "") -> str:
    """Return text without our hooks, and without the groups and lists that this leaves empty.

    Without a `command` both lines are ours: today's and the old one.
    """
    if not command and entries.old and entries.old != entries.command:
        text = without_entries(text, entries, command=entries.old)
    before, command = text, command or entries.command
    for event in events(text, command):
        listed = json_edit.find(text, ("hooks", event)) or 0
        bare = json_edit.plain(text)  # from the last to the first: what is cut moves none of those before it
        for one in reversed(json_edit.members(text, listed)[0]):
            held = json.loads(bare[one.value : one.end])
            hooks = [_command(hook) for hook in _hooks(held)]
            if hooks and set(hooks) == {command}:
                text = json_edit.cut(text, listed, one)
            elif command in hooks:
                text = _without_hook(text, one.value, command)
        text = _without_empty(text, ("hooks",), event)
    return text if text == before else _without_empty(text, (), "hooks")


def is_empty(text: str, entries: Entries) -> bool:
    """Whether nothing but what we would begin a file with stands in text."""
    return json_edit.plain(text) == text and _parse(text) in ({}, dict(entries.head or {}))


def _with_entry(text: str, event: str, entries: Entries) -> str:
    hook = dict(entries.hooks[event])
    one = {"hooks": [hook]} if entries.grouped else hook
    listed = json_edit.find(text, ("hooks", event))
    if listed is not None:
        return json_edit.add(text, listed, one)
    hooks = json_edit.find(text, ("hooks",))
    if hooks is not None:
        return json_edit.add(text, hooks, [one], key=event)
    return json_edit.add(text, json_edit.find(text, ()) or 0, {event: [one]}, key="hooks")


def _without_hook(text: str, group: int, command: str) -> str:
    """Cut our command from a group into which somebody put another one."""
    hooks = next(member.value for member in json_edit.members(text, group)[0] if member.key == "hooks")
    bare = json_edit.plain(text)
    for hook in reversed(json_edit.members(text, hooks)[0]):
        if _command(json.loads(bare[hook.value : hook.end])) == command:
            text = json_edit.cut(text, hooks, hook)
    return text


def _without_empty(text: str, path: tuple[str, ...], key: str) -> str:
    outer = json_edit.find(text, path)
    if outer is None:
        return text
    for member in json_edit.members(text, outer)[0]:
        inside = text[member.value : member.end]
        if member.key == key and not json_edit.members(text, member.value)[0] and json_edit.plain(inside) == inside:
            return json_edit.cut(text, outer, member)
    return text


def _commands(listed: object) -> list[str]:
    return [_command(hook) for one in (listed if isinstance(listed, list) else []) for hook in _hooks(one)]


def _hooks(one: Any) -> list[Any]:
    """The hooks of a group; an entry that is no group is its own only one."""
    inside = one.get("hooks", [one]) if isinstance(one, dict) else [one]
    return inside if isinstance(inside, list) else [inside]


def _command(hook: Any) -> str:
    """A hook's command; "" for what is no hook, at events of which we know nothing."""
    return next((str(hook[key]) for key in COMMAND_KEYS if key in hook), "") if isinstance(hook, dict) else ""


def _is_list_of_objects(group: Mapping[str, object]) -> bool:
    hooks = group.get("hooks", [])
    return isinstance(hooks, list) and all(isinstance(hook, dict) for hook in hooks)


def _parse(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json_edit.plain(text).removeprefix("\ufeff"))
    return found
