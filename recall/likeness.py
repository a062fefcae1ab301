"""How alike two texts are: equal after folding, or by shared words.

On the hook path: standard library only.
"""

import re
from unicodedata import normalize

_QUOTES = str.maketrans(dict.fromkeys('"`´‘’‚“”„«»‹›', "'"))
_BLANKS = re.compile(r"\s+")
_TOKEN = re.compile(r"\w+")


def folded(text: str) -> str:
    """Text with letter case, kind of quotes and all blanks folded away."""
    return _BLANKS.sub("", normalize("NFKC", text).casefold().translate(_QUOTES))


def tokens(text: str) -> frozenset[str]:
    """The distinct words of a text, case folded."""
    return frozenset(_TOKEN.findall(text.casefold()))


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    """Shared words over all words; 0 where both are empty."""
    if not a or not b:
        return 0.0
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared)
