"""Erasing what a memory came from: everything that rests on it goes with it, and nothing else."""

from datetime import timedelta

import pytest
from support.memory_events import AT, HUMAN, body, place_of
from support.record import NOW, make_draft, make_log

from transcript import memory_drafts
from transcript.event import Draft
from transcript.log import Log
from transcript.memories import Span, fold_memories
from transcript.memory_names import derived
from transcript.redaction import erase
from transcript.redaction_plan import plan_events, plan_retention, plan_text
from transcript.verify import verify

SAID = "The port of the pilot is 8713."
OTHER = "Dates are written as ISO days."


class Story:
    """Two statements, each said, found, checked, written and used; the first is later edited and replaced."""

    def __init__(self) -> None:
        self.one, self.two = make_draft("one", text=SAID), make_draft("two", text=OTHER)
        self.first = self.chain(self.one, SAID)
        self.second = self.chain(self.two, OTHER)
        self.three = make_draft("three", text="no")
        self.edit = self.chain(self.three, "Its port is 8713.", supersedes=[self.memory(self.first).id])
        self.answer = make_draft("answer", text="It listens on 8713.", body={"kind": "reply"})
        row = {"prompt": "?", "mode": "inject", "items": [{"event": self.memory(self.first).id}]}
        self.ledger = make_draft("row", "recall", body=row)
        self.used = memory_drafts.cited(
            AT, self.memory(self.second).id, "s2", "named", turn=self.ledger.id, answer=Span(self.answer.id, 0, 5)
        )
        self.link = memory_drafts.superseded(
            AT, place_of(self.memory(self.second)), place_of(self.memory(self.first)), reason="update", since=AT.ts
        )
        self.tag = memory_drafts.amended(HUMAN, self.memory(self.first).id, {"tags": ["x"]}, because="y", actor="ana")

    def chain(self, said: Draft, text: str, **more) -> list[Draft]:
        place = Span(said.id, 0, len(text))
        found = memory_drafts.candidate(AT, body(text, sources=[place.body()]))
        checked = memory_drafts.verdict(
            AT, found.id, round=0, reviewer=("computed", "c"), writer="w", verdict="not_refuted", label="claim"
        )
        reason = {"reason": "edit"} if more else {}
        made = memory_drafts.written(
            AT, found.id, "project_fact", text, sources=[place], said_at=AT.ts, why="asked", **reason, **more
        )
        return [found, checked, memory_drafts.decided(AT, found.id, "memory", "accepted", memory=made.id), made]

    @staticmethod
    def memory(chain: list[Draft]) -> Draft:
        return chain[-1]

    def drafts(self) -> list[Draft]:
        ends = [self.answer, self.ledger, self.used, self.link, self.tag]
        return [self.one, self.two, self.three, *self.first, *self.second, *self.edit, *ends]


def gone_after(tmp_path, planned):
    story = Story()
    log = make_log(tmp_path, story.drafts())
    erase(log.workspace, lambda: planned(log.workspace, story), now=NOW)
    assert verify(log.workspace).ok
    return story, {event.id for event in Log(log.workspace).read() if not event.body}, log


def names(drafts):
    return {draft.id for draft in drafts}


@pytest.mark.parametrize(
    "planned",
    [
        lambda workspace, story: plan_events(workspace, {story.one.id}),
        lambda workspace, story: plan_text(workspace, "port of the pilot"),
        lambda workspace, story: plan_events(workspace, {story.memory(story.first).id, story.one.id}),
    ],
    ids=["source redacted", "words forgotten", "source and memory redacted"],
)
def test_everything_that_rests_on_what_is_erased_goes_too(planned, tmp_path):
    story, gone, log = gone_after(tmp_path, planned)

    rests = [story.one, *story.first, *story.edit, story.tag, story.ledger, story.used]
    assert gone == names(rests)
    state = fold_memories(log)
    assert [memory.statement for memory in state.memories.values()] == [OTHER]
    assert list(state.candidates) == [story.second[0].id]
    assert state.cited == {}


def test_statement_that_the_erased_one_had_replaced_does_not_hold_again(tmp_path):
    log = gone_after(tmp_path, lambda workspace, story: plan_events(workspace, {story.one.id}))[2]

    (left,) = fold_memories(log).memories.values()

    assert left.statement == OTHER
    assert left.state_at(NOW) == "superseded"


def test_redacting_a_memory_takes_its_candidate_and_leaves_its_source(tmp_path):
    story, gone, log = gone_after(
        tmp_path, lambda workspace, story: plan_events(workspace, {story.memory(story.second).id})
    )

    assert gone == names([*story.second, story.used, story.link])
    assert log.text(log.get(story.two.id)) == OTHER


def test_retention_leaves_the_memories(tmp_path):
    story, gone, log = gone_after(tmp_path, lambda workspace, story: plan_retention(workspace, NOW + timedelta(days=1)))

    assert {story.one.id, story.two.id, story.answer.id} <= gone
    assert len(fold_memories(log).memories) == 3


def test_snapshot_does_not_keep_what_was_erased(tmp_path):
    story = Story()
    log = make_log(tmp_path, story.drafts())
    assert len(fold_memories(log, keep=True).memories) == 3
    erase(log.workspace, lambda: plan_events(log.workspace, {story.one.id}), now=NOW)

    assert [memory.statement for memory in fold_memories(log, keep=True).memories.values()] == [OTHER]
    kept = (log.workspace.run_dir / "memories.json").read_text()
    assert OTHER in kept
    assert all(said not in kept for said in ("port of the pilot", "Its port", "listens on"))


@pytest.mark.parametrize(
    "said",
    [
        {"findings": [{"severity": "high", "evidence_pointer": f"{'q' * 10}#0-5", "text": "8713", "kind": "support"}]},
        {"conflicts": [{"memory": "q" * 26, "how": "value", "detail": "8713 | 8080"}]},
        {"target": "q" * 26},
    ],
    ids=["finding", "conflict", "target"],
)
def test_verdict_that_speaks_of_the_erased_words_goes_and_its_candidate_stays(said, tmp_path):
    found = memory_drafts.candidate(AT, body(OTHER))
    told = {"writer": "w", "verdict": "unverified", "label": "claim"} | said
    verdict = memory_drafts.verdict(AT, found.id, round=1, reviewer=("command", "c"), **told)
    events = list(make_log(tmp_path, [found, verdict]).read())

    assert derived(events, {"q" * 26}) == {verdict.id}
    assert derived(events, {"r" * 26}) == set()
