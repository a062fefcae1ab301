"""Whether a statement says something by itself: without what stood around it, and besides what the code says now."""

import re

from consolidation.finding import DANGLING, IDENTIFIER, LEANING

_FIRST = re.compile(r"[.!?]\s")
_ASIDE = re.compile(r"\([^()]*\)")
_OPENER = re.compile(  # what announces a cause; the sentence proper comes behind it
    r"^\W*(?:(?:[\w ]{3,30}?)\W*:\W*|(?:the|one) (?:\w+ )?(?:issue|bug|problem|cause|reason) (?:is|was) (?:that )?)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(  # what a list or a talk has numbered: its number says nothing elsewhere
    r"\b(?:option|session|scenario|phase|bug|problem|task|step|issue|case|approach|finding|comment|point|solution|"
    r"variant|item|question|fix|part) (?:#?\d+|[A-Z])\b(?!\.\d)",
    re.IGNORECASE,
)
_AFTER = re.compile(  # goes on with what came before in time
    r"(?:(?:on|in|at|for|after) the (?:next|following|same|other|second|previous)|later|afterwards|again|meanwhile|"
    r"instead|additionally|finally|next|in (?:this|that|both) cases?|at (?:this|that) point)\b",
    re.IGNORECASE,
)
_UPPER = re.compile(r" #?(?:\d+|[A-Z])$")
_POINTED = re.compile(r"\b(?:this|these|those)\s+(?!repo\w*|project|codebase)(\w+)(?:\s+(\w+))?", re.IGNORECASE)
_ABSTRACT = re.compile(
    r"\bthe (?:fix|solution|workaround|approach|suggestion|change|plan|reviewer|comment)s? "
    r"(?:is|was|are|were|for|to)\b|"
    r"\b(?:both (?:of|issues|problems|bugs|fixes|cases)|above|below|the (?:one|former|latter))\b|"
    r"\b(?:this|that|one)\W*$",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"\b(?:it|them|they)\b", re.IGNORECASE)
_CLAUSE = re.compile(
    r"\w{3,}[^\n]*?(?:[,;:(—–]| - |\b(?:when|because|so|but|and|or|which|since|that|before|after|if|while|until|as|"
    r"than|where|who|to|for|of|in|with|from|on)\b)",
    re.IGNORECASE,
)
_STEM = 4
_MENDED = re.compile(  # what was missing is there now, what was shown has changed
    r"\b(?:(?:was|were|is|are) missing|(?:wasn't|weren't|isn't|doesn't|didn't) (?:receiv|pars|pass|sett?)(?:e|ing)?|"
    r"(?:was|were) not being (?:saved|passed|set)|showed|printed|displayed|(?:was|were) showing)\b(?![^.]*\bso\b)|"
    r"\b(?:(?:did|was|were)(?:n't| not)|(?:was|were) never)\b(?![^.]*\b(?:so|because|since)\b)|"
    r"\b(?:was|were)(?:n't| not) (?:being )?\w+ed\W*$",
    re.IGNORECASE,
)


def stands_alone(text: str) -> bool:
    """Return whether the first sentence of a statement names what it speaks of.

    It does not where it goes on with something, numbers an option or a session, says "this" of what it has not named,
    or has a pronoun before there was anything that it could stand for. What comes behind may point back.
    """
    bare = text.lstrip("*_ ")
    if DANGLING.match(bare) or LEANING.match(bare) or _AFTER.match(bare):
        return False
    first = _ASIDE.sub(" ", _FIRST.split(text, maxsplit=1)[0])
    if _ABSTRACT.search(first) or _numbered(text):
        return False
    return not (_pointed(first) or _early(first))


def is_mended(text: str) -> bool:
    """Return whether the first sentence of a statement only says that something was missing or shown, and no reason.

    That was mended, and whoever reads the code sees what it does now.
    """
    return bool(_MENDED.search(_FIRST.split(text, maxsplit=1)[0]))


def _numbered(text: str) -> bool:
    return any(_UPPER.search(found[0]) for found in _NUMBERED.finditer(text))


def _pointed(first: str) -> bool:
    """Say whether a sentence says "this thing" of a thing that it has not named before."""
    for found in _POINTED.finditer(first):
        before = first[: found.start()]
        nouns = "|".join(re.escape(word[:_STEM]) for word in found.groups() if word)
        if not (IDENTIFIER.search(before) or re.search(rf"\b(?:{nouns})", before, re.IGNORECASE)):
            return True
    return False


def _early(first: str) -> bool:
    """Say whether a sentence has a pronoun within its first clause."""
    opener = _OPENER.match(first)
    said = first[opener.end() if opener else 0 :]
    pronoun = _PRONOUN.search(said)
    return pronoun is not None and not _CLAUSE.search(said[: pronoun.start()])
