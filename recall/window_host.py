"""The host's window: how many tokens the model takes, and at how many the harness compacts by itself.

Taken from the harness's own settings and from what it was seen to do. The figures lean to the early side: a checkpoint
that comes too early costs little, one that comes after the compaction is of no use.
"""

import json
import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from recall.hook_places import PLACES
from recall.json_edit import plain
from recall.memory_settings import ConsolidationSettings
from recall.window_usage import MOST_TOKENS
from transcript.adapters.walk import home
from transcript.log import Log
from transcript.sieve import Sieve, type_field
from transcript.telling import counted

Env = Mapping[str, str]
DEFAULT_TOKENS = 200_000
LONG_TOKENS = 1_000_000
RESERVED_TOKENS = 32_000  # Claude Code keeps the answer's room and a margin free: 155,000 of 200,000, as seen
BUFFER_TOKENS = 13_000
GEMINI_TOKENS = 1_048_576
GEMINI_SHARE = 0.5
CODEX_TOKENS = 272_000
CODEX_SHARE = 0.9


@dataclass(frozen=True, slots=True)
class HostWindow:
    """A harness's window: what the model takes, where the harness compacts, where that is known from.

    `known` is False where neither settings nor documents say: then the figures are a guess.
    """

    tokens: int
    trigger_tokens: int
    source: str
    known: bool = True

    @property
    def limit(self) -> int:
        """What may stand in the window before anything is taken out of it."""
        return min(self.tokens, self.trigger_tokens)


def of(harness: str, env: Env, root: Path | None, *, seen: Sequence[int] = (), window: int = 0) -> HostWindow:
    """Return the window of a harness in a project.

    seen are the tokens at which it compacted here by itself (`observed`): the least of them counts where it is lower.
    window is what the session's own file says of its model (`window_usage.Used.window`), 0 for nothing.
    """
    found = _HOSTS[harness](env, root, window) if harness in _HOSTS else _unknown(window)
    least = min(seen, default=0)
    if 0 < least < found.trigger_tokens:
        return replace(found, trigger_tokens=least, source=f"{found.source}; seen to compact at {least:,}")
    return found


def given(window: int, trigger: int = 0, percent: float = 0.0) -> HostWindow:
    """Return a window as somebody names it; without a trigger it is compacted when it is full."""
    at = trigger or (math.floor(window * percent / 100) if percent else window)
    return HostWindow(window, min(at, window), "given")


def observed(log: Log, harness: str = "") -> list[int]:
    """Return at how many tokens a harness compacted by itself, of every session of the record that says so."""
    sieve = Sieve(types=(type_field("system"),), groups=((b'"preTokens":',),))
    found = []
    for event in log.read(sieve=sieve):
        said = event.body.get("compact")
        if not isinstance(said, dict) or said.get("trigger") != "auto" or event.body.get("worker"):
            continue
        tokens = said.get("preTokens")
        if isinstance(tokens, int) and tokens > 0 and harness in ("", event.agent):
            found.append(tokens)
    return found


def checkpoint_at(settings: ConsolidationSettings, host: HostWindow) -> int:
    """Return how many tokens must stand in a window for a checkpoint to be made; 0 for never."""
    return round(settings.pressure * (settings.window_tokens or host.limit))


def fault(harness: str, host: HostWindow, settings: ConsolidationSettings, *, margin_tokens: int = 0) -> str:
    """Return why a checkpoint would come after the harness's own compaction, "" where it comes before."""
    if not settings.enabled or not settings.pressure:
        return ""  # a person's choice
    own, latest = checkpoint_at(settings, host), host.limit - margin_tokens
    if own <= latest:
        return ""
    share = max(0.0, math.floor(100 * latest / (settings.window_tokens or host.limit)) / 100)
    title = PLACES[harness].title if harness in PLACES else harness
    what = "consolidation.window_tokens to 0 (the harness's own)" if settings.window_tokens else ""
    what += (" or " if what and share else "") + (f"consolidation.pressure to at most {share:.2f}" if share else "")
    return (
        f"a checkpoint at {counted(own, 'token')} comes too late: {title} compacts at {host.limit:,} ({host.source}); "
        f"set {what or 'a larger window in the harness'}"
    )


