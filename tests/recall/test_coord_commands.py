"""`recall coord`, each command as an agent or a person runs it."""

import json
import os
import random
import shutil
import subprocess
import uuid
from datetime import timedelta
from pathlib import Path

import pytest
import yaml
from support.coord_shop import FIELDS, Shop, make_shop
from support.person import sit_down
from support.record import NOW, make_draft

from consolidation.coord_read import View, fitted
from recall.cli.app import App
from recall.cli.caller import AGENTS
from transcript.proposals import fold_proposals
from transcript.verify import verify

TAIL = (
    "mode: ",
    "id: ",
    "state: ",
    "evidence refs: ",
    "canonical memory changed: ",
    "human decision still required: ",
)


@pytest.fixture
def shop(capsys, tmp_path: Path, monkeypatch) -> Shop:
    return make_shop(capsys, tmp_path, monkeypatch)


# -- what every run tells ------------------------------------------------------------------


def each_run(shop: Shop, case: str) -> tuple[tuple[str, ...], int]:
    """A command line that ends as the case says, and the exit code."""
    if case.startswith("read"):
        return ("read",), 0
    if case == "propose":
        return ("propose", "add", "--summary", "x", "--evidence", "docs/time.md"), 0
    if case == "propose refused":
        return ("propose", "supersede", "--summary", "x"), 1
    if case == "instructions":
        return ("instructions",), 0
    if case == "key list":
        return ("key", "list"), 0
    if case == "verify":
        return ("verify",), 0
    if case == "key refused":
        return ("key", "new"), 1
    if case == "review nothing":
        return ("review",), 0
    if case == "instructions left":
        (shop.folder / "skill").mkdir()
        (shop.folder / "skill" / "SKILL.md").write_text("mine")
        return ("instructions", "--to", "skill"), 1
    name = shop.propose()
    if case == "decide":
        return ("decide", name, "approve", "--rationale", "yes"), 0
    if case == "decide decline":
        return ("decide", name, "decline", "--rationale", "no"), 1
    if case == "decide revise":
        return ("decide", name, "revise", "--rationale", "shorter", "--summary", "UTC"), 0
    if case == "decide refused":
        return ("decide", name, "approve", "--rationale", "yes", "--as", "agent"), 1
    if case == "apply refused":
        return ("apply", name), 1
    if case == "apply dry":
        return ("apply", name, "--dry-run"), 1
    if case == "expire none":
        return ("expire", "--older-than", "1"), 0
    if case == "restore":
        shutil.rmtree(shop.folder / ".coord")
        return ("restore",), 0
    shop.approve(name)
    if case == "apply":
        return ("apply", name), 0
    if case == "apply all":
        return ("apply", "--all"), 0
    item = str(shop.told("apply", name)["event_id"])
    if case == "verify failed":
        shop.memory.write_bytes(b"- mine\n")
        return ("verify",), 1
    if case == "restore left":
        shop.memory.write_bytes(b"- mine\n")
        return ("restore",), 1
    if case == "promote":
        return ("promote", item, "--to", "docs/evidence"), 0
    if case == "promote refused":
        return ("promote", item, "--to", ".."), 1
    assert case == "purge refused"
    return ("purge", item), 1


CASES = [
    "read", "propose", "propose refused", "instructions", "instructions left", "decide", "decide decline",
    "decide revise", "decide refused", "apply", "apply all", "apply dry", "apply refused", "expire none", "restore",
    "restore left", "verify", "verify failed", "key list", "key refused", "review nothing", "promote",
    "promote refused", "purge refused",
]  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_every_run_tells_the_same_fields(shop: Shop, case: str) -> None:
    """ASM-35: as one object, and as the last lines of the text; what failed says a code and the field."""
    words, code = each_run(shop, case)
    before = shop.bytes()

    told = shop.told(*words, code=code)

    assert told["mode"] == words[0]
    assert told["canonical_changed"] is (shop.bytes() != before)
    if code == 1 and case not in ("decide decline", "instructions left", "restore left", "verify failed"):
        assert told["code"]


@pytest.mark.parametrize("case", ["read", "propose", "decide decline", "apply", "apply refused"])
def test_the_text_ends_with_the_same_fields(shop: Shop, case: str) -> None:
    words, code = each_run(shop, case)

    done = shop("coord", *words)

    assert done.code == code
    lines = done.out.splitlines()[-len(TAIL) :]
    assert all(line.startswith(name) for line, name in zip(lines, TAIL, strict=True))
    assert lines[0] == f"mode: {words[0]}"


# -- read ------------------------------------------------------------------------------------


