"""Reads LoCoMo (`locomo10.json`): ten talks between two people over months, with questions and the turns that answer.

Snap Research's file is licensed CC BY-NC 4.0: it is evaluated with, and never shipped. Conversations 1 to 3 are for
development, the other seven are held out. Evidence is parsed, malformed strings included; a question that is left
with none is not asked.
"""

import hashlib
import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from eval.dataset import DEV, TEST, Dataset, Dialogue, Question, Turn

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
DEV_CONVERSATIONS = 3
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")
_SESSION = re.compile(r"session_(\d+)")


def load(path: Path, *, errors: Path | None = None) -> Dataset:
    """Read the file; `errors` is the label audit, whose corrected evidence then replaces the original."""
    raw = path.read_bytes()
    held = json.loads(raw)
    mended = _audit(errors)
    dialogues = tuple(
        _dialogue(item, number, mended, DEV if number < DEV_CONVERSATIONS else TEST) for number, item in enumerate(held)
    )
    digest = hashlib.sha256(raw + (errors.read_bytes() if errors is not None else b""))
    return Dataset("locomo", digest.hexdigest(), dialogues)


def _dialogue(item: dict[str, Any], number: int, mended: dict[str, list[str]], split: str) -> Dialogue:
    name, talk = str(item["sample_id"]), item["conversation"]
    turns: list[Turn] = []
    for key in sorted((k for k in talk if _SESSION.fullmatch(k)), key=lambda k: int(k.split("_")[1])):
        began = _moment(talk[f"{key}_date_time"])
        for place, said in enumerate(talk[key]):
            at = began + timedelta(minutes=place)
            turns.append(Turn(said["dia_id"], key, said["speaker"], _text(said), at))
    known = {turn.id: turn.session for turn in turns}
    after = max(turn.said for turn in turns) + timedelta(days=1)
    questions = []
    for place, asked in enumerate(item["qa"]):
        written = mended.get(f"locomo_{number}_qa{place}", asked.get("evidence", []))
        gold = frozenset(turn for turn in evidence(written) if turn in known)
        if gold:
            sessions = frozenset(known[turn] for turn in gold)
            kind = CATEGORIES[asked["category"]]
            questions.append(Question(f"{name}/{place}", asked["question"], kind, after, gold, sessions, split=split))
    return Dialogue(name, tuple(turns), tuple(questions))


def evidence(written: list[str]) -> list[str]:
    """Return the turn ids in evidence strings, however they are joined: "D8:6; D9:17", "D:11:26"."""
    return [f"D{int(a)}:{int(b)}" for text in written for a, b in _EVIDENCE.findall(text)]


def _text(said: dict[str, Any]) -> str:
    """A turn's words, with the caption of the picture it shows."""
    caption = said.get("blip_caption", "")
    return f"{said['text']} [shows {caption}]" if caption else said["text"]


def _moment(text: str) -> datetime:
    """Read "1:56 pm on 8 May, 2023"; the file names no zone."""
    return datetime.strptime(text.strip(), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


def _audit(path: Path | None) -> dict[str, list[str]]:
    if path is None:
        return {}
    return {row["question_id"]: row["correct_evidence"] for row in json.loads(path.read_text(encoding="utf-8"))}
