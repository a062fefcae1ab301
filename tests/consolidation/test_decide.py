"""How candidates end, and that each end has its reason."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.record import NOW
from support.remembered import Remembered, make_remembered
from support.running import CAUSE, Running, make_running, talk_of_causes

from consolidation.candidates import candidate_of, files_of
from consolidation.decide import decide
from consolidation.model import Candidate, Conflict, Decision, Touched, Verdict
from consolidation.settings import Settings
from recall.memory_settings import ReviewerSettings
from transcript import memory_drafts as drafts
from transcript.errors import ReviewFailed
from transcript.memories import Memory, Span

TEXT = "The importer reads `settings.toml` before the variable `APP_HOME` is set."
PLACE = Span("a" * 26, 0, len(TEXT))
ABOUT: Mapping[str, Any] = {"why": "it was fixed", "subject": ("importer",)}
WELL = Candidate("cause", "known_failure", TEXT, (PLACE,), "2026-01-01T00:00:00.000Z", **ABOUT)
INFERRED = ("memory", "accepted_inference", False)


def verdict(kind: str, *, round: int = 0, **fields: Any) -> Verdict:
    who = ("computed", "recall-checks/1") if not round else ("command", "rex")
    return Verdict(WELL.id, round, who, "find/cause", kind, **({"label": "claim"} | fields))


def ended(candidate: Candidate, *verdicts: Verdict, touched: tuple[Touched, ...] = (), **more: Any) -> Decision:
    found = verdicts or (verdict("not_refuted"),)
    return decide(candidate, found, touched, Settings(), sessions_of=lambda one: frozenset({"s1"}), **more)


def told(decision: Decision) -> tuple[str, str, bool]:
    return decision.outcome, decision.reason, decision.pending


@pytest.mark.parametrize("found_by", ["added", "import", "cause"])
def test_what_was_replaced_is_taken_in_by_no_way(found_by: str) -> None:
    replaced = verdict("refuted", note="superseded", target="b" * 26)

    end = ended(replace(WELL, found_by=found_by), replaced, person=True)

    assert (told(end), end.target) == (("transcript_only", "superseded_by", False), "b" * 26)


@pytest.mark.parametrize(
    ("verdicts", "end"),
    [
        ((verdict("not_refuted"),), ("memory", "accepted", False)),
        ((verdict("downgrade", kept_text=TEXT[:-1]),), ("memory", "accepted", False)),
        ((verdict("not_refuted", label="inference"),), ("memory", "accepted_inference", False)),
        ((verdict("supersede", target="b" * 26),), ("memory", "accepted", False)),
        ((verdict("refuted"),), ("transcript_only", "unsupported", False)),
        ((verdict("refuted", note="superseded", target="b" * 26),), ("transcript_only", "superseded_by", False)),
        ((verdict("unverified"),), ("transcript_only", "unverified", True)),
        (
            (verdict("unverified", conflicts=(Conflict("b" * 26, "value", "1 | 2"),)),),
            ("transcript_only", "contradiction", True),
        ),
        ((verdict("not_refuted"), verdict("not_refuted", round=1)), ("memory", "accepted", False)),
        ((verdict("unverified"), verdict("not_refuted", round=1, label="inference")), INFERRED),
        ((verdict("not_refuted"), verdict("refuted", round=1)), ("transcript_only", "reviewer", False)),
        ((verdict("not_refuted"), verdict("unverified", round=1)), ("transcript_only", "unverified", True)),
    ],
)  # fmt: skip
def test_what_verification_says_decides(verdicts: tuple[Verdict, ...], end: tuple[str, str, bool]) -> None:
    assert told(ended(WELL, *verdicts)) == end


@pytest.mark.parametrize(
    ("changes", "end"),
    [
        ({"memory_type": "runbook"}, ("procedure", "awaits_person", True)),
        ({"memory_type": "role_standard"}, ("procedure", "awaits_person", True)),
        ({"found_by": "retired", "supersedes": PLACE}, ("transcript_only", "awaits_person", True)),
        ({"found_by": "value_link", "supersedes": PLACE}, ("transcript_only", "awaits_person", True)),
        ({"found_by": "hand_edit"}, ("transcript_only", "awaits_person", True)),
        ({"text": "x" * 401}, ("transcript_only", "too_long", False)),
        ({"text": "The token is [secret:github-token:0a1b2c]."}, ("transcript_only", "secret", False)),
        ({"subject": ()}, ("transcript_only", "no_subject", False)),
        ({"found_by": "wish", "subject": ()}, ("memory", "accepted", False)),
        ({"why": ""}, ("memory", "accepted_inference", False)),
    ],
)
def test_what_it_is_decides_before_that(changes: Mapping[str, Any], end: tuple[str, str, bool]) -> None:
    """Governed tier: what rules others, changes how the transcript is read, or was edited by hand waits."""
    assert told(ended(replace(WELL, **changes))) == end


def test_a_person_who_commands_is_not_asked_again() -> None:
    assert told(ended(replace(WELL, memory_type="runbook", found_by="added"), person=True))[0] == "memory"


def test_what_a_command_adds_without_support_is_an_inference_and_what_contradicts_waits() -> None:
    added = replace(WELL, found_by="added")

    assert told(ended(added, verdict("unverified", note="no source"))) == ("memory", "accepted_inference", False)
    conflict = verdict("unverified", conflicts=(Conflict("b" * 26, "number", "1 | 2"),))
    assert told(ended(added, conflict)) == ("transcript_only", "contradiction", True)


@pytest.fixture
def kept(tmp_path: Path) -> Remembered:
    return make_remembered(tmp_path)


def in_sessions(memory: frozenset[str], candidate: frozenset[str]) -> Any:
    return lambda one: memory if isinstance(one, Memory) else candidate


@pytest.mark.parametrize(
    ("said_in", "cited_in", "reason"),
    [("s2", set(), "confirmed"), ("s1", set(), "duplicate"), ("s2", {"s2"}, "duplicate")],
    ids=["another session", "the same session", "its own echo"],
)
def test_the_same_again_confirms_only_where_the_memory_was_not_in_front_of_it(
    kept: Remembered, said_in: str, cited_in: set[str], reason: str
) -> None:
    memory = kept.remember(kept.candidate(TEXT))
    decision = decide(
        replace(kept.candidate(TEXT), subject=("importer",)),
        (verdict("not_refuted"),),
        (Touched(memory, 1.0),),
        Settings(),
        sessions_of=in_sessions(frozenset({"s1"}), frozenset({said_in})),
        cited={memory.id: cited_in},
    )

    assert (decision.reason, decision.target) == (reason, memory.id)


def test_a_candidate_comes_back_from_its_event_as_it_was() -> None:
    whole = replace(
        WELL, supersedes=PLACE, mistake=("npm", "pnpm"), file=("a.md", "0" * 64), covers=("s1", 1, 9),
        closed_by=(PLACE,), tags=("git",), roles=("reviewer",), projects=("shop",), worker="a1", drafted_by="mine",
    )  # fmt: skip

    assert candidate_of(whole.body()) == whole


def test_files_that_a_statement_names_are_those_of_the_project_alone(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("x = 1\n")
    (tmp_path.parent / "outside.py").write_text("y = 2\n")

    found = files_of("`src/a.py` and ../outside.py and src/gone.py fail; so does /etc/hosts.", tmp_path)

    assert [path for path, _ in found] == ["src/a.py"]
    assert files_of("`src/a.py`", None) == []


class Scripted:
    """A reviewer that answers from a list: a verdict, or that it does not answer."""

    kind, id = "command", "rex"

    def __init__(self, *answers: str) -> None:
        self.answers, self.asked = list(answers), 0

    def ask(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        self.asked += 1
        said = self.answers.pop(0)
        if said == "silence":
            raise ReviewFailed("rex did not answer")
        return {"protocol": "recall-review/1", "reviewer": "rex", "verdict": said, "findings": []}


def reviewed(folder: Path, *answers: str) -> tuple[Running, Scripted]:
    project = make_running(folder, talk_of_causes(CAUSE))
    project.settings = replace(project.settings, reviewer=ReviewerSettings(kind="command", command="rex"))
    reviewer = Scripted(*answers)
    project.changes = {"reviewer": reviewer}
    return project, reviewer


def test_a_reviewer_that_is_silent_leaves_a_candidate_waiting_until_it_answers(tmp_path: Path) -> None:
    project, reviewer = reviewed(tmp_path, "silence", "not_refuted")

    first = project.run()
    second = project.run(later=1)
    third = project.run(later=2)

    assert (first.counts["accepted"], first.counts["pending"]) == (0, 1)
    assert second.counts["accepted"] == 1
    assert (third.state, reviewer.asked) == ("unchanged", 2)
    verdicts = [(e.body["round"], e.body["verdict"]) for e in project.events("memory.verdict")]
    assert verdicts == [(0, "not_refuted"), (1, "unverified"), (1, "not_refuted")]


def test_what_a_reviewer_refutes_becomes_no_memory_and_is_not_asked_again(tmp_path: Path) -> None:
    project, reviewer = reviewed(tmp_path, "refuted")

    first = project.run()
    again = project.run(later=1)

    assert (first.counts["rejected"], project.state().memories) == (1, {})
    assert (again.state, reviewer.asked) == ("unchanged", 1)


def test_what_was_declined_stays_declined(tmp_path: Path) -> None:
    project, _ = reviewed(tmp_path, "silence", "not_refuted")
    project.run()
    (candidate,) = project.state().candidates
    at = replace(drafts_at(), key="ana")
    no = drafts.decided(at, candidate, "transcript_only", "declined", by="human:ana", actor_kind="human")
    project.log.append([no], now=NOW)

    report = project.run(later=1)

    assert report.counts["accepted"] == 0
    assert project.state().memories == {}


def drafts_at() -> Any:
    from transcript.memory_told import Told

    return Told("2026-03-02T00:00:00.000Z", session="recall:ana")
