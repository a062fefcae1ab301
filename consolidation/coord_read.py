"""What the canonical memory says now: decisions that hold, open questions, outcomes, and what disagrees with it.

Made from memory.yml as the record vouches for it, never from the index. Evidence is named, its words are not repeated.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from consolidation.contradiction import difference
from consolidation.coord_desk import CoordDesk, standing_of
from consolidation.coord_refs import References, ends, lasting, state_of
from consolidation.coord_verify import decisions
from consolidation.procedure_conflicts import conflicts as against
from consolidation.standing_files import ProcedureText
from recall.disclosure import Door
from transcript.errors import CoordError
from transcript.log import Log
from transcript.memories import fold_memories
from transcript.projections import coord_files, coord_lines
from transcript.proposals import ProposalState
from transcript.sieve import Sieve, type_field

LAST = 10
MOST_CHARS = 20_000  # of the whole view as JSON
MOST_SUMMARY = 400
BAD = ("changed", "broken")
Rows = list[dict[str, Any]]


@dataclass(slots=True)
class View:
    """What a reader is told, each list newest first; `left_out` counts what had no room, by list.

    A loser is something that says otherwise than what outranks it: a memory beside a canonical decision, an item beside
    its changed evidence or a newer decision of a person.
    """

    decisions: Rows = field(default_factory=list)
    questions: Rows = field(default_factory=list)
    answers: Rows = field(default_factory=list)
    artifacts: Rows = field(default_factory=list)
    outcomes: Rows = field(default_factory=list)
    pointers: Rows = field(default_factory=list)
    conflicts: Rows = field(default_factory=list)
    stale: Rows = field(default_factory=list)
    losers: Rows = field(default_factory=list)
    pending: Rows = field(default_factory=list)
    ended: Rows = field(default_factory=list)
    problems: Rows = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)

    def told(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)


def canonical_items(desk: CoordDesk) -> tuple[list[Mapping[str, Any]], Rows]:
    """Return the items that hold, in order, and what is wrong with memory.yml and the decisions behind them.

    The record says what was approved, the file is only held against it: a line that the record does not know may be
    anybody's, however well it is formed. An item whose signature is none is left out; where the key is not at hand, as
    with a record that was taken over, that is told.
    """
    wanted = coord_files.rendered_memory(desk.state())
    told: Rows = []
    decisions(desk, lambda code, where: told.append({"code": code, "where": where}))
    unsigned = {row["where"].removeprefix("proposal ") for row in told if row["code"] == "bad_mac"}
    items = [one for one in coord_lines.read_items(wanted).items if one.get("proposal_id") not in unsigned]
    try:
        code, where = coord_files.memory_fault(coord_files.memory_bytes(desk.root), wanted)
    except CoordError as error:
        code, where = error.code, error.field
    return items, [*([{"code": code, "where": where}] if code else []), *told]


def view(
    items: Sequence[Mapping[str, Any]],
    state: ProposalState,
    refs: References,
    *,
    subject: str = "",
    kind: str = "",
    last: int = LAST,
    whole: bool = False,
) -> View:
    """Return what these items say of a subject and a kind, "" for all; `last` is how many outcomes, newest first.

    With `whole` also what no longer holds.
    """
    ended = ends(state)
    there = [one for one in items if "erased" not in one]
    wanted = [one for one in there if _fits(one, subject, kind)]
    live = [one for one in wanted if one["event_id"] not in ended and one["kind"] not in ("resolution", "lifecycle")]
    seen = View()
    chains = _chains(items)
    for item in reversed(live):
        row = _row(item)
        if item["kind"] == "decision":
            seen.decisions.append(row | {"history": chains.get(str(item["event_id"]), [])})
        elif item["kind"] == "question":
            seen.questions.append(row)
        elif item["kind"] == "artifact":
            seen.artifacts.append(row)
        elif len(seen.outcomes) < last:
            seen.outcomes.append(row)
    if kind in ("", "question"):
        seen.answers = _answers(there, ended, subject)
    if whole:
        gone = [one for one in reversed(wanted) if one["event_id"] in ended]
        seen.ended = [_row(one) | {"ended_by": ended[str(one["event_id"])]} for one in gone]
    _look_up(seen, live, refs)
    by_subject: dict[str, list[str]] = defaultdict(list)
    for item in reversed(live):
        if item["kind"] == "decision" and item.get("subject"):
            by_subject[" ".join(str(item["subject"]).casefold().split())].append(str(item["event_id"]))
    seen.conflicts = [{"subject": name, "ids": ids} for name, ids in by_subject.items() if len(ids) > 1]
    return seen


def _answers(items: Sequence[Mapping[str, Any]], ended: Mapping[str, str], subject: str) -> Rows:
    """Return what answers a question and holds, with the question's words, newest first."""
    asked = {str(one["event_id"]): one for one in items if one["kind"] == "question"}
    rows: Rows = []
    for item in reversed(items):
        question = asked.get(str(item.get("resolves")))
        if question is None or item["event_id"] in ended:
            continue
        if _fits(item, subject, "") or _fits(question, subject, ""):
            rows.append(_row(item) | {"resolves": item["resolves"], "question": _row(question)["summary"]})
    return rows


def _fits(item: Mapping[str, Any], subject: str, kind: str) -> bool:
    about = f"{item.get('subject', '')} {item['summary']}".casefold()
    return subject.casefold() in about and kind in ("", item["kind"])


def _row(item: Mapping[str, Any]) -> dict[str, Any]:
    names = ("event_id", "kind", "subject", "evidence_refs", "source_task", "actor", "applied_at", "supersedes")
    row = {name: item[name] for name in (*names, "target_ref") if name in item}
    summary = str(item["summary"])
    return row | {"summary": summary if len(summary) <= MOST_SUMMARY else summary[:MOST_SUMMARY] + " …"}