def test_only_the_head_of_a_chain_is_current(shop: Shop) -> None:
    """ASM-04, ASM-05."""
    first = shop.applied("Times are local")
    second = shop.applied("Times are CET", "--target", first, operation="supersede")
    third = shop.applied("Times are UTC", "--target", second, operation="supersede")

    told = shop.told("read")

    assert [row["event_id"] for row in told["decisions"]] == [third]
    assert told["decisions"][0]["history"] == [second, first]
    assert [row["event_id"] for row in shop.told("read", "--all")["ended"]] == [second, first]


def test_a_resolved_question_is_open_no_more(shop: Shop) -> None:
    """ASM-06, C-12: `add` with the id of an open question answers it."""
    one = shop.applied("Which zone?", "--kind", "question")
    other = shop.applied("Which format?", "--kind", "question")
    assert [row["event_id"] for row in shop.told("read")["questions"]] == [other, one]

    shop.applied("UTC", "--target", one)

    told = shop.told("read")
    assert [row["event_id"] for row in told["questions"]] == [other]
    assert told["decisions"] == []
    assert [(row["resolves"], row["question"], row["summary"]) for row in told["answers"]] == [
        (one, "Which zone?", "UTC")
    ]
    assert "  [Which zone?] UTC\n" in shop("coord", "read").out
    assert shop.told("read", "--subject", "zone")["answers"] == told["answers"]
    assert shop.told("read", "--subject", "format")["answers"] == []
    assert shop.told("read", "--kind", "decision")["answers"] == []


def test_an_answer_that_was_put_away_answers_no_more(shop: Shop) -> None:
    shop.applied("UTC", "--target", shop.applied("Which zone?", "--kind", "question"))
    (answer,) = shop.told("read")["answers"]

    shop.applied("was a guess", "--target", answer["event_id"], operation="archive")

    assert shop.told("read")["answers"] == []
    assert "UTC (ended by " in shop("coord", "read", "--all").out


def test_evidence_that_changed_or_is_gone_is_flagged_and_its_item_loses(shop: Shop) -> None:
    """ASM-01, ASM-07, ASM-09: the repository outranks the memory."""
    for name in ("kept", "changed", "gone"):
        (shop.folder / f"{name}.md").write_text(name)
    items = {n: shop.applied(f"About {n}", "--evidence", f"{n}.md") for n in ("kept", "changed", "gone")}
    (shop.folder / "changed.md").write_text("else")
    (shop.folder / "gone.md").unlink()

    told = shop.told("read")

    states = {row["ref"]: row["state"] for row in told["pointers"]}
    assert states == {"kept.md": "ok", "changed.md": "changed", "gone.md": "broken"}
    stale = {(row["event_id"], row["state"]) for row in told["stale"]}
    assert stale == {(items["changed"], "changed"), (items["gone"], "broken")}
    assert {(row["loser"], row["wins"]) for row in told["losers"]} == {
        (items["changed"], "changed.md"),
        (items["gone"], "gone.md"),
    }


def test_a_memory_loses_against_a_canonical_decision(shop: Shop) -> None:
    """ASM-01: what was merely remembered is named as the loser."""
    assert shop("memory", "add", "The importer stores every time in local time.", "--why", "seen").code == 0
    memory = shop("memory", "list", "--json").rows()[0]["id"]
    item = shop.applied("The importer stores every time in UTC time, never in local time.")

    [row] = shop.told("read")["losers"]

    assert (row["loser"], row["wins"]) == (f"memory:{memory}", item)


def test_a_private_memory_is_not_told_of_to_an_agent(shop: Shop, monkeypatch) -> None:
    """How it differs are words of its own; a reviewer that recall starts reads nothing of the project."""
    assert shop("memory", "add", "The importer stores every time in marmot time.", "--why", "x", "--private").code == 0
    shop.applied("The importer stores every time in UTC time, never in marmot time.")
    assert len(shop.told("read")["losers"]) == 1

    monkeypatch.setenv("CLAUDECODE", "1")
    told = shop.told("read")

    assert len(told["decisions"]) == 1
    assert told["losers"] == []
    monkeypatch.setenv("RECALL_CHILD", "1")
    assert shop.told("read", code=1)["code"] == "PointerError"


def test_a_canonical_decision_loses_against_a_persons_later_word(shop: Shop) -> None:
    """ASM-01: a recorded decision of a person outranks the memory; one of an agent does not."""
    item = shop.applied("The importer writes at most 20 files at once.")
    assert (
        shop("decide", "The importer writes at most 30 files at once.", "--actor", "codex", "--as", "agent").code == 0
    )
    assert shop.told("read")["losers"] == []

    assert shop("decide", "The importer writes at most 40 files at once.").code == 0

    [row] = shop.told("read")["losers"]
    assert row["loser"] == item
    assert row["wins"].startswith("recall:")


