"""What a person lets others see or lets rule: grants of single items, roles taken, packs installed.

Builders of those events and their fold, as plain JSON: it is part of the fold behind the views. A grant lets exactly
one item through to one audience, on one channel or any, until a moment or for good; a later event about the same three
takes its place.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from transcript.canonical import b32id
from transcript.event import Draft, Event, moment
from transcript.telling import quoted

TYPES = frozenset({"grant", "role", "pack"})
AUDIENCES = ("shared", "peer")  # what a grant may widen: the owner and the project see without one
SESSION = "recall:governance"
PACK_CHANGES = ("installed", "removed")


@dataclass(frozen=True, slots=True)
class Grant:
    """One item, let through to one audience; "" is any channel, and no end."""

    item: str
    audience: str
    channel: str
    until: str
    event: str
    ts: str
    actor: str
    reason: str


def granted(
    ts: str,
    item: str,
    audience: str,
    *,
    actor: str,
    reason: str,
    channel: str = "",
    until: str = "",
    withdrawn: bool = False,
) -> Draft:
    """Return the event of a grant, or of its withdrawal; ValueError for what is none."""
    if len(item) != 26:
        raise ValueError(f"item is {quoted(item)}, must be the whole id of an event")
    if audience not in AUDIENCES:
        raise ValueError(f"audience is {quoted(audience)}, must be one of {', '.join(AUDIENCES)}")
    if not reason.strip() and not withdrawn:
        raise ValueError("a grant says why: name a reason")
    if until:
        moment(until)
    body = {"item": item, "audience": audience, "channel": channel.strip(), "until": until}
    return _draft("grant", ts, {**body, "withdrawn": withdrawn, "actor": actor, "reason": reason.strip()})


def role_taken(
    ts: str, role: str, *, actor: str, path: str = "", sha256: str = "", authority: Iterable[str] = ()
) -> Draft:
    """Return the event of a role that is taken, with what it may speak of; "" is a role that is given up."""
    body: dict[str, Any] = {"role": role, "path": path, "sha256": sha256, "actor": actor}
    return _draft("role", ts, {**body, "authority": list(dict.fromkeys(authority))})


def pack_changed(
    ts: str, name: str, version: str, sha256: str, change: str, files: Iterable[Mapping[str, str]], *, actor: str
) -> Draft:
    """Return the event of a pack that was installed or removed, with the hash of each of its files."""
    if change not in PACK_CHANGES:
        raise ValueError(f"change is {quoted(change)}, must be one of {', '.join(PACK_CHANGES)}")
    body = {"name": name, "version": version, "sha256": sha256, "change": change, "files": list(map(dict, files))}
    return _draft("pack", ts, {**body, "actor": actor})


def empty() -> dict[str, Any]:
    """Return the fold before the first event."""
    return {"grants": {}, "roles": {}, "packs": {}}


def take(state: dict[str, Any], event: Event, body: Mapping[str, Any]) -> None:
    """Take one event of these types into the fold; a redacted one says nothing."""
    if not body:
        return
    if event.type == "grant":
        place = "\x1f".join((str(body["item"]), str(body["audience"]), str(body["channel"])))
        state["grants"].pop(place, None)
        if not body["withdrawn"]:
            fields = {name: str(body[name]) for name in ("item", "audience", "channel", "until", "actor", "reason")}
            state["grants"][place] = {**fields, "event": event.id, "ts": event.ts}
    elif event.type == "role" and body["role"]:
        held = {"path": str(body["path"]), "sha256": str(body["sha256"]), "ts": event.ts}
        state["roles"][str(body["role"])] = {**held, "authority": list(map(str, body.get("authority") or ()))}
    elif event.type == "pack":
        state["packs"].pop(str(body["name"]), None)
        if body["change"] == "installed":
            held = {name: str(body[name]) for name in ("version", "sha256", "actor")}
            state["packs"][str(body["name"])] = {
                **held,
                "files": list(body["files"]),
                "event": event.id,
                "ts": event.ts,
            }


def grants(state: Mapping[str, Any]) -> list[Grant]:
    """Return the grants that were not withdrawn, in the order of the record; one that has ended is among them."""
    return [Grant(**fields) for fields in state["grants"].values()]


def _draft(kind: str, ts: str, body: dict[str, Any]) -> Draft:
    name = str(body.get("item") or body.get("role") or body.get("name") or "")
    parts = tuple(str(body.get(key, "")) for key in ("audience", "channel", "withdrawn", "until", "sha256", "change"))
    return Draft(
        type=kind,
        id=b32id(kind, name, *parts, ts),
        ts=ts,
        ts_source="record",
        session=SESSION,
        agent="recall",
        actor="human",
        origin="internal",
        body=body,
    )
