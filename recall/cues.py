"""What a prompt asks for: its own words without envelopes, or the reason why nothing is to be recalled.

On the hook path: standard library only.
"""

from dataclasses import dataclass

from indexer.segment import query_terms
from recall.language import GLOSSED, detect, stop_words
from recall.silence import is_bare_act, typed, why_silent
from transcript.kept_out import opts_out

MAX_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class Cues:
    """A prompt read: its text, its content words, and why nothing should be recalled ("" when something may)."""

    text: str
    terms: tuple[str, ...]
    reason: str = ""
    language: str = ""  # ISO 639-1; "" where it cannot be told
    meaning: str = ""  # the text an encoder reads: of a prompt in another language than English, its gloss
    glossed: tuple[tuple[frozenset[str], frozenset[str]], ...] = ()  # terms of the prompt, terms of their English
    when: tuple[int, int] | None = None  # the time it names, seconds since 1970: from, before
    bare: bool = False  # an order that every project knows ("commit this"): only what governs it is of use
    history: bool = False  # it asks what was: what was replaced may answer it
    verbatim: bool = False  # it wants exact wording


def read_cues(prompt: str, *, mode: str = "turn", gloss: bool = True, parts: bool = True) -> Cues:
    """Read a prompt. In a deliberate search only an empty one is turned away.

    With `gloss`, a prompt in one of `recall.language.GLOSSED` is searched for by its English words too.

    Reasons: empty, norecall, envelope, command, continuation, no_words.
    """
    if opts_out(prompt):
        return Cues("", (), "norecall")
    if not prompt.strip():
        return Cues("", (), "empty")
    text = typed(prompt[: 4 * MAX_CHARS])[:MAX_CHARS].strip()
    if mode == "turn":
        reason = why_silent(text)
        if reason:
            return Cues(text, (), reason)
    bare = mode == "turn" and is_bare_act(text)
    language = detect(text)
    terms = tuple(query_terms(text, stop_words(language), parts=parts))
    if not terms:
        return Cues(text, terms, "command" if bare else "no_words", language, text)
    if not gloss or language not in GLOSSED:
        return Cues(text, terms, "", language, text, bare=bare)
    from recall.gloss import gloss as in_english  # read for a prompt in another language alone

    english = in_english(text, language)
    glossed = tuple(
        (frozenset(query_terms(word.source, stop_words(language))), frozenset(query_terms(word.english)))
        for word in english.known
    )
    more = query_terms(" ".join(word.english for word in english.known))
    terms = tuple(dict.fromkeys([*terms, *more]))
    return Cues(text, terms, "", language, english.text or text, glossed, bare=bare)
