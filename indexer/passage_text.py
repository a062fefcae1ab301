"""The text of a passage as the index holds it: plain, or deflated against what is frequent in the index's passages.

Alone a passage of 400 characters deflates little; with a dictionary before it, to a third. Packed texts name their
dictionary, so that texts of several stand side by side. Standard library only: the hook's fallback reads them too.
"""

import zlib
from collections.abc import Callable, Iterable
from typing import Any

from transcript.errors import IndexUnreadable

Execute = Callable[[str, tuple[Any, ...]], Iterable[tuple[Any, ...]]]
MOST_BYTES = 32_000  # of a dictionary: a window of deflate holds 32,768 bytes
_NUMBER = 3  # bytes that name the dictionary, before the deflated text
_RAW = -15  # neither header nor checksum: pages of the index have none either


class Texts:
    """Packs and unpacks the texts of one index; dictionaries are read when they are first needed."""

    def __init__(self, execute: Execute) -> None:
        self._execute = execute
        self._dictionaries: dict[int, bytes] = {}
        self._packer: tuple[int, Any] = 0, None

    def plain(self, held: Any) -> str:
        """Return the text of what a row holds (str or bytes); IndexUnreadable where it cannot be unpacked."""
        if not isinstance(held, bytes):
            return str(held)
        try:
            opened = zlib.decompressobj(_RAW, self._dictionary(int.from_bytes(held[:_NUMBER], "big")))
            return str(opened.decompress(held[_NUMBER:]), "utf-8")
        except (zlib.error, UnicodeDecodeError, TypeError) as error:
            raise IndexUnreadable(f"a passage cannot be unpacked ({error}); run 'recall index rebuild'") from error

    def packed(self, text: str) -> str | bytes:
        """Return what a row holds of text: packed where the index has a dictionary and that makes it shorter.

        Belongs inside the transaction that stores it: another process may have made a newer dictionary.
        """
        number = self.newest()
        if not number:
            return text
        if self._packer[0] != number:
            self._packer = number, zlib.compressobj(6, zlib.DEFLATED, _RAW, zdict=self._dictionary(number))
        packer = self._packer[1].copy()  # reading the dictionary again would take ten times as long
        whole = text.encode("utf-8")
        made = number.to_bytes(_NUMBER, "big") + packer.compress(whole) + packer.flush()
        return made if len(made) < len(whole) else text

    def newest(self) -> int:
        """Return the number of the newest dictionary, 0 where the index has none."""
        return next((int(row[0]) for row in self._execute("SELECT coalesce(max(id), 0) FROM dictionary", ())), 0)

    def _dictionary(self, number: int) -> bytes:
        if number not in self._dictionaries:
            for (held,) in self._execute("SELECT bytes FROM dictionary WHERE id = ?", (number,)):
                self._dictionaries[number] = bytes(held)
        if number not in self._dictionaries:
            raise IndexUnreadable(f"the index lacks dictionary {number} of its passages; run 'recall index rebuild'")
        return self._dictionaries[number]
