"""Whether a prompt asks what was, rather than what is: only then may what was replaced answer it.

On the hook path: standard library only.
"""

import re

from recall.forms import is_question

_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]?")
# Words that look back, in the languages that prompts come in. "Before" and "used to" look back only in some places.
_LOOKS_BACK = re.compile(
    r"\b(?:originally|previously|formerly|back then|in the past|at first|initially|once upon|history of"
    r"|(?:the|our|my|its) (?:old|former|previous|original|earlier|first) \w+"
    r"|used to (?:be|have|do|use|run|call|live|work|look|store|keep)|did (?:we|i|you|they|it|he|she) (?:once|use to)"
    r"|(?:did|was|were|had|has|have)\b[^?]*\bbefore (?:that|then|this"
    r"|(?:we|i|you|they|it|the)\b[^?]*\b(?:chang|switch|mov|migrat|replac|renam)\w+)"
    r"|früher|vorher|ursprünglich\w*|damals|zuvor|einst|ehemals|ehemalig\w+|vormals|bisherig\w+"
    r"|auparavant|avant (?:cela|ça|le changement)|à l['’]origine|autrefois|précédemment|ancien(?:ne)?s?|initialement"
    r"|antes|anteriormente|originalmente|en el pasado|antigu[oa]s?|al principio"
    r"|prima|precedentemente|originariamente|in passato|una volta|inizialmente"
    r"|antigamente|originalmente|no passado|inicialmente"
    r"|vroeger|voorheen|oorspronkelijk|eerder|wcześniej|dawniej|pierwotnie|poprzednio)\b"
    r"|\b(?:did|was|were|had|has|have)\b[^?]*\b(?:before|earlier)\s*(?:\?|$)"
    r"|\bavant\s*[?]|\b(?:раньше|прежде|ранее|изначально|первоначально|до этого)\b"
    r"|以前|之前|原来|原本|当初|最初|過去|过去|曾经|元々|もともと|かつて|이전에|예전에|원래|처음에",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\s*(?:(?:please|bitte)\s+)?(?:tell|show|remind|explain|list|sag|zeig|nenn|erklär|rappelle|dis|montre|recuérda"
    r"|dime|muestra|ricorda|dimmi|mostra|lembr|diga|mostre)\w*\b",
    re.IGNORECASE,
)


def asks_for_history(prompt: str) -> bool:
    """Whether a question of the prompt is about a state that is over, such as "what did we use before?"."""
    return any(
        _LOOKS_BACK.search(sentence) and (is_question(sentence) or _ASKS.match(sentence))
        for sentence in _SENTENCE.findall(prompt[:4000])
    )
