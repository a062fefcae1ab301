"""What of a sentence can be checked by the letter: its numbers, identifiers, names, content words and denials."""

import re
from dataclasses import dataclass
from functools import lru_cache

from indexer.segment import STOP, segment
from transcript.lookalike import compared

NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:[.,:]\d+)*(?:\s?(?:%|ms|s|kb|mb|gb))?(?![\w])", re.I)
_CODE = re.compile(r"`([^`\n]{1,200})`")
_IDENTIFIER = re.compile(r"[\w\-./\\:#@]*(?:[a-z][A-Z]|_|/|\\|\w\.\w|--|#\d|[A-Za-z]\d|\d[A-Za-z])[\w\-./\\:#@]*")
_NAME = re.compile(r"(?<=[\w,;:)] )[A-Z][\w'’-]*[a-z][\w'’-]*|\b[A-Z]{2,}[\w-]*\b")
DENIES = re.compile(
    r"\b(?:not|no|never|none|nothing|neither|nor|without|cannot|can't|won't|don't|doesn't|didn't|isn't|aren't|wasn't|"
    r"weren't|shouldn't|mustn't|wouldn't|couldn't|hasn't|haven't|hadn't|no longer|nicht|kein\w*|nie|niemals|ohne|"
    r"pas|jamais|aucun\w*|sans|sin|nunca|ningún|ninguna|não|nessun\w*|mai)\b",
    re.IGNORECASE,
)
OPPOSITES = (
    ("enable", "disable"), ("allow", "forbid"), ("allow", "deny"), ("before", "after"), ("always", "never"),
    ("increase", "decrease"), ("add", "remove"), ("open", "close"), ("synchronous", "asynchronous"), ("on", "off"),
    ("true", "false"), ("first", "last"), ("more", "less"), ("faster", "slower"), ("pass", "fail"), ("keep", "drop"),
    ("local", "remote"), ("accept", "reject"), ("required", "optional"), ("above", "below"), ("start", "stop"),
    ("succeed", "fail"), ("lock", "unlock"), ("up", "down"), ("internal", "external"), ("public", "private"),
    ("oldest", "newest"), ("longer", "shorter"), ("min", "max"), ("minimum", "maximum"), ("yes", "no"),
)  # fmt: skip
_ENDINGS = ("ingly", "edly", "ations", "ation", "ings", "ing", "ies", "ied", "es", "ed", "ly", "s", "e")


@dataclass(frozen=True, slots=True)
class Facts:
    """What one sentence holds, as it is compared. `named` are its identifiers and names, `words` stems of the rest."""

    words: frozenset[str]
    named: tuple[str, ...]
    numbers: frozenset[str]
    denies: bool  # an odd number of denials
    stems: frozenset[str]  # every word's stem


@lru_cache(maxsize=1 << 13)
def facts(text: str) -> Facts:
    """Return what of a sentence can be checked by the letter."""
    text = compared(text)
    found = dict.fromkeys(m[1] for m in _CODE.finditer(text))
    plain = _CODE.sub(" ", text)
    for pattern in (_IDENTIFIER, _NAME):
        found |= dict.fromkeys(m[0].strip(".,:;#-") for m in pattern.finditer(plain))
    named = {fold(fact) for fact in found}
    words = {stem(w) for w in segment(plain) if w not in STOP and not w.isdigit() and fold(w) not in named}
    held = {part for fact in found for part in segment(fact)}
    return Facts(
        frozenset(words - {stem(w) for w in held}),
        tuple(f for f in found if fold(f) and not NUMBER.fullmatch(f)),
        frozenset(number(m[0]) for m in NUMBER.finditer(text)),
        len(DENIES.findall(text)) % 2 == 1,
        frozenset(stem(w) for w in segment(text)),
    )


def fold(text: str) -> str:
    """Letters and digits alone, case and look-alikes folded: identifiers in any of their spellings are equal."""
    return "".join(c for c in compared(text).casefold() if c.isalnum())


@lru_cache(maxsize=1 << 15)
def stem(word: str) -> str:
    """A word without its usual English ending; at least three characters stay."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def number(text: str) -> str:
    """A number as it is compared: lower case, without blanks, thousands' commas and a leading plus."""
    return re.sub(r"[\s,]", "", text.lower()).lstrip("+")