def test_outcomes_are_the_last_ones_newest_first(shop: Shop) -> None:
    """ASM-08."""
    items = [shop.applied(f"Run {number} passed", "--kind", "outcome") for number in range(4)]

    told = shop.told("read", "--last", "3")

    assert [row["event_id"] for row in told["outcomes"]] == items[:0:-1]


def test_two_live_decisions_on_one_subject_are_a_conflict(shop: Shop) -> None:
    """ASM-09."""
    one = shop.applied("Times are UTC", "--subject", "time zone")
    other = shop.applied("Times are CET", "--subject", "Time  Zone")

    assert shop.told("read")["conflicts"] == [{"subject": "time zone", "ids": [other, one]}]

    assert shop.told("read", "--subject", "nothing")["conflicts"] == []

    shop.applied("Neither counts", "--target", other, operation="archive")
    last = shop.applied("Times are GMT", "--target", one, operation="supersede")
    told = shop.told("read")
    assert told["conflicts"] == []
    assert [(row["event_id"], row["subject"]) for row in told["decisions"]] == [(last, "time zone")]


def test_proposals_stand_under_pending_alone(shop: Shop) -> None:
    """ASM-36: never among what holds, whatever their files say of their state."""
    names = [shop.propose(f"Proposed {number}") for number in range(3)]
    path = shop.folder / ".coord" / "memory-proposals" / f"{names[0]}.json"
    path.write_text(path.read_text().replace('"state": "proposed"', '"state": "applied"'))

    told = shop.told("read")

    assert sorted(row["proposal_id"] for row in told.pop("pending")) == sorted(names)
    assert not any(name in json.dumps(told) for name in names)
    assert told["human_decision_required"] is True
    assert not shop.memory.exists()


def test_reading_needs_no_index_and_writes_nothing(shop: Shop) -> None:
    """ASM-01: recall's index is a cache. What was written by hand and is not in the record yet is told as such."""
    shop.applied()
    document = json.loads(next((shop.folder / ".coord" / "memory-proposals").iterdir()).read_text())
    document |= {"proposal_id": str(uuid.UUID(int=1)), "state": "proposed", "decision": None}
    (shop.folder / ".coord" / "memory-proposals" / f"{uuid.UUID(int=1)}.json").write_text(json.dumps(document))
    workspace = App.here().workspace()
    assert shop("index", "--words-only").code == 0
    for path in workspace.index_path.parent.glob(f"{workspace.index_path.name}*"):
        path.unlink()
    before = shop.log.head()

    told = shop.told("read")

    assert [row["in_record"] for row in told["pending"]] == [False]
    assert len(told["decisions"]) == 1
    assert shop.log.head() == before
    assert not workspace.index_path.exists()


def test_an_edited_memory_is_not_believed(shop: Shop) -> None:
    """The record says what was approved; the file's fault is named with its line."""
    shop.applied("Times are UTC")
    shop.memory.write_bytes(shop.bytes().replace(b"UTC", b"CET"))

    told = shop.told("read")

    assert [row["summary"] for row in told["decisions"]] == ["Times are UTC"]
    assert told["problems"][0]["code"] == "coord_edited"
    assert told["problems"][0]["where"].startswith("memory.yml:1 ")


def test_a_direct_edit_is_named_with_its_line_and_event(shop: Shop) -> None:
    """ASM-38: by `coord verify` and by `verify`; what only warns fails nothing."""
    shop.applied("Times are UTC")
    item = shop.applied("Ports are even")
    assert shop.told("verify")["problems"] == []
    (shop.folder / "docs" / "time.md").write_text("else")
    assert {one["code"] for one in shop.told("verify")["problems"]} == {"evidence_changed"}
    shop.memory.write_bytes(shop.bytes().replace(b"are even", b"are odd"))

    told = shop.told("verify", code=1)

    [edited] = [one for one in told["problems"] if not one["warning"]]
    assert (edited["code"], edited["where"]) == ("coord_edited", f"memory.yml:2 (event {item})")


def test_a_view_has_a_size(shop: Shop) -> None:
    """ASM-10: what has no room is counted, the oldest first; pending does not push out what holds."""
    rows = [{"event_id": str(number), "summary": "s" * 100} for number in range(400)]
    seen = fitted(View(decisions=list(rows), pending=list(rows[:5])))

    assert len(json.dumps(seen.told())) <= 20_000
    assert seen.decisions == rows[: len(seen.decisions)]
    assert len(seen.pending) == 5
    assert seen.left_out == {"decisions": 400 - len(seen.decisions)}


def test_reading_tells_no_words_of_the_record(shop: Shop) -> None:
    """ASM-10: evidence is named by its pointer."""
    shop.log.append([make_draft("said", text="a secret conversation about clocks")], now=NOW)
    pointer = f"recall:{make_draft('said').id}"
    shop.applied("Times are UTC", "--evidence", pointer)

    done = shop("coord", "read", "--json")

    assert pointer in done.out
    assert "conversation" not in done.out


