"""What of a text can be seen. Characters without a shape hide a difference from a person and words for a model."""

from transcript.lookalike import UNSEEN


def seen(text: str) -> str:
    """Return a text without the characters that nobody sees."""
    return UNSEEN.sub("", text)
