"""The loader of LoCoMo, on a small talk of ours in its published format, and that talk asked of the shipped engine."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from eval.dataset import DEV, TEST
from eval.dataset_run import OURS, run
from eval.locomo import evidence, load
from indexer.settings import IndexSettings
from recall.settings import Settings

NOW = datetime(2026, 11, 1, tzinfo=UTC)


def turn(number: str, speaker: str, text: str, **more: str) -> dict[str, str]:
    return {"speaker": speaker, "dia_id": number, "text": text, **more}


TALK: dict[str, Any] = {
    "speaker_a": "Ines",
    "speaker_b": "Rui",
    "session_2_date_time": "12:05 am on 3 June, 2023",
    "session_2": [
        turn("D2:1", "Rui", "The pottery class was moved."),
        turn("D2:2", "Ines", "Look at this!", blip_caption="a photo of a blue kayak"),
    ],
    "session_10_date_time": "9:00 am on 1 July, 2023",
    "session_10": [turn("D10:1", "Ines", "Bye.")],
    "session_1_date_time": "1:56 pm on 8 May, 2023",
    "session_1": [
        turn("D1:1", "Ines", "Did the heron nest survive the storm?"),
        turn("D1:2", "Rui", "All three."),
    ],
}
QUESTIONS: list[dict[str, Any]] = [
    {"question": "How many heron nests survived?", "answer": 3, "evidence": ["D1:2"], "category": 4},
    {"question": "What did Ines and Rui do?", "answer": "x", "evidence": ["D1:1; D2:2", "D:2:01"], "category": 1},
    {"question": "What was moved, and when?", "answer": "x", "evidence": ["D2:1", "D"], "category": 2},
    {"question": "Who flew?", "adversarial_answer": "x", "evidence": [], "category": 5},
    {"question": "Who sang?", "adversarial_answer": "x", "evidence": ["D9:9"], "category": 5},
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Four conversations, all alike."""
    path = tmp_path / "locomo10.json"
    talks = [{"sample_id": f"conv-{number}", "conversation": TALK, "qa": QUESTIONS} for number in range(4)]
    path.write_text(json.dumps(talks), encoding="utf-8")
    return path


def gold(path: Path, **more: Any) -> Mapping[str, frozenset[str]]:
    return {q.id: q.turns for q in load(path, **more).dialogues[0].questions}


def test_turns_stand_in_the_order_of_their_sessions_with_speaker_time_and_caption(file: Path) -> None:
    turns = load(file).dialogues[0].turns

    assert [t.id for t in turns] == ["D1:1", "D1:2", "D2:1", "D2:2", "D10:1"]
    assert (turns[1].speaker, turns[1].session) == ("Rui", "session_1")
    assert turns[1].said == datetime(2023, 5, 8, 13, 57, tzinfo=UTC)  # a minute a turn
    assert turns[2].said == datetime(2023, 6, 3, 0, 5, tzinfo=UTC)
    assert turns[3].text == "Look at this! [shows a photo of a blue kayak]"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (["D8:6; D9:17"], ["D8:6", "D9:17"]),
        (["D9:1 D4:4 D4:6"], ["D9:1", "D4:4", "D4:6"]),
        (["D:11:26"], ["D11:26"]),
        (["D30:05"], ["D30:5"]),
        (["D1:18", "D", "D1:20"], ["D1:18", "D1:20"]),
        ([], []),
    ],
    ids=["semicolon", "space", "colon after the letter", "leading zero", "a letter alone", "none"],
)
def test_evidence_is_read_however_it_is_written(written: list[str], read: list[str]) -> None:
    assert evidence(written) == read


def test_a_question_without_a_gold_turn_in_the_talk_is_not_asked(file: Path) -> None:
    assert gold(file) == {
        "conv-0/0": {"D1:2"},
        "conv-0/1": {"D1:1", "D2:2", "D2:1"},
        "conv-0/2": {"D2:1"},
    }


def test_questions_are_asked_after_the_last_session_and_know_their_kind(file: Path) -> None:
    questions = load(file).dialogues[0].questions

    assert [q.type for q in questions] == ["single-hop", "multi-hop", "temporal"]
    assert questions[1].sessions == {"session_1", "session_2"}
    assert {q.asked_at for q in questions} == {datetime(2023, 7, 2, 9, 0, tzinfo=UTC)}


def test_the_first_three_conversations_are_for_development(file: Path) -> None:
    splits = [d.questions[0].split for d in load(file).dialogues]

    assert splits == [DEV, DEV, DEV, TEST]


def test_the_label_audit_replaces_evidence_and_counts_as_other_data(file: Path, tmp_path: Path) -> None:
    audit = tmp_path / "errors.json"
    audit.write_text(json.dumps([{"question_id": "locomo_0_qa0", "correct_evidence": ["D1:1"]}]), encoding="utf-8")

    assert gold(file, errors=audit)["conv-0/0"] == {"D1:1"}
    assert gold(file, errors=audit)["conv-0/2"] == {"D2:1"}
    assert load(file, errors=audit).sha256 != load(file).sha256


def test_the_engine_finds_the_answer_beside_its_question_and_what_a_named_person_said(
    file: Path, tmp_path: Path
) -> None:
    held = load(file)
    made = run(
        type(held)(held.name, held.sha256, held.dialogues[:1]), tmp_path / "cache",
        embedder=None, index_settings=IndexSettings(), settings=Settings(), now=NOW, baselines=False,
    )  # fmt: skip

    ranked = [[sorted(hit.turns) for hit in reply.ranked] for reply in made.replies[OURS]]
    assert sorted(ranked[0][:2]) == [["D1:1"], ["D1:2"]]
    assert ranked[2][0] == ["D2:1"]