# -- propose -----------------------------------------------------------------------------------


def test_a_recorded_decision_becomes_a_proposal_and_then_canonical(shop: Shop) -> None:
    """C-09: recorded until a person approved it."""
    made = shop("decide", "Times are UTC", "--why", "no summer time", "--json").rows()[0]["id"]
    page = shop.folder / ".recall" / "views" / "decisions.md"
    assert "- standing: recorded" in page.read_text()

    told = shop.told("propose", "add", "--from", made[:10])
    assert "- standing: recorded" in page.read_text()
    shop.approve(told["id"])
    item = shop.told("apply", told["id"])["event_id"]

    assert told["evidence_refs"] == [f"recall:{made}"]
    assert f"- standing: canonical ({item})" in page.read_text()
    assert shop.told("read")["decisions"][0]["summary"] == "Times are UTC"


def test_a_proposal_without_evidence_stays_pending(shop: Shop) -> None:
    """ASM-14: approved or not, it is not applied."""
    told = shop.told("propose", "add", "--summary", "Because I say so")
    assert told["pending_reason"] == "no_evidence"
    shop.approve(told["id"])

    refused = shop.told("apply", told["id"], code=1)

    assert refused["code"] == "no_evidence"
    assert shop.bytes() == b""


def test_a_dry_run_of_propose_writes_nothing(shop: Shop) -> None:
    told = shop.told("propose", "add", "--summary", "x", "--evidence", "docs/time.md", "--dry-run")

    assert told["dry_run"] is True
    assert not (shop.folder / ".coord").exists()
    assert fold_proposals(shop.log).documents == {}


def test_a_whole_document_is_taken_once(shop: Shop) -> None:
    name = shop.propose()
    path = shop.folder / ".coord" / "memory-proposals" / f"{name}.json"
    document = json.loads(path.read_text())
    (shop.folder / "new.json").write_text(json.dumps({**document, "proposal_id": str(uuid.UUID(int=7))}))
    (shop.folder / "taken.json").write_text(json.dumps({**document, "source_task": "other"}))
    (shop.folder / "done.json").write_text(
        json.dumps({**document, "proposal_id": str(uuid.UUID(int=8)), "state": "approved"})
    )

    assert shop.told("propose", "--file", "new.json")["id"] == str(uuid.UUID(int=7))
    assert shop.told("propose", "--file", "taken.json", code=1)["code"] == "id_taken"
    assert shop.told("propose", "--file", "done.json", code=1)["code"] == "schema"


# -- decide ------------------------------------------------------------------------------------


@pytest.mark.parametrize("variable", [*AGENTS, "RECALL_CHILD"])
def test_no_agent_decides(shop: Shop, variable: str, monkeypatch) -> None:
    """ASM-17: the variables of harnesses count, whatever `--as human` says; the attempt is in the record."""
    name = shop.propose()
    monkeypatch.setenv(variable, "1")

    for word in ("approve", "decline"):
        told = shop.told("decide", name, word, "--rationale", "me", "--as", "human", "--actor", "ana", code=1)
        assert told["code"] == "agent"
        assert told["human_decision_required"] is True

    assert shop.refused() == ["agent", "agent"]
    assert fold_proposals(shop.log).documents[name].state == "proposed"


def test_nobody_decides_without_a_terminal(shop: Shop, monkeypatch) -> None:
    """A pipe on standard input is no person."""
    name = shop.propose()
    monkeypatch.setattr("recall.cli.person.open_terminal", lambda: None)

    told = shop.told("decide", name, "approve", "--rationale", "yes", "--as", "human", code=1)

    assert told["code"] == "no_terminal"
    assert shop.refused() == ["no_terminal"]


def test_wrong_digits_decide_nothing(shop: Shop, monkeypatch) -> None:
    name = shop.propose()
    typist = sit_down(monkeypatch, "y", key=False)

    done = shop("coord", "decide", name, "approve", "--rationale", "yes", "--json")

    assert done.code == 1
    assert done.rows()[0]["code"] == "NotConfirmed"
    assert fold_proposals(shop.log).documents[name].state == "proposed"
    assert any("Times are stored in UTC" in line for line in typist.shown)


def test_declined_is_no_success_and_stays(shop: Shop) -> None:
    """ASM-19."""
    name = shop.propose()

    told = shop.told("decide", name, "decline", "--rationale", "no", code=1)

    assert (told["state"], told["approval"]) == ("declined", "none")
    assert shop.told("apply", name, code=1)["code"] == "not_approved"
    assert shop.told("decide", name, "approve", "--rationale", "yes", code=1)["code"] == "decided_already"
    assert shop.bytes() == b""


