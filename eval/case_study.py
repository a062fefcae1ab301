"""Writes the log of ESAA's case study, once or many times over, as session files in the wire format.

Of its 570 events 562 are turns of a conversation: 304 of Codex, 79 of Claude, 67 of Grok; the paper does not say whose
the remaining 112 are, so they are one agent more here. The eight others are tool calls.
"""

import json
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from eval.synthetic import made_texts

TURNS = {"codex": 304, "claude-code": 79, "grok-build": 67, "remainder": 112}
TOOL_CALLS = 8
EVENTS = sum(TURNS.values()) + TOOL_CALLS
TURNS_A_SESSION = 60
RARE_AGENT = "rare"  # says two turns, the oldest ones
RARE_WORD = "zanzibar"  # stands in the oldest turn alone
_FIRST = datetime(2026, 1, 1, tzinfo=UTC)


def write(folder: Path, project: Path, *, times: int = 1, seed: int = 0) -> int:
    """Write the log so many times over for sessions in project; return how many events it holds.

    The first two turns are a rare agent's; they take the place of two of the remainder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    texts = made_texts(EVENTS * times, seed)
    clock = (_FIRST + timedelta(seconds=7 * n) for n in range(EVENTS * times + 1))
    events = 0
    for number, (agent, turns, calls) in enumerate(_sessions(times)):
        lines = [{"recall_wire": 1, "tool": agent, "version": "1", "session": _id("session", number)}]
        lines[0] |= {"cwd": str(project), "branch": "main"}
        for turn in range(turns + calls):
            ts, text = next(clock).isoformat(), next(texts)
            said: dict[str, object] = {"type": "prompt" if turn % 2 == 0 else "reply", "text": text}
            if turn >= turns:
                said = {"type": "tool_call", "tool": "read", "call_id": f"c{turn}", "input": {"path": text[:40]}}
            elif events == 0:
                said["text"] = f"{RARE_WORD} {text}"
            lines.append({"id": _id("event", number, turn), "ts": ts, **said})
            events += 1
        data = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{number:06d}.jsonl").write_text(data, encoding="utf-8", newline="\n")
    return events


def _sessions(times: int) -> Iterator[tuple[str, int, int]]:
    """Yield agent, turns and tool calls of each session."""
    yield RARE_AGENT, 2, 0
    for copy in range(times):
        for agent, turns in TURNS.items():
            left = turns - (2 if copy == 0 and agent == "remainder" else 0)
            calls = TOOL_CALLS if agent == "codex" else 0
            while left:
                took = min(left, TURNS_A_SESSION)
                yield agent, took, calls
                left, calls = left - took, 0


def _id(*parts: object) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, "/".join(map(str, parts))))
