"""How much of what a reader called durable the finders propose, and how much of what they propose is.

The labels were written before the finders saw the file. Two of them carry no cue at all: no finder is expected to see
those, a drafter is.
"""

import json
from pathlib import Path

from support.dialogue import Dialogue

from consolidation.find import find
from consolidation.sessions import views
from transcript.memories import MemoryState

LABELLED = Path(__file__).parents[1] / "data" / "finding" / "labelled.json"


def test_recall_and_precision_on_the_labelled_fixture(tmp_path):
    """LCA-4.3-06."""
    sessions = json.loads(LABELLED.read_text(encoding="utf-8"))
    talk = Dialogue()
    for session in sessions:
        talk.begin(session["session"])
        for turn in session["turns"]:
            (talk.prompt if turn["who"] == "prompt" else talk.reply)(turn["text"])
            if turn["who"] == "fixed-reply":
                talk.edit("src/fixed.py")
                talk.bash("pytest -q")
    log = talk.log(tmp_path)

    proposed = {
        (view.session, one.text)
        for view in views(log)
        for one in find(view, MemoryState(), log.workspace.id_key(), lambda text: ())
    }

    durable = {(one["session"], text) for one in sessions for turn in one["turns"] for text in turn["durable"]}
    hits, missed = proposed & durable, durable - proposed
    print(f"recall {len(hits)} of {len(durable)}, precision {len(hits)} of {len(proposed)}; missed {sorted(missed)}")
    assert proposed <= durable
    assert {session for session, _ in missed} == {"implicit"}
