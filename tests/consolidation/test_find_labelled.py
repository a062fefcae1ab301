"""How much of what a reader called durable the finders propose, and how much of what they propose is.

The labels were written before the finders saw the file. Two of them carry no cue at all: no finder is expected to see
those, a drafter is.
"""

import json
from pathlib import Path

from support.dialogue import Dialogue
from support.running import make_running

from consolidation.find import find
from consolidation.sessions import views
from consolidation.span import words
from transcript.memories import MemoryState, span_of_body
from transcript.memory_words import DECIDED, OUTCOMES

LABELLED = Path(__file__).parents[1] / "data" / "finding" / "labelled.json"


SESSIONS = json.loads(LABELLED.read_text(encoding="utf-8"))
DURABLE = {(one["session"], text) for one in SESSIONS for turn in one["turns"] for text in turn["durable"]}


def told() -> Dialogue:
    """The labelled sessions; what is marked as fixed is followed by an edit and a passing check."""
    talk = Dialogue()
    for session in SESSIONS:
        talk.begin(session["session"])
        for turn in session["turns"]:
            (talk.prompt if turn["who"] == "prompt" else talk.reply)(turn["text"])
            if turn["who"] == "fixed-reply":
                talk.edit("src/fixed.py")
                talk.bash("pytest -q")
    return talk


def test_recall_and_precision_on_the_labelled_fixture(tmp_path):
    """LCA-4.3-06."""
    log = told().log(tmp_path)

    proposed = {
        (view.session, one.text)
        for view in views(log)
        for one in find(view, MemoryState(), log.workspace.id_key(), lambda text: ())
        if one.kind == "statement"
    }

    hits, missed = proposed & DURABLE, DURABLE - proposed
    print(f"recall {len(hits)} of {len(DURABLE)}, precision {len(hits)} of {len(proposed)}; missed {sorted(missed)}")
    assert proposed <= DURABLE
    assert {session for session, _ in missed} == {"implicit"}


def test_dry_run_lists_the_candidates_with_their_places(tmp_path):
    """LCA-4.3-06."""
    project = make_running(tmp_path, told())
    before = project.log.head()

    report = project.run(dry_run=True)

    listed = [one["body"] for one in report.would_write if one["type"] == "memory.candidate"]
    for body in listed:
        place = span_of_body(body["sources"][0])
        assert body["kind"] == "summary" or words(project.log, place, project.workspace.id_key()) == body["text"]
    assert sum(body["kind"] == "statement" for body in listed) == 13
    assert project.log.head() == before


def test_every_candidate_ends_as_memory_procedure_or_in_the_transcript_with_a_reason(tmp_path):
    """LCA-4.6-08."""
    talk = told()
    talk.begin("again").prompt("Always write dates as ISO days in the interface.")
    talk.prompt("never print sk-ant-api03-" + "Ab3xK9" * 12 + " in the logs of the server")
    project = make_running(tmp_path, talk)

    project.run()

    state = project.state()
    ends = [(one.body["text"], one.decided) for one in state.candidates.values()]
    assert all(end is not None and end["outcome"] in OUTCOMES and end["reason"] in DECIDED for _, end in ends)
    assert {end["memory"] for _, end in ends if end["outcome"] == "memory"} == set(state.memories)
    assert {end["reason"] for text, end in ends if "[secret:" in text} == {"secret"}
    assert len(state.memories) < len(state.candidates)
