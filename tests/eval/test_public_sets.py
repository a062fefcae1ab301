"""The loaders of LongMemEval and BEAM, on small files of ours in their published formats."""

import json
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner
from support.embedder import StubEmbedder

from eval import beam, longmemeval
from eval.dataset import ASSISTANT, USER
from eval.dataset_run import OURS, run
from eval.measures import SETS
from indexer.settings import IndexSettings
from recall.cli.group import cli
from recall.cli.group import run as command
from recall.settings import Settings

NOW = datetime(2026, 11, 1, tzinfo=UTC)


def said(role, content, **more):
    return {"role": role, "content": content, **more}


LONGMEMEVAL = [
    {
        "question_id": "q1",
        "question_type": "single-session-user",
        "question": "How long is the retention of sessions that I chose?",
        "answer": "thirty days",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_session_ids": ["s1", "answer_1", "s1"],
        "haystack_dates": ["2023/05/01 (Mon) 09:00", "2023/05/20 (Sat) 02:21", "2023/05/28 (Sun) 10:00"],
        "haystack_sessions": [
            [said("user", "What is a good name for a cat?"), said("assistant", "Perhaps Miso.")],
            [
                said("user", "I chose a retention of sessions of thirty days.", has_answer=True),
                said("assistant", "Thirty days of retention it is.", has_answer=False),
            ],
            [said("user", "Which bread keeps fresh the longest?"), said("assistant", "Rye.")],
        ],
        "answer_session_ids": ["answer_1"],
    },
    {
        "question_id": "q2_abs",
        "question_type": "single-session-user",
        "question": "What did I pay for the aquarium?",
        "answer": "not said",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_session_ids": ["s5"],
        "haystack_dates": ["2023/05/01 (Mon) 09:00"],
        "haystack_sessions": [[said("user", "I sold my bicycle."), said("assistant", "Well done.")]],
        "answer_session_ids": ["s5"],
    },
]


@pytest.fixture
def chats(tmp_path):
    """A file of LongMemEval with two questions."""
    file = tmp_path / "longmemeval_s.json"
    file.write_text(json.dumps(LONGMEMEVAL))
    return file


def test_longmemeval_gold_are_the_marked_turns_and_the_answer_sessions(chats):
    first, second = longmemeval.load(chats).dialogues
    (asked,) = first.questions

    assert [t.text for t in first.turns if t.id in asked.turns] == ["I chose a retention of sessions of thirty days."]
    assert asked.sessions == {"answer_1"}
    assert asked.answerable
    assert asked.asked_at > max(t.said for t in first.turns)
    assert (second.questions[0].answerable, second.questions[0].turns) == (False, frozenset())


def test_a_session_id_that_comes_twice_stays_two_sessions(chats):
    first = longmemeval.load(chats).dialogues[0]

    assert len({t.session for t in first.turns}) == 3


def test_the_official_rules_index_user_turns_alone_and_skip_what_has_no_answer(chats):
    data = longmemeval.load(chats, official=True)

    assert data.name == "longmemeval-official"
    assert [d.id for d in data.dialogues] == ["q1"]
    assert {t.role for t in data.dialogues[0].turns} == {USER}


def test_a_date_of_another_form_is_an_error_that_names_it():
    with pytest.raises(ValueError, match="next Tuesday"):
        longmemeval.moment("next Tuesday")


@pytest.fixture
def long_chats(tmp_path):
    """A folder of BEAM with one chat of two batches."""
    folder = tmp_path / "100K" / "1"
    (folder / "probing_questions").mkdir(parents=True)
    chat = [
        {
            "batch_number": 1,
            "turns": [
                [
                    {
                        "role": "user",
                        "id": 0,
                        "content": "The limit is forty requests. ->-> 1,1",
                        "time_anchor": "March-15-2024",
                    },
                    {"role": "assistant", "id": 1, "content": "Noted: forty.", "time_anchor": None},
                ]
            ],
        },
        {
            "batch_number": 2,
            "turns": [
                [
                    {
                        "role": "user",
                        "id": 2,
                        "content": "The limit is sixty requests now.",
                        "time_anchor": "May-02-2024",
                    },
                    {"role": "assistant", "id": 3, "content": "Sixty from now on."},
                ]
            ],
        },
    ]
    probes = {
        "knowledge_update": [
            {
                "question": "What is the limit of requests?",
                "source_chat_ids": {"original_info": [0], "updated_info": [2]},
            }
        ],
        "information_extraction": [{"question": "Which limit came first?", "source_chat_ids": [0]}],
        "abstention": [{"question": "Who set the limit?"}],
        "summarization": [{"question": "Sum it all up."}],
    }
    (folder / "chat.json").write_text(json.dumps(chat))
    (folder / "probing_questions" / "probing_questions.json").write_text(json.dumps(probes))
    return tmp_path / "100K"


