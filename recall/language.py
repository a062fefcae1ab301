"""The language of a prompt, told by its script and its function words.

On the hook path: standard library only, and no expression to compile.
"""

from indexer.function_words import FUNCTION_WORDS, LETTERS
from indexer.segment import STOP

LOOKED_AT = 2000  # characters; the language of a prompt shows in its first sentences
GLOSSED = frozenset(
    ("de", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "zh")
)  # have a dictionary (recall.gloss)
_CODE = frozenset("/\\_@=<>{}()[]#$~.:0123456789")
_EDGES = ".,:;!?()[]{}<>\"'„“”«»‹›‘’¿¡…*-"
_PARTS = str.maketrans("'’-", "   ")
# One sign without spaces says as much as a word of letters: how many letters each weighs.
_SCRIPTS = (
    ("ja", 4, (("\u3040", "\u30ff"),)),
    ("ko", 4, (("\uac00", "\ud7af"),)),
    ("zh", 4, (("\u3400", "\u4dbf"), ("\u4e00", "\u9fff"))),
    ("ru", 2, (("\u0400", "\u04ff"),)),
)
# Letters that one of the languages has and the others hardly: a hint where function words are few.
_TELLING = {
    "de": frozenset("äöüß"),
    "fr": frozenset("êèçœàûîô"),
    "es": frozenset("ñ¿¡"),
    "it": frozenset("ìòù"),
    "pt": frozenset("ãõç"),
    "pl": frozenset("łąęśźżćń"),
}
_LETTER = 0.4
_LEAST, _LEAST_SHARE = 0.8, 0.2
_LATIN = tuple(code for code in FUNCTION_WORDS if code != "ru")
# A single letter is a word of a language only where no list or option names things so.
_NO_WORDS = LETTERS - frozenset("aeiowyz")


def _languages() -> dict[str, tuple[str, ...]]:
    of: dict[str, tuple[str, ...]] = {}
    for code in _LATIN:
        for word in FUNCTION_WORDS[code]:
            of[word] = (*of.get(word, ()), code)
    return of


_LANGUAGES = _languages()


def detect(text: str) -> str:
    """Return the ISO 639-1 code of a text's language, "en" for English; "" where it cannot be told.

    Known: de es fr it ja ko nl pl pt ru zh. Code, paths and quoted names are not looked at.
    """
    words = _prose(text[:LOOKED_AT])
    prose = "".join(words)
    if not prose:
        return ""
    if not prose.isascii():
        for code, weight, ranges in _SCRIPTS:
            own = sum(low <= letter <= high for letter in prose for low, high in ranges)
            if own >= 2 and own * weight >= len(prose):
                return code
    return _by_words(words, frozenset(text[:LOOKED_AT].lower()))


def _prose(text: str) -> list[str]:
    """The words of a text in lower case, without what stands between backticks or looks like code."""
    words: list[str] = []
    for part in text.lower().split("`")[::2]:
        for token in part.split():
            bare = token.strip(_EDGES)
            if bare and _CODE.isdisjoint(bare):
                words.extend(bare.translate(_PARTS).split())
    return words


def _by_words(words: list[str], letters: frozenset[str]) -> str:
    counts = dict.fromkeys(_LATIN, 0.0)
    for word in words:
        codes = _LANGUAGES.get(word, ())
        if word not in _NO_WORDS:
            for code in codes:  # a word of several languages says little about which of them it is
                counts[code] += 1 / len(codes)
    if not counts["en"]:  # beside English words such a letter is a name's
        for code, own in _TELLING.items():
            counts[code] += _LETTER * len(own & letters)
    best = max(_LATIN, key=lambda code: counts[code])
    return best if counts[best] and counts[best] >= min(_LEAST, _LEAST_SHARE * len(words)) else ""


def stop_words(language: str) -> frozenset[str]:
    """Return the function words to drop from a prompt in this language: of an English one no "die" and no "son"."""
    own = FUNCTION_WORDS.get(language)
    return own | FUNCTION_WORDS["en"] | LETTERS if own is not None else STOP
