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
    brackets: bool = False  # the harness writes each `<` as `&lt;` and each `>` as `&gt;`: three characters more


CAPS = {
    "claude-code": Cap(units=10_000, bytes=40_000, envelope=160),  # above it: a file name and a 2 KB preview
    "codex": Cap(units=10_000, bytes=10_000, envelope=160),  # 2,500 tokens counted as bytes / 4: the middle is cut
    "cursor": Cap(units=10_000, bytes=40_000, envelope=160),
    # Of the others none was seen: 40,000 passed whole.
    "gemini-cli": Cap(units=40_000, bytes=160_000, envelope=160, brackets=True),
    "qwen-code": Cap(units=40_000, bytes=160_000, envelope=160, brackets=True),
    "copilot-cli": Cap(units=40_000, bytes=160_000, envelope=160),
    "pi": Cap(units=40_000, bytes=160_000, envelope=160),
    "opencode": Cap(units=40_000, bytes=160_000, envelope=160),
    "cline": Cap(units=40_000, bytes=160_000, envelope=160),
}
STRICTEST = Cap(units=10_000, bytes=10_000, envelope=160, brackets=True)


def cap_of(harness: str) -> Cap:
    """The cap of a harness; the strictest one for a harness that is not known."""
    return CAPS.get(harness, STRICTEST)


def utf16_units(text: str) -> int:
    """Length as JavaScript counts it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def escaped(block: str) -> str:
    """The block as it stands inside a hook's JSON answer, quotation marks included."""
    return json.dumps(block, ensure_ascii=False)


def fits(block: str, harness: str, *, most_bytes: int) -> bool:
    """Whether the block, escaped and with its JSON envelope, stays within the harness's cap and most_bytes.

    Where the harness escapes angle brackets, the block is measured as it then stands in front of the model.
    """
    cap = cap_of(harness)
    whole = escaped(block.replace("<", "&lt;").replace(">", "&gt;") if cap.brackets else block)
    size = len(whole.encode("utf-8", "surrogatepass")) + cap.envelope
    return utf16_units(whole) + cap.envelope <= cap.units and size <= min(cap.bytes, most_bytes)
