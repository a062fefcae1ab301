"""Who reads along, and what they may see: one function, asked by every door through which something leaves.

On the hook path: standard library only.
"""

from recall.governance_settings import AUDIENCES as _AUDIENCES

AUDIENCES = _AUDIENCES
PRIVATE, PROJECT, SHARED, PEER = AUDIENCES
UNKNOWN = "unknown"  # where it was said and could not be read: none of the audiences, taken as the narrowest
_PERSONAL = "user_preference"  # what a person wants is about that person, whatever class it was given


def may_see(privacy: str, memory_type: str, audience: str | None, granted: bool = False) -> bool:
    """Say whether an audience may see an item of a privacy class.

    `memory_type` is "" for a passage of the transcript. `granted` is a grant of exactly this item to this audience;
    it widens nothing else. An audience or class that nobody knows is taken as the narrowest. Credentials are no
    matter of this: they are masked, and no grant brings them back.
    """
    reading = audience if audience in AUDIENCES else PEER
    if reading == PRIVATE or granted:
        return True
    if reading == PROJECT:
        return privacy in (PROJECT, SHARED)
    if reading == PEER and memory_type == _PERSONAL:
        return False
    return privacy == SHARED


def wide(audience: str | None) -> bool:
    """Say whether others than the owner and the project's agents read along."""
    return audience not in (PRIVATE, PROJECT)


def widest(*audiences: str | None) -> str:
    """Return the one of these before which the least may be said; "project" where none is named.

    UNKNOWN where one of them is none of the audiences.
    """
    named = [one for one in audiences if one]
    if not set(named) <= set(AUDIENCES):
        return UNKNOWN
    return max(named, key=AUDIENCES.index, default=PROJECT)
