"""What a statement is about: its identifiers and names, and the words that are left without the usual ones."""

from consolidation.align import words_of
from recall.facts import Facts, facts, fold, stem

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
    """Return what a statement is about, its identifiers and names first, in their order; at most MOST."""
    found = facts(text)
    return (*found.named, *sorted(_rare(found)))[:MOST]


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
