"""What a text is by its form alone: an announcement of the next step, a question, a pasted document.

On the hook path: standard library only.
"""

import re

_SHORT = 240
_PASTED_LINES = 4
_ANNOUNCES = re.compile(
    r"\s*(?:(?:ok(?:ay)?|good|great|perfect|excellent|right|now|next|first|then|alright|done|so|and|also|hmm|wait|"
    r"i see|got it|understood|yes|finally|gut|jetzt|also|bien|maintenant|ensuite|d'accord)[\s,.!:;–—-]+)*"
    r"(?:let me(?! know)|let's|let us|i'll|i will|i'm going to|i am going to|i need to|i should|i want to|"
    r"going to|time to|now (?:i|let|we|to|update|add|run|fix|check)|we need to|"
    r"running|checking|looking|reading|searching|updating|adding|creating|"
    r"lass mich|lassen sie mich|ich werde|ich schaue|ich prüfe|jetzt|zuerst|"
    r"je vais|laissez-moi|laisse-moi|voyons|d'abord|vamos a|voy a|déjame)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\s*(?:(?:and|so|but|ok|okay|hm+|hey|also|und|aber|et|mais)[\s,]+)*"
    r"(?:what|why|how|where|when|which|who|is|are|was|were|do|does|did|can|could|should|would|will|has|have|"
    r"was|warum|wieso|wie|wo|wann|welche[rsnm]?|wer|kann|können|soll|sollten|ist|sind|gibt|"
    r"qu'est-ce|que|quoi|pourquoi|comment|où|quand|quel(?:le)?s?|qui|est-ce|peux-tu|peut-on)\b",
    re.IGNORECASE,
)
# A line as programs print it: a time, a level, a frame of a stack, a branch of a tree, or one with an id in it.
_PRINTED = re.compile(
    r"^\s*(?:[\[(]?(?:\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d)|(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)\b|"
    r"at \S+ ?\(|File \"|[│├└╭╰]|={3,} |--- )|\b(?=[0-9a-f]*\d)[0-9a-f]{7,}\b",
)
_STRUCTURE = re.compile(r"^\s*(?:#{1,6}\s|[-*+]\s|\d+[.)]\s|\||```)", re.MULTILINE)


def is_announcement(text: str) -> bool:
    """Whether a short text of an agent only says what it does next."""
    plain = text.strip().replace("’", "'")
    return len(plain) <= _SHORT and (plain.endswith(":") or _ANNOUNCES.match(plain) is not None)


def is_question(text: str) -> bool:
    """Whether a person's text asks more than it tells: it ends in a question mark, or is one sentence that asks."""
    plain = text.strip()
    if plain.endswith(("?", "？")):
        return True
    return len(plain) <= _SHORT and "\n" not in plain and _ASKS.match(plain) is not None and "." not in plain[:-1]


def is_pasted(text: str) -> bool:
    """Whether a person's text looks pasted: many lines of headings, lists, tables or code, or of a program's output."""
    lines = text.split("\n")
    if len(lines) < _PASTED_LINES:
        return False
    structured = len(_STRUCTURE.findall(text)) >= _PASTED_LINES
    return structured or sum(_PRINTED.search(line) is not None for line in lines) >= _PASTED_LINES
