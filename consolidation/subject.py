"""What a statement is about: its identifiers and names, and the words that are left without the usual ones."""

from collections.abc import Sequence

from consolidation.align import words_of
from recall.facts import Facts, facts, fold, stem
from transcript.lookalike import compared_places

MOST = 8
LEAST_SHARED_WORDS = 2
USUAL = words_of(
    "use uses used using make makes made need needs work works working run runs running code file files line lines "
    "test tests change changes changed add adds added set sets get gets call calls called function functions method "
    "name names value values issue problem bug fix fixes fixed error errors case cases thing things way time new "
    "old same other always never please must should want when where which instead default start starts end begin "
    "begins convention rule ensure update updates updated"
)
_USUAL_STEMS = frozenset(map(stem, USUAL))


def subject(text: str) -> tuple[str, ...]:
    """Return what a statement is about, its identifiers and names as written first, in their order; at most MOST."""
    found = facts(text)
    plain, places = compared_places(text)
    named = [
        name if places is None and plain == text else _as_written(name, text, plain, places) for name in found.named
    ]
    return (*named, *sorted(_rare(found)))[:MOST]


def _as_written(name: str, text: str, plain: str, places: Sequence[int] | None) -> str:
    """Return a name with the characters that stand in the text, where it stands there in one piece."""
    start = plain.find(name)
    if start < 0:
        return name
    end = start + len(name)
    return text[start:end] if places is None else text[places[start] : places[end - 1] + 1]


def same_subject(one: str, other: str) -> bool:
    """Whether two statements share an identifier or name, or at least two of their less usual words."""
    return bool(shared(one, other))


def shared(one: str, other: str) -> frozenset[str]:
    """Return what two statements are both about; empty when that is too little to be one subject."""
    a, b = facts(one), facts(other)
    names = {fold(name) for name in a.named} & {fold(name) for name in b.named}
    words = _rare(a) & _rare(b)
    return frozenset(names | words) if names or len(words) >= LEAST_SHARED_WORDS else frozenset()


def _rare(found: Facts) -> frozenset[str]:
    return frozenset(word for word in found.words if word not in _USUAL_STEMS and len(word) >= 3)
