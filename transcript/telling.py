"""How counts and moments are told to people, the same in every command; JSON keeps plain numbers and ISO times."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from transcript.lookalike import SHAPELESS, UNSEEN

UNKNOWN = "at a time unknown"
_OBEYED = re.compile(f"[\r\x85]|{UNSEEN.pattern}")
_PERHAPS = re.compile(f"[\r\x85{SHAPELESS}\u200c\u200d]")  # quick: most texts hold none of them
MOST_QUOTED = 100  # characters: what is longer was pasted or read from a file, and may hold a record's words
MOST_ARGUMENT = 400  # characters of an argument: a path is shorter, and what was pasted is not
SESSION_SHOWN = 13  # of an id made of a time, eight characters are the same for all sessions of the same minute


def counted(number: int, one: str, many: str = "") -> str:
    """Return `1 turn`, `2,000 turns`; many is given where the plural is more than one with an s."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def minute(moment: datetime | str | float) -> str:
    """Return `2026-04-02 16:25Z`: UTC to the minute, from a time, an ISO text or seconds since 1970."""
    try:
        if isinstance(moment, str):
            moment = datetime.fromisoformat(moment)
        elif not isinstance(moment, datetime):
            moment = datetime.fromtimestamp(moment, UTC)
        return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%MZ")
    except (ValueError, OverflowError, OSError):
        return UNKNOWN


def session_name(session: str) -> str:
    """Return the beginning of a session's id that tells it from others and that `--session` takes."""
    return session[:SESSION_SHOWN].rstrip("-")


def visible(text: str) -> str:
    """Return text with what nobody sees as escapes: controls but line ends and tabs, turned writing, fillers.

    A joiner that shapes a letter or a picture stays.
    """
    return _OBEYED.sub(lambda found: ascii(found[0])[1:-1], text) if _PERHAPS.search(text) else text


def quoted(value: object) -> str:
    """Return a refused value as an error tells it: in quotes, or how long it is where it is longer than a value is."""
    text = value if isinstance(value, str) else repr(value)
    return repr(value) if len(text) <= MOST_QUOTED else f"a text of {len(text):,} characters"


def unechoed(message: str, texts: Iterable[str], *, most: int = MOST_QUOTED) -> str:
    """Return a message in which no text of more characters than most stands, and no beginning of one."""
    for text in texts:
        if len(text) <= most:
            continue
        for form in (f"'{text}'", repr(text), text):
            message = message.replace(form, f"a text of {len(text):,} characters")
        begin = text[: MOST_QUOTED // 2]
        while (at := message.find(begin)) >= 0:
            end = at + len(begin)
            while end < len(message) and text.startswith(message[at : end + 1]):
                end += 1
            message = f"{message[:at]}a text of {len(text):,} characters{message[end:]}"
    return message
