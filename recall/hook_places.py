"""Where each harness looks for hooks, in which form, and what its user still has to do; one entry a harness."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recall import launcher
from recall.contracts import CONTRACTS, EVENTS
from recall.harness import HOOK_TIMEOUT_S
from recall.hook_entries import Entries
from transcript.adapters.walk import home
from transcript.paths import user_path

Env = Mapping[str, str]
SCOPES = ("user", "project")


@dataclass(frozen=True, slots=True)
class Place:
    """One harness: what it is called, how it is found on a machine, where its files lie, what it can do.

    `folder` returns its own folder in the user's home, `user` is the file of hooks below it, `project` the one below
    a project. `form` is "grouped" or "flat" (entries in a JSON file), "extension" (a file of ours), or "" where
    nothing can be installed. `rules` is the project's rules file that gets our block. `todo` says, by scope, what is
    left to the user, `says` what the harness cannot do.
    """

    harness: str
    title: str
    programs: tuple[str, ...]
    folder: Callable[[Env], Path]
    user: str = ""
    project: str = ""
    form: str = "grouped"
    comments: bool = False
    head: Mapping[str, Any] | None = None
    rules: str = ""
    todo: Mapping[str, str] | None = None
    says: str = ""

    def file(self, scope: str, root: Path, env: Env) -> Path:
        """Return the file that holds our hooks in this scope."""
        return root / self.project if scope == "project" else self.folder(env) / self.user

    def is_here(self, env: Env) -> bool:
        """Whether this machine has it: a program of its name on PATH, or its folder."""
        path = env.get("PATH", "")
        return any(shutil.which(name, path=path) for name in self.programs) or self.folder(env).is_dir()

    def left_to_do(self, scope: str) -> str:
        """Return what the user still has to do once the hooks are in, "" for nothing."""
        return (self.todo or {}).get(scope, "")


def _below(variable: str, *parts: str) -> Callable[[Env], Path]:
    """A harness's folder: the one that its variable names, else the one below the home folder."""
    return lambda env: user_path(env[variable]) if env.get(variable) else home(env).joinpath(*parts)


def _gemini(env: Env) -> Path:
    return (Path(env["GEMINI_CLI_HOME"]) if env.get("GEMINI_CLI_HOME") else home(env)) / ".gemini"


def _opencode(env: Env) -> Path:
    base = Path(env["XDG_CONFIG_HOME"]) if env.get("XDG_CONFIG_HOME") else home(env) / ".config"
    return base / "opencode"


_TRUST = "trust this folder when {} asks about it: until then it skips the project's hooks without a word"
_CODEX = "start codex and review the hooks ('Trust all and continue', later /hooks): until then it skips them silently"
_NEXT = "sessions that are open already read the file at their next start"
_BLOCK = "the project's sessions read our block in {} at their start; it is written anew after each turn"

