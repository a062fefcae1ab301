"""Whether a prompt asks what was, rather than what is: only then may what was replaced answer it.

On the hook path: standard library only.
"""

import re
from datetime import datetime

from recall.forms import is_question

IN_HAND_S = 7 * 86_400  # what was said in a time that ended less long ago is the work in hand, not history
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]?")
_PEOPLE = "we|i|you|they|he|she|it|this|that|there|somebody|someone|anybody|anyone"
_CHANGES = (
    r"chang\w+|switch\w*|mov(?:e|ed|ing)|migrat\w+|replac\w+|renam\w+|rewr\w+|refactor\w*|upgrad\w+|convert\w*|"
    r"cut-?over|overhaul\w*|redesign\w*|split|merge|rollout"
)
# Words that look back, in the languages that prompts come in. "Before" and "used to" look back only in some places.
_LOOKS_BACK = re.compile(
    r"\b(?:originally|previously|formerly|back then|in the past|at first|initially|once upon|history of"
    r"|(?:the|our|my|its|your|their) (?:old|former|previous|original|earlier|first|prior) \w+"
    rf"|(?:{_PEOPLE}|who|what) used to \w+"
    r"|did(?:n't)?\b[^?]{0,120}\b(?:used to \w+|use to (?:be|have|look|live|work|say))"
    r"|did (?:we|i|you|they|it|he|she) (?:once|use to)"
    rf"|(?:did|was|were|had|has|have)\b[^?]{{0,120}}\b(?:before|until|prior to) "
    rf"(?:that|then|this|(?:{_PEOPLE}|the)\b[^?]{{0,120}}\b(?:{_CHANGES}))"
    rf"|(?:did|was|were|had)\b[^?]{{0,120}}\b(?:before|until) (?!you\b)(?:{_PEOPLE})\b(?:\s+\w+)?\s+"
    r"(?:\w+ed|went|left|made|took|got|had|wrote|began|brought|chose|gave|put|threw|found|built|came|lost|dropped)"
    r"|früher|vorher|ursprünglich\w*|damals|zuvor|einst|ehemals|ehemalig\w+|vormals|bisherig\w+"
    r"|bevor (?:wir|ich|sie|er|es|man)|vor (?:dem|der) (?:wechsel|umstellung|umstieg|migration|umbau|änderung|umzug)"
    r"|auparavant|avant (?:cela|ça|le changement|la migration|le passage|la bascule|la refonte)|à l['’]origine"
    r"|avant (?:que (?:nous|on|je)|qu['’]on|de (?:passer|changer|migrer|basculer|remplacer))|dans le passé"
    r"|autrefois|précédemment|ancien(?:ne)?s?|initialement"
    r"|antes|anteriormente|originalmente|en el pasado|antigu[oa]s?|al principio|previamente"
    r"|prima|precedentemente|originariamente|in passato|una volta|inizialmente"
    r"|antigamente|originalmente|no passado|inicialmente"
    r"|vroeger|voorheen|oorspronkelijk|eerder|voordat (?:we|ik|ze|het)|in het verleden"
    r"|wcześniej|dawniej|pierwotnie|poprzednio|w przeszłości|zanim|przed (?:zmianą|migracją|przejściem))\b"
    # "the limit used to be", not "the command that is used to run it"
    r"|^(?:(?!\b(?:is|are|be|am|gets?|got)\b)[^?]){0,120}\bused to (?:be|have|do|use|run|call|live|work|look|store|keep"
    r"|say|return|listen|point|need|expect|mean)\b"
    r"|\b(?:did|was|were|had|has|have)\b[^?]{0,120}\b(?:before|earlier)\s*(?:\?|$)"
    r"|\bavant\s*[?]|\b(?:раньше|прежде|ранее|изначально|первоначально|до этого|до того как|в прошлом"
    r"|до (?:перехода|миграции|переезда|смены)|перед (?:переходом|миграцией))\b"
    r"|以前|之前|原来|原本|当初|最初|過去|过去|曾经|元々|もともと|かつて|(?:移行|変更|切り替え)る?前"
    r"|이전에|예전에|원래|처음에|전에는|(?:바꾸|옮기)기 전",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\s*(?:(?:please|bitte)\s+)?(?:tell|show|remind|explain|list|sag|zeig|nenn|erklär|rappelle|dis|montre|recuérda"
    r"|dime|muestra|ricorda|dimmi|mostra|lembr|diga|mostre)\w*\b",
    re.IGNORECASE,
)
# A year as a time: "in 2025?", not "in 2000 lines".
_YEAR = re.compile(
    r"\b(?:in|during|until|till|before|through(?:out)?|back in|(?:end|start|middle) of|early|late|mid|im jahre?"
    r"|ende|anfang|mitte|vor|bis|wir|ich|man|en|fin|début|avant|durante|hasta|nel|fino al|em|até|tot|w|do|в|до)[ -]"
    r"((?:19|20)\d\d)(?=\s*(?:$|[?!.,;:)]|roku|году|года|(?:and|or|when|did|was|were|had|we|und|oder|et|ou|y|o|e|и)\b))"
    r"|((?:19|20)\d\d)\s?[年년]",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:did|didn't|was|wasn't|were|weren't|had|used|waren?|hatten?|hatte|wurden?|haben|hat|était|étaient|avait"
    r"|avaient|a-t-on|avons-nous|a été|fue|fueron|era|eran|erano|eram|foi|foram|było|był|była"
    r"|\w+(?:ions|aient|ábamos|íamos|aban|avamo|evamo|ávamos|liśmy|ali|ели|али|или|или))\b",
    re.IGNORECASE,
)


def asks_for_history(
    prompt: str, *, now: datetime | None = None, when: tuple[int, int] | None = None, searched: bool = False
) -> bool:
    """Whether a question of the prompt is about a state that is over, such as "what did we use before?".

    So is one in the past about a time that is over at `now`: a year that it names, or the stretch `when` that it names,
    in seconds since 1970. In a search that somebody typed (`searched`) words that look back need no question.
    """
    return any(
        (searched or is_question(sentence) or _ASKS.match(sentence))
        and (_LOOKS_BACK.search(sentence) or _is_over(sentence, now, when))
        for sentence in _SENTENCE.findall(prompt[:4000])
    )


def _is_over(sentence: str, now: datetime | None, when: tuple[int, int] | None) -> bool:
    """Whether a sentence names a time that is over."""
    if now is None:
        return False
    may_name_a_year = "19" in sentence or "20" in sentence  # before the expression is compiled, in the hook's client
    if may_name_a_year and any(int(one or other) < now.year for one, other in _YEAR.findall(sentence)):
        return True
    return when is not None and when[1] <= now.timestamp() - IN_HAND_S and bool(_PAST.search(sentence))