def test_beam_tells_current_from_outdated_information(long_chats):
    (dialogue,) = beam.load(long_chats).dialogues
    asked = {q.type: q for q in dialogue.questions}
    text = {t.id: t.text for t in dialogue.turns}

    assert [text[t] for t in asked["knowledge_update"].turns] == ["The limit is sixty requests now."]
    assert (asked["knowledge_update"].sessions, asked["knowledge_update"].stale) == ({"b2"}, {"b1"})
    assert not asked["abstention"].answerable
    assert "summarization" not in asked  # it names no source: nothing can be scored


def test_beam_turns_carry_their_dates_and_no_numbering_of_the_generator(long_chats):
    (dialogue,) = beam.load(long_chats).dialogues

    assert dialogue.turns[0].text == "The limit is forty requests."
    assert [(t.said.month, t.role) for t in dialogue.turns] == [(3, USER), (3, ASSISTANT), (5, USER), (5, ASSISTANT)]


def test_a_folder_without_chats_is_an_error_that_names_it(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no chat\.json"):
        beam.load(tmp_path)


def test_a_set_is_asked_of_the_shipped_engine_and_kept_between_runs(chats, tmp_path):
    data, embedder = longmemeval.load(chats), StubEmbedder()
    options = {"embedder": embedder, "index_settings": IndexSettings(), "settings": Settings(), "now": NOW}
    first = run(data, tmp_path / "cache", **options)
    encoded = len(embedder.batches)
    again = run(data, tmp_path / "cache", **options)
    measure = next(m for m in SETS["longmemeval"] if m.name == "session any@5")

    assert [measure.of(reply) for reply in first.replies[OURS]] == [1.0, None]
    assert [r.ranked for r in again.replies[OURS]] == [r.ranked for r in first.replies[OURS]]
    assert encoded == len(embedder.batches)
    assert all(not reply.injected and reply.tokens == 0 for reply in first.replies["no recall"])


def test_the_command_prints_both_scorers_the_definition_and_the_machine(chats, tmp_path):
    words = ["eval", "longmemeval", "--data", str(chats), "--words-only", "--cache", str(tmp_path / "cache")]
    done = CliRunner().invoke(cli, [*words, "--scorer", "genagents", "--weight-model", "actr"], catch_exceptions=False)

    assert done.exit_code == 0
    for part in ("--scorer genagents", "--weight-model actr", "latest messages", "every gold session", "limits:"):
        assert part in done.stdout


@pytest.mark.parametrize(
    ("name", "content"), [("locomo", "not json"), ("locomo", "[]"), ("locomo", "[1]"), ("memorycode", "no archive")]
)
def test_a_file_that_is_not_the_set_is_one_sentence_that_names_it(name, content, tmp_path, capsys):
    path = tmp_path / "set.json"
    path.write_text(content)

    assert command(["eval", name, "--data", str(path), "--words-only", "--cache", str(tmp_path / "cache")]) == 1
    told = capsys.readouterr().err
    assert told.startswith(f"recall: {path} ")
    assert told.count("\n") == 1


def test_a_folder_without_chats_is_one_sentence_of_the_command(tmp_path, capsys):
    assert command(["eval", "beam", "--data", str(tmp_path), "--words-only"]) == 1
    told = capsys.readouterr().err
    assert told.startswith("recall: no chat.json ")
    assert told.endswith(f"below {tmp_path}\n")
