"""The language of a prompt, told by its script and its function words.

On the hook path: standard library only.
"""

import re

from indexer.function_words import FUNCTION_WORDS, LETTERS
from indexer.segment import STOP

LOOKED_AT = 2000  # characters; the language of a prompt shows in its first sentences
_LETTERS = re.compile(r"[^\W\d_]+")
_PROSE = re.compile(r"```.*?(?:```|$)|`[^`\n]*`|\S*[/\\_@=<>{}()\[\]]\S*|\S*\w[.:]\w\S*|\S*\d\S*", re.DOTALL)
_SCRIPTS = (
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7af]")),
    ("zh", re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
)
_UNSPACED = frozenset(("ja", "ko", "zh"))
# Letters that one of the languages has and the others hardly: a hint where function words are few.
_TELLING = {
    "de": frozenset("äöüß"),
    "fr": frozenset("êèçœàûîô"),
    "es": frozenset("ñ¿¡"),
    "it": frozenset("ìòù"),
    "pt": frozenset("ãõç"),
    "pl": frozenset("łąęśźżćń"),
}
_LATIN = tuple(code for code in FUNCTION_WORDS if code != "ru")
# Words that several languages share say nothing about which of them it is, unless nothing else is there.
_SHARES = {
    word: 1 / count
    for word in frozenset().union(*(FUNCTION_WORDS[code] for code in _LATIN))
    if (count := sum(word in FUNCTION_WORDS[code] for code in _LATIN))
}
_LEAST = 0.8


def detect(text: str) -> str:
    """Return the ISO 639-1 code of a text's language, "en" for English; "" where it cannot be told.

    Known: de es fr it ja ko nl pl pt ru zh. Code, paths and quoted names are not looked at.
    """
    prose = _PROSE.sub(" ", text[:LOOKED_AT])
    letters = sum(map(len, _LETTERS.findall(prose)))
    if not letters:
        return ""
    if not prose.isascii():
        for code, script in _SCRIPTS:
            own = len(script.findall(prose))
            # One sign without spaces says as much as a word of letters.
            if own >= 2 and own * (4 if code in _UNSPACED else 2) >= letters:
                return code
    return _by_words(_LETTERS.findall(prose.lower()), frozenset(prose.lower()))


def _by_words(words: list[str], letters: frozenset[str]) -> str:
    counts = dict.fromkeys(_LATIN, 0.0)
    for word in words:
        share = _SHARES.get(word)
        if share is not None and word not in LETTERS - {"a", "e", "o", "y", "i", "w", "z"}:
            for code in _LATIN:
                if word in FUNCTION_WORDS[code]:
                    counts[code] += share
    if not counts["en"]:  # beside English words such a letter is a name's
        for code, own in _TELLING.items():
            counts[code] += 0.4 * len(own & letters)
    best = max(_LATIN, key=lambda code: counts[code])
    return best if counts[best] >= min(_LEAST, 0.2 * len(words)) and counts[best] > 0 else ""


def stop_words(language: str) -> frozenset[str]:
    """Return the function words to drop from a prompt in this language: of an English one no "die" and no "son"."""
    own = FUNCTION_WORDS.get(language)
    return own | FUNCTION_WORDS["en"] | LETTERS if own is not None else STOP
