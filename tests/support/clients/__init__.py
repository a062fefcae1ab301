"""Real harness clients, each as a user runs it, against a model on the loopback that records what it is sent."""

from support.clients.claude_code import ClaudeCode
from support.clients.client import Client
from support.clients.cline import Cline
from support.clients.codex import Codex
from support.clients.copilot_cli import CopilotCli
from support.clients.gemini_cli import GeminiCli
from support.clients.opencode import Opencode
from support.clients.pi import Pi
from support.clients.qwen_code import QwenCode
from support.clients.world import Stub, World

_ALL = (ClaudeCode, Codex, GeminiCli, Pi, CopilotCli, Opencode, QwenCode, Cline)
CLIENTS: dict[str, type[Client]] = {made.harness: made for made in _ALL}

__all__ = ["CLIENTS", "Client", "Stub", "World"]
