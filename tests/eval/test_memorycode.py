"""MemoryCode's loader over a small archive made by hand, in the published format."""

import io
import json
import tarfile

import pytest

from eval import memorycode
from eval.dataset import DEV, TEST
from eval.memorycode import LABEL, without_value

RULES = [
    {"id": 0, "text": ["always start names with 'x_'", "always start names with 'y_'"]},
    {"id": 1, "text": ["always add the '@retry' decorator to all methods"]},
    {"id": 2, "text": ["always add the '@trace' decorator to all methods"]},
]
LABELS = {0: "variable", 1: "method decorator", 2: "method decorator"}


def session(text, *pairs):
    return text, [list(pair) for pair in pairs]


def archive(folder, dialogues):
    """Write the archive: {number: [(text, [[rule, version], ...]), ...]}; a session without a rule says -1."""
    path = folder / "memorycode.tar.xz"
    with tarfile.open(path, "w:xz") as made:
        held = {"topics.json": {"instructions": RULES}}
        for number, sessions in dialogues.items():
            held[f"dialogue_{number}.json"] = {
                "sessions": [
                    {"text": t, "session_regex": [[LABELS[r], "."] for r, _ in pairs]} for t, pairs in sessions
                ],
                "instructions": [pairs or [-1] for _, pairs in sessions],
            }
        for name, value in held.items():
            data = json.dumps(value).encode()
            member = tarfile.TarInfo(f"memorycode/{name}")
            member.size = len(data)
            made.addfile(member, io.BytesIO(data))
    return path


@pytest.fixture
def loaded(tmp_path):
    talk = [
        session("Emma: Start names with 'x_'.\n\nOliver: Will do.", (0, 0)),
        session("Emma: Add '@retry' to methods.", (1, 0)),
        session("Emma: Start names with 'y_' now.\nAdd '@trace' to methods too.", (0, 1), (2, 0)),
        *[session(f"Emma: Lunch number {n}?") for n in range(7)],
    ]
    path = archive(tmp_path, {121: talk, 3: talk[:2], 122: talk[:9]})
    return lambda **given: memorycode.load(path, **given)


def test_a_rule_that_changed_wants_the_session_of_its_newest_version(loaded):
    (dialogue,) = loaded(split=TEST).dialogues
    changed, retry, trace = dialogue.questions

    assert (changed.type, changed.sessions, changed.stale) == ("changed", {"s2"}, {"s0"})
    assert (retry.type, retry.sessions, retry.stale) == ("stable", {"s1"}, frozenset())
    assert (trace.type, trace.sessions) == ("stable", {"s2"})


def test_the_value_that_changed_is_not_in_the_question(loaded):
    (dialogue,) = loaded(split=TEST).dialogues

    assert dialogue.questions[0].text == "always start names with"


def test_no_two_rules_of_a_dialogue_are_asked_for_in_the_same_words(loaded):
    (dialogue,) = loaded(split=TEST).dialogues
    texts = [question.text for question in dialogue.questions]

    assert texts[1:] == [rule["text"][0] for rule in RULES[1:]]
    assert len(set(texts)) == len(texts)


def test_the_set_says_which_labels_count_and_how_they_are_asked_for(loaded):
    assert loaded(split=TEST).labels.startswith("refined")
    assert loaded(form=LABEL, split=TEST).labels.endswith("asked for by the rule's bare label")


def test_a_label_may_stand_for_several_rules(loaded):
    (dialogue,) = loaded(form=LABEL, split=TEST).dialogues

    assert [question.text for question in dialogue.questions] == ["variable", "method decorator", "method decorator"]


def test_turns_are_cut_at_the_speakers(loaded):
    turns = loaded(split=TEST).dialogues[0].turns

    assert [(t.id, t.speaker, t.text) for t in turns[:2]] == [
        ("s0:0", "Emma", "Start names with 'x_'."),
        ("s0:1", "Oliver", "Will do."),
    ]
    assert (turns[2].said - turns[0].said).days == 7
    assert all(dialogue.asked_at > turns[-1].said for dialogue in loaded(split=TEST).dialogues[0].questions)


def test_dialogues_for_development_and_for_the_test_are_apart(loaded, monkeypatch):
    monkeypatch.setattr(memorycode, "JOINED", 2)

    assert [d.id for d in loaded(split=TEST).dialogues] == ["dialogue_121"]  # 122 has fewer than ten sessions
    assert [(d.id, len({t.session for t in d.turns})) for d in loaded(split=DEV).dialogues] == [("history_0", 2)]


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        (["use all UPPERCASE for class names", "use CamelCase for class names"], "use for class names"),
        (["end names with '_a'", "end names with '_b'", "end names with '_c'"], "end names with"),
        (["import the 'gzip' module"], "import the 'gzip' module"),
    ],
)
def test_without_value_keeps_what_all_versions_say(versions, expected):
    assert without_value(versions) == expected


@pytest.mark.real_data
def test_every_question_of_the_real_set_names_one_rule(shared):
    held = memorycode.load(shared / "bench" / "memorycode.tar.xz", split=TEST)

    assert len(held.dialogues) == 210
    assert [sum(q.type == kind for q in held.questions) for kind in ("changed", "stable")] == [771, 3233]
    for dialogue in held.dialogues:
        texts = [question.text for question in dialogue.questions]
        assert len(set(texts)) == len(texts), dialogue.id
