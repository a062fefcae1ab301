"""What a picture costs in a window: a harness keeps it as base64 text, a model counts it by its size on the screen."""

import re

PICTURE_TOKENS = 1_600  # of the largest that models take; more they scale down
_LEAST = 4_000  # characters
_ENCODED = re.compile(rf"[A-Za-z0-9+/]{{{_LEAST},}}={{0,2}}")
_KINDS = tuple(map(re.compile, ("[a-z]", "[A-Z]", "[0-9]")))  # in a run that is encoded all of them occur


def split(text: str) -> tuple[str, int]:
    """Return a text without the pictures in it, and the tokens that they cost."""
    found = [run.span() for run in _ENCODED.finditer(text)] if len(text) >= _LEAST else []
    found = [(start, end) for start, end in found if all(kind.search(text, start, end) for kind in _KINDS)]
    for start, end in reversed(found):
        text = text[:start] + text[end:]
    return text, len(found) * PICTURE_TOKENS
