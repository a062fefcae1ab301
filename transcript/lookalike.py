"""Text as it is compared: what looks like a Latin letter counts as that letter, what nobody sees does not count.

Only for comparing: the record keeps every character as it came. A letter of another script is folded where it hides
among Latin ones ("раypal"), and where a word could as well be Latin throughout and nothing in the text shows that the
script is meant; Russian stays Russian.

On the hook path: standard library only.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from unicodedata import decomposition, normalize

# controls, joiners and marks without a shape, turned writing, fillers, tags; line ends and tabs are none of them
SHAPELESS = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# joiners beside ASCII: elsewhere they shape a letter or a picture
UNSEEN = re.compile(f"[{SHAPELESS}]|(?<=[\x00-\x7f])[\u200c\u200d]+|(?<![\u200c\u200d])[\u200c\u200d]+(?=[\x00-\x7f])")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_PAIRS = (
    ("АВСЕНІЈКМОРЅТУХѴԌԚԜҮаԁеһіјкӏорԛѕсухѵԝү", "ABCEHIJKMOPSTYXVGQWYadehijklopqscyxvwy"),  # Cyrillic
    ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹαικνορυχϲϳ", "ABEZHIKMNOPTYXCaikvopuxcj"),  # Greek
    ("ՕՍՏօոսհցյզ", "OUSonuhgjq"),  # Armenian
    ("ᎪᏴᏟᎠᎬᏀᎻᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᏃ", "ABCDEGHJKLMPRSTVWZ"),  # Cherokee
)
_FOREIGN = {ord(one): other for ones, others in _PAIRS for one, other in zip(ones, others, strict=True)}
_LATIN = dict(
    zip(
        map(ord, "ıɑɡɩʋᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ‐‑‒−﹣⁄∕∶꞉․"),
        "iagivabcdefghijklmnoprstuvwyz-----//::.",
        strict=True,
    )
)
_STYLED = "\uff01-\uff5e\U0001d400-\U0001d7ff\u2100-\u214f\u2160-\u217f\u24b6-\u24e9\ufb00-\ufb06"
_SCRIPTS = "\u0370-\u03ff\u0400-\u052f\u0531-\u058a\u13a0-\u13ff\uab70-\uabbf"
_DRESS = _STYLED + "".join(re.escape(chr(point)) for point in _LATIN)
_LOOK = "".join(map(chr, _FOREIGN))
_ODD = re.compile(f"[{SHAPELESS}\u200c\u200d{_LOOK}{_DRESS}\u0300-\u036f]")
_DRESSED = re.compile(f"[{_DRESS}]")
_MARKED = re.compile("[^\\W\\d_][\u0300-\u036f]+")
_WORD = re.compile(r"\w+")
_LOOKS = re.compile(f"[{_LOOK}]")
_MEANT = re.compile(rf"(?![{_LOOK}])[{_SCRIPTS}]")  # a letter that could be nothing else
_LATIN_LETTER = re.compile("[A-Za-z]")


def compared(text: str) -> str:
    """Return a text as it is compared."""
    return compared_places(text)[0]


def compared_places(text: str) -> tuple[str, Sequence[int] | None]:
    """Return a text as it is compared, and where each of its characters stands in the text as it is written.

    None for the places where they are the same.
    """
    if text.isascii() and not _CONTROL.search(text):
        return text, None
    if not _ODD.search(text):
        return text, None
    plain, places = _replaced(UNSEEN, lambda _: "", text, None)
    plain, places = _replaced(_DRESSED, lambda match: _undressed(match[0]), plain, places)
    meant = _MEANT.search(plain) is not None
    if _LOOKS.search(plain):
        plain = _WORD.sub(lambda match: _latin(match[0], meant), plain)
    return _replaced(_MARKED, lambda match: normalize("NFC", match[0]), plain, places)


def _latin(word: str, meant: bool) -> str:
    """Return a word with its look-alikes as Latin letters, where they hide."""
    if not word.isascii() and (_LATIN_LETTER.search(word) or not (meant or _MEANT.search(word))):
        return word.translate(_FOREIGN)
    return word


@cache
def _undressed(letter: str) -> str:
    """Return the plain form of a wide, styled or joined letter; itself where it is none."""
    if ord(letter) in _LATIN:
        return _LATIN[ord(letter)]
    kind = decomposition(letter).partition(" ")[0]
    plain = normalize("NFKC", letter)
    dressed = kind in ("<wide>", "<font>") or (kind in ("<compat>", "<circle>") and plain.isalpha())
    return plain if dressed and plain.isascii() else letter


def _replaced(
    pattern: re.Pattern[str], new: Callable[[re.Match[str]], str], text: str, places: Sequence[int] | None
) -> tuple[str, Sequence[int] | None]:
    """Return the text with each match replaced, and where its characters stand in what the places speak of."""
    parts: list[str] = []
    moved: list[int] = []
    done, same = 0, True
    for match in pattern.finditer(text):
        put = new(match)
        same = same and len(put) == len(match[0])
        parts += text[done : match.start()], put
        moved += range(done, match.start())
        moved += range(match.start(), match.end()) if len(put) == len(match[0]) else [match.start()] * len(put)
        done = match.end()
    if not parts:
        return text, places
    made = "".join([*parts, text[done:]])
    if same:
        return made, places
    moved += range(done, len(text))
    return made, moved if places is None else [places[at] for at in moved]