def test_revising_makes_a_new_proposal_and_approves_neither(shop: Shop) -> None:
    """ASM-20."""
    old = shop.propose("Times are stored in UTC or so")

    told = shop.told("decide", old, "revise", "--rationale", "clearer", "--summary", "Times are stored in UTC")

    new = told["new_id"]
    state = fold_proposals(shop.log)
    assert (told["state"], told["approval"], told["human_decision_required"]) == ("revised", "none", True)
    assert state.documents[new].document["revises"] == old
    assert state.documents[new].document["action"]["evidence_refs"] == ["docs/time.md"]
    for name in (old, new):
        assert shop.told("apply", name, code=1)["code"] == "not_approved"
    shop.approve(new)
    assert shop.told("apply", new)["state"] == "applied"


def test_what_was_not_decided_times_out(shop: Shop, monkeypatch) -> None:
    """ASM-39: a state of its own, no success."""
    name = shop.propose()
    assert shop.told("expire", "--older-than", "1")["timed_out"] == []
    now = App.now(App.here())
    monkeypatch.setattr(App, "now", lambda self: now + timedelta(days=365))

    dry = shop.told("expire", "--dry-run", code=1)
    told = shop.told("expire", code=1)

    assert dry["timed_out"] == told["timed_out"] == [name]
    assert (told["state"], told["older_than_days"]) == ("timed_out", 30)
    assert shop.told("expire")["timed_out"] == []
    assert shop.told("apply", name, code=1)["code"] == "not_approved"
    assert shop.told("decide", name, "approve", "--rationale", "late", code=1)["code"] == "decided_already"


# -- apply, and the file -------------------------------------------------------------------------


def test_applied_twice_is_one_item(shop: Shop) -> None:
    name = shop.propose()
    shop.approve(name)
    first = shop.told("apply", name)
    before = shop.bytes()

    again = shop.told("apply", name[:8])

    assert (first["canonical_changed"], again["canonical_changed"]) == (True, False)
    assert again["note"] == "already applied"
    assert again["event_id"] == first["event_id"]
    assert shop.bytes() == before


def test_a_dry_run_of_apply_says_what_would_be(shop: Shop) -> None:
    name = shop.propose()
    assert shop.told("apply", name, "--dry-run", code=1)["code"] == "not_approved"
    shop.approve(name)

    told = shop.told("apply", name, "--dry-run")

    assert (told["code"], told["canonical_changed"], told["state"]) == (None, False, "approved")
    assert shop.bytes() == b""


def test_of_several_what_can_be_is_applied_in_the_order_of_the_decisions(shop: Shop) -> None:
    (shop.folder / "moving.md").write_text("before")
    first, moved, last = shop.propose("One"), shop.propose("Two", "--evidence", "moving.md"), shop.propose("Three")
    for name in (last, moved, first):
        shop.approve(name)
    (shop.folder / "moving.md").write_text("after")

    told = shop.told("apply", "--all", code=1)

    assert [(row["proposal_id"], row["code"]) for row in told["applied"]] == [
        (last, None),
        (moved, "evidence_changed"),
        (first, None),
    ]
    assert (told["canonical_changed"], told["human_decision_required"]) == (True, True)
    assert [item["summary"] for item in yaml.safe_load(shop.bytes())] == ["Three", "One"]
    assert shop.told("apply", "--all")["applied"] == []


@pytest.mark.parametrize("seed", range(3))
def test_the_memory_is_only_ever_appended_to(shop: Shop, seed: int, monkeypatch) -> None:
    """ASM-22, ASM-25, acceptance 2: over any sequence of every command, what stood there stays its beginning."""
    rng = random.Random(seed)
    names: list[str] = []
    items = [shop.applied()]
    added = 1
    for _ in range(40):
        some, item = (rng.choice(names[-2:] or ["00000000"]), rng.choice(items or [str(uuid.UUID(int=9))]))
        words = rng.choice(
            [
                ("propose", "add", "--summary", "A fact", "--evidence", "docs/time.md"),
                ("propose", "add", "--summary", "Open?", "--kind", "question", "--evidence", "docs/time.md"),
                ("propose", "supersede", "--target", item, "--summary", "Better", "--evidence", "docs/time.md"),
                ("propose", "archive", "--target", item, "--summary", "Old", "--evidence", "docs/time.md"),
                *[("decide", some, "approve", "--rationale", "yes")] * 5,
                ("decide", some, "decline", "--rationale", "no"),
                ("decide", some, "revise", "--rationale", "so", "--summary", "Said otherwise"),
                *[("apply", some), ("apply", "--all")] * 3,
                ("apply", "--all", "--dry-run"),
                ("expire", "--older-than", "1"),
                ("read", "--all"),
                ("restore",),
                ("promote", item, "--to", "docs/evidence"),
                ("purge", item),
                ("instructions",),
            ]
        )
        before = shop.bytes()
        done = shop("coord", *words, "--json")
        [told] = done.rows()
        after = shop.bytes()
        assert after.startswith(before), words
        lines = after.count(b"\n") - before.count(b"\n")
        assert told["canonical_changed"] is bool(lines), words
        assert not lines or words[0] == "apply"
        added += lines
        names += [told["id"]] if words[0] == "propose" and done.code == 0 else []
        names += [told["new_id"]] if told.get("new_id") else []
        items += [told["event_id"]] if words[0] == "apply" and told.get("event_id") else []
        items += [row["event_id"] for row in told.get("applied", []) if row["event_id"]]
    held = yaml.safe_load(shop.bytes() or b"[]")
    assert len(held) == added > 1
    assert [item["seq"] for item in held] == list(range(1, added + 1))
    assert verify(shop.log.workspace).problems == []


