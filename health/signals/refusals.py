"""Errors: whether one repeats what it refuses, and so carries quarantined words to whoever reads it."""

from health.facts import RefusalFacts
from health.known import Area, Known, one
from health.signal import Level, Signal
from transcript.telling import counted


def rejected_echo(r: RefusalFacts) -> Signal:
    """Return how many characters of an oversized text stand in the refusals of the parsers that were sent it."""
    characters = sum(r.echoed.values())
    text = f"{counted(characters, 'character')} of a refused text in the errors of {counted(r.parsers, 'parser')}"
    return Signal(
        id="rejected_echo",
        value=characters if r.parsers else None,
        unit="count",
        level=Level.FAIL if characters else Level.OK,
        text=text if r.parsers else "not asked: this report looks at what changes alone",
        meaning="An error that repeats what was refused brings it into the window of whoever reads the error.",
        action="report it as a fault of recall, and take in nothing from others until it is mended"
        if characters
        else "",
        details=tuple(f"{name}: {counted(number, 'character')}" for name, number in sorted(r.echoed.items())),
    )


KNOWN = (
    Known(
        "rejected_echo",
        one(lambda f: rejected_echo(f.refusals)),
        Area.OPERATIONS,
        "this program",
        fail="> 0 characters",
        why_never="an error repeats what it refuses or it does not",
        rows="LCA-D-07H",
    ),
)
