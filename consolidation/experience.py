"""E, folded from the record: what each memory has done, what that weighs, and nothing that age or showing it adds.

The order of the record decides, no clock does. Whatever was derived can be deleted: the same events give the same
weights. Wordings of one statement (a memory that was edited) share one account.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from consolidation.approval import Authorised, for_workspace
from recall.ledger import HOOK_MODES
from recall.ledger import TYPE as TURN
from recall.memory_settings import ExperienceSettings
from transcript.event import Event
from transcript.log import Log
from transcript.memories import Span, span_of_body
from transcript.sieve import Sieve, type_field

CONFIRMED, CORRECTED = "confirmation", "correction"
_PROOFS = Sieve((b'"type":"memory.', type_field("correction"), type_field("outcome")))
_ALL = Sieve((*_PROOFS.types, type_field(TURN)))


@dataclass(frozen=True, slots=True)
class Experience:
    """What a memory, or a passage of the transcript, has done.

    `raw` is what the score squashes, never negative; `roles` what it weighs besides for a role; `hits` in how many
    sessions it was cited; `injected` how often it was shown, which weighs nothing; `applied` when it was last cited, ""
    for never; `counters` how often each cause was counted and how often one was refused.
    """

    raw: float = 0.0
    roles: Mapping[str, float] = field(default_factory=dict)
    hits: int = 0
    injected: int = 0
    prevented: int = 0
    counters: Mapping[str, int] = field(default_factory=dict)
    applied: str = ""
    approved: bool = False


def experience_of(
    log: Log,
    weights: ExperienceSettings,
    *,
    authorised: Authorised | None = None,
    agent: str = "self",
    injected: bool = False,
) -> dict[str, Experience]:
    """Return what each memory and each cited event of a record has done, by whole id; with injected also how often
    each was shown. Approvals are held against the workspace's own key unless `authorised` says otherwise.
    """
    holds = authorised or for_workspace(log.workspace)
    return fold_experience(log.read(sieve=_ALL if injected else _PROOFS), weights, authorised=holds, agent=agent)


def fold_experience(
    events: Iterable[Event], weights: ExperienceSettings, *, authorised: Authorised, agent: str = "self"
) -> dict[str, Experience]:
    """Return what events of a record, given in its order, prove of each memory and each cited event.

    `authorised` says whether an approval was signed with our key; `agent` whose experience it is: what somebody else
    did or said counts once consolidation has adopted it.
    """
    fold = _Fold(agent, authorised)
    for event in events:
        take = _TAKERS.get(event.type)
        if take is not None and event.body:
            take(fold, event, event.body)
    return dict(fold.weighed(weights))


@dataclass(slots=True)
class _Citation:
    named: bool
    again: bool  # an earlier session with the same project and role had cited it


@dataclass(slots=True)
class _Account:
    """What is counted for one statement, whatever its wording, or for one passage; each cause by what it came of."""

    citations: dict[str, _Citation] = field(default_factory=dict)  # by session
    contexts: set[tuple[str, str]] = field(default_factory=set)  # projects and roles it was cited in
    promoted: set[str] = field(default_factory=set)  # sessions that said it again
    confirmed: dict[str, str] = field(default_factory=dict)  # event -> whose word it is, "" for ours
    sources: set[str] = field(default_factory=set)
    outcomes: dict[str, str] = field(default_factory=dict)
    adopted: set[str] = field(default_factory=set)
    approved: set[str] = field(default_factory=set)
    prevented: int = 0
    proofs: set[tuple[str, ...]] = field(default_factory=set)  # sessions, citations and actions that proved one
    refuted: set[str] = field(default_factory=set)
    foreign: dict[str, tuple[Event, Mapping[str, Any]]] = field(default_factory=dict)  # citations by others
    unauthorised: int = 0
    refused: int = 0
    injected: int = 0
    applied: str = ""


class _Fold:
    """The accounts while the record is read."""

    def __init__(self, agent: str, authorised: Authorised) -> None:
        self.agent, self.authorised = agent, authorised
        self.first: dict[str, str] = {}  # memory -> the first wording of its statement
        self.accounts: dict[str, _Account] = {}
        self.critical: dict[str, list[str]] = {}  # memory -> roles
        self.corrections: dict[str, str] = {}  # event -> whose word it is
        self.replaced: set[str] = set()  # corrections and outcomes that a later one replaces

    def account(self, name: str) -> _Account:
        """Return the account of a memory or an event, opened when it is first asked for."""
        name = self.first.get(name, name)
        found = self.accounts.get(name)
        if found is None:
            found = self.accounts[name] = _Account()
        return found

    def written(self, event: Event, body: Mapping[str, Any]) -> None:
        """Open a memory's account; a new wording goes on with the old one's."""
        old = next(iter(body.get("supersedes") or ()), "") if body.get("reason") == "edit" else ""
        self.first[event.id] = self.first.get(str(old), event.id)
        self.critical[event.id] = list(map(str, body.get("critical_for") or ()))
        self.account(event.id).sources.update(str(span.get("event", "")) for span in body.get("sources") or ())

    def amended(self, _event: Event, body: Mapping[str, Any]) -> None:
        """Take in for whom a memory is critical now."""
        new = body.get("set") or {}
        if "critical_for" in new:
            self.critical[str(body.get("memory"))] = list(map(str, new["critical_for"] or ()))

    def cited(self, event: Event, body: Mapping[str, Any]) -> None:
        """Count a citation once a session; what others cite waits."""
        account = self.account(str(body.get("of", "")))
        if body.get("worker") or body.get("agent_id", "self") != self.agent or event.origin == "external":
            account.foreign[event.id] = (event, body)
            if event.id not in account.adopted:
                return
        _cite(account, event, body)

    def promoted(self, _event: Event, body: Mapping[str, Any]) -> None:
        """Count a session that said it again."""
        self.account(str(body.get("memory", ""))).promoted.add(str(body.get("session", "")))

    def correction(self, event: Event, body: Mapping[str, Any]) -> None:
        """Remember a correction, for the memories made of it; a confirmation counts for the memory that it names."""
        self.replaced.add(str(body.get("supersedes") or ""))
        of = str(body.get("of", "")).partition("#")[0]
        if body.get("kind") == CORRECTED:
            self.corrections[event.id] = whose(event, body)
        elif body.get("kind") == CONFIRMED and of in self.first:
            self.account(of).confirmed[event.id] = whose(event, body)

    def outcome(self, event: Event, body: Mapping[str, Any]) -> None:
        """Count a verified outcome for the memories that its evidence names."""
        self.replaced.add(str(body.get("supersedes") or ""))
        if body.get("status") == "verified":
            for pointer in body.get("evidence") or ():
                name = str(pointer).partition("#")[0]
                if name in self.first:
                    self.account(name).outcomes[event.id] = whose(event, body)

    def adopted(self, _event: Event, body: Mapping[str, Any]) -> None:
        """Let what somebody else said count from here on."""
        account, name = self.account(str(body.get("memory", ""))), str(body.get("event", ""))
        account.adopted.add(name)
        if name in account.foreign:
            _cite(account, *account.foreign[name])

    def approved(self, event: Event, body: Mapping[str, Any]) -> None:
        """Count an approval that bears our signature, and the others apart."""
        account = self.account(str(body.get("memory", "")))
        if self.authorised(body):
            account.approved.add(str(body.get("nonce", event.id)))
        else:
            account.unauthorised += 1

    def prevented(self, _event: Event, body: Mapping[str, Any]) -> None:
        """Count a prevented mistake that has a session, a citation and an action of its own; without the two
        places it is refused.
        """
        account = self.account(str(body.get("memory", "")))
        cited, action = span_of_body(body.get("cited")), span_of_body(body.get("action"))
        if not (_is_place(cited) and _is_place(action)):
            account.refused += 1
            return
        proofs = {("session", str(body.get("session", ""))), _proof("cited", cited), _proof("action", action)}
        account.prevented += account.proofs.isdisjoint(proofs)
        account.proofs |= proofs

    def refuted(self, event: Event, body: Mapping[str, Any]) -> None:
        """Count that it was wrong."""
        self.account(str(body.get("memory", ""))).refuted.add(event.id)

    def turn(self, _event: Event, body: Mapping[str, Any]) -> None:
        """Count what a turn showed, which weighs nothing."""
        if body.get("mode") in HOOK_MODES:
            for item in body.get("items") or ():
                self.account(str(item.get("event", ""))).injected += 1

    def weighed(self, weights: ExperienceSettings) -> Iterator[tuple[str, Experience]]:
        """Yield each memory, and each passage that was cited or shown, with what it has done."""
        known = {name: self._experience(account, weights) for name, account in self.accounts.items()}
        for name, first in self.first.items():
            roles = dict.fromkeys(dict.fromkeys(self.critical[name]), weights.role_critical)
            raw, counters, rest = known[first]
            yield name, Experience(raw=raw, roles=roles, counters={**counters, "role_critical": len(roles)}, **rest)
        for name, (raw, counters, rest) in known.items():
            if name not in self.first and name:
                yield name, Experience(raw=raw, counters=counters, **rest)

    def _experience(
        self, account: _Account, weights: ExperienceSettings
    ) -> tuple[float, dict[str, int], dict[str, Any]]:
        corrections = {name: self.corrections[name] for name in account.sources if name in self.corrections}
        counted = {
            "promoted": len(account.promoted) + self._counting(account, account.confirmed),
            "correction": self._counting(account, corrections),
            "outcome": self._counting(account, account.outcomes),
            "approval": len(account.approved),
            "prevented": account.prevented,
        }
        worth = {True: weights.cited, False: weights.overlap}
        raw = sum(worth[c.named] * (weights.again if c.again else 1.0) for c in account.citations.values())
        raw += sum(number * float(getattr(weights, cause)) for cause, number in counted.items())
        raw -= len(account.refuted) * weights.refuted
        cited = account.citations.values()
        counters = {
            "cited": sum(c.named for c in cited),
            "overlap": sum(not c.named for c in cited),
            "again": sum(c.again for c in cited),
            **counted,
            "refuted": len(account.refuted),
            "waiting": self._waiting(account, corrections),
            "unauthorised": account.unauthorised,
            "refused": account.refused,
        }
        rest = {"hits": len(account.citations), "injected": account.injected, "prevented": account.prevented}
        return max(0.0, raw), counters, {**rest, "applied": account.applied, "approved": bool(account.approved)}

    def _counting(self, account: _Account, said: Mapping[str, str]) -> int:
        """How many of these events count: ours and adopted ones that nothing replaces."""
        return sum(name not in self.replaced and (not who or name in account.adopted) for name, who in said.items())

    def _waiting(self, account: _Account, corrections: Mapping[str, str]) -> int:
        """How many words and citations of others no consolidation has adopted."""
        said = {**corrections, **account.confirmed, **account.outcomes, **dict.fromkeys(account.foreign, "other")}
        return sum(bool(who) and name not in account.adopted for name, who in said.items())


def _cite(account: _Account, event: Event, body: Mapping[str, Any]) -> None:
    session, named = str(body.get("session", "")), body.get("how") == "named"
    held = account.citations.get(session)
    if held is not None:
        held.named = held.named or named
    else:
        context = (str(body.get("project") or ""), str(body.get("role") or ""))
        account.citations[session] = _Citation(named, any(context) and context in account.contexts)
        account.contexts.add(context)
    account.applied = max(account.applied, event.ts)


def whose(event: Event, body: Mapping[str, Any]) -> str:
    """Return whose word an event is: "" for ours, else worker:NAME or peer:NAME."""
    if event.origin == "external":
        return f"peer:{body.get('channel') or body.get('actor') or 'unknown'}"
    return f"worker:{body['worker']}" if body.get("worker") else ""


def _proof(name: str, span: Span) -> tuple[str, ...]:
    return name, span.event, str(span.start)


def _is_place(span: Span) -> bool:
    return bool(span.event) and 0 <= span.start < span.end


_TAKERS: dict[str, Callable[[_Fold, Event, Mapping[str, Any]], None]] = {
    "memory.written": _Fold.written,
    "memory.amended": _Fold.amended,
    "memory.cited": _Fold.cited,
    "memory.promoted": _Fold.promoted,
    "memory.adopted": _Fold.adopted,
    "memory.approved": _Fold.approved,
    "memory.prevented_mistake": _Fold.prevented,
    "memory.refuted": _Fold.refuted,
    "correction": _Fold.correction,
    "outcome": _Fold.outcome,
    TURN: _Fold.turn,
}