# -- restore, promote, purge, instructions ---------------------------------------------------------


def test_a_lost_folder_is_written_again_byte_for_byte(shop: Shop) -> None:
    shop.applied()
    shop.propose("Another")
    files = {path: path.read_bytes() for path in (shop.folder / ".coord").rglob("*") if path.is_file()}
    shutil.rmtree(shop.folder / ".coord")

    told = shop.told("restore")

    assert len(told["written"]) == 3
    assert {path: path.read_bytes() for path in (shop.folder / ".coord").rglob("*") if path.is_file()} == files


def test_only_a_person_writes_over_what_was_changed_by_hand(shop: Shop, monkeypatch) -> None:
    shop.applied()
    good = shop.bytes()
    shop.memory.write_bytes(b"- mine\n")
    assert shop.told("restore", code=1)["left"] == ["memory.yml"]
    monkeypatch.setenv("CLAUDECODE", "1")
    assert shop.told("restore", "--replace", code=1)["code"] == "agent"
    monkeypatch.delenv("CLAUDECODE")
    sit_down(monkeypatch, "yes")

    told = shop.told("restore", "--replace")

    assert (told["written"], told["canonical_changed"]) == (["memory.yml"], True)
    assert shop.bytes() == good
    kept = list((shop.log.workspace.run_dir / "coord-edited").iterdir())
    assert [path.read_bytes() for path in kept] == [b"- mine\n"]


def test_one_item_is_promoted_with_a_manifest(shop: Shop) -> None:
    """ASM-34."""
    item = shop.applied()
    shop.applied("Another")

    told = shop.told("promote", item, "--to", "docs/evidence")

    assert sorted(path.name for path in (shop.folder / "docs" / "evidence").iterdir()) == [
        f"{item}.manifest.json",
        f"{item}.yml",
    ]
    [held] = yaml.safe_load(Path(told["file"]).read_bytes())
    assert held == yaml.safe_load(shop.bytes())[0]
    manifest = json.loads(Path(told["manifest_file"]).read_bytes())
    assert (manifest["event_id"], manifest["actor"], manifest["source"]) == (item, "ana", ".coord/memory.yml:1")
    assert shop.told("promote", item, "--to", "docs/evidence")["written"] is False
    Path(told["manifest_file"]).unlink()  # as when it was interrupted
    assert shop.told("promote", item, "--to", "docs/evidence")["written"] is True
    assert json.loads(Path(told["manifest_file"]).read_bytes()) == manifest
    Path(told["file"]).write_text("mine")
    assert shop.told("promote", item, "--to", "docs/evidence", code=1)["code"] == "place_taken"
    assert len(fold_proposals(shop.log).promoted) == 1


@pytest.mark.parametrize("to", ["..", "/tmp", ".coord", ".recall/x", ".git/x", ".Git/x", "build/out", "loop/x"])
def test_an_item_is_promoted_into_the_repository_alone(shop: Shop, to: str) -> None:
    item = shop.applied()
    (shop.folder / ".gitignore").write_text("build/\n")
    if os.name == "posix":
        (shop.folder / "loop").symlink_to("loop")

    assert shop.told("promote", item, "--to", to, code=1)["code"] == "bad_place"
    assert not (shop.folder / "build").exists()


def test_items_are_not_promoted_in_bulk(shop: Shop) -> None:
    one, other = shop.applied(), shop.applied("Another")

    assert shop("coord", "promote", one, other, "--to", "docs").code == 2
    assert shop.told("promote", str(uuid.UUID(int=3)), "--to", "docs", code=1)["code"] == "no_target"


