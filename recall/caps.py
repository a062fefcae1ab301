"""What each harness accepts from a hook, in one place; a lower limit is lowered here and nowhere else.

On the hook path: standard library only.
"""

import json
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cap:
    """Most that a hook's whole output may measure: UTF-16 units (an emoji counts two) and bytes."""

    units: int
    bytes: int
    envelope: int  # room for the JSON around the block


CAPS = {
    "claude-code": Cap(units=10_000, bytes=40_000, envelope=160),  # above it: a file name and a 2 KB preview
    "codex": Cap(units=10_000, bytes=10_000, envelope=160),  # 2,500 tokens counted as bytes / 4: the middle is cut
    "cursor": Cap(units=10_000, bytes=40_000, envelope=160),
    "gemini-cli": Cap(units=40_000, bytes=160_000, envelope=160),  # none seen; 40,000 passed whole
    "qwen-code": Cap(units=40_000, bytes=160_000, envelope=160),
    "copilot-cli": Cap(units=40_000, bytes=160_000, envelope=160),
}
STRICTEST = Cap(units=10_000, bytes=10_000, envelope=160)


def cap_of(harness: str) -> Cap:
    """The cap of a harness; the strictest one for a harness that is not known."""
    return CAPS.get(harness, STRICTEST)


def utf16_units(text: str) -> int:
    """Length as JavaScript counts it."""
    return len(text) + sum(1 for char in text if char > "\uffff")


def escaped(block: str) -> str:
    """The block as it stands inside a hook's JSON answer, quotation marks included."""
    return json.dumps(block, ensure_ascii=False)


def fits(block: str, harness: str, *, most_bytes: int) -> bool:
    """Whether the block, escaped and with its JSON envelope, stays within the harness's cap and most_bytes."""
    cap = cap_of(harness)
    whole = escaped(block)
    size = len(whole.encode("utf-8", "surrogatepass")) + cap.envelope
    return utf16_units(whole) + cap.envelope <= cap.units and size <= min(cap.bytes, most_bytes)
