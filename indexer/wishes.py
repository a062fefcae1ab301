"""Which of a person's sentences lay down how work is to be done: standing wishes, bans and corrections, by their form.

One pure function, asked when a passage is indexed. English, German, French and Spanish.
"""

import re

MOST_CHARS = 1200  # a longer passage is a plan or a paste: a rule in it is one of many
_OPENS = (
    r"(?:(?:please|pls|and|also|but|so|ok(?:ay)?|hey|no|nope|again|bitte|und|aber|also|nein|s'il te plaît|et|mais|non|"
    r"por favor|y|pero|no)[\s,.!:-]+)*"
)
_AT_START = re.compile(
    _OPENS + r"(?:always\b|never\b(?! ?mind)|don'?t\b(?! (?:worry|know|think|understand))|do not\b|stop \w+ing\b|"
    r"avoid\b|prefer\b|make sure\b|be sure to\b|remember (?:to|that)\b|only (?:use|ever)\b|use only\b|no more\b|"
    r"from now on\b|going forward\b|in (?:the )?future\b|as a rule\b|"
    r"immer\b|niemals\b|nie\b|keine?[nrs]? \w+ mehr\b|ab (?:jetzt|sofort)\b|von nun an\b|künftig\b|in zukunft\b|"
    r"hör auf\b|vermeide\b|achte darauf\b|denk daran\b|"
    r"toujours\b|jamais\b|désormais\b|dorénavant\b|à (?:partir de maintenant|l'avenir)\b|évite\b|arrête de\b|"
    r"n'(?:utilise|écris|ajoute|oublie)\w*\b|ne \w+ (?:pas|plus|jamais)\b|"
    r"siempre\b|nunca\b|(?:a partir|de ahora) (?:de ahora|en adelante)\b|evita\b|deja de\b|no (?:uses|hagas|pongas|"
    r"escribas|toques|olvides)\b)",
    re.IGNORECASE,
)
_CORRECTS = re.compile(
    r"(?:no|nope|wrong|nein|falsch|non)[,.!:]\s+\w|(?:not like that|that'?s (?:not|wrong)|i (?:said|told you|asked)\b)",
    re.IGNORECASE,
)
_ANYWHERE = re.compile(
    r"\b(?:from now on|going forward|as a rule|i(?:'d| would)? (?:much |strongly )?prefer|we prefer|"
    r"(?:you|we|one) (?:should|must|have to) (?:always|never|not)\b|(?:you|we) (?:always|never) (?!had\b|got\b|saw\b)|"
    r"please (?:always|never|don'?t|do not|use|keep|avoid|stop|only)\b|"
    r"i (?:don'?t|do not|never|always) (?:want|like) |i (?:want|need|like) (?:all|every\w*) |"
    r"(?:whenever|every time|each time|before) you \w+|(?:must|should) (?:always|never)\b|"
    r"must not\b|no need to \w+|"
    r"ab (?:jetzt|sofort)|von nun an|in zukunft|bitte (?:immer|nie|niemals|kein\w*|nicht|nur)\b|"
    r"(?:verwende|nutze|benutze|schreib\w*|mach\w*|nimm) (?:\w+ )?(?:immer|nie|niemals|bitte|nur|kein\w*)\b|"
    r"ich (?:bevorzuge|möchte|will) (?:\w+ )?(?:immer|nie|niemals|kein\w*|nicht|dass|lieber)\b|"
    r"désormais|dorénavant|à partir de maintenant|je préfère|je (?:ne )?veux (?:pas|plus|que|toujours)|"
    r"(?:utilise|écris|fais|mets|garde) (?:\w+ )?(?:toujours|jamais|plutôt)|"
    r"il (?:faut|ne faut) (?:toujours|jamais|pas)|"
    r"a partir de ahora|de ahora en adelante|prefiero|(?:usa|escribe|haz|pon) (?:\w+ )?(?:siempre|nunca|solo)|"
    r"no quiero)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?。])\s+|\n+")


def is_wish(text: str) -> bool:
    """Tell whether a person's passage lays down, in one of its sentences, how something is always or never done."""
    plain = text.strip().replace("’", "'")
    if not plain or len(plain) > MOST_CHARS:
        return False
    return any(_lays_down(sentence.strip(" \t-*>•")) for sentence in _SENTENCE.split(plain))


def _lays_down(sentence: str) -> bool:
    if not sentence or sentence.endswith("?"):
        return False
    return bool(_AT_START.match(sentence) or _CORRECTS.match(sentence) or _ANYWHERE.search(sentence))
