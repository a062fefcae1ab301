"""Our entries in the text of a settings file: put in, found, taken out. Pure functions over text."""

import json
from collections.abc import Mapping

from recall import json_edit
from recall.harness import EVENTS, HOOK_TIMEOUT_S


def problem(text: str) -> str:
    """Return why this text cannot be edited with certainty, or ""."""
    try:
        found = _parse(text)
    except ValueError as error:
        return f"is not valid JSON ({error})"
    hooks = found.get("hooks", {}) if isinstance(found, dict) else None
    shaped = isinstance(hooks, dict) and all(
        isinstance(groups, list) and all(isinstance(group, dict) and _is_list_of_objects(group) for group in groups)
        for groups in hooks.values()
    )
    return "" if shaped else "has hooks of an unknown shape"


def commands(text: str, event: str) -> list[str]:
    """Return the commands that run at this event, in their order."""
    groups = _parse(text).get("hooks", {}).get(event, [])
    return [str(hook.get("command", "")) for group in groups for hook in group.get("hooks", [])]


def with_entries(text: str, command: str) -> str:
    """Return text with our command at each of our events; unchanged where it stands already."""
    for event in EVENTS:
        if command not in commands(text, event):
            text = _with_entry(text, event, command)
    return text


def without_entries(text: str, command: str) -> str:
    """Return text without our command, and without the groups and lists that this leaves empty."""
    before = text
    for event in EVENTS:
        groups = json_edit.find(text, ("hooks", event))
        if groups is None or command not in commands(text, event):
            continue
        for group in reversed(json_edit.members(text, groups)[0]):
            hooks = [hook.get("command") for hook in json.loads(text[group.value : group.end]).get("hooks", [])]
            if hooks and set(hooks) == {command}:
                text = json_edit.cut(text, groups, group)
            elif command in hooks:
                text = _without_hook(text, group.value, command)
        text = _without_empty(text, ("hooks",), event)
    return text if text == before else _without_empty(text, (), "hooks")


def _with_entry(text: str, event: str, command: str) -> str:
    group = {"hooks": [{"type": "command", "command": command, "timeout": HOOK_TIMEOUT_S}]}
    groups = json_edit.find(text, ("hooks", event))
    if groups is not None:
        return json_edit.add(text, groups, group)
    hooks = json_edit.find(text, ("hooks",))
    if hooks is not None:
        return json_edit.add(text, hooks, [group], key=event)
    top = json_edit.find(text, ())
    return json_edit.add(text, top or 0, {event: [group]}, key="hooks")


def _without_hook(text: str, group: int, command: str) -> str:
    """Cut our command from a group into which somebody put another one."""
    hooks = next(member.value for member in json_edit.members(text, group)[0] if member.key == "hooks")
    for hook in reversed(json_edit.members(text, hooks)[0]):
        if json.loads(text[hook.value : hook.end]).get("command") == command:
            text = json_edit.cut(text, hooks, hook)
    return text


def _without_empty(text: str, path: tuple[str, ...], key: str) -> str:
    outer = json_edit.find(text, path)
    if outer is None:
        return text
    for member in json_edit.members(text, outer)[0]:
        if member.key == key and not json_edit.members(text, member.value)[0]:
            return json_edit.cut(text, outer, member)
    return text


def _is_list_of_objects(group: Mapping[str, object]) -> bool:
    hooks = group.get("hooks", [])
    return isinstance(hooks, list) and all(isinstance(hook, dict) for hook in hooks)


def _parse(text: str) -> dict[str, dict[str, list[dict[str, list[dict[str, object]]]]]]:
    found: dict[str, dict[str, list[dict[str, list[dict[str, object]]]]]] = json.loads(text.removeprefix("\ufeff"))
    return found
