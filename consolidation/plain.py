"""What of a text can be seen. Characters without a shape hide a difference from a person and words for a model."""

import re

# controls, joiners and marks without a shape, turned writing, fillers, tags; line ends and tabs are none of them
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    "|(?<=[\x00-\x7f])[\u200c\u200d]+|[\u200c\u200d]+(?=[\x00-\x7f])"  # elsewhere they shape a letter or a picture
)


def seen(text: str) -> str:
    """Return a text without the characters that nobody sees."""
    return _UNSEEN.sub("", text)


def seen_places(text: str) -> list[int] | None:
    """Return where each character of `seen(text)` stands in the text, None where both are the same."""
    hidden = {at for match in _UNSEEN.finditer(text) for at in range(*match.span())}
    return [at for at in range(len(text)) if at not in hidden] if hidden else None
