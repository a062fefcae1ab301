"""Reads BEAM: a folder of chats, each with `chat.json` and `probing_questions/probing_questions.json`.

A batch of a chat is a session. Gold are `source_chat_ids`: ids of messages, in a list or in named lists; of a knowledge
update the original information is outdated. An id that several messages carry names all of them. Questions of the
kind `abstention` have no answer; others without sources are not asked.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from eval.dataset import ASSISTANT, TEST, USER, Dataset, Dialogue, Question, Turn

_START = datetime(2024, 1, 1, 9, tzinfo=UTC)
_INDEX = re.compile(r"\s*->->\s*[\d,\s]+\s*$")  # where the generator numbered a user's message


def load(folder: Path) -> Dataset:
    """Read every chat below folder; FileNotFoundError where there is none."""
    chats = sorted(p.parent for p in folder.rglob("chat.json") if _questions(p.parent).is_file())
    if not chats:
        raise FileNotFoundError(f"no chat.json with its probing_questions.json below {folder}")
    digest = hashlib.sha256()
    dialogues = []
    for chat in chats:
        talk, asked = (chat / "chat.json").read_bytes(), _questions(chat).read_bytes()
        digest.update(talk + asked)
        dialogues.append(_dialogue(chat.relative_to(folder).as_posix(), json.loads(talk), json.loads(asked)))
    return Dataset("beam", digest.hexdigest(), tuple(dialogues))


def _questions(chat: Path) -> Path:
    return chat / "probing_questions" / "probing_questions.json"


def _dialogue(name: str, talk: list[dict[str, Any]], asked: dict[str, list[dict[str, Any]]]) -> Dialogue:
    turns: list[Turn] = []
    carried: dict[int, set[str]] = {}
    at = _START
    for number, batch in enumerate(talk):
        for message in (message for group in batch["turns"] for message in group):
            at = max(at + timedelta(seconds=30), _anchor(message.get("time_anchor")) or at)
            text = _INDEX.sub("", str(message["content"]))
            if text.strip():
                role = ASSISTANT if message["role"] == "assistant" else USER
                turn = Turn(str(len(turns)), f"b{batch.get('batch_number', number)}", role, text, at, role)
                turns.append(turn)
                carried.setdefault(int(message["id"]), set()).add(turn.id)
    session_of = {turn.id: turn.session for turn in turns}
    after = at + timedelta(days=1)
    questions = []
    for kind, several in asked.items():
        for place, probe in enumerate(several):
            stale, current = _sources(probe.get("source_chat_ids"))
            gold = frozenset(t for id in current for t in carried.get(id, ()))
            old = frozenset(session_of[t] for id in stale for t in carried.get(id, ()))
            held = frozenset(session_of[t] for t in gold)
            if gold or kind == "abstention":
                questions.append(
                    Question(f"{name}/{kind}/{place}", probe["question"], kind, after, gold, held, old - held,
                             kind != "abstention", TEST)
                )  # fmt: skip
    return Dialogue(name, tuple(turns), tuple(questions))


def _sources(value: Any) -> tuple[set[int], set[int]]:
    """Return the outdated and the current ids."""
    if isinstance(value, dict) and {"original_info", "updated_info"} <= set(value):
        return set(_ids(value["original_info"])), set(_ids(value["updated_info"]))
    return set(), set(_ids(value))


def _ids(value: Any) -> Iterator[int]:
    if isinstance(value, dict):
        for held in value.values():
            yield from _ids(held)
    elif isinstance(value, list):
        for held in value:
            yield from _ids(held)
    elif isinstance(value, int | str) and str(value).strip().isdigit():
        yield int(value)


def _anchor(text: str | None) -> datetime | None:
    try:
        return datetime.strptime(text, "%B-%d-%Y").replace(hour=9, tzinfo=UTC) if text else None
    except ValueError:
        return None
