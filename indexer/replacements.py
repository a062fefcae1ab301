"""Finds sentences that say that one name replaced another: "renamed X to Y", "X -> Y", "moved from X to Y".

One pure function, asked when a passage is indexed. Both values have to look like code and to share a part, for a bare
pattern is right one time in three. A contrast ("instead of", "rather than"), an assignment ("update X to Y"), a
question and a supposition are no change. Whether the old name then fell out of use is judged where it is read.
"""

import re

MOST_OF_A_PASSAGE = 8
_VALUE = r"[`\"']?(?P<{0}>[A-Za-z_@][\w@]*(?:[./:\\-]\w+)*)(?:\(\))?[`\"']?"
_OLD, _NEW = _VALUE.format("old"), _VALUE.format("new")
_KIND = r"(?:the |a |an |our |its )?(?:(?:file|class|function|method|field|column|table|module|package|setting|flag|"
_KIND += r"variable|constant|type|event|route|endpoint|command|option|property|key|name)s? )?"
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\brenam(?:e|ed|es|ing) {_KIND}(?:from )?{_OLD} (?:to|as|into|->|→|=>) {_KIND}{_NEW}",
        rf"\b(?:chang|mov|migrat|switch)(?:e|ed|es|ing) (?:[\w']+ ){{0,4}}?from {_KIND}{_OLD}"
        rf" (?:over )?to {_KIND}{_NEW}",
        rf"\breplac(?:e|ed|es|ing) {_KIND}{_OLD} (?:with|by) {_KIND}{_NEW}",
        rf"{_OLD} (?:has been|was|were|is|got) (?:now )?(?:renamed|changed|moved|migrated) (?:to|into) {_KIND}{_NEW}",
        rf"{_OLD} (?:has been|was|is) (?:now )?replaced (?:with|by) {_KIND}{_NEW}",
        rf"{_OLD} is now (?:called |named )?{_KIND}{_NEW}",
        rf"{_OLD} (?:wurde |ist |heißt )?(?:jetzt |nun )?in {_NEW} umbenannt",
        rf"{_OLD} (?:wurde|ist) durch {_NEW} ersetzt",
        rf"\b(?:renomm|remplac|chang)\w* {_OLD} (?:en|par) {_NEW}",
        rf"\b(?:renombr|reemplaz|cambi)\w* {_OLD} (?:a|por) {_NEW}",
    )
)
_ARROW = re.compile(rf"{_OLD} (?:→|->|=>|➜|⟶) {_NEW}")
_CHANGES = re.compile(
    r"\b(?:renam|chang|mov(?:e|ed|es|ing)\b|migrat|switch|replac|umbenan|umbenen|ersetz|geändert|verschoben|renomm|remplac"
    r"|renombr|reemplaz|cambi)",
    re.IGNORECASE,
)
_NO_CHANGE = re.compile(
    r"\b(?:instead of|rather than|convert(?:ing|s|ed)? from|update[sd]? \S+ to|would|could|might|maybe|perhaps|if"
    r"|should (?:we|i)|don'?t|do not|never|not (?:be )?renam\w+|statt|anstatt|anstelle|vielleicht|könnte|würde|nicht"
    r"|au lieu de|plutôt que|peut-être|pourrait|en lugar de|en vez de|quizás|podría)\b|\?\s*$",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?。])\s+|\n+")
_HUMP = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_TYPE_NAMES = "string number boolean bool int integer float double void object array list dict none null any"
_TYPES = frozenset(_TYPE_NAMES.split())
_LEAST_PART = 4
LINKED_CLASSES = ("conversation", "curated", "memory")  # of passages; who speaks is asked where a link is read


def replacements(text: str) -> list[tuple[str, str]]:
    """Return the (old value, new value) pairs that a text's sentences state, in order of first sight."""
    if not _CHANGES.search(text) and " is now " not in text:
        return []
    found: dict[tuple[str, str], None] = {}
    for sentence in _SENTENCE_END.split(text):
        changes = _CHANGES.search(sentence)
        # Nothing else can match; the patterns, which look at every place of a sentence, are dear.
        if (not changes and " is now " not in sentence.lower()) or _NO_CHANGE.search(sentence):
            continue
        for pattern in (*_PATTERNS, _ARROW) if changes else _PATTERNS:
            for match in pattern.finditer(sentence):
                old, new = match["old"].rstrip(".:-/"), match["new"].rstrip(".:-/")
                if _is_replacement(old, new):
                    found[old, new] = None
    return list(found)[:MOST_OF_A_PASSAGE]


def looks_like_code(value: str) -> bool:
    """Whether a value is an identifier, a path, a flag or a name with a number rather than a word of a language."""
    return bool(re.search(r"[_./:\\@-]|\d|[a-z][A-Z]", value))


def _is_replacement(old: str, new: str) -> bool:
    if old == new or not (looks_like_code(old) and looks_like_code(new)):
        return False
    if old.lower() in _TYPES or new.lower() in _TYPES:
        return False
    parts = [{p.lower() for p in _HUMP.findall(value) if len(p) >= _LEAST_PART} for value in (old, new)]
    return not parts[0].isdisjoint(parts[1])