def test_nothing_is_purged_without_a_retention_decision(shop: Shop) -> None:
    """ASM-30."""
    item = shop.applied("The zebra password is written on the wall")
    other = shop.applied("Some other decision")
    before = shop.bytes()

    assert shop.told("purge", item, code=1)["code"] == "no_retention_decision"
    assert shop.told("purge", item, "--retention", other, code=1)["code"] == "no_retention_decision"
    pending = shop.propose("Old items go", "--subject", "retention")
    assert shop.told("purge", item, "--retention", pending, code=1)["code"] == "no_retention_decision"
    rule = shop.applied("Archived items go after a year", "--subject", "retention")
    assert shop.told("purge", item, "--retention", rule, code=1)["code"] == "still_holds"
    assert shop.bytes().startswith(before)
    assert b"zebra" in shop.bytes()


def test_a_retention_decision_lets_archived_items_be_purged(shop: Shop) -> None:
    item = shop.applied("The zebra password is written on the wall")
    kept = shop.applied("Times are UTC")
    shop.applied("Not needed", "--target", item, operation="archive")
    rule = shop.applied("Archived items go after a year", "--subject", "retention")
    assert shop.told("purge", item, "--retention", rule, "--dry-run")["erased"] == []
    assert b"zebra" in shop.bytes()

    told = shop.told("purge", item, "--retention", rule)

    assert (told["erased"], told["canonical_changed"]) == ([item], True)
    lines = yaml.safe_load(shop.bytes())
    assert lines[0] == {key: lines[0][key] for key in ("erased", "event_id", "seq", "prev", "line_hash")}
    assert [row["event_id"] for row in shop.told("read")["decisions"]] == [rule, kept]
    everything = [*shop.folder.rglob("*"), *shop.log.workspace.home.rglob("*")]
    assert not [path for path in everything if path.is_file() and b"zebra" in path.read_bytes()]
    assert verify(shop.log.workspace).problems == []
    shop.applied("And on it goes")
    assert len(yaml.safe_load(shop.bytes())) == 5


def test_the_instructions_name_every_mode_and_field(shop: Shop) -> None:
    """ASM-40: written as a skill, they are what is printed; what differs there is left."""
    told = shop.told("instructions")
    skill, schema = told["files"].values()

    assert all(f"### {mode}" in skill for mode in ("Read", "Propose", "Decide", "Apply"))
    assert all(f"`{name}`" in skill for name in FIELDS)
    assert "schema_version" in schema
    written = shop.told("instructions", "--to", ".claude/skills/agent-shared-memory")
    folder = shop.folder / ".claude" / "skills" / "agent-shared-memory"
    assert len(written["written"]) == 2
    assert (folder / "SKILL.md").read_text("utf-8") == skill
    assert (folder / "references" / "coord_memory_schema.md").read_text("utf-8") == schema
    head = yaml.safe_load(skill.split("---")[1])
    assert set(head) == {"name", "description"}
    assert shop.told("instructions", "--to", ".claude/skills/agent-shared-memory")["written"] == []


def test_git_ignores_the_folder(shop: Shop) -> None:
    """ASM-33."""
    shop.applied()

    asked = subprocess.run(["git", "check-ignore", ".coord/memory.yml"], cwd=shop.folder, capture_output=True)

    assert asked.returncode == 0


def test_the_beginning_of_an_id_names_what_an_action_changes_and_what_is_promoted(shop: Shop) -> None:
    event = shop.applied()
    first = shop.told("propose", "supersede", "--target", event[:8], "--summary", "UTC", "--evidence", "docs/time.md")
    told = shop.told("promote", event[:8], "--to", "docs/kept")
    memory = shop("memory", "add", "Clocks drift", "--why", "seen").out[:10]
    asked = shop.told(
        "propose", "archive", "--target", f"memory:{memory}", "--summary", "x", "--evidence", "docs/time.md"
    )

    documents = {name: one.document for name, one in fold_proposals(shop.log).documents.items()}
    assert documents[first["id"]]["action"]["target_ref"] == event
    assert told["id"] == event
    assert documents[asked["id"]]["action"]["target_ref"].startswith(f"memory:{memory}")
    assert (
        shop.told("propose", "archive", "--target", "memory:zzzzzzzzzz", "--summary", "x", code=1)["code"] == "bad_ref"
    )


def test_content_for_another_place_than_the_target_is_refused(shop: Shop) -> None:
    (shop.folder / "draft.md").write_text("Lint.")
    target = ("--target", "identity:roles/tester.md", "--summary", "x", "--evidence", "docs/time.md")

    refused = shop("coord", "propose", "add", *target, "--content", "roles/other.md=draft.md")

    assert refused.code == 2
    assert "--target identity:roles/tester.md and --content roles/other.md name two places" in refused.err


