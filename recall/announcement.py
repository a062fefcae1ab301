"""What the user reads around an installation of hooks: before it, what will happen; after it, what is left to do."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from recall.contracts import CONTRACTS
from recall.hook_places import PLACES


def announcement(harnesses: Sequence[str], scope: str, root: Path, data: Path, *, record: Path | None = None) -> str:
    """Return what the user reads before anything is changed: what will be captured, where it goes, how to stay out."""
    titles = joined([PLACES[name].title for name in harnesses])
    where = "every project you use it in" if scope == "user" else f"the project {root}"
    if scope == "user" and len(harnesses) > 1:
        where = "every project you use them in"
    undo = f"'recall enable-hooks {' '.join(harnesses)}{' --user' if scope == 'user' else ''} --remove'"
    sessions = f"{'its' if len(harnesses) == 1 else 'their'} sessions"
    answered = [name for name in harnesses if CONTRACTS[name].answers]
    injected = "before each prompt, at most six quoted passages of earlier sessions with their pointers"
    starts = "            when a session starts, what it always carries and, in a few lines, where the work stood"
    return "\n".join(
        (
            f"Hooks of {titles} for {where}:",
            f"  captured  prompts, answers, tool calls and results of {sessions}, word for word, when a turn ends;",
            "            with them the sessions that other agents (Codex, Gemini CLI, pi ...) held in the same project",
            f"  kept in   {record or data / 'workspaces'} (folders 0700, files 0600), until you delete it;",
            "            nothing is sent anywhere",
            "  not kept  the model's hidden reasoning (capture.reasoning = true turns it on)",
            *([f"  injected  {injected};", starts] if answered else ["  injected  nothing"]),
            "  stay out  a project: 'recall exclude PATH'; a shell: RECALL_OFF=1, nothing of its sessions is captured",
            "            from then on; a turn: !norecall at the start of its prompt, nothing is injected or indexed,",
            "            its words stand in the record alone",
            f"  undo      {undo}, or 'recall uninstall --purge' for everything",
        )
    )


def left_to_do(harness: str, scope: str, env: Mapping[str, str]) -> list[str]:
    """Return, a line each, what the user still has to do and what this harness cannot do."""
    place = PLACES[harness]
    lines = [place.left_to_do(scope), place.says]
    if harness == "codex":
        lines.append(said_by(place.folder(env) / "config.toml"))
    return [f"{place.title}: {line}" for line in lines if line]


def said_by(config: Path) -> str:
    """Return what Codex's own configuration has to say about hooks, "" for nothing."""
    try:
        found = tomllib.loads(config.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return ""
    features = found.get("features")
    for name in ("hooks", "codex_hooks"):
        if isinstance(features, dict) and features.get(name) is False:
            return f"{config} says features.{name} = false: no hook runs until that line is gone"
    hooks = found.get("hooks")
    if isinstance(hooks, dict) and set(hooks) - {"state"}:
        return f"{config} has hooks of its own: Codex runs both and says so at its start"
    return ""


def joined(names: Sequence[str]) -> str:
    """Return `a`, `a and b`, `a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