def _chains(items: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return, by item, what it took the place of, directly or through others, newest first."""
    found: dict[str, list[str]] = {}
    for item in items:
        if "supersedes" in item:
            before = str(item["supersedes"])
            found[str(item["event_id"])] = [before, *found.get(before, [])]
    return found


def _look_up(seen: View, live: Sequence[Mapping[str, Any]], refs: References) -> None:
    """Fill in pointers with their state, and what rests on evidence that is another one now or gone."""
    by_ref: dict[str, dict[str, Any]] = {}
    for item in reversed(live):
        for ref, then in lasting(item).items():
            now = state_of(str(then), refs.hash(ref))
            held = by_ref.setdefault(ref, {"ref": ref, "state": now, "of": []})
            held["of"].append(item["event_id"])
            if now in BAD:
                held["state"] = now
                seen.stale.append({"event_id": item["event_id"], "ref": ref, "state": now})
    seen.pointers = list(by_ref.values())


def pending(desk: CoordDesk, *, subject: str = "") -> Rows:
    """Return what waits: for a decision, for evidence or for being applied; and the files that are no proposals."""
    state, found = desk.state(), desk.documents()
    rows: Rows = []
    for name, held in found.by_id.items():
        known, action = state.documents.get(name), held.document.action
        now = held.document.state if known is None else known.state
        if known is not None and (known.erased or now not in ("proposed", "approved")):
            continue
        if subject.casefold() not in f"{action.get('subject', '')} {action['summary']}".casefold():
            continue
        row: dict[str, Any] = {"proposal_id": name, "state": "proposed" if known is None else now}
        row["operation"] = held.document.operation
        row |= {"target_ref": action["target_ref"], "summary": str(action["summary"])[:MOST_SUMMARY]}
        row |= {"evidence_refs": list(held.document.evidence_refs), "created_at": held.document.raw["created_at"]}
        row["waits_for"] = _waits_for(held.document.evidence_refs, str(row["state"]))
        row |= {"in_record": False} if known is None else {}
        row |= {"edited": True} if known is not None and standing_of(held.document, known) == "edited" else {}
        rows.append(row)
    rows.sort(key=lambda row: (row["created_at"], row["proposal_id"]), reverse=True)
    return rows


def _waits_for(evidence: Sequence[str], state: str) -> str:
    if not evidence:
        return "evidence"
    return "a person's decision" if state == "proposed" else "recall coord apply"


def problems(desk: CoordDesk) -> Rows:
    """Return the files among the proposals that are none: name, code, field."""
    found = desk.documents()
    rows = [{"code": code, "where": name, **({"field": where} if where else {})} for name, code, where in found.faults]
    return rows + [{"code": "misnamed", "where": name} for name, _ in found.misnamed]


def losers(seen: View, log: Log, door: Door) -> Rows:
    """Return what disagrees with something that outranks it: its id, what wins, and how they differ.

    Memories and decisions that do not leave through `door` are not told of: how they differ are words of theirs.

    A changed file wins over the item that rests on it, a person's newer decision in the record over a canonical one, a
    canonical decision over what was merely remembered.
    """
    rows: Rows = [
        {"loser": one["event_id"], "wins": one["ref"], "why": f"its evidence is {one['state']}"} for one in seen.stale
    ]
    standing = [row for row in seen.decisions if row["event_id"] not in {one["loser"] for one in rows}]
    rows += _against_people(standing, log, door)
    beaten = {one["loser"] for one in rows}
    texts = [
        ProcedureText(str(row["event_id"]), log.workspace.home, str(row["summary"]))
        for row in standing
        if row["event_id"] not in beaten
    ]
    current = door.state(fold_memories(log, snapshot=False)).current(door.now)
    rows += [
        {"loser": f"memory:{one.memory}", "wins": one.procedure, "why": f"{one.how}: {one.detail}"}
        for one in against(current, texts)
    ]
    return rows


def _against_people(standing: Rows, log: Log, door: Door) -> Rows:
    """Return the canonical decisions beside which a person's later decision of the record cannot stand."""
    if not standing:
        return []
    said = []
    gone = set()
    for event in log.read(sieve=Sieve((type_field("decision"),))):
        if event.type == "decision" and event.origin == "internal" and event.body:
            gone.add(str(event.body.get("supersedes", "")))
            if event.body.get("actor_kind") == "human" and door.lets_event(log, event):
                said.append(event)
    rows: Rows = []
    for row in standing:
        for event in said:
            if event.id in gone or event.ts <= str(row["applied_at"]):
                continue
            apart = difference(str(event.body.get("statement", "")), str(row["summary"]))
            if apart is not None and apart.sure:
                why = f"{apart.how}: {apart.detail}"
                rows.append({"loser": row["event_id"], "wins": f"recall:{event.pointer}", "why": why})
                break
    return rows


def fitted(seen: View, most: int = MOST_CHARS) -> View:
    """Return the view in at most so many characters of JSON: the oldest of its longest lists are left out, counted."""
    lists = {one.name: getattr(seen, one.name) for one in fields(seen) if one.name != "left_out"}
    sizes = {name: [len(json.dumps(row)) + 2 for row in rows] for name, rows in lists.items()}
    room = most - 600  # the frame of the report around it
    total = sum(map(sum, sizes.values()))
    while total > room:
        name = max(sizes, key=lambda one: sum(sizes[one]))
        total -= sizes[name].pop()
        lists[name].pop()
        seen.left_out[name] = seen.left_out.get(name, 0) + 1
    return seen
