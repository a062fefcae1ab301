"""Runs a recorded turn again and says whether the same block comes out."""

import json
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from indexer.reader import Reader
from recall.audiences import PRIVATE, PROJECT, widest
from recall.engine import recall
from recall.facets import NOTHING, Facets
from recall.ledger import before
from recall.query import Query
from recall.settings import Settings, settings_hash
from recall.turn import CountTokens, Scorer, Turn, Vectors
from scoring.score import score_all
from transcript.errors import RecallError


@dataclass(frozen=True, slots=True)
class Replay:
    """A turn run again: whether its block is the same, and what differs in the circumstances."""

    turn: Turn
    same: bool
    differences: tuple[str, ...]


def replay_turn(
    body: dict[str, Any],
    reader: Reader,
    vectors: Vectors | None,
    *,
    count_tokens: CountTokens,
    scorer: Scorer = score_all,
    facets: Facets = NOTHING,
    audience: str = PRIVATE,
) -> Replay:
    """Run the turn of a ledger event's body (blobs opened) with its own prompt, clock and settings.

    The same index state gives the same block. Where the index has moved on, only what had been said by then may be
    found, and the difference is named. `audience` is who reads the outcome: it never sees more than it may.
    """
    if "prompt" not in body or "now" not in body:
        raise RecallError("this turn's ledger event was redacted; it cannot be run again")
    now = datetime.fromisoformat(body["now"])
    settings = settings_of(body.get("settings", {}))
    differences = []
    if settings_hash(settings) != body.get("settings_hash"):
        differences.append("this version has other default settings")
    moved = _moved(body.get("index"), reader)
    differences += moved
    query = query_of(body)
    if (reading := widest(query.audience, audience)) != query.audience:
        differences.append(f"it is shown for the audience '{reading}', then it was '{query.audience}'")
        query = replace(query, audience=reading)
    if moved and query.as_of is None:
        query = replace(query, as_of=now)
    words_only = body.get("words_only", "")
    turn = recall(
        query,
        reader,
        None if words_only else vectors,
        settings,
        now=now,
        count_tokens=count_tokens,
        scorer=scorer,
        already=frozenset(body.get("already", ())),
        before=before(body),
        facets=facets,
        pruned=frozenset(body.get("pruned", ())),
    )
    if facets.digest != body.get("facets", ""):
        differences.append("what is known of memories has changed: their privacy, grants, tags, or roles")
    if turn.words_only and not words_only:
        differences.append("vectors were used then, not now")
    return Replay(turn, turn.block == body.get("block", ""), tuple(differences))


def _moved(then: dict[str, Any] | None, reader: Reader) -> list[str]:
    now = reader.meta()
    state = {"generation": now.generation, "watermark": now.watermark, "data_version": now.data_version}
    if then is None:
        return []
    changed = {name for name, value in state.items() if then.get(name) != value}
    found = []
    if "watermark" in changed:
        read_then, read_now = _read_to(str(then.get("watermark", ""))), _read_to(now.watermark)
        what = "the record has grown" if read_now > read_then else "another record was read"
        found.append(f"{what}: event {read_then:,} then, {read_now:,} now")
    if "generation" in changed:
        found.append(f"the index was built anew: generation {then.get('generation')} then, {now.generation} now")
    elif changed == {"data_version"}:
        found.append("the index was written to since, by vectors or a compaction; the record is the same")
    return found


def _read_to(watermark: str) -> int:
    """The number of the event that a watermark stands at, 0 before the first."""
    try:
        return int(json.loads(watermark)["seq"])
    except (ValueError, KeyError, TypeError):
        return 0


def query_of(body: dict[str, Any]) -> Query:
    """The query that a ledger event records."""
    return Query(
        prompt=body["prompt"],
        session=body.get("asked_in", ""),
        harness=body.get("harness", ""),
        cwd=body.get("cwd", ""),
        role=body.get("role"),
        channel=body.get("channel"),
        audience=body.get("audience", PROJECT),
        command=body.get("command"),
        skill=body.get("skill"),
        task=body.get("task"),
        project=body.get("project", ""),
        mode=body.get("query_mode", "turn"),
        root=body.get("root"),
        as_of=datetime.fromisoformat(body["as_of"]) if body.get("as_of") else None,
        history=bool(body.get("history")),
    )


def settings_of(different: dict[str, Any]) -> Settings:
    """Settings from what differed from the defaults; a name of another version is passed over."""
    settings = Settings()
    for key, value in different.items():
        section, _, name = key.partition(".")
        part = getattr(settings, section, None)
        if part is None or not hasattr(part, name):
            continue
        if isinstance(value, list):
            value = tuple(tuple(v) if isinstance(v, list) else v for v in value)
        settings = replace(settings, **{section: replace(part, **{name: value})})
    return settings