def test_what_waits_already_is_not_proposed_a_second_time(shop: Shop) -> None:
    name = shop.propose()

    again = shop("coord", "propose", "add", "--summary", "Times are stored in UTC", "--evidence", "docs/time.md")
    other = shop.propose("Times are stored in UTC", "--subject", "time")

    assert again.code == 0
    assert again.out.startswith(f"it waits already: {shop.folder / '.coord' / 'memory-proposals' / name}.json\n")
    assert f"\nid: {name}\n" in again.out
    assert other != name
    assert len(shop.told("read")["pending"]) == 2
    shop.told("decide", name, "decline", "--rationale", "no", code=1)
    assert shop.propose() != name


def test_a_review_that_is_refused_says_that_a_person_still_has_to_decide(shop: Shop, monkeypatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    nothing = shop.told("review", code=1)
    shop.propose()

    assert not nothing["human_decision_required"]
    assert shop.told("review", code=1)["human_decision_required"]


def test_a_field_that_is_not_as_it_must_be_is_named_with_what_it_must_be(shop: Shop) -> None:
    refused = shop("coord", "propose", "add", "--summary", "x", "--evidence", "docs/time.md", "--kind", "frob")

    assert "action.kind: must be decision, question, artifact or outcome" in refused.err
    assert (
        "action.summary: must be 1 to 4,000 characters" in shop("coord", "propose", "add", "--summary", "x" * 4001).err
    )


def test_what_has_ended_is_not_sent_to_a_review_again(shop: Shop) -> None:
    waits, declined = shop.propose(), shop.propose("Times are local")
    shop.told("decide", declined, "decline", "--rationale", "no", code=1)

    assert "nobody has approved it; recall coord review" in shop("coord", "apply", waits).out
    assert "it is declined; write a new proposal" in shop("coord", "apply", declined).out


def test_what_can_be_done_to_a_target_is_said(shop: Shop) -> None:
    event = shop.applied()

    refused = shop("coord", "propose", "add", "--target", event, "--summary", "x", "--evidence", "docs/time.md")

    assert "to a target decision: only supersede, archive, delete" in refused.err


def test_an_approval_without_evidence_says_that_it_is_not_applied(shop: Shop) -> None:
    name = str(shop.told("propose", "add", "--summary", "x")["id"])

    told = shop("coord", "decide", name, "approve", "--rationale", "yes").out

    assert f"not applied: recall coord decide {name[:8]} revise --evidence REF\n" in told
    assert "recall coord apply" not in told


# -- what a reader is told in words --------------------------------------------------------


def test_a_file_that_is_no_proposal_is_named_with_what_is_wrong_with_it(shop):
    shop.propose()
    (shop.folder / ".coord" / "memory-proposals" / "half.json").write_text('{"schema_version": 1.5}')
    (shop.folder / ".coord" / "memory-proposals" / f"{uuid.uuid4()}.json").write_text('{"schema_version": 1}')

    told = shop("coord", "read").out

    assert "half.json  float: numbers with a fraction" in told
    assert "  schema: proposal_id: must be a uuid in lower case, with dashes; see recall coord instructions" in told


def test_a_search_that_finds_nothing_says_so(shop):
    shop.applied()

    assert shop("coord", "read", "--subject", "umbrella").out.startswith("nothing fits; without --subject")
    assert shop("coord", "read", "--kind", "question").out.startswith("nothing fits; ")
    assert "nothing fits" not in shop("coord", "read", "--subject", "times").out
    assert "nothing fits" not in shop("coord", "read").out


def test_what_is_changed_stands_in_front_of_a_summary_without_a_subject(shop):
    event = shop.applied()
    shop.propose("no clock is left", "--target", event, operation="archive")

    assert f"archive [{event}] no clock is left (waits" in shop("coord", "read").out


def test_an_id_that_is_too_short_is_called_so(shop):
    name = shop.propose()

    short, unknown = shop("coord", "apply", name[:4]), shop("coord", "apply", "zzzz")

    assert short.code == unknown.code == 1
    assert short.err == f"recall: no_proposal: '{name[:4]}' is too short; give 6 characters of the id or more\n"
    assert "no proposal has the id 'zzzz'" in unknown.err


def test_whatever_an_approval_writes_is_open_to_its_user_alone(shop: Shop) -> None:
    (shop.folder / "draft.md").write_text("You test.\n")
    shop("decide", "Testers test", "--why", "agreed")
    pointer = next(event.pointer for event in shop.log.read() if event.type == "decision")
    role = ("--target", "identity:roles/tester.md", "--content", "roles/tester.md=draft.md")
    shop.applied("A role", *role, "--evidence", f"recall:{pointer}")

    places = (shop.log.workspace.home, shop.folder / ".coord", shop.folder / ".recall" / "identity")
    open_to_others = [path for place in places for path in (place, *place.rglob("*")) if path.stat().st_mode & 0o077]

    assert (shop.folder / ".recall" / "identity" / "roles" / "tester.md").read_text() == "You test.\n"
    assert open_to_others == []
