"""The live window taken apart: what may leave it together, classified by kind, source, recoverability and risk.

An exchange is what a host can take out as a whole: a prompt with the answer to it, or a later message of the agent with
its calls and their results. A long answer of a hundred calls is a hundred exchanges. What is too large in one, a tool's
result, is a piece of its own, and so is a prompt that must stay.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from indexer.wishes import is_wish
from recall.window_items import Item
from transcript.projections.fold import PATH_KEYS, is_write

CONVERSATION, TOOL_CALL, TOOL_RESULT = "conversation", "tool_call", "tool_result"
ARTIFACT, INSTRUCTION, IN_FLIGHT, SUMMARY = "artifact", "instruction", "in_flight", "summary"
PERSON, AGENT, TOOL, HOST = "person", "agent", "tool", "host"
INDEXED, LOGGED, ABSENT = "indexed", "logged", "absent"
LOW, MEDIUM, HIGH = "low", "medium", "high"
LIST = "list of work"
_LISTS = re.compile(r"todo|update_plan|task_?(?:create|update|list)", re.IGNORECASE)  # the agent's own list of work
# What cannot be taken back, or reaches beyond this machine: whoever goes on must know that it was done.
_GRAVE = re.compile(
    r"\brm\s+-\w*[rf]|\bgit\s+(?:push|reset\s+--hard|clean\s+-|rebase|filter-\w+|branch\s+-D)"
    r"|\b(?:drop|truncate)\s+(?:table|database|schema)\b|\bdelete\s+from\b|\bmigrat\w+"
    r"|\b(?:kubectl|helm)\s+(?:delete|apply|rollback|upgrade|uninstall)\b|\bterraform\s+(?:apply|destroy)\b"
    r"|\b(?:npm|yarn|pnpm|cargo|twine|gem)\s+(?:publish|upload|push)\b|\bgh\s+(?:release|pr\s+merge)\b|\bdeploy\w*\b"
    r"|\bchmod\s+-R|\bmkfs\b|\bdd\s+if=",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Piece:
    """What leaves a window together. `holds` says why it must stay, as far as it says so itself.

    `seq` is the number of its first event in the record, 0 where the record lacks one.
    """

    events: tuple[str, ...]
    kind: str
    source: str
    recoverability: str
    risk: str
    tokens: int
    seq: int
    said_at: str
    exchange: int
    place: int = 0  # in the window
    asks: bool = False  # a person's prompt stands in it
    writes: tuple[str, ...] = ()  # the files that its calls changed, and the agent's list of work
    calls: tuple[str, ...] = ()  # the ids of its calls
    answers: tuple[str, ...] = ()  # the ids of the calls that its results answer
    holds: tuple[str, ...] = ()


@dataclass
class _Exchange:
    number: int
    items: list[Item] = field(default_factory=list)
    message: str = ""
    has_result: bool = False


def pieces(
    items: Sequence[Item],
    *,
    indexed: Collection[str] = frozenset(),
    watermark: int = 0,
    stub_tokens: int = 400,
    held: Mapping[str, str] | None = None,
) -> list[Piece]:
    """Return the pieces of a window in its order.

    indexed are the events that recall can find, watermark the number up to which the index has read the record; held
    names events that must stay, each with why (open tasks, memories in use).
    """
    answered = {str(i.body.get("call_id", "")) for i in items if i.type == "tool_result"}
    places = {item.id: place for place, item in enumerate(items)}
    found: list[Piece] = []
    split = _exchanges(items)
    for exchange in split:
        waits = [i for i in exchange.items if i.type == "tool_call" and str(i.body.get("call_id", "")) not in answered]
        is_open = bool(waits) or (exchange is split[-1] and not any(_is_answer(i) for i in exchange.items))
        for part in _parts(exchange.items, stub_tokens, whole=is_open):
            found.append(_piece(part, exchange.number, places[part[0].id], is_open, indexed, watermark, held or {}))
    return sorted(_with_last_writes(found), key=lambda piece: piece.place)


def _exchanges(items: Iterable[Item]) -> list[_Exchange]:
    found: list[_Exchange] = []
    by_call: dict[str, _Exchange] = {}
    for item in items:
        kind = str(item.body.get("kind", ""))
        if item.type == "tool_result":
            at = by_call.get(str(item.body.get("call_id", "")), found[-1] if found else None)
            at = at or _opened(found)
            at.has_result = True
        elif item.type == "conversation_turn" and kind in ("prompt", "summary"):
            at = _opened(found)
        elif item.type == "system" or not found:
            at = found[-1] if found else _opened(found)
        else:
            message = str(item.body.get("message", ""))
            at = found[-1]
            if at.has_result and (not message or message != at.message):
                at = _opened(found)
            at.message = message or at.message
            if item.type == "tool_call":
                by_call[str(item.body.get("call_id", ""))] = at
        at.items.append(item)
    return found


def _opened(found: list[_Exchange]) -> _Exchange:
    found.append(_Exchange(len(found) + 1))
    return found[-1]


def _parts(items: Sequence[Item], stub_tokens: int, *, whole: bool) -> list[list[Item]]:
    """Take out of an exchange what is judged by itself: a standing instruction, the host's texts, large results."""
    if whole:
        return [list(items)]
    alone = [item for item in items if _is_instruction(item) or item.type == "system" or _is_large(item, stub_tokens)]
    rest = [item for item in items if item not in alone]
    return [*([rest] if rest else []), *([item] for item in alone)]


