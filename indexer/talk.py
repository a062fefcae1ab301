"""A talk between people: who speaks is named, and in the index the day and the name stand before the words.

People ask "what did Ines say in May"; neither the day nor the name is in what she said. Sessions of an agent name
nobody, and a date before their passages was measured to give nothing.
"""

from datetime import UTC, datetime

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
NAME_CHARS = 60


def speaker_of(body: object) -> str:
    """The named speaker of a turn, "" where none is named: one line, of bounded length."""
    named = body.get("speaker", "") if isinstance(body, dict) else ""
    return " ".join(named.split())[:NAME_CHARS] if isinstance(named, str) else ""


def heading(speaker: str, ts: int) -> str:
    """What stands before a turn's words in the index, such as "[8 May 2023] Ines: "; "" without a speaker."""
    if not speaker:
        return ""
    day = datetime.fromtimestamp(ts, UTC)
    return f"[{day.day} {MONTHS[day.month - 1]} {day.year}] {speaker}: "
