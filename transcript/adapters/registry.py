"""Every adapter there is, and which of them takes a file that several could claim.

A new adapter is one import and one entry in `ADAPTERS`. Their order is the order in which they are asked whose a
file is: the pickier first, Claude Code last, for it looks at every `.jsonl` it meets.
"""

from transcript.adapters.base import Adapter
from transcript.adapters.claude_code import ClaudeCode

ADAPTERS: tuple[Adapter, ...] = (
    # one entry a line, in alphabetical order, Claude Code last
    ClaudeCode(),
)