def _is_large(item: Item, stub_tokens: int) -> bool:
    return item.type == "tool_result" and item.tokens > stub_tokens


def _is_instruction(item: Item) -> bool:
    return item.type == "conversation_turn" and item.body.get("kind") == "prompt" and is_wish(item.text)


def _is_answer(item: Item) -> bool:
    return item.type == "conversation_turn" and item.body.get("kind") in ("reply", "summary")


def _piece(
    part: Sequence[Item],
    exchange: int,
    place: int,
    is_open: bool,
    indexed: Collection[str],
    watermark: int,
    held: Mapping[str, str],
) -> Piece:
    kind, source = (IN_FLIGHT, AGENT) if is_open else _kind(part)
    recoverability = _recoverability(part, indexed)
    never = [i for i in part if recoverability == LOGGED and 0 < i.seq <= watermark and i.id not in indexed and i.text]
    grave = any(i.type == "tool_call" and _GRAVE.search(_input(i)) for i in part)
    holds = {
        "in flight: it is not answered yet": is_open,
        "a person's standing instruction": any(map(_is_instruction, part)),
        "it cannot be undone, or reaches beyond this machine": grave,
        "recall does not index it": bool(never) and recoverability == LOGGED,
        "the summary of what was compacted": kind == SUMMARY,
        "not in the record": recoverability == ABSENT,
    }
    why = [name for name, is_so in holds.items() if is_so]
    why += dict.fromkeys(held[item.id] for item in part if item.id in held)
    return Piece(
        events=tuple(item.id for item in part),
        kind=kind,
        source=source,
        recoverability=recoverability,
        risk=HIGH if is_open or grave or recoverability == ABSENT or kind == INSTRUCTION else _risk(part, kind),
        tokens=sum(item.tokens for item in part),
        seq=min(item.seq for item in part),
        said_at=part[0].ts,
        exchange=exchange,
        place=place,
        asks=any(item.body.get("kind") == "prompt" for item in part),
        writes=tuple(dict.fromkeys(name for item in part if (name := _written(item) or _list(item)))),
        calls=_call_ids(part, "tool_call"),
        answers=_call_ids(part, "tool_result"),
        holds=tuple(why),
    )


def _call_ids(part: Sequence[Item], kind: str) -> tuple[str, ...]:
    return tuple(str(item.body["call_id"]) for item in part if item.type == kind and item.body.get("call_id"))


def _kind(part: Sequence[Item]) -> tuple[str, str]:
    first = part[0]
    if first.type == "system":
        return INSTRUCTION, HOST
    if any(map(_is_instruction, part)):
        return INSTRUCTION, PERSON
    if first.body.get("kind") == "summary":
        return SUMMARY, HOST
    if all(item.type == "tool_result" for item in part):
        return TOOL_RESULT, TOOL
    if any(map(_written, part)):
        return ARTIFACT, AGENT
    if any(item.type == "tool_call" for item in part):
        return TOOL_CALL, AGENT
    said = any(item.body.get("kind") == "prompt" for item in part)
    return CONVERSATION, PERSON if said else AGENT


def _risk(part: Sequence[Item], kind: str) -> str:
    failed = any(item.body.get("is_error") for item in part)
    return MEDIUM if failed or kind in (ARTIFACT, SUMMARY) else LOW


def _recoverability(part: Sequence[Item], indexed: Collection[str]) -> str:
    if any(not item.seq for item in part):
        return ABSENT
    return INDEXED if all(item.id in indexed or not item.text.strip() for item in part) else LOGGED


def _with_last_writes(found: Sequence[Piece]) -> list[Piece]:
    """Hold the last change of each file, and the newest list of work: they say how things stand now."""
    last = {name: piece.place for piece in sorted(found, key=lambda piece: piece.place) for name in piece.writes}
    held = []
    for piece in found:
        newest = [name for name in piece.writes if last[name] == piece.place]
        why = "the newest list of work" if newest == [LIST] else "the last change of a file"
        held.append(replace(piece, holds=(*piece.holds, why)) if newest else piece)
    return held


def _tool(item: Item) -> str:
    return str(item.body.get("tool", ""))


def _input(item: Item) -> str:
    given = item.body.get("input")
    if isinstance(given, dict) and isinstance(given.get("command"), str):
        return str(given["command"])
    return "" if is_write(_tool(item)) else json.dumps(given, ensure_ascii=False)


def _written(item: Item) -> str:
    """The file that a call writes, "" where it writes none."""
    given = item.body.get("input")
    if item.type != "tool_call" or not isinstance(given, dict) or not is_write(_tool(item)):
        return ""
    return next((str(given[key]) for key in PATH_KEYS if isinstance(given.get(key), str)), "")


def _list(item: Item) -> str:
    return LIST if item.type == "tool_call" and _LISTS.search(_tool(item)) else ""
