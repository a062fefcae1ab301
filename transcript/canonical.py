"""One way to write an object as bytes, and the ids and hashes made from them.

Canonical bytes are ASCII JSON with sorted keys and no blanks. Lone surrogates survive as
escapes; NaN and infinities are refused.
"""

import base64
import hashlib
import json

ID_LENGTH = 26
ID_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
KEY_BYTES = 16

_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode
_TO_BASE32HEX = str.maketrans(ID_ALPHABET, "0123456789abcdefghijklmnopqrstuv")


def canonical(obj: object) -> bytes:
    """Return the canonical bytes of a JSON value; ValueError on NaN."""
    return _encode(obj).encode("ascii")


def utf8(text: str) -> bytes:
    """Return text as UTF-8, lone surrogates kept."""
    return text.encode("utf-8", "surrogatepass")


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of data in lower-case hex."""
    return hashlib.sha256(data).hexdigest()


def b32id(*parts: str) -> str:
    """Return the 26 character id made from parts: 130 bits of SHA-256 in lower-case base32."""
    digest = hashlib.sha256(utf8("\x1f".join(parts))).digest()
    return base64.b32encode(digest)[:ID_LENGTH].decode("ascii").lower()


def event_key(event_id: str) -> bytes:
    """Return the first 16 bytes behind an id; ValueError when it is none."""
    if len(event_id) != ID_LENGTH:
        raise ValueError(f"an event id has {ID_LENGTH} characters, got {len(event_id)}")
    return (prefix_bits(event_id) >> 2).to_bytes(KEY_BYTES, "big")


def prefix_bits(prefix: str) -> int:
    """Return the number that an id's first characters stand for; ValueError outside the alphabet."""
    if any(character not in ID_ALPHABET for character in prefix):
        raise ValueError("an event id is written with a-z and 2-7 only")
    return int(prefix.translate(_TO_BASE32HEX), 32)
