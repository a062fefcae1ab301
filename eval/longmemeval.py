"""Reads LongMemEval (`longmemeval_s.json`, `_m`, `_oracle`): a history of chats with an assistant for every question.

Gold is `answer_session_ids`, and the turns marked `has_answer`. Questions whose id ends in `_abs` have no answer.
`official` follows the published scorer: user turns alone are indexed, and questions without an answer are not asked.
"""

import hashlib
import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from eval.dataset import ASSISTANT, TEST, USER, Dataset, Dialogue, Question, Turn
from transcript.telling import quoted

_DATE = re.compile(r"(\d{4})/(\d{2})/(\d{2}).*?(\d{2}):(\d{2})")


def load(path: Path, *, official: bool = False) -> Dataset:
    """Read one of the files."""
    raw = path.read_bytes()
    items = [item for item in json.loads(raw) if not (official and _abstains(item))]
    name = "longmemeval-official" if official else "longmemeval"
    return Dataset(name, hashlib.sha256(raw).hexdigest(), tuple(_dialogue(item, official) for item in items))


def _dialogue(item: dict[str, Any], official: bool) -> Dialogue:
    name = str(item["question_id"])
    turns: list[Turn] = []
    gold: set[str] = set()
    ids = item["haystack_session_ids"]
    for number, (session, date, said) in enumerate(
        zip(ids, item["haystack_dates"], item["haystack_sessions"], strict=True)
    ):
        began = moment(date)
        place = str(session) if ids.count(session) == 1 else f"{session}~{number}"
        for i, turn in enumerate(said):
            role = ASSISTANT if turn["role"] == "assistant" else USER
            if (official and role == ASSISTANT) or not str(turn["content"]).strip():
                continue
            id = f"{number}:{i}"
            turns.append(Turn(id, place, role, turn["content"], began + timedelta(seconds=20 * i), role))
            if turn.get("has_answer"):
                gold.add(id)
    held = {turn.session for turn in turns}
    sessions = frozenset(s for s in held if s.partition("~")[0] in set(map(str, item["answer_session_ids"])))
    answerable = not _abstains(item)
    asked = moment(item["question_date"]) + timedelta(minutes=1)
    question = Question(
        name, item["question"], item["question_type"], max(asked, max(t.said for t in turns) + timedelta(minutes=1)),
        frozenset(gold) if answerable else frozenset(), sessions if answerable else frozenset(),
        answerable=answerable, split=TEST,
    )  # fmt: skip
    return Dialogue(name, tuple(turns), (question,))


def moment(text: str) -> datetime:
    """Read "2023/05/30 (Tue) 23:40"; the file names no zone. ValueError for anything else."""
    found = _DATE.match(text)
    if found is None:
        raise ValueError(f"{quoted(text)} is no date of LongMemEval, such as '2023/05/30 (Tue) 23:40'")
    return datetime(*map(int, found.groups()), tzinfo=UTC)  # type: ignore[misc, arg-type]


def _abstains(item: dict[str, Any]) -> bool:
    return str(item["question_id"]).endswith("_abs")
