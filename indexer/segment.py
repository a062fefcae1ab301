"""The words of a text, as the index stores them and as a query asks for them: one pure function for both.

An identifier is kept whole (its parts joined) and in parts, so that `statusUnchanged`, `status_unchanged` and
"status unchanged" all meet. Scripts without spaces are cut into pairs. The index's own tokenizer (porter unicode61)
then only has to fold case and stems. Changing what this returns means raising SEGMENTATION_VERSION.
"""

import re
from functools import lru_cache
from unicodedata import normalize

from indexer.function_words import FUNCTION_WORDS, LETTERS

SEGMENTATION_VERSION = 1
MAX_QUERY_TERMS = 32
MAX_QUERY_CHARS = 20_000
MAX_WORD = 64

# Marks that belong to the letter before them; Python's \w leaves them out.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc-\u09cd\u0a01-\u0a03\u0a3c-\u0a4d"
    "\u0a81-\u0a83\u0abc-\u0acd\u0b82\u0bbe-\u0bcd\u0c00-\u0c04\u0c3e-\u0c4d\u0c81-\u0c83\u0cbc-\u0ccd"
    "\u0d00-\u0d03\u0d3b-\u0d4d\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u20d0-\u20f0"
)
# Han, kana, Hangul, Thai, Lao, Myanmar, Khmer: written without spaces, or with particles glued on.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_WORD = re.compile(rf"[\w{_MARKS}]+(?:[.:/\\@#~+\-]{{1,3}}[\w{_MARKS}]+)*")
_RUN = re.compile(r"\w+")
_PIECE = re.compile(r"[.:/\\@#~+\-]+")
_FILE_NAME = re.compile(r"(?<=[/\\])([\w.\-]+\.[A-Za-z]\w{0,7})(?::\d+)*$")
_UNSPACED_RUN = re.compile(rf"[{_UNSPACED}{_MARKS}]+")
_HAS_UNSPACED = re.compile(rf"[{_UNSPACED}]")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_a-zA-Z]+")

# Of a text whose language is not known.
STOP = FUNCTION_WORDS["en"] | FUNCTION_WORDS["de"] | FUNCTION_WORDS["fr"] | LETTERS


def segment(text: str) -> list[str]:
    """Return the words of text in order, lower case; an identifier gives its joined form, then its parts."""
    tokens: list[str] = []
    for word in _WORD.findall(text if text.isascii() else normalize("NFC", text)):
        tokens.extend(_tokens(word))
    return tokens


def plain_words(text: str) -> list[str]:
    """Return the runs of letters and digits of text, lower case, as any search has them."""
    return _RUN.findall(text.lower())


def query_terms(text: str, stop: frozenset[str] = STOP, *, parts: bool = True) -> list[str]:
    """Return the distinct words to search for, those of stop dropped, in order of first sight.

    At most MAX_QUERY_TERMS: of a longer text, the words that are repeated and long stay, for they carry the topic.
    Without parts, words are plain runs of letters and digits, as any search has them.
    """
    counts: dict[str, int] = {}
    head = text[:MAX_QUERY_CHARS]
    for token in segment(head) if parts else plain_words(head):
        if token not in stop:
            counts[token] = counts.get(token, 0) + 1
    if len(counts) <= MAX_QUERY_TERMS:
        return list(counts)
    weight = {token: min(count, 4) * min(len(token), 12) for token, count in counts.items()}
    kept = set(sorted(counts, key=lambda token: (-weight[token], token))[:MAX_QUERY_TERMS])
    return [token for token in counts if token in kept]


@lru_cache(maxsize=1 << 13)  # some turns' words: the service would keep every word it ever met
def _tokens(word: str) -> tuple[str, ...]:
    """Return the tokens of one run of word characters and joining marks."""
    if word.isascii() and word.isalpha() and (word.islower() or word[1:].islower()):
        return (word.lower(),)
    pieces = _PIECE.split(word)
    out: list[str] = []
    if len(pieces) > 1 and not _HAS_UNSPACED.search(word):
        whole = "".join(pieces).replace("_", "").lower()
        if 0 < len(whole) <= MAX_WORD:
            out.append(whole)
        name = _FILE_NAME.search(word)
        if name and name.start() > 0:  # a query usually names the file and not its folder
            out.append(_PIECE.sub("", name.group(1)).replace("_", "").lower()[:MAX_WORD])
    for piece in pieces:
        out.extend(_piece_tokens(piece))
    return tuple(dict.fromkeys(out))


def _piece_tokens(piece: str) -> list[str]:
    """Return a piece without joining marks whole and in parts; pairs of characters for unspaced scripts."""
    if _HAS_UNSPACED.search(piece):
        return _pairs(piece)
    joined = piece.replace("_", "").lower()
    if not joined:
        return []
    out = [joined[:MAX_WORD]]
    for named in piece.split("_") if not _is_hash(joined) else ():
        humps = _PART.findall(named) if named.isascii() else [named]
        if len(humps) > 1:  # of `SQLite` only `lite` says something alone
            humps = [hump for hump in humps if len(hump) > 2]
        out.extend(hump.lower()[:MAX_WORD] for hump in humps if hump)
    return out


def _pairs(piece: str) -> list[str]:
    """Return overlapping pairs of each unspaced run and the ordinary tokens of what stands between."""
    out: list[str] = []
    end = 0
    for run in _UNSPACED_RUN.finditer(piece):
        if run.start() > end:
            out.extend(_piece_tokens(piece[end : run.start()]))
        text = run.group()
        out.extend(text[at : at + 2] for at in range(len(text) - 1)) if len(text) > 1 else out.append(text)
        end = run.end()
    if end < len(piece):
        out.extend(_piece_tokens(piece[end:]))
    return out


def _is_hash(word: str) -> bool:
    """Tell whether word looks like a digest: its letter and digit runs mean nothing on their own."""
    return len(word) >= 12 and all(c in "0123456789abcdef" for c in word) and any(c.isdigit() for c in word)
