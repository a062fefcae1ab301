"""What harnesses note of the hooks and folders that a person lets run; the others they skip without a word."""

import json
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from recall.hook_places import PLACES
from recall.hook_registry import Installed

Env = Mapping[str, str]


def untrusted(entry: Installed, root: Path | None, env: Env) -> str:
    """Return by which file of the harness it skips these hooks; "" where it runs them, or where no file tells."""
    look = _LOOKS.get(entry.harness)
    return look(entry, root, env) if look is not None else ""


def _codex(entry: Installed, root: Path | None, env: Env) -> str:
    """A project is trusted by name, a hook by its file, event and place; what its line hashes to only Codex knows."""
    config = PLACES["codex"].folder(env) / "config.toml"
    found = _read(config, tomllib.loads)
    if found is None:
        return ""
    if entry.scope == "project" and not any(
        _below(_below(found, "projects"), name).get("trust_level") == "trusted" for name in _names(root)
    ):
        return f"{config} does not trust {root}"
    reviewed = _below(_below(found, "hooks"), "state")
    if not any(key.startswith(f"{name}:") for name in _names(Path(entry.file)) for key in reviewed):
        return f"{config} names no review of {entry.file}"
    return ""


def _copilot(entry: Installed, root: Path | None, env: Env) -> str:
    """Hooks of a project run in a folder that was trusted, or below one."""
    config = PLACES["copilot-cli"].folder(env) / "config.json"
    found = _read(config, json.loads)
    if found is None or entry.scope != "project" or root is None:
        return ""
    trusted = found.get("trustedFolders")
    folders = [Path(one) for one in trusted if isinstance(one, str)] if isinstance(trusted, list) else []
    return "" if any(Path(name).is_relative_to(one) for name in _names(root) for one in folders) else _not(config, root)


def _gemini(entry: Installed, root: Path | None, env: Env) -> str:
    """Only a folder that somebody refused: whether an unnamed one is trusted depends on settings of several places."""
    if entry.scope != "project" or root is None:
        return ""
    config = PLACES["gemini-cli"].folder(env) / "trustedFolders.json"
    found = _read(config, json.loads) or {}
    return _not(config, root) if any(found.get(name) == "DO_NOT_TRUST" for name in _names(root)) else ""


_LOOKS: dict[str, Callable[[Installed, Path | None, Env], str]] = {
    "codex": _codex,
    "copilot-cli": _copilot,
    "gemini-cli": _gemini,
}


def _not(config: Path, root: Path) -> str:
    return f"{config} does not trust {root}"


def _names(path: Path | None) -> set[str]:
    """The path as it is written and as the file system has it: harnesses note one or the other."""
    return set() if path is None else {str(path), str(path.resolve())}


def _below(table: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = table.get(name)
    return found if isinstance(found, dict) else {}


def _read(path: Path, parse: Callable[[str], Any]) -> Mapping[str, Any] | None:
    """Return what a file of the harness's holds: nothing where there is none, None where it cannot be read."""
    try:
        found = parse(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
