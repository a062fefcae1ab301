"""What an approval lets be done: exactly what was approved, once, here, in time, on the evidence that was shown."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from support.coord import EVIDENCE, Ana, Office, write_proposal
from support.memory_events import written
from support.record import make_draft

from consolidation import coord_apply, coord_decide, coord_refs
from consolidation.coord_schema import action_hash, parse
from transcript import proposal_drafts, redaction
from transcript.coord_codes import Refusal
from transcript.errors import CoordError
from transcript.event import Draft, stamp
from transcript.proposals import event_id_of
from transcript.redaction_plan import plan_events


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


def test_apply_adds_one_line_that_says_what_was_approved(office: Office) -> None:
    """ASM-25."""
    document = office.approved()

    done = office.apply(document.id)

    [item] = office.desk.items()
    assert (done.state, done.changed, done.event_id) == ("applied", True, item["event_id"])
    assert item["event_id"] == event_id_of(office.workspace.id, document.id)
    assert (item["seq"], item["prev"], item["kind"], item["summary"]) == (
        1,
        "0" * 64,
        "decision",
        "Store times in UTC.",
    )
    assert (item["actor"], item["action_hash"]) == ("ana", action_hash(document))
    assert office.file(document.id)["state"] == "applied"
    assert office.problems() == []


def test_the_second_time_nothing_changes_and_it_says_so(office: Office) -> None:
    document = office.approved()
    office.apply(document.id)
    before = office.snapshot()

    again = office.apply(document.id)

    assert (again.state, again.changed, again.note, again.code) == ("applied", False, "already applied", "")
    assert office.snapshot() == before


def test_every_later_item_leaves_the_earlier_bytes_alone(office: Office) -> None:
    """ASM-26."""
    seen = b""
    for number in range(4):
        office.applied(summary=f"decision {number}")
        assert office.memory().startswith(seen)
        assert office.memory().count(b"\n") == number + 1
        seen = office.memory()


@pytest.mark.parametrize("kind", ["decision", "question", "artifact", "outcome"])
def test_an_item_is_of_the_kind_that_was_named(office: Office, kind: str) -> None:
    """ASM-31."""
    assert office.applied(kind=kind, subject="clocks")["kind"] == kind
    assert office.desk.items()[0]["subject"] == "clocks"


def test_superseding_adds_an_item_that_names_the_one_it_replaces(office: Office) -> None:
    """ASM-27."""
    first = office.applied(kind="outcome")

    second = office.applied(operation="supersede", target_ref=first["event_id"], summary="Store them in TAI.")

    assert (second["kind"], second["supersedes"]) == ("outcome", first["event_id"])
    assert office.desk.items()[0] == first


def test_adding_to_an_open_question_resolves_it_once(office: Office) -> None:
    """ASM-28."""
    question = office.applied(kind="question", summary="Which clock?")
    answer = office.applied(target_ref=question["event_id"], summary="UTC.")
    late = office.propose(target_ref=question["event_id"], summary="TAI.")

    assert (answer["kind"], answer["resolves"]) == ("resolution", question["event_id"])
    with pytest.raises(CoordError, match="target_gone"):
        office.decide(late.id)


@pytest.mark.parametrize(("operation", "word"), [("archive", "archived"), ("delete", "deleted")])
def test_putting_away_adds_a_lifecycle_item_and_leaves_the_words(office: Office, operation: str, word: str) -> None:
    """ASM-29."""
    first = office.applied()

    gone = office.applied(operation=operation, target_ref=first["event_id"], summary="No longer needed.")

    assert (gone["kind"], gone["target_ref"], gone["lifecycle"]) == ("lifecycle", first["event_id"], word)
    assert first["summary"].encode() in office.memory()


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"operation": "supersede", "target_ref": "d5b310a7-9902-5771-a2c2-6a277bd71628"}, "no_target"),
        ({"operation": "archive", "target_ref": "memory:" + "a" * 26}, "no_target"),
        ({"operation": "add", "target_ref": "candidate:" + "a" * 26}, "no_target"),
        ({"operation": "archive", "target_ref": "procedure:a.md"}, "bad_target"),
        ({"operation": "add", "target_ref": "procedure:a.md"}, "schema"),
    ],
)
def test_what_cannot_be_done_to_its_target_cannot_be_approved(
    office: Office, changed: dict[str, Any], code: str
) -> None:
    """ASM-13."""
    document = office.propose(**changed)

    with pytest.raises(CoordError) as caught:
        office.decide(document.id)

    assert caught.value.code == code
    assert office.file(document.id)["state"] == "proposed"


def test_a_decision_is_not_added_to_and_a_lifecycle_item_not_put_away(office: Office) -> None:
    first = office.applied()
    gone = office.applied(operation="archive", target_ref=first["event_id"])

    for changed in (
        {"operation": "add", "target_ref": gone["event_id"]},
        {"operation": "archive", "target_ref": gone["event_id"]},
    ):
        with pytest.raises(CoordError, match="bad_target"):
            office.decide(office.propose(**changed).id)


def test_a_target_that_went_after_the_approval_is_not_changed(office: Office) -> None:
    first = office.applied()
    waiting = office.approved(operation="supersede", target_ref=first["event_id"], summary="TAI.")
    office.applied(operation="archive", target_ref=first["event_id"])

    done = office.apply(waiting.id)

    assert (done.code, done.field, done.state) == ("target_gone", "action.target_ref", "proposed")


def test_without_evidence_even_an_approved_proposal_stays(office: Office) -> None:
    """ASM-14."""
    document = office.approved(evidence_refs=[])

    done = office.apply(document.id)

    assert (done.code, done.state, done.changed) == ("no_evidence", "approved", False)
    assert office.memory() == b""


def forged(office: Office, document: Any, **changed: Any) -> None:
    decision = office.file(document.id)["decision"]
    office.edit(document.id, decision={**decision, **changed})


def dropped(office: Office, document: Any) -> None:
    decision = office.file(document.id)["decision"]
    office.edit(document.id, decision={name: value for name, value in decision.items() if name != "rationale"})


def rotated_before(office: Office, document: Any) -> None:
    """Sign with the old key what the record learned of only after that was replaced."""
    old = office.desk.keys.current()
    office.desk.keys.rotate()
    office.desk.settle()
    held = office.desk.held(document.id).document
    assert held.decision is not None
    office.desk.append(proposal_drafts.refused(stamp(office.desk.now), held.id, "expired", "", "apply"))
    again = coord_decide.sign({**{n: held.decision[n] for n in held.decision}, "nonce": "f" * 32}, old)
    office.desk.append(proposal_drafts.decided(stamp(office.desk.now), held.raw, again))
    office.desk.write(held.with_state("approved", again))


def burned(office: Office, document: Any) -> None:
    office.desk.keys.burn(office.workspace.id, office.file(document.id)["decision"]["nonce"])


def key_gone(office: Office, document: Any) -> None:
    (office.data / "keys" / "approval.key").unlink()
    office.desk.keys.create()


def revoked(office: Office, document: Any) -> None:
    office.desk.keys.revoke(office.desk.keys.current().id, "lost", now=office.desk.now)


def edited_memory(office: Office, document: Any) -> None:
    office.applied(summary="another")
    path = office.root / ".coord" / "memory.yml"
    path.write_bytes(path.read_bytes().replace(b"another", b"ANOTHER"))


BACK, STAYS = "proposed", "approved"
REFUSALS: list[tuple[str, Callable[[Office, Any], Any], str, str, str]] = [
    ("action", lambda o, d: o.edit(d.id, action={"summary": "x"}), "action_changed", "action.summary", BACK),
    ("operation", lambda o, d: o.edit(d.id, action={"kind": "outcome"}), "action_changed", "action.kind", BACK),
    ("created_at", lambda o, d: o.edit(d.id, created_at="2026-01-01T00:00Z"), "document_changed", "created_at", BACK),
    ("task", lambda o, d: o.edit(d.id, source_task="T2"), "document_changed", "source_task", BACK),
    ("no decision", lambda o, d: o.edit(d.id, decision=None), "decision_fields", "decision", BACK),
    ("a field less", dropped, "decision_fields", "decision", BACK),
    ("a field more", lambda o, d: forged(o, d, more=1), "decision_fields", "decision", BACK),
    ("rationale", lambda o, d: forged(o, d, rationale="other"), "bad_mac", "decision.mac", BACK),
    ("actor", lambda o, d: forged(o, d, actor="bob"), "bad_mac", "decision.mac", BACK),
    ("expiry", lambda o, d: forged(o, d, expires_at="2036-01-01T00:00:00Z"), "bad_mac", "decision.mac", BACK),
    ("short mac", lambda o, d: forged(o, d, mac="0"), "bad_mac", "decision.mac", BACK),
    ("other letters", lambda o, d: forged(o, d, mac="é" * 64), "bad_mac", "decision.mac", BACK),
    ("mac of another type", lambda o, d: forged(o, d, mac=7), "decision_fields", "decision", BACK),
    ("store", lambda o, d: forged(o, d, store_id="another"), "other_store", "decision.store_id", BACK),
    ("key id", lambda o, d: forged(o, d, key_id="0" * 16), "key_unknown", "0" * 16, BACK),
    ("late", lambda o, d: o.later(days=8), "expired", "decision.expires_at", BACK),
    ("clock set back", lambda o, d: o.later(minutes=-7), "bad_time", "decision.timestamp", STAYS),
    ("evidence", lambda o, d: (o.root / EVIDENCE).write_text("TAI"), "evidence_changed", EVIDENCE, BACK),
    ("no evidence", lambda o, d: (o.root / EVIDENCE).unlink(), "evidence_changed", EVIDENCE, BACK),
    ("burned", burned, "used", "decision.nonce", BACK),
    ("another key", key_gone, "key_unknown", "", BACK),
    ("rotated", rotated_before, "key_rotated", "", BACK),
    ("revoked", revoked, "key_revoked", "", BACK),
    ("memory.yml", edited_memory, "memory_edited", "", STAYS),
]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "code", "field", "state"), [row[1:] for row in REFUSALS], ids=[r[0] for r in REFUSALS]
)
def test_what_differs_from_what_was_approved_is_refused_recorded_and_waits_again(
    office: Office, change: Callable[[Office, Any], Any], code: str, field: str, state: str
) -> None:
    """ASM-15, ASM-18, ASM-21, ASM-23; gov-edited-after-approval (a), (c), (d); gov-replay (d), (e)."""
    document = office.approved()
    change(office, document)
    before = office.memory()

    done = office.apply(document.id)

    assert (done.changed, done.code, done.state) == (False, code, state)
    assert done.field == field or not field
    assert office.memory() == before
    assert office.desk.state().documents[document.id].refused[-1] == code
    assert office.file(document.id)["state"] == state


def test_a_refused_proposal_can_be_decided_again_once_it_is_what_it_was(office: Office) -> None:
    document = office.approved()
    (office.root / EVIDENCE).write_text("All clocks run on TAI.\n")
    office.apply(document.id)

    office.decide(document.id)

    assert office.apply(document.id).changed


def test_evidence_in_the_record_is_held_against_what_it_was(office: Office) -> None:
    """gov-edited-after-approval (c): a source whose words were erased is another source."""
    said = make_draft("said", text="we store UTC")
    office.desk.append(said, written())
    document = office.approved(evidence_refs=[f"{said.id[:10]}#0-5", f"memory:{written().id}", "https://example.org"])
    redaction.erase(office.workspace, lambda: plan_events(office.workspace, {said.id}), now=office.desk.now)

    done = office.apply(document.id)

    assert (done.code, done.field) == ("evidence_changed", f"{said.id[:10]}#0-5")


def test_lines_of_a_file_are_evidence_of_their_own(office: Office) -> None:
    path = office.root / EVIDENCE
    path.write_text("one\ntwo\nthree\n")
    kept, changed = (office.approved(evidence_refs=[f"{EVIDENCE}#L2"]) for _ in range(2))
    path.write_text("ONE\ntwo\n")
    first = office.apply(kept.id)
    path.write_text("one\nTWO\n")

    assert first.changed
    assert office.apply(changed.id).code == "evidence_changed"


def test_evidence_is_looked_at_inside_the_project_only(office: Office) -> None:
    outside = office.root.parent / "private.txt"
    outside.write_text("a key")
    (office.root / "link.md").symlink_to(outside)
    (office.root / "folder").mkdir()
    refs = office.desk.references()

    assert [refs.evidence(ref).hash for ref in ("link.md", "folder", "gone.md", ".coord")] == ["unresolved"] * 4


def test_a_file_too_large_to_be_read_each_time_is_no_evidence(office: Office) -> None:
    for size, ref in ((coord_refs.MOST_READ, "docs/most.bin"), (coord_refs.MOST_READ + 1, "docs/more.bin")):
        with open(office.root / ref, "wb") as file:
            file.truncate(size)  # takes no room
    refs = office.desk.references()

    assert [refs.evidence(f"docs/{name}").kind for name in ("most.bin", "more.bin", "more.bin#L1")] == [
        "file",
        "unresolved",
        "unresolved",
    ]


def test_clocks_that_differ_by_little_refuse_nothing(office: Office) -> None:
    document = office.approved()
    office.later(minutes=-5)

    assert office.apply(document.id).changed


def test_an_approval_of_another_project_is_worth_nothing_here(office: Office, tmp_path: Path) -> None:
    """gov-replay (d)."""
    document = office.approved()
    other = Office(tmp_path / "other", key=False)
    (other.data / "keys").mkdir()
    for name in ("approval.key",):
        (other.data / "keys" / name).write_bytes((office.data / "keys" / name).read_bytes())
        (other.data / "keys" / name).chmod(0o600)
    write_proposal(other, office.file(document.id))

    done = other.apply(document.id)

    assert (done.changed, done.code, done.state) == (False, "not_approved", "proposed")
    assert (other.memory(), other.desk.state().refused) == (b"", {"not_approved": 1})


def test_putting_an_old_record_back_does_not_let_an_approval_be_used_again(office: Office) -> None:
    """gov-replay (f), and (b): nothing is remembered in a process."""
    document = office.approved()
    log = {path: path.read_bytes() for path in office.workspace.log_dir.iterdir() if path.is_file()}
    file = office.path(document.id).read_bytes()
    office.apply(document.id)
    applied = office.memory()

    for path, data in log.items():
        path.write_bytes(data)
    (office.workspace.run_dir / "ids.bin").unlink()
    office.desk = office.new_desk()
    office.path(document.id).write_bytes(file)
    behind = coord_apply.check(office.desk, office.desk.held(document.id).document)
    (office.root / ".coord" / "memory.yml").unlink()
    done = office.apply(document.id)

    assert applied.count(b"\n") == 1
    assert behind == Refusal("used", "decision.nonce")
    assert (done.code, done.changed, office.memory()) == ("used", False, b"")


def test_a_record_that_is_shorter_than_the_memory_is_named_and_not_mended(office: Office) -> None:
    held = {path: path.read_bytes() for path in office.workspace.log_dir.iterdir() if path.is_file()}
    office.applied()
    grown = office.memory()
    for path, data in held.items():
        path.write_bytes(data)
    for path in office.workspace.log_dir.iterdir():
        if path not in held and path.is_file():
            path.unlink()
    (office.workspace.run_dir / "ids.bin").unlink(missing_ok=True)
    for path in (office.root / ".coord" / "memory-proposals").iterdir():
        path.unlink()
    office.desk = office.new_desk()
    waiting = office.approved(summary="another")

    done = office.apply(waiting.id)

    assert done.code == "store_behind"
    assert office.memory() == grown


class Recorder:
    """An effect that says what it was asked, and can be told to refuse."""

    def __init__(self, refuse: Refusal | None = None) -> None:
        self.refuse, self.landed = refuse, list[Mapping[str, Any]]()

    def check(self, action: Mapping[str, Any]) -> Refusal | None:
        return self.refuse

    def drafts(
        self, action: Mapping[str, Any], item: Mapping[str, Any], decision: Mapping[str, Any], at: str
    ) -> tuple[list[Draft], dict[str, Any] | None]:
        return [make_draft("effect", text=f"{decision['actor']}: {item['summary']}")], {"kind": "note", "target": "x"}

    def land(self, effect: Mapping[str, Any]) -> None:
        self.landed.append(effect)


def test_an_effect_stands_in_the_record_beside_its_item_and_lands_once(office: Office) -> None:
    effects = Recorder()
    document = office.approved(target_ref="identity:USER.md", content={"path": "USER.md", "text": "Ana"})

    done = office.apply(document.id, effects)
    office.apply(document.id, effects)

    [applied] = office.desk.state().applied
    assert (applied.effect, effects.landed) == ({"kind": "note", "target": "x"}, [{"kind": "note", "target": "x"}])
    assert office.desk.log.text(office.desk.log.get(make_draft("effect").id)) == "ana: Store times in UTC."
    assert (done.changed, office.desk.items()[0]["target_ref"]) == (True, "identity:USER.md")
    assert office.desk.items()[0]["kind"] == "outcome"


def test_an_effect_that_cannot_be_had_keeps_the_item_out(office: Office) -> None:
    document = office.approved()

    done = office.apply(document.id, Recorder(Refusal("exists", "action.content", "name it")))

    assert (done.code, done.note, done.state) == ("exists", "exists: action.content: name it", "approved")
    assert office.memory() == b""


def test_only_the_state_and_the_words_together_let_it_pass(office: Office) -> None:
    """ASM-21: of state and match, one of four succeeds."""
    found = {}
    for state in ("approved", "proposed"):
        for words in ("same", "other"):
            document = office.propose(summary=f"{state} {words}")
            if state == "approved":
                office.decide(document.id)
            if words == "other":
                office.edit(document.id, action={"summary": "else"})
            found[state, words] = office.apply(document.id).changed

    assert found == {
        ("approved", "same"): True,
        ("approved", "other"): False,
        ("proposed", "same"): False,
        ("proposed", "other"): False,
    }


def test_a_state_written_by_hand_approves_nothing(office: Office) -> None:
    document = office.propose()
    office.edit(document.id, state="approved", decision={"actor": "me", "decision": "approve"})

    assert office.apply(document.id).code == "not_approved"
    assert ("state_edited", f"memory-proposals/{document.id}.json (state)") in office.problems()


def test_the_name_of_the_file_decides_nothing(office: Office) -> None:
    """gov-edited-after-approval (e)."""
    document, other = office.approved(), office.propose(summary="Store times in TAI.")
    office.path(document.id).rename(office.path(document.id).with_name("prop-1.json"))

    assert ("misnamed", f"memory-proposals/prop-1.json (proposal {document.id})") in office.problems()
    assert office.apply(document.id).changed
    assert office.apply(other.id).code == "not_approved"
    assert sorted(path.name for path in office.path(document.id).parent.iterdir()) == sorted(
        [f"{document.id}.json", f"{other.id}.json"]
    )


def test_what_is_signed_is_what_was_shown(office: Office) -> None:
    """gov-edited-after-approval (b)."""
    document = office.propose()
    shown = coord_decide.show(office.desk, document.id)
    office.edit(document.id, action={"summary": "Store times in local time."})

    with pytest.raises(CoordError) as caught:
        coord_decide.decide(office.desk, shown, "approve", person=Ana(), rationale="it is so")

    assert (caught.value.code, caught.value.field) == ("changed_since_shown", "action.summary")
    assert office.desk.state().documents[document.id].state == "proposed"
    assert parse(shown.raw).action["summary"] == "Store times in UTC."


def test_evidence_that_changes_while_it_is_shown_stops_the_decision(office: Office) -> None:
    document = office.propose()
    shown = coord_decide.show(office.desk, document.id)
    (office.root / EVIDENCE).write_text("All clocks run on TAI.\n")

    with pytest.raises(CoordError) as caught:
        coord_decide.decide(office.desk, shown, "approve", person=Ana(), rationale="it is so")

    assert (caught.value.code, caught.value.field) == ("changed_since_shown", EVIDENCE)


def test_a_moment_long_after_the_approval_still_shows_when_it_was_made(office: Office) -> None:
    document = office.approved()
    made = office.desk.now
    office.later(days=6)

    assert office.apply(document.id).changed
    [item] = office.desk.items()
    assert (item["approved_at"], item["applied_at"]) == (
        stamp(made),
        stamp(made + timedelta(days=6, minutes=1)),
    )


def test_nothing_but_a_document_of_the_schema_is_ever_written(office: Office) -> None:
    with pytest.raises(CoordError, match="wrong_store"):
        office.propose(kind="research_claim")
    with pytest.raises(CoordError, match="surrogate"):
        office.propose(summary="\ud800")

    assert not (office.root / ".coord").exists()


def test_a_file_that_somebody_changed_since_it_was_approved_is_not_overwritten(office: Office) -> None:
    path = office.root / ".recall" / "identity" / "USER.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("Ana, UTC+1")
    changed = {
        "target_ref": "identity:USER.md",
        "operation": "supersede",
        "content": {"path": "USER.md", "text": "Ana"},
    }
    document, again = office.approved(**changed), office.propose(**changed)
    path.write_text("Ana, UTC+2, by her own hand")
    shown = coord_decide.show(office.desk, again.id)
    path.write_text("Ana, UTC+3")

    done = office.apply(document.id)

    assert (done.code, done.field, done.state) == ("evidence_changed", "identity:USER.md", "proposed")
    with pytest.raises(CoordError) as caught:
        coord_decide.decide(office.desk, shown, "approve", person=Ana(), rationale="it is so")
    assert (caught.value.code, caught.value.field) == ("changed_since_shown", "identity:USER.md")
    office.decide(again.id)
    assert office.apply(again.id).changed
    assert office.desk.items()[0]["evidence_hashes"].keys() == {EVIDENCE}
    assert office.problems() == []


def test_a_long_text_is_read_back_whole_from_the_record(office: Office) -> None:
    """Texts beyond 32 KiB stand in blobs of the record."""
    text = "x" * 40_000
    document = office.approved(target_ref="identity:USER.md", content={"path": "USER.md", "text": text})

    office.desk = office.new_desk()

    assert office.desk.state().documents[document.id].document["action"]["content"]["text"] == text
    assert office.apply(document.id).changed
    assert office.problems() == []
