"""Every adapter there is: ours, and those that other packages bring.

A new adapter of ours is one import and one entry in `ADAPTERS`. Their order is the order in which they are asked
whose a file is: the pickier first, Claude Code last, for it looks at every `.jsonl` it meets.

A package brings one by an entry point in the group `lca_recall.adapters` (docs/adapters.md). What it brings must say
what it is (`harness`, `version`) and whose sessions those are (`origin`), and have every method of the contract;
else it is refused with one line, and the others go on.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any, Protocol, cast

from transcript.adapters.aider import Aider
from transcript.adapters.base import Adapter
from transcript.adapters.claude_code import ClaudeCode
from transcript.adapters.cline import Cline
from transcript.adapters.codex import Codex
from transcript.adapters.copilot_cli import CopilotCli
from transcript.adapters.cursor import Cursor
from transcript.adapters.gemini_cli import GeminiCli
from transcript.adapters.grok_build import GrokBuild
from transcript.adapters.letta_code import LettaCode
from transcript.adapters.names import matching
from transcript.adapters.opencode import OpenCode
from transcript.adapters.pi import Pi
from transcript.adapters.qwen_code import QwenCode
from transcript.adapters.wire import Wire
from transcript.errors import CaptureError
from transcript.telling import quoted

ADAPTERS: tuple[Adapter, ...] = (
    # one entry a line, in alphabetical order, Claude Code last
    Aider(),
    Cline(),
    Codex(),
    CopilotCli(),
    Cursor(),
    GeminiCli(),
    GrokBuild(),
    LettaCode(),
    OpenCode(),
    Pi(),
    QwenCode(),
    Wire(),
    ClaudeCode(),
)
GROUP = "lca_recall.adapters"
ORIGINS = ("internal", "external")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
_METHODS = ("roots", "discover", "open", "is_record", "recognises", "restarted", "recalled", "reader", "head")


class EntryPoint(Protocol):
    """What names an adapter of another package."""

    @property
    def name(self) -> str:
        """The name it was registered under."""

    def load(self) -> Any:
        """Import and return what it names."""


@dataclass(frozen=True, slots=True)
class Registered:
    """Every adapter that may be used, in the order in which they are asked, and (name, why) of the refused."""

    adapters: tuple[Adapter, ...]
    refused: tuple[tuple[str, str], ...] = ()


def registered(points: Iterable[EntryPoint] | None = None) -> Registered:
    """Return our adapters and those of installed packages; theirs are asked before Claude Code."""
    found = list(ADAPTERS)
    names = {adapter.harness for adapter in ADAPTERS}
    refused: list[tuple[str, str]] = []
    known = entry_points(group=GROUP) if points is None else points
    for point in sorted(known, key=lambda point: point.name):
        try:
            made = point.load()
            made = made() if isinstance(made, type) else made
            why = fault(made) or (f"'{made.harness}' is there already" if made.harness in names else "")
        except (Exception, SystemExit) as error:  # code of others: whatever it does, our own adapters must go on
            refused.append((point.name, f"cannot be loaded: {type(error).__name__}"))
            continue
        if why:
            refused.append((point.name, why))
            continue
        names.add(made.harness)
        found.insert(len(found) - 1, cast(Adapter, made))
    return Registered(tuple(found), tuple(refused))


def fault(adapter: Any) -> str:
    """Return why something is no adapter, "" when it is one."""
    for name in ("harness", "version"):
        if not isinstance(getattr(adapter, name, None), str) or not getattr(adapter, name):
            return f"declares no {name}"
    if _NAME.fullmatch(adapter.harness) is None:
        return "has a harness that is no name of a-z, 0-9 and '-'"  # a folder of source bytes is called so
    origin = getattr(adapter, "origin", None)
    if not isinstance(origin, str) or origin not in ORIGINS:
        return "declares no origin: internal (the agent's own sessions) or external (what others said)"
    lacking = [name for name in _METHODS if not callable(getattr(adapter, name, None))]
    return f"lacks {', '.join(lacking)}" if lacking else ""


def harness_of(name: str, harnesses: Sequence[str]) -> str:
    """Return the one harness that a name stands for; CaptureError when it is none, or may be several."""
    found = matching(name, harnesses)
    if len(found) == 1:
        return found[0]
    raise CaptureError(f"no adapter {quoted(name)}; there are {', '.join(sorted(harnesses))}")


def named(names: Iterable[str], adapters: Sequence[Adapter]) -> tuple[Adapter, ...]:
    """Return the adapters of these names in the order of the registry, all of them for no names."""
    wanted = {harness_of(name, [adapter.harness for adapter in adapters]) for name in names}
    return tuple(adapter for adapter in adapters if not wanted or adapter.harness in wanted)
