"""The published cases of approvals that went wrong elsewhere, each of their entries played through."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.coord import Office, write_proposal

from consolidation.approval import mac_holds, mac_of
from consolidation.coord_apply import Outcome
from consolidation.coord_schema import strict_json
from transcript.canonical import canonical, sha256_hex
from transcript.coord_codes import SAYS
from transcript.errors import CoordError
from transcript.projections import coord_files


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


def read(shared: Path, *parts: str) -> Any:
    return json.loads(shared.joinpath("cases", *parts).read_text("utf-8"))


def signed(office: Office, text: str) -> dict[str, Any]:
    """A decision on what an action is: the bytes that a JSON text stands for."""
    covered = {
        "canon_version": "1", "store_id": office.workspace.id, "proposal_id": "p", "proposal_hash": "h",
        "affected_action_hash": sha256_hex(canonical(strict_json(text.encode()))), "evidence_hashes": {},
        "decision": "approve", "actor": "ana", "timestamp": "2026-03-01T12:00:00Z", "rationale": "so",
        "nonce": "0" * 32, "expires_at": "2026-03-08T12:00:00Z",
    }  # fmt: skip
    return covered | {"mac": mac_of(covered, office.desk.keys.current().secret)}


def test_documents_of_one_meaning_have_one_signature_and_others_none(office: Office, shared: Path) -> None:
    """gov-canonical-json: all 14 entries."""
    secret, told = office.desk.keys.current().secret, []
    for expected, what, first, second in read(shared, "gov-canonical-json", "input", "pairs.json"):
        try:
            decision = signed(office, first)
        except CoordError as fault:
            told.append((what, fault.code))
            assert expected in ("reject", "same or reject"), what
            continue
        other = signed(office, second)
        holds = mac_holds({**other, "mac": decision["mac"]}, secret)
        told.append((what, "same" if holds else "different"))
        assert told[-1][1] == expected, what

    assert len(told) == 14
    assert {code for _, code in told} - {"same", "different"} <= SAYS.keys()


@pytest.mark.parametrize("mac", ["", "0" * 63, "0" * 128, "Ä" * 64, "0" * 63 + "\n", None, 7, [], b"0" * 64])
def test_a_signature_of_another_kind_is_refused_without_an_exception(office: Office, mac: Any) -> None:
    """gov-canonical-json 3."""
    assert not mac_holds({**signed(office, "{}"), "mac": mac}, office.desk.keys.current().secret)


def proposal(given: dict[str, Any]) -> dict[str, Any]:
    """The case's proposal in the words of our schema."""
    action = {"operation": "add", "target_ref": None, "summary": f"{given['title']}: {given['body']}"}
    return {
        "schema_version": 1, "proposal_id": "5b0c54a8-6d43-4c5e-9f5e-3a4c6f5f1c11", "source_task": given["kind"],
        "action": action | {"evidence_refs": ["docs/time.md"]}, "state": "proposed",
        "created_at": given["created_at"], "decision": None,
    }  # fmt: skip


@pytest.mark.parametrize("way", "abcde")
def test_content_that_changes_after_it_was_shown_is_not_applied(office: Office, shared: Path, way: str) -> None:
    """gov-edited-after-approval; (b) is told in test_coord_apply too, where the screen's bytes are compared."""
    original, edited = (
        proposal(read(shared, "gov-edited-after-approval", "input", f"proposal-{name}.json"))
        for name in ("original", "edited")
    )
    path = write_proposal(office, original)
    name = original["proposal_id"]
    office.desk.settle()
    office.decide(name)
    held = office.file(name)
    changes: dict[str, Callable[[], object]] = {
        "a": lambda: path.write_text(json.dumps(edited | {"state": "approved", "decision": held["decision"]})),
        "b": lambda: path.write_text(json.dumps({**held, "action": edited["action"]})),
        "c": lambda: (office.root / "docs/time.md").write_text("local time"),
        "d": lambda: path.write_text(json.dumps({**held, "created_at": "2026-06-19T02:00:01Z"})),
        "e": lambda: path.rename(path.with_name("prop-2026-06-19-001.json")),
    }
    changes[way]()

    done = office.apply(name)

    fields = {"a": "action.summary", "b": "action.summary", "c": "docs/time.md", "d": "created_at", "e": ""}
    assert (done.changed, done.field) == (way == "e", fields[way])
    assert office.desk.state().documents[name].state == ("applied" if way == "e" else "proposed")
    assert (office.memory() == b"") == (way != "e")


@pytest.mark.parametrize("way", "abcdef")
def test_an_approval_is_used_once(office: Office, shared: Path, tmp_path: Path, way: str) -> None:
    """gov-replay: at once, after a restart, after a revert, in a second store, late, and with yesterday's record."""
    original = proposal(read(shared, "gov-replay", "input", "proposal.json"))
    name = original["proposal_id"]
    write_proposal(office, original)
    office.desk.settle()
    office.decide(name)
    approved = office.path(name).read_bytes()
    log = {path: path.read_bytes() for path in office.workspace.log_dir.iterdir() if path.is_file()}
    where = office
    if way == "d":
        where = Office(tmp_path / "second", key=False)
        (where.data / "keys").mkdir(mode=0o700)
        (where.data / "keys" / "approval.key").write_bytes((office.data / "keys" / "approval.key").read_bytes())
        (where.data / "keys" / "approval.key").chmod(0o600)
        write_proposal(where, original)
        where.desk.settle()
        where.decide(name)  # approved there as well, and the first store's decision put in its place
        where.path(name).write_bytes(approved)
    elif way == "e":
        office.later(days=8)
    else:
        assert office.apply(name).changed
    if way == "b":
        office.desk = office.new_desk()
    elif way == "c":
        (office.root / ".coord/memory.yml").write_bytes(b"")
        office.path(name).write_bytes(approved)
    elif way == "f":
        for path, data in log.items():
            path.write_bytes(data)
        (office.workspace.run_dir / "ids.bin").unlink()
        (office.root / ".coord/memory.yml").unlink()
        office.path(name).write_bytes(approved)
        office.desk = office.new_desk()

    done: Outcome = where.apply(name)

    codes = {"d": "other_store", "e": "expired", "f": "used"}
    assert (done.changed, done.code) == (False, codes.get(way, ""))
    assert done.note.startswith("already applied" if way in "abc" else codes[way])
    assert where.memory().count(b"\n") == (way in "abc")
    assert where.desk.state().refused == ({codes[way]: 1} if way in codes else {})


def test_a_hostile_id_names_no_file(office: Office, shared: Path) -> None:
    """gov-path-traversal 1, 2, 4: as proposal id, reference, target and file."""
    before = sorted(office.root.parent.rglob("*"))
    hostile = read(shared, "gov-path-traversal", "input", "ids.json")
    base = proposal({"title": "t", "body": "b", "kind": "k", "created_at": "2026-06-19T02:00:00Z"})
    told = []
    for text in hostile:
        with pytest.raises(CoordError) as caught:
            office.desk.held(text)
        told.append(str(caught.value))
        with pytest.raises(CoordError):
            office.propose(target_ref=text)
        for document in ({**base, "proposal_id": text}, {**base, "revises": text}):
            with pytest.raises(CoordError) as caught:
                coord_files.write_document(office.root, _checked(document))
            told.append(str(caught.value))
        assert office.desk.references().hash(text) == "unresolved"

    assert sorted(office.root.parent.rglob("*")) == before
    assert not any("\n" in text or "touch outside" in text or "\u202e" in text for text in told)


def _checked(document: dict[str, Any]) -> dict[str, Any]:
    from consolidation.coord_schema import checked

    return dict(checked(document).raw)
