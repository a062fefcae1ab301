"""The record decides: what a crash left is finished, what is lost is made again, an edit is named, erased stays so."""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.coord import Office, write_proposal

from consolidation import coord_apply, coord_desk, coord_verify
from consolidation.keys import KeyStore
from recall.forgetting import erase
from transcript import proposal_drafts
from transcript.accounts import audit
from transcript.coord_codes import Refusal
from transcript.event import Draft, stamp
from transcript.log import Log
from transcript.projections import coord_files, coord_lines
from transcript.redaction_plan import plan_text


class Crash(BaseException):
    """The process is gone."""


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


class Effect:
    """Writes a file, as the effect of an applied proposal does."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def check(self, action: Mapping[str, Any]) -> None:
        return None

    def drafts(
        self, action: Mapping[str, Any], item: Mapping[str, Any], decision: Mapping[str, Any], at: str
    ) -> tuple[list[Draft], dict[str, Any] | None]:
        return [], {"kind": "file", "target": self.path.name, "text": item["summary"]}

    def land(self, effect: Mapping[str, Any]) -> None:
        self.path.write_text(effect["text"])


def crash(*_: Any, **__: Any) -> None:
    raise Crash


def torn(root: Path, data: bytes) -> None:
    """Write as much of a line as the disk took before the power went."""
    real_append(root, data[: len(data) // 2])
    raise Crash


real_append = coord_files.append
STEPS: list[tuple[str, Callable[[pytest.MonkeyPatch, Effect], None], bool]] = [
    ("before the record", lambda m, e: m.setattr(Log, "append", crash), False),
    ("after the record", lambda m, e: m.setattr(KeyStore, "burn", crash), True),
    ("before the line", lambda m, e: m.setattr(coord_files, "append", crash), True),
    ("in the line", lambda m, e: m.setattr(coord_files, "append", torn), True),
    ("before the effect", lambda m, e: m.setattr(e, "land", crash), True),
    ("before the file", lambda m, e: m.setattr(coord_desk.CoordDesk, "write", crash), True),
]


@pytest.mark.parametrize(("stop", "holds"), [step[1:] for step in STEPS], ids=[step[0] for step in STEPS])
def test_a_crash_at_any_step_of_apply_leaves_one_truth(
    office: Office, stop: Callable[[pytest.MonkeyPatch, Effect], None], holds: bool, tmp_path: Path
) -> None:
    before = office.applied(summary="before")
    document = office.approved(summary="after")
    effect = Effect(tmp_path / "landed.md")
    office.desk.settle()
    with pytest.MonkeyPatch.context() as patch:
        stop(patch, effect)
        with pytest.raises(Crash):
            office.apply(document.id, effect)

    office.desk = office.new_desk()
    effect = Effect(tmp_path / "landed.md")
    done = office.apply(document.id, effect)

    assert (done.state, done.changed) == ("applied", not holds)
    assert [one["summary"] for one in office.desk.items()] == ["before", "after"]
    assert office.desk.items()[0] == before
    assert effect.path.read_text() == "after"
    assert office.problems() == []
    assert office.desk.keys.used(office.workspace.id, office.desk.items()[1]["nonce"])


def test_a_run_without_effects_leaves_the_landing_to_one_that_has_them(office: Office, tmp_path: Path) -> None:
    document, effect = office.approved(), Effect(tmp_path / "landed.md")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(effect, "land", crash)
        with pytest.raises(Crash):
            office.apply(document.id, effect)

    assert office.desk.settle().restored == []
    assert not effect.path.exists()
    assert office.desk.settle(Effect(effect.path)).restored == [document.id]
    assert effect.path.read_text() == "Store times in UTC."


@pytest.mark.parametrize("word", ["approve", "decline", "revise"])
def test_a_crash_between_record_and_file_of_a_decision_is_mended(office: Office, word: str) -> None:
    document = office.propose()
    revised = {"revised": {**document.action, "summary": "other"}} if word == "revise" else {}
    with pytest.MonkeyPatch.context() as patch:
        writes = coord_desk.CoordDesk.write
        patch.setattr(
            coord_desk.CoordDesk,
            "write",
            lambda desk, made: crash() if made.decision else writes(desk, made),
        )
        with pytest.raises(Crash):
            office.decide(document.id, word, **revised)

    office.desk = office.new_desk()
    assert office.problems() == [("coord_behind", f"memory-proposals/{document.id}.json (state)")]
    assert office.desk.settle().restored == [document.id]
    assert office.problems() == []
    assert office.file(document.id)["decision"]["decision"] == word


def test_losing_the_folder_loses_nothing(office: Office) -> None:
    kept = office.approved(summary="waits")
    office.applied(summary="holds")
    office.decide(office.propose(summary="no").id, "decline")
    before = {path: path.read_bytes() for path in (office.root / ".coord").rglob("*") if path.is_file()}
    shutil.rmtree(office.root / ".coord")
    missing = office.problems()

    office.desk.settle()
    done = coord_files.restore(office.root, office.desk.state())

    assert {code for code, _ in missing} == {"coord_missing"}
    assert len(missing) == 4
    assert len(done.written) == 3  # memory.yml was completed already
    assert {path: path.read_bytes() for path in before} == before
    assert office.apply(kept.id).changed


@pytest.mark.parametrize(
    ("edit", "code"),
    [
        (lambda text: text.replace("holds", "HOLDS"), "coord_edited"),
        (lambda text: text + "- note\n", "coord_edited"),
        (lambda text: "", "coord_behind"),
    ],
)
def test_an_edit_of_the_memory_is_found_and_nothing_is_added_to_it(
    office: Office, edit: Callable[[str], str], code: str
) -> None:
    """ASM-38."""
    item = office.applied(summary="holds")
    path = office.root / ".coord" / "memory.yml"
    path.write_text(edit(path.read_text()))

    found = office.problems()

    assert [one for one, _ in found] == [code]
    if code == "coord_edited":
        edited = path.read_bytes()
        done = office.apply(office.approved(summary="more").id)
        assert (done.code, path.read_bytes()) == ("memory_edited", edited)
        restored = coord_files.restore(office.root, office.desk.state(), replace=True)
        assert restored.written == ("memory.yml",)
    office.desk.settle()
    assert office.desk.items()[0] == item


def test_a_memory_without_end_is_an_edited_one_and_fills_no_room(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    office.applied()
    good = office.memory()
    monkeypatch.setattr(coord_files, "MOST_MEMORY", 1 << 16)
    with open(coord_files.memory_path(office.root), "r+b") as file:
        file.truncate(1 << 30)  # takes no room on the disk

    assert len(office.memory()) == 1 << 16
    assert office.problems() == [("coord_edited", "memory.yml:2")]
    assert office.apply(office.approved(summary="two").id).code == "memory_edited"
    coord_files.restore(office.root, office.desk.state(), replace=True)
    assert office.memory() == good


def test_the_first_bad_line_is_named_with_the_event_that_should_stand_there(office: Office) -> None:
    office.applied(summary="one")
    two = office.applied(summary="two")
    path = office.root / ".coord" / "memory.yml"
    path.write_text(path.read_text().replace('"two"', '"2"'))

    assert office.problems() == [("coord_edited", f"memory.yml:2 (event {two['event_id']})")]


def test_a_stale_claim_is_a_warning(office: Office) -> None:
    first = office.applied()
    (office.root / "docs" / "time.md").write_text("TAI\n")
    changed = office.problems()
    (office.root / "docs" / "time.md").unlink()
    broken = office.problems()
    office.applied(operation="archive", target_ref=first["event_id"], evidence_refs=["https://example.org/x"])

    assert changed == [("evidence_changed", f"event {first['event_id']} (docs/time.md)")]
    assert broken == [("evidence_broken", f"event {first['event_id']} (docs/time.md)")]
    assert office.problems() == []


def test_an_item_that_no_signed_decision_stands_behind_is_found(office: Office) -> None:
    """Whoever can write the record still has no key."""
    document = office.approved()
    office.apply(document.id)
    (office.data / "keys" / "approval.key").write_text("0" * 64 + "\n")

    codes = {code for code, _ in office.problems()}

    assert codes == {"key_unknown"}


def test_without_a_key_reading_works_and_verify_says_that_decisions_cannot_be_checked(office: Office) -> None:
    office.applied()
    (office.data / "keys" / "approval.key").unlink()

    office.desk = office.new_desk()

    assert len(office.desk.items()) == 1
    assert [code for code, _ in office.problems()] == ["key_missing"]


def test_what_the_record_has_not_seen_is_named_until_it_is_taken_in(office: Office) -> None:
    document = office.propose()
    other = {**document.raw, "proposal_id": "5b0c54a8-6d43-4c5e-9f5e-3a4c6f5f1c11"}
    write_proposal(office, other)

    before = office.problems()
    office.desk.settle()

    assert before == [("coord_unmirrored", f"memory-proposals/{other['proposal_id']}.json")]
    assert office.problems() == []


def test_forgetting_takes_the_words_out_of_file_memory_and_record_and_keeps_the_chain(office: Office) -> None:
    """priv-forget-everywhere: a proposal that waits, one that was applied, and what stands around them."""
    kept = office.applied(summary="finch-3434 stays")
    gone = office.applied(summary="phoenix-3333 goes")
    last = office.applied(summary="a last one")
    waiting = office.propose(summary="phoenix-3333 again")

    report = erase(office.workspace, lambda: plan_text(office.workspace, "phoenix-3333"), now=office.desk.now, by="ana")

    assert report is not None
    assert report.counts["coord"] == 3
    everything = b"".join(path.read_bytes() for path in office.root.parent.rglob("*") if path.is_file())
    assert (b"phoenix-3333" in everything, b"finch-3434" in everything) == (False, True)
    office.desk = office.new_desk()
    assert office.desk.items() == [
        kept,
        {
            "erased": True,
            "event_id": gone["event_id"],
            "seq": 2,
            "prev": gone["prev"],
            "line_hash": last["prev"],
        },
        last,
    ]
    assert not office.path(waiting.id).exists()
    assert office.desk.settle().mirrored == []
    assert office.problems() == []
    assert office.applied(summary="and on")["prev"] == coord_lines.line_hash(coord_lines.line(last))


def test_what_was_forgotten_is_not_taken_in_again_and_not_made_again(office: Office) -> None:
    document = office.propose(summary="phoenix-3333 goes")
    copy = office.path(document.id).read_bytes()
    erase(office.workspace, lambda: plan_text(office.workspace, "phoenix-3333"), now=office.desk.now)
    shutil.rmtree(office.root / ".coord")
    restored = coord_files.restore(office.root, office.new_desk().state())
    path = coord_files.coord_folder(office.root, coord_files.PROPOSALS) / f"{document.id}.json"
    path.write_bytes(copy)

    office.desk = office.new_desk()
    done = office.desk.settle()

    assert (restored.written, done.mirrored) == ((), [])
    assert office.problems() == [("erased", f"memory-proposals/{document.id}.json")]
    assert "phoenix" not in json.dumps([known.file() for known in office.desk.state().documents.values()])


def test_the_last_item_can_be_forgotten_and_the_file_made_again_all_the_same(office: Office) -> None:
    office.applied(summary="finch-3434 stays")
    office.applied(summary="phoenix-3333 goes")
    erase(office.workspace, lambda: plan_text(office.workspace, "phoenix-3333"), now=office.desk.now)
    erased = office.memory()
    (office.root / ".coord" / "memory.yml").unlink()

    office.desk = office.new_desk()
    office.desk.settle()

    assert office.memory() == erased
    assert office.problems() == []


def test_copies_of_the_words_that_no_erasure_reaches_are_named(office: Office) -> None:
    """priv-forget-everywhere 6: what the command cannot reach is said, whatever came of a proposal."""
    item = office.applied(summary="phoenix-3333 goes")
    copied = office.root / "docs" / f"{item['event_id']}.yml"
    copied.write_text("phoenix-3333 goes")
    office.desk.append(proposal_drafts.promoted(stamp(office.desk.now), item["event_id"], "docs", "0" * 64, {}))
    broken = office.root / ".coord" / "memory-proposals" / "broken.json"
    broken.write_text("{ phoenix-3333")
    (broken.parent / "other.json").write_text("{ finch-3434")

    plan = plan_text(office.workspace, "phoenix-3333")

    assert [place for place in plan.unreachable if str(office.root) in place] == sorted([str(broken), str(copied)])


def test_a_decision_of_the_project_that_a_record_was_taken_over_from_is_a_warning(office: Office) -> None:
    """An export taken into a workspace of its own: signed, and for another store, so nothing waiting can be applied."""
    office.applied()
    waiting = office.approved(summary="waits")
    ours = office.workspace.id
    theirs = office.new_desk()
    theirs.workspace = replace(office.workspace, id="5b0c54a8-6d43-4c5e-9f5e-3a4c6f5f1c11")

    found: list[str] = []
    coord_verify.verify(theirs, lambda code, where: found.append(code))

    assert found == ["other_store", "other_store"]
    assert coord_apply.check(theirs, theirs.held(waiting.id).document) == Refusal("other_store", "decision.store_id")
    assert office.workspace.id == ours


def test_what_a_killed_writer_left_goes_with_an_erasure(office: Office) -> None:
    office.propose(summary="phoenix-3333 goes")
    part = office.root / ".coord" / "memory-proposals" / ".5b0c54a8.json.77.0123abcd"
    part.write_text("phoenix-3333")

    erase(office.workspace, lambda: plan_text(office.workspace, "phoenix-3333"), now=office.desk.now)

    assert not part.exists()


def test_the_account_of_the_record_names_who_proposed_and_who_decided(office: Office) -> None:
    office.approved()

    decided = audit(office.desk.log.read()).decided

    assert {who: dict(part["types"]) for who, part in decided.items()} == {
        "recall": {"proposal.key": 1},
        "an agent": {"proposal.proposed": 1},
        "ana": {"proposal.decided": 1},
    }
