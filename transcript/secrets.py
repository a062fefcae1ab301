"""Credentials in a text, replaced by typed marks before the text is hashed, stored or embedded.

The same secret under the same workspace key gives the same mark, so that it stays recognisable and cannot be read.
Known shapes are matched by their own form; unknown ones only where a name such as `password` gives a value that does
not look like code. The record itself keeps the words; see `recall redact` for taking them out there.
"""

import functools
import math
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from transcript.lookalike import compared, compared_places
from transcript.secret_shapes import SHAPES


class Secret(NamedTuple):
    """A span of a text that holds a credential."""

    start: int
    end: int
    kind: str


# Shapes that hold blanks, colons or signs; the others lie within one run of token characters.
_SPREAD = frozenset(
    [
        "private-key",
        "putty-key",
        "telegram-token",
        "aws-secret",
        "azure-key",
        "azure-sas",
        "npm-auth",
        "url-password",
        "authorization",
        "bearer",
        "cookie",
        "curl-password",
        "slack-webhook",
        "discord-webhook",
        "teams-webhook",
    ]
)
_HINTED = tuple((hint, shape, shape.kind in _SPREAD) for shape in SHAPES for hint in shape.hints)
_RUN = re.compile(r"[A-Za-z0-9_.+/=~-]{16,}")
_NAMES = (
    "password", "passwd", "passphrase", "passcode", "pwd", "secret", "token", "apikey", "credential", "credentials",
    "_key", "-key",
)  # fmt: skip
_ASSIGNED = re.compile(
    rf"(?i:(?:{'|'.join(_NAMES)})(?:[_-][a-z0-9]+)?)"
    r"[\"']?\s{0,3}(?:=>|:=|=|:)\s{0,3}(?:\"([^\"\n]{6,200})\"|'([^'\n]{6,200})'|([^\s\"'`,;(){}\[\]<>]{8,200}))"
)
_MARK = re.compile(r"\[secret:[a-z-]+(?::[0-9a-f]{6})?\]")
_CODE = re.compile(r"^(?:[$%&{<(\[]|https?://|[a-z_]+\()|[(){}<>\[\]]|^[./~]|\.\.\.|^\*+$|^[xX.*_-]+$")

# snake_case, kebab-case, dotted names and paths with at most a short number: names of things, not secrets.
_NAME_LIKE = re.compile(
    r"[A-Za-z]{2,}\d{0,3}(?:[_./:-]{1,2}(?:[A-Za-z]+\d{0,3}|\d{1,4}))*|[\d.,:/-]+(?:[a-zA-Z]{1,2})?"
)


def find(text: str) -> list[Secret]:
    """Return the credentials in text, in order, without overlaps; marks that stand already are left alone.

    Letters that look like those of a credential, and characters without a shape inside of it, do not hide it.
    """
    found = _written(text)
    plain, places = compared_places(text)
    if plain != text:
        found += [
            one if places is None else Secret(places[one.start], places[one.end - 1] + 1, one.kind)
            for one in _written(plain)
        ]
    return _apart(found, text) if found else []


def _written(text: str) -> list[Secret]:
    """Return the credentials in a text as it is written; some may overlap."""
    lower = text.lower()
    found: list[Secret] = []
    tried: set[str] = set()
    runs = " ".join(_RUN.findall(text))
    runs_lower = runs.lower()
    for hint, shape, spread in _HINTED:
        if hint not in (lower if spread else runs_lower) or shape.kind in tried:
            continue
        tried.add(shape.kind)
        if spread or shape.pattern.search(runs):  # the runs are a small part of the text
            found.extend(Secret(*_span(match), shape.kind) for match in shape.pattern.finditer(text))
    found.extend(_assigned(text, lower))
    return found


def _apart(found: list[Secret], text: str) -> list[Secret]:
    """Return credentials in order, those that overlap as one, without any that a mark covers."""
    marks = [match.span() for match in _MARK.finditer(text)]
    found.sort(key=lambda secret: (secret.start, -secret.end))
    kept: list[Secret] = []
    for secret in found:
        if any(start < secret.end and secret.start < end for start, end in marks):
            continue
        if kept and secret.start < kept[-1].end:
            if secret.end > kept[-1].end:
                kept[-1] = Secret(kept[-1].start, secret.end, kept[-1].kind)
            continue
        kept.append(secret)
    return kept


def mark(value: str, kind: str, key: bytes) -> str:
    """Return the mark that stands for the secret value."""
    import hashlib  # here, because the hook's client looks for secrets and never marks one
    import hmac

    digest = hmac.new(key, value.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
    return f"[secret:{kind}:{digest[:6]}]"


def mask(text: str, key: bytes) -> tuple[str, int]:
    """Return text with every credential replaced by its mark, and how many there were."""
    secrets = find(text)
    return _replaced(text, secrets, lambda one: mark(compared(text[one.start : one.end]), one.kind, key)), len(secrets)


@functools.lru_cache(maxsize=4096)  # the same statement stands in several views
def veil(text: str) -> str:
    """Return text with every credential replaced by its kind alone: the same words under any workspace's key."""
    return _replaced(text, find(text), lambda one: f"[secret:{one.kind}]")


def _replaced(text: str, secrets: list[Secret], shown: Callable[[Secret], str]) -> str:
    pieces = []
    done = 0
    for secret in secrets:
        pieces += [text[done : secret.start], shown(secret)]
        done = secret.end
    return "".join([*pieces, text[done:]])


def _span(match: re.Match[str]) -> tuple[int, int]:
    return match.span(1) if match.re.groups and match.group(1) is not None else match.span()


def _assigned(text: str, lower: str) -> list[Secret]:
    """Return values given to a name that says secret, unless the value reads like code, prose or a placeholder."""
    found = []
    for match in _assignments(text, lower):
        group = next(number for number in (1, 2, 3) if match.group(number) is not None)
        value = match.group(group)
        if _looks_secret(value):
            found.append(Secret(*match.span(group), "assigned"))
    return found


def _assignments(text: str, lower: str) -> Iterator[re.Match[str]]:
    """Yield what a telling name is given; names are looked for as plain text, which is many times faster."""
    if len(lower) != len(text):  # lower case of another length: positions would be wrong
        yield from _ASSIGNED.finditer(text)
        return
    for name in _NAMES:
        at = lower.find(name)
        while at >= 0:
            match = _ASSIGNED.match(text, at)
            if match:
                yield match
            at = lower.find(name, at + len(name))


def _looks_secret(value: str) -> bool:
    """Tell whether value, given to a name that says secret, is likely one: digits or odd signs, and not a name."""
    if _CODE.search(value) or any(c.isspace() for c in value):
        return False
    digits = sum(c.isdigit() for c in value)
    odd = sum(not (c.isalnum() or c in "_-./:") for c in value)
    if not (digits or odd) or digits == len(value) or _NAME_LIKE.fullmatch(value):
        return False
    return _entropy(value) >= 2.5 if digits >= 2 or odd else _entropy(value) >= 3.3 and len(value) >= 16


def _entropy(value: str) -> float:
    counts = {c: value.count(c) for c in set(value)}
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts.values())
