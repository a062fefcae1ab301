"""What a proposal may become: decided once by a person, revised into another, timed out, found on disk, in the way."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from support.coord import GOLDEN, NOW, Ana, Office, action, write_proposal

from consolidation import coord_apply, coord_decide
from consolidation.coord_schema import action_hash, checked, parse
from transcript.errors import CoordError
from transcript.event import stamp

ID = "5b0c54a8-6d43-4c5e-9f5e-3a4c6f5f1c11"


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


def by_hand(**changed: Any) -> dict[str, Any]:
    return {
        "schema_version": 1, "proposal_id": ID, "source_task": "T9", "action": dict(GOLDEN), "state": "proposed",
        "created_at": "2026-03-01T09:00:00+01:00", "decision": None, **changed,
    }  # fmt: skip


def test_a_proposal_is_a_file_named_after_its_id_and_an_event(office: Office) -> None:
    """ASM-02, ASM-11."""
    document = office.propose()

    known = office.desk.state().documents[document.id]
    assert parse(office.path(document.id).read_bytes()).raw == document.raw == known.document
    assert (known.state, known.by, known.adopted) == ("proposed", "an agent", False)
    assert office.path(document.id).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(("word", "state"), [("approve", "approved"), ("decline", "declined")])
def test_a_decision_is_signed_over_all_it_covers_and_breaks_no_hash(office: Office, word: str, state: str) -> None:
    """ASM-18, ASM-22: declines are signed too."""
    document = office.propose()

    decided = office.decide(document.id, word).document

    decision = office.file(document.id)["decision"]
    assert (decided.state, decision["decision"], decision["affected_action_hash"]) == (
        state,
        word,
        action_hash(document),
    )
    assert {"actor": "ana", "rationale": "it is so", "canon_version": "1"}.items() <= decision.items()
    assert decision["evidence_hashes"].keys() == {"docs/time.md"}
    assert decision["expires_at"] > decision["timestamp"]
    assert action_hash(decided) == action_hash(document)
    assert office.problems() == []


def test_a_declined_proposal_is_never_applied_and_not_decided_again(office: Office) -> None:
    """ASM-19."""
    document = office.propose()
    office.decide(document.id, "decline")

    with pytest.raises(CoordError, match="decided_already"):
        office.decide(document.id)
    assert office.apply(document.id).code == "not_approved"
    assert office.file(document.id)["state"] == "declined"


def test_a_revision_is_a_new_proposal_that_nobody_has_approved(office: Office) -> None:
    """ASM-20."""
    document = office.propose()

    done = office.decide(document.id, "revise", revised=action(summary="Store times in UTC, to the second."))

    assert done.new is not None
    assert (done.document.state, done.new.raw["revises"], done.new.state) == ("revised", document.id, "proposed")
    assert office.apply(document.id).code == office.apply(done.new.id).code == "not_approved"
    office.decide(done.new.id)
    assert office.apply(done.new.id).changed
    assert office.problems() == []


def test_what_was_approved_can_be_revised_until_it_is_applied(office: Office) -> None:
    """C-13: so that a person can take an approval back."""
    document = office.approved()
    with pytest.raises(CoordError, match="decided_already"):
        office.decide(document.id, "decline")

    done = office.decide(document.id, "revise", revised=action(summary="Better."))

    assert office.apply(document.id).code == "not_approved"
    assert (office.file(document.id)["state"], done.document.state) == ("revised", "revised")
    assert done.new is not None
    office.decide(done.new.id)
    assert office.apply(done.new.id).changed
    with pytest.raises(CoordError, match="decided_already"):
        office.decide(done.new.id, "revise", revised=action(summary="Too late."))
    assert office.problems() == []


def test_a_decision_needs_a_word_an_actor_and_a_reason(office: Office) -> None:
    shown = coord_decide.show(office.desk, office.propose().id)

    for word, revised in (("yes", None), ("revise", None), ("approve", action())):
        with pytest.raises(ValueError, match="approve, decline, or revise"):
            coord_decide.decide(office.desk, shown, word, person=Ana(), rationale="so", revised=revised)
    for person, why in ((Ana(" "), "so"), (Ana(), "  "), (Ana(), "x" * 2001)):
        with pytest.raises(CoordError, match="an actor and 1 to 2000 characters"):
            coord_decide.decide(office.desk, shown, "approve", person=person, rationale=why)
    with pytest.raises(CoordError, match="surrogate"):
        coord_decide.decide(office.desk, shown, "approve", person=Ana(), rationale="\ud800")
    assert office.desk.state().documents[shown.document.id].stages == (("proposed", None),)


@pytest.mark.parametrize("fault", ["key_missing", "key_exposed", "key_revoked"])
def test_without_a_safe_key_nothing_is_decided_and_the_attempt_is_told(office: Office, fault: str) -> None:
    """ASM-17."""
    document = office.propose()
    path = office.data / "keys" / "approval.key"
    if fault == "key_missing":
        path.unlink()
    elif fault == "key_exposed":
        path.chmod(0o644)
    else:
        office.desk.keys.revoke(office.desk.keys.current().id, "lost", now=NOW)

    with pytest.raises(CoordError) as caught:
        office.decide(document.id)

    known = office.desk.state().documents[document.id]
    assert (caught.value.code, known.state, known.refused) == (fault, "proposed", (fault,))


def test_what_waits_too_long_times_out_and_can_be_neither_decided_nor_applied(office: Office) -> None:
    """ASM-19."""
    old = office.propose()
    office.later(days=31)
    young = office.propose(summary="young")

    assert coord_apply.expire(office.desk, 30) == (old.id,)

    assert [office.file(name)["state"] for name in (old.id, young.id)] == ["timed_out", "proposed"]
    with pytest.raises(CoordError, match="decided_already"):
        office.decide(old.id)
    assert office.apply(old.id).code == "not_approved"
    assert coord_apply.expire(office.desk, 30) == ()


def test_a_date_in_the_future_keeps_no_proposal_alive(office: Office) -> None:
    write_proposal(office, by_hand(created_at="2036-01-01T00:00:00Z"))
    office.desk.settle()
    office.later(days=31)

    assert coord_apply.expirable(office.desk, 30) == [ID]


def test_a_document_written_by_hand_is_taken_in_as_it_is(office: Office) -> None:
    write_proposal(office, by_hand())

    done = office.desk.settle()

    known = office.desk.state().documents[ID]
    assert done.mirrored == [ID]
    assert (known.adopted, known.by, known.document) == (True, "whoever wrote the file", by_hand())
    assert office.desk.settle().mirrored == []
    office.decide(ID)
    assert office.apply(ID).changed


def test_a_document_that_changes_after_the_record_took_it_in_is_not_decided(office: Office) -> None:
    """ASM-15: a proposal never changes; a new one is the way."""
    write_proposal(office, by_hand())
    office.desk.settle()
    office.edit(ID, action={"summary": "Store times in TAI."})

    with pytest.raises(CoordError) as caught:
        office.decide(ID)

    assert (caught.value.code, caught.value.field) == ("document_changed", "action.summary")
    assert (f"memory-proposals/{ID}.json (action.summary)") in [w for c, w in office.problems() if c == "coord_edited"]


def test_two_documents_of_one_id_are_both_left_alone(office: Office) -> None:
    write_proposal(office, by_hand())
    write_proposal(office, by_hand(action=action(summary="other")), "copy.json")

    assert office.desk.settle().mirrored == []
    assert sorted(code for code, _ in office.problems()) == ["ambiguous", "ambiguous"]
    with pytest.raises(CoordError, match="ambiguous"):
        coord_decide.show(office.desk, ID)


def test_a_copy_of_a_document_is_the_same_proposal(office: Office) -> None:
    write_proposal(office, by_hand())
    write_proposal(office, by_hand(), "copy.json")
    office.desk.settle()

    assert office.problems() == [("misnamed", f"memory-proposals/copy.json (proposal {ID})")]
    office.decide(ID)
    assert office.apply(ID).changed
    assert [path.name for path in office.path(ID).parent.iterdir()] == [f"{ID}.json"]


@pytest.mark.skipif(os.name != "posix", reason="links and pipes are POSIX")
def test_what_is_no_plain_small_file_is_named_and_not_opened(office: Office) -> None:
    folder = write_proposal(office, by_hand()).parent
    outside = office.root.parent / "secret.json"
    outside.write_text(json.dumps(by_hand()))
    (folder / "link.json").symlink_to(outside)
    (folder / "folder.json").mkdir()
    os.mkfifo(folder / "pipe.json")
    (folder / "large.json").write_bytes(b" " * 65_537)
    (folder / "note.txt").write_text("x")
    (folder / "broken.json").write_text("{")

    faults = {name: code for name, code, _ in office.desk.documents().faults}

    assert faults == {
        "link.json": "not_read",
        "folder.json": "not_read",
        "pipe.json": "not_read",
        "large.json": "not_read",
        "note.txt": "not_read",
        "broken.json": "not_json",
    }
    assert list(office.desk.documents().by_id) == [ID]


def test_the_state_in_the_file_is_no_authority(office: Office) -> None:
    document = office.approved()
    office.edit(document.id, state="declined")

    done = office.apply(document.id)

    assert (done.code, done.state) == ("state_edited", "approved")
    assert office.memory() == b""


def test_a_file_set_back_to_an_earlier_state_is_brought_up_again(office: Office) -> None:
    document = office.approved()
    office.edit(document.id, state="proposed", decision=None)

    assert office.desk.settle().restored == [document.id]
    assert office.file(document.id)["state"] == "approved"


def test_a_key_that_was_replaced_still_holds_for_what_was_decided_before(office: Office) -> None:
    before = office.approved()
    office.desk.keys.rotate()

    assert office.apply(before.id).changed
    changes = [(key.change, key.key_id) for key in office.desk.state().keys.values()]
    assert sorted(change for change, _ in changes) == ["created", "rotated"]
    after = office.approved(summary="signed with the new key")
    assert office.apply(after.id).changed


def test_revoking_a_key_leaves_what_was_applied_and_says_so(office: Office) -> None:
    document = office.approved()
    office.apply(document.id)
    office.desk.keys.revoke(office.desk.keys.current().id, "lost laptop", now=NOW)
    office.desk.settle()

    assert office.problems() == [("revoked_key", f"proposal {document.id}")]
    [key] = office.desk.state().keys.values()
    assert (key.change, key.reason) == ("revoked", "lost laptop")
    assert office.desk.items()[0]["proposal_id"] == document.id


def test_a_proposal_of_ours_carries_the_moment_it_was_made(office: Office) -> None:
    document = office.propose()

    assert document.raw["created_at"] == stamp(office.desk.now)
    assert checked(document.raw).id == document.id