def _claude(env: Env, root: Path | None, window: int) -> HostWindow:
    """`CLAUDE_CODE_AUTO_COMPACT_WINDOW` and the percentage stand in the environment or in `env` of its settings."""
    folder = PLACES["claude-code"].folder(env)
    files = [folder / "settings.json"]
    if root is not None:
        files += [root / ".claude/settings.json", root / ".claude/settings.local.json"]
    settings = [_json(path) for path in files]
    said = dict(env)
    model = env.get("ANTHROPIC_MODEL", "")
    for one in settings:
        values = one.get("env")
        said |= {str(k): str(v) for k, v in values.items()} if isinstance(values, dict) else {}
        model = str(one.get("model") or model)
    model = said.get("ANTHROPIC_MODEL", model)
    tokens = _whole(said.get("CLAUDE_CODE_AUTO_COMPACT_WINDOW"))
    source = "CLAUDE_CODE_AUTO_COMPACT_WINDOW" if tokens else "its usual window"
    if not tokens:
        tokens = window or (LONG_TOKENS if "[1m]" in model.lower() else DEFAULT_TOKENS)
    own = _json((folder if env.get("CLAUDE_CONFIG_DIR") else home(env)) / ".claude.json")
    if own.get("autoCompactEnabled") is False or _on(said, "DISABLE_AUTO_COMPACT") or _on(said, "DISABLE_COMPACT"):
        return HostWindow(tokens, tokens, "it does not compact by itself")
    answer = _whole(said.get("CLAUDE_CODE_MAX_OUTPUT_TOKENS")) or RESERVED_TOKENS
    room = tokens - min(answer, RESERVED_TOKENS, tokens // 4)
    trigger = room - min(BUFFER_TOKENS, tokens // 8)
    percent = _share(said.get("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"), 100.0)
    if percent:
        lowered = math.floor(room * percent / 100)
        if lowered < trigger:
            return HostWindow(tokens, lowered, f"{source}, CLAUDE_AUTOCOMPACT_PCT_OVERRIDE")
    return HostWindow(tokens, trigger, source)


def _codex(env: Env, root: Path | None, window: int) -> HostWindow:
    said = _toml(PLACES["codex"].folder(env) / "config.toml")
    tokens = _whole(said.get("model_context_window"))
    source = "model_context_window" if tokens else ("the session's file" if window else "its usual window")
    tokens = tokens or window or CODEX_TOKENS
    trigger = math.floor(tokens * CODEX_SHARE)
    limit = _whole(said.get("model_auto_compact_token_limit"))
    if limit and limit < trigger:
        return HostWindow(tokens, limit, "model_auto_compact_token_limit")
    return HostWindow(tokens, trigger, source)


def _gemini(env: Env, root: Path | None, window: int) -> HostWindow:
    files = [PLACES["gemini-cli"].folder(env) / "settings.json"]
    files += [root / ".gemini/settings.json"] if root is not None else []
    share, source = GEMINI_SHARE, "its usual window"
    for path in files:
        said = _json(path)
        model, chat = said.get("model"), said.get("chatCompression")
        named = model.get("compressionThreshold") if isinstance(model, dict) else None
        older = chat.get("contextPercentageThreshold") if isinstance(chat, dict) else None
        found = _share(named, 1.0) or _share(older, 1.0)
        if found:
            share, source = found, f"compressionThreshold in {path.name}"
    tokens = window or GEMINI_TOKENS
    return HostWindow(tokens, math.floor(tokens * share), source)


def _unknown(window: int) -> HostWindow:
    tokens = window or DEFAULT_TOKENS
    return HostWindow(tokens, tokens, "the session's file" if window else "a guess", known=False)


_HOSTS: dict[str, Callable[[Env, Path | None, int], HostWindow]] = {
    "claude-code": _claude,
    "codex": _codex,
    "gemini-cli": _gemini,
}


def _on(said: Mapping[str, str], name: str) -> bool:
    return said.get(name, "").lower() not in ("", "0", "false")


def _whole(value: object) -> int:
    """A number of tokens; 0 for what is none, or none that a window can hold."""
    try:
        found = int(str(value))
    except ValueError:
        return 0
    return found if 0 < found <= MOST_TOKENS else 0


def _share(value: object, most: float) -> float:
    try:
        found = float(str(value))
    except ValueError:
        return 0.0
    return found if 0 < found <= most else 0.0


def _json(path: Path) -> dict[str, Any]:
    """What a settings file says, comments aside; one that is missing or damaged says nothing."""
    try:
        found = json.loads(plain(path.read_text("utf-8-sig")))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
