"""How alike two texts are: equal after folding, or by shared words.

On the hook path: standard library only.
"""

import re
from unicodedata import normalize

from transcript.lookalike import compared

_QUOTES = str.maketrans(dict.fromkeys('"`´‘’‚“”„«»‹›', "'"))
_BLANKS = re.compile(r"\s+")
_TOKEN = re.compile(r"\w+")
_VOLATILE = re.compile(
    r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"
    r"|\b(?=[0-9a-f]*\d)[0-9a-f]{7,}\b"
    r"|\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?\b"
    r"|\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b",
    re.IGNORECASE,
)


def folded(text: str) -> str:
    """Text with letter case, kind of quotes, look-alike letters and all blanks folded away."""
    return _BLANKS.sub("", normalize("NFKC", compared(text)).casefold().translate(_QUOTES))


def tokens(text: str) -> frozenset[str]:
    """The distinct words of a text, letter case and look-alike letters folded."""
    return frozenset(_TOKEN.findall(compared(text).casefold()))


def without_ids(text: str) -> str:
    """Text without hexadecimal ids and times, which differ between two runs of the same program; numbers stay."""
    return _VOLATILE.sub(" ", text)


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    """Shared words over all words; 0 where both are empty."""
    if not a or not b:
        return 0.0
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared)