PLACES = {
    place.harness: place
    for place in (
        Place(
            "claude-code", "Claude Code", ("claude",), _below("CLAUDE_CONFIG_DIR", ".claude"),
            user="settings.json", project=".claude/settings.local.json",
        ),
        Place(
            "codex", "Codex", ("codex",), _below("CODEX_HOME", ".codex"),
            user="hooks.json", project=".codex/hooks.json",
            todo={"user": _CODEX, "project": f"let codex trust this project, then {_CODEX}"},
        ),
        Place(
            "gemini-cli", "Gemini CLI", ("gemini",), _gemini,
            user="settings.json", project=".gemini/settings.json", comments=True,
            todo={"user": _NEXT, "project": _TRUST.format("Gemini CLI")},
        ),
        Place(
            "qwen-code", "Qwen Code", ("qwen",), _below("QWEN_HOME", ".qwen"),
            user="settings.json", project=".qwen/settings.json", comments=True,
            todo={"project": _TRUST.format("Qwen Code")},
        ),
        Place(
            "copilot-cli", "Copilot CLI", ("copilot",), _below("COPILOT_HOME", ".copilot"),
            user="hooks/recall.json", project=".github/hooks/recall.json", form="flat", head={"version": 1},
            todo={"user": _NEXT, "project": _TRUST.format("Copilot CLI")},
        ),
        Place(
            "cursor", "Cursor", ("cursor", "cursor-agent"), _below("CURSOR_CONFIG_DIR", ".cursor"),
            user="hooks.json", project=".cursor/hooks.json", form="flat", head={"version": 1},
            todo=dict.fromkeys(SCOPES, "restart Cursor"),
            says="written after Cursor's documents and never tried with it; its prompt hook may ignore what we answer",
        ),
        Place(
            "grok-build", "Grok Build", ("grok",), _below("GROK_HOME", ".grok"),
            user="hooks/recall.json", project=".grok/hooks/recall.json", rules=".grok/rules/recall.md",
            todo={"user": "for our block in a project's rules, enable it there: 'recall enable-hooks grok-build'",
                  "project": _BLOCK.format(".grok/rules/recall.md")
                  + "; its hooks run once the folder is trusted: 'grok --trust'"},
            says="it takes no text from a hook: its sessions are captured, nothing is put in front of its prompts",
        ),
        Place(
            "pi", "pi", ("pi",), _below("PI_CODING_AGENT_DIR", ".pi", "agent"),
            user="extensions/recall.js", project=".pi/extensions/recall.js", form="extension",
            todo=dict.fromkeys(SCOPES, _NEXT),
        ),
        Place(
            "opencode", "opencode", ("opencode",), _opencode,
            user="plugin/recall.js", project=".opencode/plugin/recall.js", form="extension",
            todo=dict.fromkeys(SCOPES, _NEXT),
        ),
        Place(
            "cline", "Cline", ("cline",), _below("CLINE_DIR", ".cline"),
            user="plugins/recall.js", project=".cline/plugins/recall.js", form="extension",
            todo=dict.fromkeys(SCOPES, _NEXT),
        ),
        Place(
            "letta-code", "Letta Code", ("letta",), _below("LETTA_HOME", ".letta"), form="",
            says="it runs no prompt hook that may answer: nothing is installed; its sessions are taken in by "
            "'recall sync' and whenever a hook of another harness captures this project",
        ),
        Place(
            "aider", "Aider", ("aider",), _below("AIDER_HOME", ".aider"), form="",
            says="it has no hooks: nothing is installed; its history file is taken in by 'recall sync' and whenever "
            "a hook of another harness captures this project; it is shown the handoff by "
            "'aider --read .recall/views/handoff.md'",
        ),
    )
}  # fmt: skip


def entries(harness: str, data: Path, *, old: str = "") -> Entries:
    """Return what we write into this harness's file of hooks."""
    place = PLACES[harness]
    command = launcher.hook_command(data, harness)
    return Entries(
        command,
        {event: _hook(harness, event, command) for event in _events(harness)},
        grouped=place.form == "grouped",
        head=place.head,
        comments=place.comments,
        old=old,
    )


def _events(harness: str) -> list[str]:
    """The names under which this harness registers the events that it has. Grok Build reads Claude Code's names."""
    contract = CONTRACTS[harness]
    if harness == "grok-build":
        return [event for event in EVENTS if event in contract.events.values()]
    return [contract.native(event) for event in EVENTS if event in contract.events.values()]


def _hook(harness: str, event: str, command: str) -> dict[str, Any]:
    """One hook, with the time limit in the harness's own unit."""
    seconds = HOOK_TIMEOUT_S
    if harness == "copilot-cli":
        return {"type": "command", launcher.shell_key(): command, "timeoutSec": seconds}
    if harness == "cursor":
        return {"command": command, "timeout": seconds}
    if harness == "gemini-cli":
        seconds *= 1000  # milliseconds
    if harness == "codex" and event == "SessionEnd":
        seconds = 3  # the most it allows there
    return {"type": "command", "command": command, "timeout": seconds}
