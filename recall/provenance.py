"""Which records a running session was shown already, so that a deliberate search can say so (LCA 5.5)."""

from itertools import islice

from recall import ledger
from transcript.log import Log

LOOK_BACK = 200  # turns of a hook that are looked through


def injected(log: Log, session: str = "") -> dict[str, str]:
    """Return event id -> pointer of the turn whose hook injected it into a session, the latest turn of each event.

    Without a session the one whose hook asked last: an agent that searches is most likely the one that was just told.
    """
    found: dict[str, str] = {}
    for turn in islice(ledger.turns(log, modes=ledger.HOOK_MODES), LOOK_BACK):
        session = session or turn.session
        if turn.session != session:
            continue
        for item in turn.body.get("items", ()):
            for event in (item.get("event", ""), *item.get("also", ())):
                found.setdefault(event, turn.pointer)
    return found
