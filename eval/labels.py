"""Reads the labelled queries: what is asked, when, in which session, and the spans that answer."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath


@dataclass(frozen=True, slots=True)
class Span:
    """Quoted words of one record: its session file (without suffix), native uuid and the quote."""

    file: str
    uuid: str
    quote: str


@dataclass(frozen=True, slots=True)
class LabelledQuery:
    """One query with its answer; `session` is the file the prompt is typed in, "" for none of them."""

    id: str
    query: str
    type: str
    now: datetime
    session: str
    evidence: tuple[Span, ...]
    stale: tuple[Span, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class LabelSet:
    """All queries of a set, with the hash of the file they came from."""

    queries: tuple[LabelledQuery, ...]
    sha256: str

    @property
    def spans(self) -> tuple[Span, ...]:
        """Every evidence and stale span of the set."""
        return tuple(span for query in self.queries for span in (*query.evidence, *query.stale))


def load(folder: Path) -> LabelSet:
    """Read folder/queries.jsonl; a malformed line is an error that names it."""
    raw = (folder / "queries.jsonl").read_bytes()
    queries = []
    for number, line in enumerate(raw.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            queries.append(_query(json.loads(line)))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"queries.jsonl line {number} is no labelled query: {error!r}") from error
    return LabelSet(tuple(queries), hashlib.sha256(raw).hexdigest())


def _query(data: dict[str, object]) -> LabelledQuery:
    now = datetime.fromisoformat(str(data["now"]))
    if now.tzinfo is None:
        raise ValueError(f"now is {data['now']}, must carry a time zone")
    return LabelledQuery(
        id=str(data["id"]),
        query=str(data["query"]),
        type=str(data["type"]),
        now=now,
        session=_stem(str(data["session"])) if data.get("session") else "",
        evidence=_spans(data["evidence"]),
        stale=_spans(data.get("stale") or []),
        note=str(data.get("note", "")),
    )


def _spans(data: object) -> tuple[Span, ...]:
    if not isinstance(data, list):
        raise TypeError(f"spans are {type(data).__name__}, must be a list")
    return tuple(Span(_stem(str(item["file"])), str(item["uuid"]), str(item["quote"])) for item in data)


def _stem(name: str) -> str:
    return PurePosixPath(name).name.removesuffix(".jsonl")
