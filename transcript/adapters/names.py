"""What our adapters are called, without loading one: each costs a module, and most commands need the name alone."""

from collections.abc import Sequence

HARNESSES = (
    "aider",
    "claude-code",
    "cline",
    "codex",
    "copilot-cli",
    "cursor",
    "gemini-cli",
    "grok-build",
    "letta-code",
    "opencode",
    "pi",
    "qwen-code",
    "wire",
)
SPELLINGS = {
    "claude": "claude-code",
    "codex-cli": "codex",
    "copilot": "copilot-cli",
    "gemini": "gemini-cli",
    "grok": "grok-build",
    "letta": "letta-code",
    "qwen": "qwen-code",
}


def matching(name: str, harnesses: Sequence[str]) -> list[str]:
    """Return the harnesses that a name may stand for: the one called so or spelt so, else all that begin so."""
    wanted = name.strip().lower().replace("_", "-")
    wanted = SPELLINGS.get(wanted, wanted)
    begun = [harness for harness in harnesses if wanted and harness.startswith(wanted)]
    return [wanted] if wanted in harnesses else begun
