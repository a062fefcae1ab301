"""Whether a prompt wants exact wording: then what was said stands above what a model wrote about it (LCA 5.2.4).

On the hook path: standard library only.
"""

import re

_WANTS = re.compile(
    # somebody's words between quotation marks or backticks
    r"\"[^\"\n]{3,}\"|“[^”\n]{3,}”|„[^“”\n]{3,}[“”]|«[^»\n]{3,}»|「[^」\n]{2,}」|`[^`\n]{3,}`"
    r"|(?<!\w)'[^'\n]+ [^'\n]+'(?!\w)"
    # the wish for them
    r"|\b(?:exact|precise|literal|very) (?:words?|wording|phras\w+|quote|text)\b|\bverbatim\b|\bword for word\b"
    r"|\bwort(?:wörtlich|laut|getreu)\w*|\bwörtlich\w*|\bgenaue[rn]? (?:wort\w*|formulierung)"
    r"|\bmot (?:à|pour) mot\b|\btextuellement\b|\b(?:mots|termes) exacts\b"
    r"|\bpalabras exactas\b|\btextualmente\b|\bal pie de la letra\b|\bparole esatte\b|\bparola per parola\b"
    r"|\bpalavras exatas\b|\bdiscorso letterale\b|\bдословно\b|\bслово в слово\b|原话|原文|逐字|一字一句|그대로"
    # an error as a program prints it
    r"|\b(?:error|fatal|panic|exception|fehler|erreur)\b ?(?:\[\w+\])?: ?\S|\berrno\b|\bexit (?:code|status) \d+"
    r"|\bTraceback \(most recent call last\)",
    re.IGNORECASE,
)
_CASED = re.compile(r"\b[A-Z]\w*(?:Error|Exception|Warning|Fault)\b|\bE[A-Z]{4,}\b|\b[A-Z]{2,}\d{3,}\b")


def wants_exact_words(prompt: str) -> bool:
    """Whether a prompt quotes, asks for the exact words, or holds an error as it was printed."""
    return bool(_WANTS.search(prompt[:4000]) or _CASED.search(prompt[:4000]))
